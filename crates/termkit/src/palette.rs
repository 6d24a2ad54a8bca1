//! Colours, and whether they are used, by the environment as `anstyle-query` reads it, which clap uses too.

use std::env;

use ratatui::style::{Color, Modifier, Style};

/// Colour is never the only cue: each style also has a modifier, which remains without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    colour: bool,
}

impl Palette {
    pub const COLOUR: Self = Self { colour: true };
    pub const MONO: Self = Self { colour: false };

    /// No colour if `NO_COLOR` is set to any value, or if the terminal has no colours.
    pub fn from_environment() -> Self {
        Self { colour: !anstyle_query::no_color() && anstyle_query::term_supports_color() }
    }

    /// A style of `colour` and `modifier`, or of `modifier` alone.
    pub fn style(self, colour: Color, modifier: Modifier) -> Style {
        let style = Style::new().add_modifier(modifier);
        if self.colour { style.fg(colour) } else { style }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The terminal has no colours, or the user disabled them.
    None,
    /// The user of the terminal can configure these.
    Sixteen,
    Indexed,
    True,
}

impl Depth {
    /// No colours as in [`Palette::from_environment`], 24 bits if `COLORTERM` is `truecolor` or `24bit` or `TERM`
    /// ends in `-direct`, 256 colours if `TERM` contains `256color`, no colours for monochrome terminals, and sixteen
    /// otherwise.
    pub fn from_environment() -> Self {
        let term = env::var("TERM").unwrap_or_default();
        Self::from_settings(Palette::from_environment(), anstyle_query::truecolor(), &term)
    }

    fn from_settings(palette: Palette, truecolor: bool, term: &str) -> Self {
        match palette {
            Palette::MONO => Self::None,
            _ if truecolor || term.ends_with("-direct") => Self::True,
            _ if term.contains("256color") => Self::Indexed,
            _ if MONOCHROME.contains(&term) || term.ends_with("-mono") || term.ends_with("-m") => Self::None,
            _ => Self::Sixteen,
        }
    }

    /// With 256 colours, a colour of 24 bits becomes the nearest of them; other colours are returned unchanged.
    pub fn nearest(self, colour: Color) -> Color {
        match (self, colour) {
            (Self::Indexed, Color::Rgb(red, green, blue)) => Color::Indexed(nearest_indexed([red, green, blue])),
            _ => colour,
        }
    }
}

/// The names of other monochrome terminals end in `-m` or `-mono`.
const MONOCHROME: [&str; 4] = ["vt52", "vt100", "vt102", "vt220"];

/// The levels of each colour in the cube of 6 x 6 x 6 colours that begins at number 16.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The nearest of xterm's 256: in the cube, or in the ramp of 24 greys behind it. Terminals let users change the
/// sixteen colours before the cube.
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
        let depth = |truecolor, term| Depth::from_settings(Palette::COLOUR, truecolor, term);
        assert_eq!(depth(true, "xterm"), Depth::True);
        assert_eq!(depth(false, "xterm-direct"), Depth::True);
        assert_eq!(depth(false, "screen-256color-bce"), Depth::Indexed);
        assert_eq!(depth(false, "linux"), Depth::Sixteen);
        for term in ["vt100", "vt220", "linux-m", "xterm-mono"] {
            assert_eq!(depth(false, term), Depth::None, "{term}");
        }
        assert_eq!(Depth::from_settings(Palette::MONO, true, "xterm"), Depth::None);
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
    }

    #[test]
    fn without_colour_the_modifier_remains() {
        let style = Palette::MONO.style(Color::Red, Modifier::BOLD);
        assert_eq!(style, Style::new().add_modifier(Modifier::BOLD));
        assert_eq!(Palette::COLOUR.style(Color::Red, Modifier::BOLD), style.fg(Color::Red));
    }
}
