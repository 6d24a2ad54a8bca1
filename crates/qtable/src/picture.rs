//! Pictures that are drawn once and written as SVG and as PNG.
//!
//! A [`Picture`] is a list of a few kinds of shapes, the few that charts are made of. Lengths are CSS pixels, `x` to the
//! right and `y` down from the upper left corner. In SVG letters stay letters, so that they can be searched and read
//! aloud; in PNG they are drawn with a typeface that is part of the program, so that no machine needs any.

mod font;
mod png;
mod svg;

pub use font::{FontError, Fonts};
use thiserror::Error;

/// A colour: red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// What pictures are drawn on.
pub const WHITE: Rgb = Rgb(255, 255, 255);
/// What most of a picture's text is written in.
pub const INK: Rgb = Rgb(34, 34, 34);
/// What is said beside it.
pub const GREY: Rgb = Rgb(85, 85, 85);

/// Where a text has its `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// At its left end.
    Start,
    /// In its middle.
    Middle,
    /// At its right end.
    End,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pen {
    /// Its colour.
    pub colour: Rgb,
    /// Its width.
    pub width: f32,
    /// From 0, not to be seen, to 1.
    pub opacity: f32,
    /// Lengths of strokes and gaps by turns; empty for a line without gaps.
    pub dashes: &'static [f32],
}

impl Pen {
    /// A line without gaps that hides what is below it.
    pub const fn new(colour: Rgb, width: f32) -> Self {
        Self { colour, width, opacity: 1.0, dashes: &[] }
    }
}

/// A text on one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// Where it is, the base line for `y`.
    pub at: (f32, f32),
    /// Where it has its `x`.
    pub anchor: Anchor,
    /// Size of the letters.
    pub size: f32,
    /// Whether the letters are thick.
    pub bold: bool,
    /// Colour of the letters.
    pub colour: Rgb,
    /// Whether it is read from below to above.
    pub upwards: bool,
    /// What it says.
    pub text: String,
}

impl Text {
    /// Thin letters whose left end is at `at`.
    pub fn new(at: (f32, f32), size: f32, colour: Rgb, text: impl Into<String>) -> Self {
        Self { at, anchor: Anchor::Start, size, bold: false, colour, upwards: false, text: text.into() }
    }

    /// The same with thick letters.
    #[must_use]
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same with its `x` elsewhere.
    #[must_use]
    pub fn anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The same, read from below to above.
    #[must_use]
    pub fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }
}

/// What a picture is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A rectangle, by its left, top, width and height, with rounded corners.
    Rectangle {
        /// Left, top, width, height.
        place: [f32; 4],
        /// Radius of the corners.
        radius: f32,
        /// What it is filled with.
        fill: Option<Rgb>,
        /// What it is framed with; the frame's middle is the edge.
        pen: Option<Pen>,
    },
    /// A line from point to point, or an area between them.
    Path {
        /// The points.
        points: Vec<(f32, f32)>,
        /// What it is filled with; the last point is joined to the first then.
        fill: Option<Rgb>,
        /// What it is drawn with.
        pen: Option<Pen>,
    },
    /// A full circle.
    Circle {
        /// Its middle.
        at: (f32, f32),
        /// Its radius.
        radius: f32,
        /// What it is filled with.
        fill: Rgb,
    },
    /// A text.
    Text(Text),
    /// Shapes that belong together.
    Group {
        /// What kind of thing it is: a word for programs that read the SVG.
        class: &'static str,
        /// What is said when one points at it.
        says: String,
        /// What is in it.
        shapes: Vec<Shape>,
    },
}

impl From<Text> for Shape {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

/// A picture on white.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Width in CSS pixels.
    pub width: u16,
    /// Height in CSS pixels.
    pub height: u16,
    /// What it is called by programs that read aloud.
    pub title: String,
    /// What can be seen in it, for those who cannot see it.
    pub description: String,
    /// What is drawn, what comes later above what came before.
    pub shapes: Vec<Shape>,
}

/// What does not go wrong with the typeface and the encoder that are part of the program.
#[derive(Debug, Error)]
pub enum PngError {
    /// The typeface cannot be read.
    #[error(transparent)]
    Font(#[from] FontError),
    /// The encoder fails.
    #[error("cannot write the PNG: {0}")]
    Encoding(#[from] ::png::EncodingError),
}

impl Picture {
    /// Pixels of a PNG for one CSS pixel, to be sharp on a projector.
    pub const SCALE: u8 = 2;

    /// The picture as SVG.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }

    /// The picture as PNG.
    ///
    /// # Errors
    /// [`PngError`], which a picture of a reasonable size does not meet.
    pub fn to_png(&self) -> Result<Vec<u8>, PngError> {
        png::write(self)
    }
}
