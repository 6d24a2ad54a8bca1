use std::fmt::Write;

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier},
    symbols::Marker,
    widgets::{
        Widget,
        canvas::{Canvas, Line, Points},
    },
};

use super::{Curves, FIRST, LineEnd, Series, TITLE, power};
use crate::{args::ExploreKind, judge::facts};

/// Left of the plot and right of it.
const VALUES: u16 = 8;
const NAMES: u16 = 26;
/// A wider plot would only be flatter.
const MOST: (u16, u16) = (140, 32);
/// The smallest window with room for a plot.
pub(crate) const LEAST: (u16, u16) = (60, 16);

pub(crate) fn chart(curves: &Curves, title: Option<&str>, size: (u16, u16), colours: bool) -> String {
    let points = || curves.series.iter().flat_map(|series| &series.runs).flat_map(|run| &run.points);
    let rounds = || points().map(|&(rounds, _)| rounds);
    let rounds = (rounds().min().unwrap_or(FIRST), rounds().max().unwrap_or(FIRST));
    let title = title.unwrap_or(TITLE);
    let runs = curves.series.first().map_or(0, |series| series.runs.len());
    let mean = if runs == 1 { String::new() } else { format!(", mean of {runs} runs") };
    // Leaves space for the title, the line below it, and the shell's prompt.
    let rows = size.1.saturating_sub(4).clamp(LEAST.1 - 4, MOST.1);
    let plot = draw(curves, rounds, (size.0.clamp(LEAST.0, MOST.0), rows), colours);
    format!("{title}\nExact value of a round on {}, by rounds of training{mean}\n\n{plot}\n", facts(curves.space))
}

/// Draws on a logarithmic scale of rounds, without a final line end.
pub(crate) fn draw(curves: &Curves, rounds: (u64, u64), (width, height): (u16, u16), colours: bool) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let area = Rect::new(VALUES, 0, width.saturating_sub(VALUES + NAMES), height.saturating_sub(1));
    let plot = Plot::new(curves, rounds, area);
    plot.draw_lines(&mut buffer);
    plot.write_values(&mut buffer);
    plot.write_names(&mut buffer);
    plot.write_rounds(&mut buffer);
    (0..height).map(|row| line(&buffer, row, colours)).collect::<Vec<_>>().join("\n")
}

struct Plot<'a> {
    curves: &'a Curves,
    means: Vec<(ExploreKind, Vec<(u64, f64)>)>,
    rounds: (u64, u64),
    area: Rect,
    // Decimal logarithms of the rounds.
    from: f64,
    to: f64,
    low: f64,
    high: f64,
}

impl<'a> Plot<'a> {
    fn new(curves: &'a Curves, rounds: (u64, u64), area: Rect) -> Self {
        let means: Vec<_> = curves.series.iter().map(|series: &Series| (series.way, series.mean())).collect();
        let values = means.iter().flat_map(|(_, mean)| mean).map(|&(_, value)| value);
        let low = values.chain([curves.mimic]).fold(curves.optimum, f64::min);
        let (from, to) = (power(rounds.0), power(rounds.1));
        // Some room below the lowest value and above the best one.
        let room = 0.04 * (curves.optimum - low).max(0.01);
        let (to, low, high) = (to.max(from + 0.1), low - room, curves.optimum + room);
        Self { curves, means, rounds, area, from, to, low, high }
    }

    fn draw_lines(&self, buffer: &mut Buffer) {
        // The best value is a line of all dots of a row, the other one of every fourth.
        let dots = 2 * self.area.width;
        let place = |dot: u16| self.from + (self.to - self.from) * ((f64::from(dot) + 0.5) / f64::from(dots));
        let level = |value: f64, step| (0..dots).step_by(step).map(|dot| (place(dot), value)).collect::<Vec<_>>();
        let levels = [level(self.curves.optimum, 1), level(self.curves.mimic, 4)];
        let canvas = Canvas::default().marker(Marker::Braille).x_bounds([self.from, self.to]);
        let canvas = canvas.y_bounds([self.low, self.high]).paint(|context| {
            for coords in &levels {
                context.draw(&Points { coords, color: Color::Reset });
            }
            for (way, mean) in &self.means {
                context.layer();
                let color = colour(*way);
                let points: Vec<(f64, f64)> = mean.iter().map(|&(rounds, value)| (power(rounds), value)).collect();
                context.draw(&Points { coords: &points, color });
                for pair in points.windows(2) {
                    let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
                    context.draw(&Line { x1, y1, x2, y2, color });
                }
            }
        });
        canvas.render(self.area, buffer);
    }

    /// At the top and the bottom of the plot, and the best value.
    fn write_values(&self, buffer: &mut Buffer) {
        let (optimum, best) = (self.curves.optimum, self.row(self.curves.optimum));
        for (row, value) in [(self.area.y, self.high), (self.area.bottom().saturating_sub(1), self.low)] {
            if row.abs_diff(best) > 1 {
                buffer.set_string(0, row, format!("{value:>7.3}"), Color::Reset);
            }
        }
        buffer.set_string(0, best, format!("{optimum:>7.4}"), Modifier::BOLD);
    }

    /// Writes each name as close to the end of its line as possible.
    fn write_names(&self, buffer: &mut Buffer) {
        let mut ends = self.curves.ends();
        ends.sort_by(|one, other| other.value.total_cmp(&one.value));
        let mut rows: Vec<u16> = ends.iter().map(|end| self.row(end.value)).collect();
        // Moves names down until none overlap, then up if they left the plot.
        for at in 1..rows.len() {
            rows[at] = rows[at].max(rows[at - 1] + 1);
        }
        let mut last = self.area.bottom();
        for row in rows.iter_mut().rev() {
            *row = (*row).min(last.saturating_sub(1));
            last = *row;
        }
        for (LineEnd { value, name, way }, row) in ends.into_iter().zip(rows) {
            let (name, colour) = match way {
                Some(way) => (format!("{name} {value:.4}"), colour(way)),
                None => (name.to_owned(), Color::Reset),
            };
            buffer.set_stringn(self.area.right() + 1, row, name, usize::from(NAMES - 1), colour);
        }
    }

    /// Writes the last number of rounds, and those powers of ten that leave room for it.
    fn write_rounds(&self, buffer: &mut Buffer) {
        let ((first, last), area) = (self.rounds, self.area);
        let place = |rounds: u64| {
            let text = label(rounds);
            let width = u16::try_from(text.len()).unwrap_or(u16::MAX);
            let left = self.column(rounds).saturating_sub(width / 2).min(area.right().saturating_sub(width));
            (left, left + width, text)
        };
        let (mut end, _, text) = place(last);
        buffer.set_string(end, area.bottom(), text, Color::Reset);
        let powers = std::iter::successors(Some(1_u64), |power| power.checked_mul(10));
        let powers: Vec<u64> = powers.skip_while(|power| *power < first).take_while(|power| *power < last).collect();
        for power in powers.into_iter().rev() {
            let (left, right, text) = place(power);
            if right + 2 <= end {
                buffer.set_string(left, area.bottom(), text, Color::Reset);
                end = left;
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place within a window")]
    fn row(&self, value: f64) -> u16 {
        let part = ((self.high - value) / (self.high - self.low)).clamp(0.0, 1.0);
        self.area.y + ((part * f64::from(self.area.height)) as u16).min(self.area.height.saturating_sub(1))
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place within a window")]
    fn column(&self, rounds: u64) -> u16 {
        let part = ((power(rounds) - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.area.x + ((part * f64::from(self.area.width)) as u16).min(self.area.width.saturating_sub(1))
    }
}

/// With a unit, as in `20 k`.
fn label(rounds: u64) -> String {
    let (unit, name) = match rounds {
        0..1_000 => return rounds.to_string(),
        1_000..1_000_000 => (1_000, "k"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    match rounds % unit * 10 / unit {
        0 => format!("{} {name}", rounds / unit),
        tenths => format!("{}.{tenths} {name}", rounds / unit),
    }
}

/// The nearest of 256 to the colours of the picture.
const fn colour(way: ExploreKind) -> Color {
    match way {
        ExploreKind::Random => Color::Indexed(166),
        ExploreKind::Epsilon => Color::Indexed(32),
        ExploreKind::UntilConfident => Color::Indexed(36),
    }
}

/// A row without trailing blanks.
fn line(buffer: &Buffer, row: u16, colours: bool) -> String {
    let (mut text, mut now) = (String::new(), Color::Reset);
    let cells: Vec<_> = (0..buffer.area.width).map(|column| &buffer[(column, row)]).collect();
    let end = cells.iter().rposition(|cell| cell.symbol() != " " && cell.symbol() != "\u{2800}").map_or(0, |at| at + 1);
    for cell in &cells[..end] {
        if colours && cell.fg != now {
            let _ = match cell.fg {
                Color::Indexed(number) => write!(text, "\x1b[38;5;{number}m"),
                _ => write!(text, "\x1b[39m"),
            };
            now = cell.fg;
        }
        // In some fonts, an empty pattern differs from a blank.
        text += if cell.symbol() == "\u{2800}" { " " } else { cell.symbol() };
    }
    if now != Color::Reset {
        text += "\x1b[39m";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Run;
    use blackjack::StateSpace;

    fn plot(colours: bool) -> String {
        let series = |name: &str, way, points: &[(u64, f64)]| Series {
            way,
            name: name.to_owned(),
            runs: vec![Run { seed: 1, points: points.to_vec() }],
        };
        let series = vec![
            series("doubt", ExploreKind::UntilConfident, &[(1_000, -0.3), (10_000, -0.1), (200_000, -0.052)]),
            series("random", ExploreKind::Random, &[(1_000, -0.35), (200_000, -0.13)]),
        ];
        let curves = Curves { space: StateSpace::Coarse, series, optimum: -0.0515, mimic: -0.08 };
        draw(&curves, (1_000, 200_000), (70, 16), colours)
    }

    #[test]
    fn plot_names_each_line_and_marks_the_best_value() {
        let text = plot(false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 16, "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 70), "{text}");
        let row =
            |name: &str| lines.iter().position(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        // The two best values are too close for one row.
        assert_eq!((row("best table"), row("doubt -0.0520")), (0, 1));
        assert!(lines[0].starts_with("-0.0515"), "{text}");
        assert!(row("doubt") < row("dealer's strategy") && row("dealer's strategy") < row("random -0.1300"));
        let axis: Vec<&str> = lines[15].split("  ").map(str::trim).filter(|label| !label.is_empty()).collect();
        assert_eq!(axis, ["1 k", "10 k", "200 k"], "{text}");
        assert_eq!([1_500, 999, 12_000_000].map(label), ["1.5 k", "999", "12 M"]);
    }

    #[test]
    fn colour_changes_only_styles() {
        let (plain, coloured) = (plot(false), plot(true));
        assert!(!plain.contains('\x1b') && coloured.contains("\x1b[38;5;36m"), "{coloured}");
        let bare: String = coloured
            .split('\x1b')
            .map(|part| part.strip_prefix('[').and_then(|part| part.split_once('m')).map_or(part, |(_, text)| text))
            .collect();
        assert_eq!(bare, plain);
    }
}
