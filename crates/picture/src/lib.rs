//! Pictures as SVG, and as PNG that is rendered from the SVG.
//!
//! A [`Picture`] is drawn from the bottom to the top. Lengths are CSS pixels, `x` to the right and `y` down from the
//! upper left corner. Text in the SVG stays text, to be searched and read aloud. `resvg` renders the PNG with a
//! typeface of the program, so it looks the same on every machine.

#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

pub mod chart;
mod png;

use std::fmt::Write;

use png::text_width;

// The typeface of the PNG, then similar ones that most machines have.
const FAMILY: &str = "Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

pub const WHITE: Rgb = Rgb(255, 255, 255);
pub const INK: Rgb = Rgb(34, 34, 34);
/// For secondary text.
pub const GREY: Rgb = Rgb(85, 85, 85);

/// Left and right of a title.
pub const MARGIN: f32 = 40.0;

pub type Point = (f32, f32);

#[derive(Debug, Clone, Copy)]
pub struct Pen {
    pub colour: Rgb,
    pub width: f32,
    /// From 0 (invisible) to 1.
    pub opacity: f32,
    /// Lengths of dashes and gaps in turn; empty for a solid line.
    pub dashes: &'static [f32],
}

impl Pen {
    pub const fn new(colour: Rgb, width: f32) -> Self {
        Self { colour, width, opacity: 1.0, dashes: &[] }
    }
}

#[derive(Debug)]
pub struct Text {
    // The base line for `y`.
    at: Point,
    // The end of the text at `x`; the left one by default.
    anchor: Option<&'static str>,
    size: f32,
    bold: bool,
    colour: Rgb,
    upwards: bool,
    words: String,
}

impl Text {
    /// Regular weight, with the left end at `at`.
    pub fn new(at: Point, size: f32, colour: Rgb, words: impl Into<String>) -> Self {
        Self { at, anchor: None, size, bold: false, colour, upwards: false, words: words.into() }
    }

    #[must_use]
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// With the middle at `at`.
    #[must_use]
    pub fn middle(self) -> Self {
        Self { anchor: Some("middle"), ..self }
    }

    /// With the right end at `at`.
    #[must_use]
    pub fn end(self) -> Self {
        Self { anchor: Some("end"), ..self }
    }

    /// Rotated by 90 degrees to be read upwards.
    #[must_use]
    pub fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }
}

#[derive(Debug)]
pub struct Picture {
    width: u16,
    height: u16,
    // Without the closing tag.
    svg: String,
}

impl Picture {
    /// Pixels of the PNG per CSS pixel: sharp on a projector.
    const SCALE: u8 = 2;

    /// Screen readers announce the title and read the description.
    pub fn new(width: u16, height: u16, title: &str, description: &str) -> Self {
        let (title, description) = (escape(title), escape(description));
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title description\" font-family=\"{FAMILY}\">\n\
             <title id=\"title\">{title}</title>\n\
             <desc id=\"description\">{description}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        Self { width, height, svg }
    }

    /// Shows the title, and lines of smaller text below.
    ///
    /// # Errors
    /// If the width of the title cannot be computed.
    pub fn headed((width, height): (u16, u16), title: &str, description: &str, lines: &[&str]) -> anyhow::Result<Self> {
        let mut picture = Self::new(width, height, title, description);
        // A title can be as long as a file name.
        let size = (28.0 * (f32::from(width) - 2.0 * MARGIN) / text_width(title, 28.0, true)?).min(28.0);
        picture.text(Text::new((MARGIN, 56.0), size, INK, title).bold());
        for (line, y) in lines.iter().zip([86.0, 109.0]) {
            picture.text(Text::new((MARGIN, y), 17.0, GREY, *line));
        }
        Ok(picture)
    }

    /// Left, top, width and height. The line of the pen is centred on the edge.
    pub fn rectangle(&mut self, place: [f32; 4], radius: f32, fill: Option<Rgb>, pen: Option<Pen>) {
        let [x, y, width, height] = place.map(number);
        let radius = number(radius);
        self.add(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\""));
        self.paint(fill, pen);
    }

    pub fn line(&mut self, points: &[Point], pen: Pen) {
        self.add(format_args!("<polyline points=\"{}\"", list(points)));
        self.paint(None, Some(pen));
    }

    pub fn polygon(&mut self, points: &[Point], fill: Rgb, pen: Pen) {
        self.add(format_args!("<polygon points=\"{}\"", list(points)));
        self.paint(Some(fill), Some(pen));
    }

    pub fn circle(&mut self, (x, y): Point, radius: f32, fill: Rgb) {
        let [x, y, radius] = [x, y, radius].map(number);
        self.add(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\""));
        self.paint(Some(fill), None);
    }

    pub fn text(&mut self, text: Text) {
        let Text { at: (x, y), anchor, size, bold, colour, upwards, words } = text;
        let [x, y, size] = [x, y, size].map(number);
        let colour = hexadecimal(colour);
        self.add(format_args!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\""));
        if let Some(anchor) = anchor {
            self.add(format_args!(" text-anchor=\"{anchor}\""));
        }
        if bold {
            self.svg += " font-weight=\"bold\"";
        }
        if upwards {
            self.add(format_args!(" transform=\"rotate(-90 {x} {y})\""));
        }
        self.add(format_args!(">{}</text>\n", escape(&words)));
    }

    /// The CSS class is for programs that read the SVG.
    pub fn group(&mut self, class: &str, says: &str, draw: impl FnOnce(&mut Self)) {
        self.add(format_args!("<g class=\"{class}\"><title>{}</title>\n", escape(says)));
        draw(self);
        self.svg += "</g>\n";
    }

    pub fn to_svg(&self) -> String {
        format!("{}</svg>\n", self.svg)
    }

    pub fn to_png(&self) -> anyhow::Result<Vec<u8>> {
        png::write(self)
    }

    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.svg.write_fmt(text);
    }

    fn paint(&mut self, fill: Option<Rgb>, pen: Option<Pen>) {
        self.add(format_args!(" fill=\"{}\"", fill.map_or_else(|| "none".to_owned(), hexadecimal)));
        if let Some(Pen { colour, width, opacity, dashes }) = pen {
            let (colour, width) = (hexadecimal(colour), number(width));
            self.add(format_args!(" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\""));
            if opacity < 1.0 {
                self.add(format_args!(" stroke-opacity=\"{}\"", number(opacity)));
            }
            if !dashes.is_empty() {
                let dashes: Vec<String> = dashes.iter().copied().map(number).collect();
                self.add(format_args!(" stroke-dasharray=\"{}\"", dashes.join(" ")));
            }
        }
        self.svg += "/>\n";
    }
}

fn list(points: &[Point]) -> String {
    let points: Vec<String> = points.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect();
    points.join(" ")
}

fn hexadecimal(Rgb(red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

// At most two decimal places, which is finer than any screen.
fn number(length: f32) -> String {
    let text = format!("{length:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Renders a square SVG as a PNG with this width.
pub fn icon(svg: &str, pixels: u16) -> anyhow::Result<Vec<u8>> {
    png::square(svg, pixels)
}

/// For XML and HTML, also in quotation marks. Characters that XML does not allow become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            // These would reverse the text behind a name.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                escaped.push('\u{fffd}');
            }
            plain => escaped.push(plain),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_becomes_these_elements() {
        let black = Rgb(0, 0, 0);
        let mut picture = Picture::new(100, 50, "T", "D");
        picture.group("cell", "a < b & \"c\"\u{1}", |picture| {
            picture.rectangle([1.0, 2.5, 30.0, 40.126], 3.0, Some(Rgb(255, 128, 1)), None);
        });
        let pen = Pen { opacity: 0.5, dashes: &[4.0, 2.0], ..Pen::new(black, 1.5) };
        picture.line(&[(0.0, -0.001), (10.0, 20.0)], pen);
        picture.circle((5.0, 6.0), 2.0, black);
        picture.text(Text::new((7.0, 8.0), 14.0, black, "16 & more").middle().bold().upwards());
        let expected = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\" viewBox=\"0 0 100 50\" \
             role=\"img\" aria-labelledby=\"title description\" font-family=\"Roboto, 'Helvetica Neue', Arial, \
             'Liberation Sans', sans-serif\">\n\
             <title id=\"title\">T</title>\n\
             <desc id=\"description\">D</desc>\n\
             <rect width=\"100\" height=\"50\" fill=\"#ffffff\"/>\n\
             <g class=\"cell\"><title>a &lt; b &amp; &quot;c&quot;\u{fffd}</title>\n\
             <rect x=\"1\" y=\"2.5\" width=\"30\" height=\"40.13\" rx=\"3\" fill=\"#ff8001\"/>\n\
             </g>\n\
             <polyline points=\"0,0 10,20\" fill=\"none\" stroke=\"#000000\" stroke-width=\"1.5\" \
             stroke-linejoin=\"round\" stroke-opacity=\"0.5\" stroke-dasharray=\"4 2\"/>\n\
             <circle cx=\"5\" cy=\"6\" r=\"2\" fill=\"#000000\"/>\n\
             <text x=\"7\" y=\"8\" font-size=\"14\" fill=\"#000000\" text-anchor=\"middle\" font-weight=\"bold\" \
             transform=\"rotate(-90 7 8)\">16 &amp; more</text>\n\
             </svg>\n";
        assert_eq!(picture.to_svg(), expected);
    }
}
