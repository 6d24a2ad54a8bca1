//! How players look: letters, colours, names.

use ratatui::style::{Color, Modifier, Style};
use robots::PlayerId;
use termkit::{Palette, printable};

const LETTERS: u8 = 26;
/// The first player whose label takes two characters.
pub(crate) const FIRST_LONG_LABEL: PlayerId = PlayerId(2 * LETTERS);

const COLOURS: [Color; 12] = [
    Color::LightGreen,
    Color::LightMagenta,
    Color::LightCyan,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightRed,
    Color::Green,
    Color::Magenta,
    Color::Cyan,
    Color::Yellow,
    Color::Blue,
    Color::Red,
];

/// What stands for a player on the board: `A` to `Z`, `a` to `z`, then `A1`, `B1` and so on.
pub(crate) fn label(id: PlayerId) -> (u8, Option<u8>) {
    let letter = id.0 % LETTERS;
    match id.0 / LETTERS {
        0 => (b'A' + letter, None),
        1 => (b'a' + letter, None),
        round => (b'A' + letter, Some(b'0' + round - 1)),
    }
}

/// The style of a player's robot and name; the one in view stands out.
pub(crate) fn style(palette: Palette, id: PlayerId, in_view: bool) -> Style {
    let own = if in_view { Modifier::REVERSED | Modifier::UNDERLINED } else { Modifier::empty() };
    palette.style(COLOURS[usize::from(id.0) % COLOURS.len()], Modifier::BOLD | own)
}

pub(crate) fn label_text(id: PlayerId) -> String {
    let (letter, number) = label(id);
    [Some(letter), number].into_iter().flatten().map(char::from).collect()
}

/// How a player is named in a sentence: its name, or its label where the name is empty.
pub(crate) fn called(id: PlayerId, name: &str) -> String {
    if name.trim().is_empty() { label_text(id) } else { printable(name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_of_256_players_has_a_label_of_its_own() {
        let labels: BTreeSet<_> = PlayerId::all().map(label).collect();
        assert_eq!(labels.len(), 256);
        let shown = |id| label(PlayerId(id));
        assert_eq!(
            [shown(0), shown(25), shown(26), shown(51)],
            [(b'A', None), (b'Z', None), (b'a', None), (b'z', None)]
        );
        assert_eq!([shown(52), shown(255)], [(b'A', Some(b'1')), (b'V', Some(b'8'))]);
        assert!(PlayerId::all().all(|id| label(id).1.is_some() == (id >= FIRST_LONG_LABEL)));
    }

    #[test]
    fn a_player_without_a_name_is_called_by_its_label() {
        assert_eq!(called(PlayerId(53), "Ann\n"), "Ann\\n");
        assert_eq!(called(PlayerId(53), " "), "B1");
    }

    #[test]
    fn neighbours_differ_in_colour_and_the_one_in_view_without_it() {
        for palette in [Palette::COLOUR, Palette::MONO] {
            let [plain, in_view] = [false, true].map(|in_view| style(palette, PlayerId(0), in_view));
            assert_ne!(plain, in_view);
        }
        assert_ne!(style(Palette::COLOUR, PlayerId(0), false).fg, style(Palette::COLOUR, PlayerId(1), false).fg);
        assert_eq!(style(Palette::MONO, PlayerId(7), true).fg, None);
    }
}
