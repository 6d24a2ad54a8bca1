//! Colours, and whether to use them, from the environment as `anstyle-query` (also in clap) reads it.

use std::env;

use ratatui::style::{Color, Modifier, Style};

/// A 24-bit colour, and the nearest of the terminal's own sixteen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shade(pub Color, pub Color);

impl From<Color> for Shade {
    fn from(own: Color) -> Self {
        Self(own, own)
    }
}

/// In the order of seats. None is red or orange, the colours of danger.
pub const PLAYERS: [Shade; 8] = [
    Shade(Color::Rgb(255, 200, 60), Color::LightYellow),
    Shade(Color::Rgb(47, 155, 255), Color::LightBlue),
    Shade(Color::Rgb(53, 194, 106), Color::LightGreen),
    Shade(Color::Rgb(190, 130, 255), Color::LightMagenta),
    Shade(Color::Rgb(70, 215, 225), Color::LightCyan),
    Shade(Color::Rgb(255, 138, 209), Color::Magenta),
    Shade(Color::Rgb(160, 180, 60), Color::Green),
    Shade(Color::Rgb(60, 150, 150), Color::Cyan),
];

/// Colour is never the only cue: each style also has a modifier or a character, which remains without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    depth: Depth,
}

impl Palette {
    pub const COLOUR: Self = Self { depth: Depth::Sixteen };
    pub const MONO: Self = Self { depth: Depth::None };

    /// No colour if `NO_COLOR` has any value, or if the terminal has no colours.
    pub fn from_environment() -> Self {
        Self { depth: Depth::from_environment() }
    }

    pub const fn new(depth: Depth) -> Self {
        Self { depth }
    }

    /// `None` without colours.
    pub fn colour(self, shade: impl Into<Shade>) -> Option<Color> {
        self.depth.pick(shade.into())
    }

    /// Only `modifier` without colours.
    pub fn style(self, colour: impl Into<Shade>, modifier: Modifier) -> Style {
        Style { fg: self.colour(colour), ..Style::new() }.add_modifier(modifier)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    None,
    /// Users can configure these.
    Sixteen,
    Indexed,
    True,
}

impl Depth {
    /// No colours if `NO_COLOR` has any value, 24 bits if `COLORTERM` is `truecolor` or `24bit` or `TERM` ends in
    /// `-direct`, 256 colours if `TERM` contains `256color`, no colours for monochrome terminals, and sixteen
    /// otherwise.
    pub fn from_environment() -> Self {
        let term = env::var("TERM").unwrap_or_default();
        let colour = !anstyle_query::no_color() && anstyle_query::term_supports_color();
        Self::from_settings(colour, anstyle_query::truecolor(), &term)
    }

    fn from_settings(colour: bool, truecolor: bool, term: &str) -> Self {
        match colour {
            false => Self::None,
            _ if truecolor || term.ends_with("-direct") => Self::True,
            _ if term.contains("256color") => Self::Indexed,
            _ if MONOCHROME.contains(&term) || term.ends_with("-mono") || term.ends_with("-m") => Self::None,
            _ => Self::Sixteen,
        }
    }

    /// The nearest colour of the terminal; `None` without colours.
    pub fn pick(self, Shade(full, own): Shade) -> Option<Color> {
        match self {
            Self::None => None,
            Self::Sixteen => Some(own),
            Self::Indexed | Self::True => Some(self.nearest(full)),
        }
    }

    // Maps a 24-bit colour to the nearest of 256. Other colours are unchanged.
    fn nearest(self, colour: Color) -> Color {
        match (self, colour) {
            (Self::Indexed, Color::Rgb(red, green, blue)) => Color::Indexed(nearest_indexed([red, green, blue])),
            _ => colour,
        }
    }
}

/// Other monochrome terminals have names that end in `-m` or `-mono`.
const MONOCHROME: [&str; 4] = ["vt52", "vt100", "vt102", "vt220"];

/// The levels of each colour in the 6 x 6 x 6 cube, which begins at number 16.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The nearest of xterm's 256 in the cube, or in the 24 greys behind it. Users can change the sixteen colours before
/// it.
fn nearest_indexed(rgb: [u8; 3]) -> u8 {
    let cube = (0..216)
        .map(|index: u8| (16 + index, [index / 36, index / 6 % 6, index % 6].map(|at| LEVELS[usize::from(at)])));
    let greys = (0..24).map(|index: u8| (232 + index, [8 + 10 * index; 3]));
    let distance = |colour: [u8; 3]| -> u32 {
        rgb.iter().zip(colour).map(|(&one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
    };
    cube.chain(greys).min_by_key(|&(_, colour)| distance(colour)).map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_follows_the_environment() {
        let depth = |truecolor, term| Depth::from_settings(true, truecolor, term);
        assert_eq!(depth(true, "xterm"), Depth::True);
        assert_eq!(depth(false, "xterm-direct"), Depth::True);
        assert_eq!(depth(false, "screen-256color-bce"), Depth::Indexed);
        assert_eq!(depth(false, "linux"), Depth::Sixteen);
        for term in ["vt100", "vt220", "linux-m", "xterm-mono"] {
            assert_eq!(depth(false, term), Depth::None, "{term}");
        }
        assert_eq!(Depth::from_settings(false, true, "xterm"), Depth::None);
    }

    #[test]
    fn colours_of_24_bits_become_the_nearest_of_256() {
        let nearest = |red, green, blue| Depth::Indexed.nearest(Color::Rgb(red, green, blue));
        assert_eq!(nearest(0, 0, 0), Color::Indexed(16));
        assert_eq!(nearest(255, 255, 255), Color::Indexed(231));
        assert_eq!(nearest(255, 0, 0), Color::Indexed(196));
        assert_eq!(nearest(96, 94, 170), Color::Indexed(16 + 36 + 6 + 3));
        assert_eq!(nearest(129, 127, 128), Color::Indexed(244));
        assert_eq!(Depth::Indexed.nearest(Color::Red), Color::Red);
        assert_eq!(Depth::True.nearest(Color::Rgb(1, 2, 3)), Color::Rgb(1, 2, 3));
        let pick = |depth: Depth| depth.pick(Shade(Color::Rgb(0, 0, 0), Color::Black));
        assert_eq!(
            [Depth::None, Depth::Sixteen, Depth::Indexed].map(pick),
            [None, Some(Color::Black), Some(Color::Indexed(16))]
        );
    }

    #[test]
    fn without_colour_the_modifier_remains() {
        let style = Palette::MONO.style(Color::Red, Modifier::BOLD);
        assert_eq!(style, Style::new().add_modifier(Modifier::BOLD));
        assert_eq!(Palette::COLOUR.style(Color::Red, Modifier::BOLD), style.fg(Color::Red));
    }
}
