//! Colours, in the four depths of [`Depth`].
//!
//! In true colour, digits stand on the colours of the original program. Pairs with too little contrast (black on blue, black on
//! purple, white on gray, red on white) are replaced by pairs with a contrast of at least 4.5 : 1. With 256 colours
//! the nearest of them are taken. With sixteen colours
//! the nearest of the terminal's own are taken. Without colours modifiers remain, and digits tell the same.

use mastermind::Peg;
use ratatui::style::{Color, Modifier, Style};
use termkit::Depth;

/// The meaning of something on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Text, frames, and everything without a style of its own.
    Plain,
    /// A peg, as its digit.
    Peg(Peg),
    /// A letter of LIFELINE, in the guess or in the history.
    Letter,
    /// A letter of LIFELINE beyond the length of the code.
    LetterBeyond,
    /// The arrows at the cursor.
    Cursor,
    /// A place of the history that is still to be filled.
    Unused,
    /// What is beyond the length of the code.
    Beyond,
    /// A message.
    Message,
    /// The number of red pegs.
    Red,
    /// Secondary text: titles of panels, remarks.
    Quiet,
    /// A choice that the cursor is at.
    Chosen,
    /// The choice to play that the cursor is at.
    ChosenPlay,
}

/// Makes styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    depth: Depth,
}

const fn rgb(red: u8, green: u8, blue: u8) -> Color {
    Color::Rgb(red, green, blue)
}

const BLACK: Color = rgb(0, 0, 0);
const WHITE: Color = rgb(255, 255, 255);
const GRAY: Color = rgb(150, 150, 150);
const DARK_GRAY: Color = rgb(50, 50, 50);
const ORANGE: Color = rgb(255, 170, 0);

/// Background and digit of each colour.
const PEGS: [(Color, Color); 8] = [
    (WHITE, BLACK),
    (BLACK, WHITE),
    (rgb(255, 0, 0), BLACK),
    (rgb(255, 255, 0), BLACK),
    (rgb(0, 0, 255), WHITE),
    (rgb(0, 255, 0), BLACK),
    (rgb(170, 0, 255), WHITE),
    (ORANGE, BLACK),
];
/// The same in the terminal's own colours. None of them is orange everywhere: the nearest is brown on some terminals, which is too
/// dark to be read, and yellow on others. So it is cyan.
const SIXTEEN_PEGS: [(Color, Color); 8] = [
    (Color::White, Color::Black),
    (Color::Black, Color::White),
    (Color::LightRed, Color::Black),
    (Color::LightYellow, Color::Black),
    (Color::Blue, Color::White),
    (Color::LightGreen, Color::Black),
    (Color::Magenta, Color::White),
    (Color::Cyan, Color::Black),
];

impl Look {
    /// Styles of this depth.
    pub const fn new(depth: Depth) -> Self {
        Self { depth }
    }

    /// Whether there are colours.
    pub(crate) fn is_coloured(self) -> bool {
        self.depth != Depth::None
    }

    /// The style of what has this role.
    pub fn style(self, role: Role) -> Style {
        let modifier = modifier(role, self.depth);
        let (background, foreground) = match self.depth {
            Depth::None => return Style::new().add_modifier(modifier),
            Depth::Sixteen => sixteen(role),
            Depth::Indexed | Depth::True => full(role),
        };
        let [background, foreground] = [background, foreground].map(|colour| self.depth.nearest(colour));
        Style::new().bg(background).fg(foreground).add_modifier(modifier)
    }
}

/// Background and text in all colours.
const fn full(role: Role) -> (Color, Color) {
    match role {
        Role::Plain => (BLACK, WHITE),
        Role::Peg(peg) => PEGS[peg.index()],
        Role::Letter | Role::Cursor => (GRAY, BLACK),
        Role::LetterBeyond => (GRAY, DARK_GRAY),
        Role::Unused => (DARK_GRAY, BLACK),
        Role::Beyond => (BLACK, DARK_GRAY),
        Role::Message => (BLACK, ORANGE),
        Role::Red => (BLACK, rgb(255, 0, 0)),
        Role::Quiet => (BLACK, GRAY),
        Role::Chosen => (WHITE, BLACK),
        // Brighter reds on white cannot be read.
        Role::ChosenPlay => (WHITE, rgb(190, 0, 0)),
    }
}

/// Background and text in the terminal's own colours.
const fn sixteen(role: Role) -> (Color, Color) {
    match role {
        Role::Plain => (Color::Black, Color::White),
        Role::Peg(peg) => SIXTEEN_PEGS[peg.index()],
        Role::Letter | Role::Cursor => (Color::Gray, Color::Black),
        Role::LetterBeyond => (Color::Gray, Color::DarkGray),
        Role::Unused => (Color::DarkGray, Color::Black),
        Role::Beyond => (Color::Black, Color::DarkGray),
        Role::Message => (Color::Black, Color::LightYellow),
        Role::Red => (Color::Black, Color::LightRed),
        Role::Quiet => (Color::Black, Color::Gray),
        Role::Chosen => (Color::White, Color::Black),
        Role::ChosenPlay => (Color::White, Color::Red),
    }
}

/// What is seen without colours too.
fn modifier(role: Role, depth: Depth) -> Modifier {
    let bold = Modifier::BOLD;
    match (role, depth) {
        (Role::Letter | Role::LetterBeyond, Depth::None) => Modifier::UNDERLINED,
        (Role::Cursor | Role::Chosen, Depth::None) => Modifier::REVERSED,
        (Role::ChosenPlay, Depth::None) => Modifier::REVERSED | bold,
        // With sixteen colours bold would make many a terminal choose another of them.
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

    /// What the sixteen colours look like on two kinds of terminals.
    const XTERM: [(u8, u8, u8); 16] = [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (0, 0, 238),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ];
    const VGA: [(u8, u8, u8); 16] = [
        (0, 0, 0),
        (170, 0, 0),
        (0, 170, 0),
        (170, 85, 0),
        (0, 0, 170),
        (170, 0, 170),
        (0, 170, 170),
        (170, 170, 170),
        (85, 85, 85),
        (255, 85, 85),
        (85, 255, 85),
        (255, 255, 85),
        (85, 85, 255),
        (255, 85, 255),
        (85, 255, 255),
        (255, 255, 255),
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

    fn components(color: Color, palette: &[(u8, u8, u8); 16]) -> (u8, u8, u8) {
        let names = [
            Color::Black,
            Color::Red,
            Color::Green,
            Color::Yellow,
            Color::Blue,
            Color::Magenta,
            Color::Cyan,
            Color::Gray,
            Color::DarkGray,
            Color::LightRed,
            Color::LightGreen,
            Color::LightYellow,
            Color::LightBlue,
            Color::LightMagenta,
            Color::LightCyan,
            Color::White,
        ];
        match color {
            Color::Rgb(red, green, blue) => (red, green, blue),
            other => palette[names.iter().position(|name| *name == other).unwrap()],
        }
    }

    /// The relative luminance of the web's accessibility guidelines (WCAG 2).
    fn luminance((red, green, blue): (u8, u8, u8)) -> f64 {
        let linear = |component: u8| {
            let share = f64::from(component) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(style: Style, palette: &[(u8, u8, u8); 16]) -> f64 {
        let of = |color: Option<Color>| luminance(components(color.unwrap(), palette));
        let (one, other) = (of(style.fg), of(style.bg));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn contrasts_are_computed_as_everybody_does() {
        let pair = |fg, bg| contrast(Style::new().fg(fg).bg(bg), &VGA);
        assert!((pair(BLACK, WHITE) - 21.0).abs() < 0.01);
        // The pairs that the original had and that could not be read.
        assert!((pair(BLACK, rgb(0, 0, 255)) - 2.44).abs() < 0.01);
        assert!((pair(BLACK, rgb(170, 0, 255)) - 4.15).abs() < 0.01);
        assert!((pair(WHITE, GRAY) - 2.96).abs() < 0.01);
        assert!((pair(rgb(255, 0, 0), WHITE) - 4.0).abs() < 0.01);
    }

    #[test]
    fn whatever_is_read_can_be_read() {
        // Unused places carry no information.
        let is_read = |role: &Role| !matches!(role, Role::Unused | Role::Beyond | Role::LetterBeyond);
        for (depth, palette) in [(Depth::True, &VGA), (Depth::Sixteen, &VGA), (Depth::Sixteen, &XTERM)] {
            for role in roles().filter(is_read) {
                let contrast = contrast(Look::new(depth).style(role), palette);
                assert!(contrast >= 4.5, "{role:?} in {depth:?}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn colours_differ_and_are_absent_without_colour() {
        for depth in [Depth::True, Depth::Indexed, Depth::Sixteen] {
            let backgrounds: Vec<_> =
                (0..8).filter_map(Peg::new).map(|peg| Look::new(depth).style(Role::Peg(peg)).bg).collect();
            for (index, background) in backgrounds.iter().enumerate() {
                assert!(!backgrounds[..index].contains(background), "{depth:?} {index}");
            }
        }
        let look = Look::new(Depth::None);
        assert!(roles().all(|role| look.style(role).fg.is_none() && look.style(role).bg.is_none()));
        assert!(look.style(Role::Chosen).add_modifier.contains(Modifier::REVERSED));
        assert!(look.style(Role::Cursor).add_modifier.contains(Modifier::REVERSED));
    }
}
