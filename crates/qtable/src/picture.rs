//! Pictures that are written as SVG, and rendered from that as PNG.
//!
//! A [`Picture`] is a list of the few kinds of shapes that charts are made of. Lengths are CSS pixels, `x` to the right and `y`
//! down from the upper left corner. Text in the SVG is text, so that it can be searched and read aloud. The PNG is rendered by
//! `resvg` with a typeface that is part of the program, so it looks the same on every machine.

mod png;
mod svg;

pub(crate) use png::{RenderError, text_width};

/// A colour: red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// The background.
pub(crate) const WHITE: Rgb = Rgb(255, 255, 255);
/// The colour of most text.
pub(crate) const INK: Rgb = Rgb(34, 34, 34);
/// The colour of secondary text.
pub(crate) const GREY: Rgb = Rgb(85, 85, 85);

/// Which point of a text its `x` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pen {
    /// Its colour.
    pub(crate) colour: Rgb,
    /// Its width.
    pub(crate) width: f32,
    /// From 0, invisible, to 1.
    pub(crate) opacity: f32,
    /// Lengths of dashes and gaps in turn; empty for a solid line.
    pub(crate) dashes: &'static [f32],
}

impl Pen {
    /// A solid and opaque line.
    pub(crate) const fn new(colour: Rgb, width: f32) -> Self {
        Self { colour, width, opacity: 1.0, dashes: &[] }
    }
}

/// A text on one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    /// Where it is, the base line for `y`.
    pub(crate) at: (f32, f32),
    /// Which point of it `x` is.
    pub(crate) anchor: Anchor,
    /// Size of the letters.
    pub(crate) size: f32,
    /// Whether the letters are thick.
    pub(crate) bold: bool,
    /// Colour of the letters.
    pub(crate) colour: Rgb,
    /// Whether it is turned by 90 degrees to be read upwards.
    pub(crate) upwards: bool,
    /// What they say.
    pub(crate) words: String,
}

impl Text {
    /// Thin letters whose left end is at `at`.
    pub(crate) fn new(at: (f32, f32), size: f32, colour: Rgb, words: impl Into<String>) -> Self {
        Self { at, anchor: Anchor::Start, size, bold: false, colour, upwards: false, words: words.into() }
    }

    /// The same with thick letters.
    #[must_use]
    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same with `x` as another point of it.
    #[must_use]
    pub(crate) fn anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The same, read from below to above.
    #[must_use]
    pub(crate) fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }
}

/// What a picture is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A rectangle, by its left, top, width and height, with rounded corners.
    Rectangle {
        /// Left, top, width, height.
        place: [f32; 4],
        /// Radius of the corners.
        radius: f32,
        /// The colour of its area.
        fill: Option<Rgb>,
        /// The line around it, centred on the edge.
        pen: Option<Pen>,
    },
    /// A line from point to point, or an area between them.
    Path {
        /// The points.
        points: Vec<(f32, f32)>,
        /// The colour of the area; the last point is then joined to the first.
        fill: Option<Rgb>,
        /// The line.
        pen: Option<Pen>,
    },
    /// A full circle.
    Circle {
        /// Its middle.
        at: (f32, f32),
        /// Its radius.
        radius: f32,
        /// The colour of its area.
        fill: Rgb,
    },
    /// A text.
    Text(Text),
    /// Shapes that belong together, with a tooltip.
    Group {
        /// The CSS class, for programs that read the SVG.
        class: &'static str,
        /// The tooltip.
        says: String,
        /// The shapes.
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
pub(crate) struct Picture {
    /// Width in CSS pixels.
    pub(crate) width: u16,
    /// Height in CSS pixels.
    pub(crate) height: u16,
    /// The title, as screen readers announce it.
    pub(crate) title: String,
    /// A description for those who cannot see it.
    pub(crate) description: String,
    /// The shapes, from the bottom to the top.
    pub(crate) shapes: Vec<Shape>,
}

impl Picture {
    /// Pixels of the PNG for one CSS pixel, so that it is sharp on a projector.
    pub(crate) const SCALE: u8 = 2;

    /// The picture as SVG.
    pub(crate) fn to_svg(&self) -> String {
        svg::write(self)
    }

    /// The picture as PNG.
    ///
    /// # Errors
    /// [`RenderError`], which a picture of a reasonable size does not meet.
    pub(crate) fn to_png(&self) -> Result<Vec<u8>, RenderError> {
        png::write(self)
    }
}
