//! How players look: letters, colours, names that cannot break the screen.

use ratatui::style::{Color, Modifier, Style};
use robots::PlayerId;
use termkit::Palette;

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

/// A name as it can be shown: what is no plain character, such as a control character or a combining mark, is escaped.
pub(crate) fn printable(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '\'' | '"' | '\\' => shown.push(character),
            character => shown.extend(character.escape_debug()),
        }
    }
    shown
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
    fn neighbours_differ_in_colour_and_the_one_in_view_without_it() {
        for palette in [Palette::COLOUR, Palette::MONO] {
            let [plain, in_view] = [false, true].map(|in_view| style(palette, PlayerId(0), in_view));
            assert_ne!(plain, in_view);
        }
        assert_ne!(style(Palette::COLOUR, PlayerId(0), false).fg, style(Palette::COLOUR, PlayerId(1), false).fg);
        assert_eq!(style(Palette::MONO, PlayerId(7), true).fg, None);
    }

    #[test]
    fn names_keep_their_letters_and_lose_what_breaks_a_screen() {
        for (name, shown) in [
            ("Żółć \"x\" \\o/", "Żółć \"x\" \\o/"),
            ("日本", "日本"),
            ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
            ("a\nb\0", "a\\nb\\0"),
            ("e\u{301}", "e\\u{301}"),
            ("\u{202e}abc\u{200b}", "\\u{202e}abc\\u{200b}"),
        ] {
            assert_eq!(printable(name), shown);
        }
    }
}
