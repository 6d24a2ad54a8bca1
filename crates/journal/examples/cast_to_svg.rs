//! Converts a recording (asciicast version 2) on standard input into an animated SVG on standard output, for README.md
//! (`docs/pictures/record`). The argument is the number of rows to show, from the top.
//!
//! The frames are side by side, and CSS moves them past a window: browsers show such animations even in pages that
//! allow no scripts. A line that occurs in several frames is stored once.

use std::{
    collections::BTreeMap,
    env,
    fmt::Write as _,
    io::{self, BufRead, Write},
};

use anyhow::{Context, ensure};
use serde_json::Value;
use vt100::{Cell, Color, Parser, Screen};

/// A character cell in pixels.
const CELL: (usize, usize) = (8, 17);
/// Distance from the top of a cell.
const BASELINE: usize = 13;
const MARGIN: usize = 8;
/// Duration of the last frame in seconds.
const LAST: f64 = 3.0;
/// The default colours of the text and the background.
const DEFAULT: (&str, &str) = ("#d8dee9", "#14181f");
const COLOURS: [&str; 16] = [
    "#3b4252", "#e06c75", "#8fbf6f", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9", "#6b7688", "#ff7b85",
    "#a5d884", "#ffd98e", "#7cc4ff", "#dd92f0", "#6fd3df", "#ffffff",
];

#[derive(Default)]
struct Film {
    /// The distinct lines and their numbers.
    lines: BTreeMap<String, usize>,
    /// The start of each frame, and for each line its number and its row.
    frames: Vec<(f64, Vec<(usize, usize)>)>,
}

impl Film {
    fn take(&mut self, time: f64, screen: &Screen, rows: u16) {
        let mut frame = vec![];
        for row in 0..rows {
            let line = line(screen, row);
            if !line.is_empty() {
                let next = self.lines.len();
                frame.push((*self.lines.entry(line).or_insert(next), usize::from(row)));
            }
        }
        if self.frames.last().is_none_or(|(_, last)| *last != frame) {
            self.frames.push((time, frame));
        }
    }

    fn svg(&self, (rows, columns): (u16, u16)) -> String {
        let (width, height) = (usize::from(columns) * CELL.0 + 2 * MARGIN, usize::from(rows) * CELL.1 + 2 * MARGIN);
        let end = self.frames.last().map_or(LAST, |(time, _)| time + LAST);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
             <style>text{{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:{}}}\
             .f{{animation:f {end:.2}s step-end infinite}}@keyframes f{{",
            DEFAULT.0
        );
        for (number, (time, _)) in self.frames.iter().enumerate() {
            let _ = write!(out, "{:.3}%{{transform:translateX({}px)}}", time / end * 100.0, -signed(number * width));
        }
        let _ = write!(
            out,
            "}}</style>\n<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{}\"/>\n<defs>\n",
            DEFAULT.1
        );
        for (line, number) in &self.lines {
            let _ = writeln!(out, "<g id=\"l{number}\">{line}</g>");
        }
        out.push_str("</defs>\n<g class=\"f\">\n");
        for (number, (_, frame)) in self.frames.iter().enumerate() {
            let _ = write!(out, "<g transform=\"translate({} {MARGIN})\">", number * width + MARGIN);
            for (line, row) in frame {
                let _ = write!(out, "<use href=\"#l{line}\" y=\"{}\"/>", row * CELL.1);
            }
            out.push_str("</g>\n");
        }
        out + "</g>\n</svg>\n"
    }
}

fn signed(pixels: usize) -> i64 {
    i64::try_from(pixels).unwrap_or(i64::MAX)
}

/// The colour of the text, that of the background unless it is the default, and whether the text is bold.
fn look(cell: &Cell) -> (String, Option<String>, bool) {
    let (mut text, mut behind) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
    if cell.inverse() {
        (text, behind) =
            (Some(behind.unwrap_or_else(|| DEFAULT.1.into())), Some(text.unwrap_or_else(|| DEFAULT.0.into())));
    }
    (text.unwrap_or_default(), behind, cell.bold())
}

/// `None` for the default of the terminal.
fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(index) if index < 16 => Some(COLOURS[usize::from(index)].into()),
        // The colour cube with six levels for each component, and the greys after it.
        Color::Idx(index @ 16..232) => {
            let level = |place: u8| [0, 95, 135, 175, 215, 255][usize::from((index - 16) / place % 6)];
            Some(format!("#{:02x}{:02x}{:02x}", level(36), level(6), level(1)))
        }
        Color::Idx(index) => Some(format!("#{0:02x}{0:02x}{0:02x}", 8 + 10 * (index - 232))),
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

fn line(screen: &Screen, row: u16) -> String {
    let (_, columns) = screen.size();
    let cells = (0..columns).filter_map(|column| Some((usize::from(column), screen.cell(row, column)?)));
    let mut runs: Vec<(usize, usize, _, String)> = vec![];
    for (column, cell) in cells.filter(|(_, cell)| !cell.is_wide_continuation()) {
        let (look, width) = (look(cell), if cell.is_wide() { 2 } else { 1 });
        let text = if cell.has_contents() { cell.contents() } else { " " };
        match runs.last_mut() {
            Some((start, length, last, contents)) if *last == look && *start + *length == column => {
                *length += width;
                contents.push_str(text);
            }
            _ => runs.push((column, width, look, text.to_owned())),
        }
    }
    let mut out = String::new();
    for (start, length, (text, behind, bold), contents) in runs {
        let (x, width) = (start * CELL.0, length * CELL.0);
        if let Some(behind) = behind {
            let _ = write!(out, "<rect x=\"{x}\" width=\"{width}\" height=\"{}\" fill=\"{behind}\"/>", CELL.1);
        }
        let shown = contents.trim_end();
        if shown.trim_start().is_empty() {
            continue;
        }
        let blanks = shown.len() - shown.trim_start().len();
        let (x, shown) = (x + blanks * CELL.0, shown.trim_start());
        // The length is explicit, since fonts differ.
        let length = (length - blanks - (contents.len() - contents.trim_end().len())) * CELL.0;
        let _ = write!(out, "<text x=\"{x}\" y=\"{BASELINE}\" textLength=\"{length}\"");
        if !text.is_empty() {
            let _ = write!(out, " style=\"fill:{text}\"");
        }
        if bold {
            out.push_str(" font-weight=\"bold\"");
        }
        let shown = shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = write!(out, ">{shown}</text>");
    }
    out
}

fn main() -> anyhow::Result<()> {
    let mut lines = io::stdin().lock().lines();
    let head: Value = serde_json::from_str(&lines.next().context("there is no recording")??)?;
    let size =
        |name: &str| head[name].as_u64().and_then(|size| u16::try_from(size).ok()).context("no size of a screen");
    let (rows, columns) = (size("height")?, size("width")?);
    let shown = env::args().nth(1).map_or(Ok(rows), |shown| shown.parse()).context("no number of rows")?.min(rows);
    let (mut screen, mut film) = (Parser::new(rows, columns, 0), Film::default());
    for line in lines {
        let event: Value = serde_json::from_str(&line?)?;
        let (time, text) = (event[0].as_f64().context("no time")?, event[2].as_str().context("no text")?);
        screen.process(text.as_bytes());
        if !film.frames.is_empty() || !is_blank(screen.screen()) {
            film.take(time, screen.screen(), shown);
        }
    }
    ensure!(!film.frames.is_empty(), "nothing is shown in this recording");
    Ok(io::stdout().lock().write_all(film.svg((shown, columns)).as_bytes())?)
}

fn is_blank(screen: &Screen) -> bool {
    screen.contents().trim().is_empty()
}
