//! Colours, in the four depths of [`Depth`].
//!
//! In true colour, digits are drawn on the original program's colours. Pairs with too little contrast (black on blue,
//! black on purple, white on gray, red on white) are replaced by pairs with at least 4.5 : 1. With fewer colours, the
//! nearest are used; without colours, modifiers and digits carry the information.

use mastermind::Peg;
use ratatui::style::{Color, Modifier, Style};
use termkit::{Depth, Shade};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    Peg(Peg),
    Letter,
    LetterBeyond,
    Cursor,
    Unused,
    Beyond,
    Message,
    Red,
    /// Titles of panels, remarks.
    Quiet,
    Chosen,
    ChosenPlay,
}

const BLACK: Shade = Shade(Color::Rgb(0, 0, 0), Color::Black);
const WHITE: Shade = Shade(Color::Rgb(255, 255, 255), Color::White);
const GRAY: Shade = Shade(Color::Rgb(150, 150, 150), Color::Gray);
const DARK_GRAY: Shade = Shade(Color::Rgb(50, 50, 50), Color::DarkGray);
const RED: Shade = Shade(Color::Rgb(255, 0, 0), Color::LightRed);
/// Brighter reds are unreadable on white.
const DARK_RED: Shade = Shade(Color::Rgb(190, 0, 0), Color::Red);
const YELLOW: Shade = Shade(Color::Rgb(255, 255, 0), Color::LightYellow);
const BLUE: Shade = Shade(Color::Rgb(0, 0, 255), Color::Blue);
const GREEN: Shade = Shade(Color::Rgb(0, 255, 0), Color::LightGreen);
const PURPLE: Shade = Shade(Color::Rgb(170, 0, 255), Color::Magenta);
const ORANGE: Shade = Shade(Color::Rgb(255, 170, 0), Color::LightYellow);
/// The nearest colour is yellow on some terminals, and elsewhere a brown that is too dark to read.
const ORANGE_PEG: Shade = Shade(ORANGE.0, Color::Cyan);

/// The background and the digit.
const PEGS: [(Shade, Shade); 8] = [
    (WHITE, BLACK),
    (BLACK, WHITE),
    (RED, BLACK),
    (YELLOW, BLACK),
    (BLUE, WHITE),
    (GREEN, BLACK),
    (PURPLE, WHITE),
    (ORANGE_PEG, BLACK),
];

const NAMES: [&str; 8] = ["white", "black", "red", "yellow", "blue", "green", "purple", "orange"];

/// With sixteen colours, the last peg has another colour.
pub(super) const fn name(depth: Depth, peg: Peg) -> &'static str {
    match (depth, peg.index()) {
        (Depth::Sixteen, 7) => "cyan",
        (_, index) => NAMES[index],
    }
}

pub(super) fn style(depth: Depth, role: Role) -> Style {
    let (background, foreground) = colours(role);
    Style { bg: depth.pick(background), fg: depth.pick(foreground), ..Style::new() }.add_modifier(modifier(role, depth))
}

/// The background and the text.
const fn colours(role: Role) -> (Shade, Shade) {
    match role {
        Role::Plain => (BLACK, WHITE),
        Role::Peg(peg) => PEGS[peg.index()],
        Role::Letter | Role::Cursor => (GRAY, BLACK),
        Role::LetterBeyond => (GRAY, DARK_GRAY),
        Role::Unused => (DARK_GRAY, BLACK),
        Role::Beyond => (BLACK, DARK_GRAY),
        Role::Message => (BLACK, ORANGE),
        Role::Red => (BLACK, RED),
        Role::Quiet => (BLACK, GRAY),
        Role::Chosen => (WHITE, BLACK),
        Role::ChosenPlay => (WHITE, DARK_RED),
    }
}

fn modifier(role: Role, depth: Depth) -> Modifier {
    let bold = Modifier::BOLD;
    match (role, depth) {
        (Role::Letter | Role::LetterBeyond, Depth::None) => Modifier::UNDERLINED,
        (Role::Cursor | Role::Chosen, Depth::None) => Modifier::REVERSED,
        (Role::ChosenPlay, Depth::None) => Modifier::REVERSED | bold,
        // With sixteen colours, many terminals change the colour of bold text.
        (Role::Peg(_) | Role::ChosenPlay, Depth::Indexed | Depth::True) | (Role::Peg(_) | Role::Red, Depth::None) => {
            bold
        }
        (Role::Unused | Role::Beyond | Role::Quiet, Depth::None) => Modifier::DIM,
        _ => Modifier::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On xterm, and on the Linux console.
    const OWN: [(Color, [u8; 3], [u8; 3]); 11] = [
        (Color::Black, [0, 0, 0], [0, 0, 0]),
        (Color::Red, [205, 0, 0], [170, 0, 0]),
        (Color::Blue, [0, 0, 238], [0, 0, 170]),
        (Color::Magenta, [205, 0, 205], [170, 0, 170]),
        (Color::Cyan, [0, 205, 205], [0, 170, 170]),
        (Color::Gray, [229, 229, 229], [170, 170, 170]),
        (Color::DarkGray, [127, 127, 127], [85, 85, 85]),
        (Color::LightRed, [255, 0, 0], [255, 85, 85]),
        (Color::LightGreen, [0, 255, 0], [85, 255, 85]),
        (Color::LightYellow, [255, 255, 0], [255, 255, 85]),
        (Color::White, [255, 255, 255], [255, 255, 255]),
    ];

    fn roles() -> impl Iterator<Item = Role> {
        let rest = [
            Role::Plain,
            Role::Letter,
            Role::LetterBeyond,
            Role::Cursor,
            Role::Unused,
            Role::Beyond,
            Role::Message,
            Role::Red,
            Role::Quiet,
            Role::Chosen,
            Role::ChosenPlay,
        ];
        (0..8).filter_map(Peg::new).map(Role::Peg).chain(rest)
    }

    /// As in the web's accessibility guidelines (WCAG 2).
    fn luminance(color: Color, xterm: bool) -> f64 {
        let [red, green, blue] = match color {
            Color::Rgb(red, green, blue) => [red, green, blue],
            own => OWN.iter().find(|(name, ..)| *name == own).map(|row| if xterm { row.1 } else { row.2 }).unwrap(),
        }
        .map(|component| {
            let share = f64::from(component) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(one: Color, other: Color, xterm: bool) -> f64 {
        let [one, other] = [one, other].map(|color| luminance(color, xterm));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn contrasts_match_published_values() {
        for (foreground, background, expected) in [
            (BLACK, WHITE, 21.0),
            // Unreadable in the original.
            (BLACK, BLUE, 2.44),
            (BLACK, PURPLE, 4.15),
            (WHITE, GRAY, 2.96),
            (RED, WHITE, 4.0),
        ] {
            assert!((contrast(foreground.0, background.0, true) - expected).abs() < 0.01, "{expected}");
        }
    }

    #[test]
    fn text_has_enough_contrast() {
        // Unused places carry no information.
        let is_read = |role: &Role| !matches!(role, Role::Unused | Role::Beyond | Role::LetterBeyond);
        for (depth, xterm) in [(Depth::True, false), (Depth::Sixteen, false), (Depth::Sixteen, true)] {
            for role in roles().filter(is_read) {
                let style = style(depth, role);
                let contrast = contrast(style.fg.unwrap(), style.bg.unwrap(), xterm);
                assert!(contrast >= 4.5, "{role:?} in {depth:?}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn colours_differ_and_are_absent_without_colour() {
        for depth in [Depth::True, Depth::Indexed, Depth::Sixteen] {
            let backgrounds: Vec<_> = (0..8).filter_map(Peg::new).map(|peg| style(depth, Role::Peg(peg)).bg).collect();
            for (index, background) in backgrounds.iter().enumerate() {
                assert!(!backgrounds[..index].contains(background), "{depth:?} {index}");
            }
        }
        let mono = |role| style(Depth::None, role);
        assert!(roles().all(|role| mono(role).fg.is_none() && mono(role).bg.is_none()));
        assert!(mono(Role::Chosen).add_modifier.contains(Modifier::REVERSED));
        assert!(mono(Role::Cursor).add_modifier.contains(Modifier::REVERSED));
    }
}
