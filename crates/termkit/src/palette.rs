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

#[cfg(test)]
mod tests {
    use super::*;

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
