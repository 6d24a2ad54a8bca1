//! The typeface of the pictures: Roboto, as much of it as charts need. See `fonts/README.md`.

use thiserror::Error;
use ttf_parser::{Face, GlyphId, OutlineBuilder};
use zeno::{Command, Point};

use super::{Anchor, Text};

const REGULAR: &[u8] = include_bytes!("../../fonts/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/Roboto-Bold.ttf");

/// The typeface that is part of the program cannot be read, which a test rules out.
#[derive(Debug, Clone, Copy, Error)]
#[error("cannot read the built-in typeface: {0}")]
pub struct FontError(ttf_parser::FaceParsingError);

/// Letters, thin and thick.
#[derive(Debug, Clone)]
pub struct Fonts {
    regular: Face<'static>,
    bold: Face<'static>,
}

impl Fonts {
    /// The letters that are part of the program.
    ///
    /// # Errors
    /// [`FontError`], which does not come.
    pub fn new() -> Result<Self, FontError> {
        let face = |bytes| Face::parse(bytes, 0).map_err(FontError);
        Ok(Self { regular: face(REGULAR)?, bold: face(BOLD)? })
    }

    fn face(&self, bold: bool) -> &Face<'static> {
        if bold { &self.bold } else { &self.regular }
    }

    /// How wide a text is, in letters of this size.
    pub fn width(&self, text: &str, size: f32, bold: bool) -> f32 {
        let face = self.face(bold);
        text.chars().map(|letter| advance(face, glyph(face, letter))).sum::<f32>() * scale(face, size)
    }

    /// The outlines of a text, in the coordinates of the picture.
    pub(super) fn outline(&self, text: &Text) -> Vec<Command> {
        let face = self.face(text.bold);
        let width = self.width(&text.text, text.size, text.bold);
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let mut outline = Outline {
            commands: vec![],
            at: text.at,
            scale: scale(face, text.size),
            along: -before,
            upwards: text.upwards,
        };
        for letter in text.text.chars() {
            let glyph = glyph(face, letter);
            // A space has no outline.
            let _ = face.outline_glyph(glyph, &mut outline);
            outline.along += advance(face, glyph) * outline.scale;
        }
        outline.commands
    }
}

// What the typeface does not have is shown as its box.
fn glyph(face: &Face<'_>, letter: char) -> GlyphId {
    face.glyph_index(letter).unwrap_or(GlyphId(0))
}

fn advance(face: &Face<'_>, glyph: GlyphId) -> f32 {
    f32::from(face.glyph_hor_advance(glyph).unwrap_or_default())
}

fn scale(face: &Face<'_>, size: f32) -> f32 {
    size / f32::from(face.units_per_em())
}

struct Outline {
    commands: Vec<Command>,
    at: (f32, f32),
    scale: f32,
    // How far the text is written.
    along: f32,
    upwards: bool,
}

impl Outline {
    // Typefaces have their `y` upwards.
    fn point(&self, x: f32, y: f32) -> Point {
        let (along, above) = (self.along + x * self.scale, y * self.scale);
        let (x, y) = self.at;
        if self.upwards { Point::new(x - above, y - along) } else { Point::new(x + along, y - above) }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.commands.push(Command::MoveTo(self.point(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.commands.push(Command::LineTo(self.point(x, y)));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.commands.push(Command::QuadTo(self.point(x1, y1), self.point(x, y)));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.commands.push(Command::CurveTo(self.point(x1, y1), self.point(x2, y2), self.point(x, y)));
    }

    fn close(&mut self) {
        self.commands.push(Command::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typeface_has_every_letter_of_the_charts() {
        let fonts = Fonts::new().unwrap();
        for bold in [false, true] {
            for letter in (' '..='~').chain("\u{2212}\u{2013}\u{b1}\u{b7}\u{d7}\u{2265}\u{2026}".chars()) {
                assert!(fonts.face(bold).glyph_index(letter).is_some(), "{letter:?}");
            }
            assert!(fonts.width("WWW", 10.0, bold) > fonts.width("iii", 10.0, bold) + 10.0);
        }
        assert!(fonts.width("exact", 10.0, true) > fonts.width("exact", 10.0, false));
    }
}
