//! Whether and how colour is used.

use std::env;

use ratatui::style::{Color, Modifier, Style};

/// Makes styles, with or without colour.
///
/// Colour is never the only cue: whoever asks for a style names a modifier too, and the modifier is what remains when
/// there is no colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    colour: bool,
}

impl Palette {
    /// Colours and modifiers.
    pub const COLOUR: Self = Self { colour: true };
    /// Modifiers only.
    pub const MONO: Self = Self { colour: false };

    /// What the environment asks for: no colour if `NO_COLOR` is set to anything or the terminal is a dumb one.
    pub fn from_environment() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        Self::from_settings(set("NO_COLOR").is_some(), set("TERM").is_some_and(|term| term == "dumb"))
    }

    const fn from_settings(no_color: bool, dumb: bool) -> Self {
        Self { colour: !no_color && !dumb }
    }

    /// The style of `colour` and `modifier`, or of `modifier` alone.
    pub fn style(self, colour: Color, modifier: Modifier) -> Style {
        let style = Style::new().add_modifier(modifier);
        if self.colour { style.fg(colour) } else { style }
    }
}

/// How many colours a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// None, or the user wants none.
    None,
    /// Sixteen, of which the terminal decides how they look.
    Sixteen,
    /// All there are.
    True,
}

impl Depth {
    /// What the environment says: as for [`Palette::from_environment`], and all colours if `COLORTERM` is `truecolor` or
    /// `24bit` or `TERM` ends in `-direct`.
    pub fn from_environment() -> Self {
        let set = |name| env::var_os(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
        Self::from_settings(Palette::from_environment(), &set("COLORTERM"), &set("TERM"))
    }

    fn from_settings(palette: Palette, colorterm: &str, term: &str) -> Self {
        match palette {
            Palette::MONO => Self::None,
            _ if matches!(colorterm, "truecolor" | "24bit") || term.ends_with("-direct") => Self::True,
            _ => Self::Sixteen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_say_how_many_colours_they_have() {
        let depth = |colorterm, term| Depth::from_settings(Palette::COLOUR, colorterm, term);
        assert_eq!(depth("truecolor", "xterm"), Depth::True);
        assert_eq!(depth("24bit", ""), Depth::True);
        assert_eq!(depth("", "xterm-direct"), Depth::True);
        assert_eq!(depth("", "xterm-256color"), Depth::Sixteen);
        assert_eq!(depth("yes", "linux"), Depth::Sixteen);
        assert_eq!(Depth::from_settings(Palette::MONO, "truecolor", "xterm"), Depth::None);
    }

    #[test]
    fn without_colour_the_modifier_remains() {
        let style = Palette::MONO.style(Color::Red, Modifier::BOLD);
        assert_eq!(style, Style::new().add_modifier(Modifier::BOLD));
        assert_eq!(Palette::COLOUR.style(Color::Red, Modifier::BOLD), style.fg(Color::Red));
    }

    #[test]
    fn no_color_and_a_dumb_terminal_turn_colour_off() {
        assert_eq!(Palette::from_settings(false, false), Palette::COLOUR);
        assert_eq!(Palette::from_settings(true, false), Palette::MONO);
        assert_eq!(Palette::from_settings(false, true), Palette::MONO);
    }
}
