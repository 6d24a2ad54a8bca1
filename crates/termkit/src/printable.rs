use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Further combining marks on a character would be drawn over the lines above and below.
const MAX_MARKS: usize = 3;
/// The maximum length of real graphemes, such as a family of emoji.
const MAX_JOINED: usize = 12;

const JOINER: char = '\u{200d}';
const TEXT_STYLE: char = '\u{fe0e}';
const EMOJI_STYLE: char = '\u{fe0f}';
const BLACK_FLAG: char = '\u{1f3f4}';

/// Escapes characters that control the terminal, reorder the line or are invisible.
///
/// The text is processed grapheme by grapheme, since a joiner is harmless within an emoji but hides text elsewhere. The
/// result has the width that [`unicode_width`] computes.
///
/// ```
/// assert_eq!(termkit::printable("Zoë 👩‍🚀"), "Zoë 👩‍🚀");
/// assert_eq!(termkit::printable("a\x1b[2J\u{202e}b"), "a\\u{1b}[2J\\u{202e}b");
/// ```
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for grapheme in text.graphemes(true) {
        let mut characters = grapheme.chars();
        let first = characters.next().filter(|&first| is_plain(first));
        if first.is_some_and(|first| follow(first, characters)) && grapheme.width() > 0 {
            shown.push_str(grapheme);
        } else {
            escape(grapheme, &mut shown);
        }
    }
    shown
}

// In one grapheme.
fn follow(first: char, rest: impl Iterator<Item = char>) -> bool {
    let (mut marks, mut joined) = (0, 0);
    for character in rest {
        joined += 1;
        let tag = matches!(character, '\u{e0020}'..='\u{e007f}') && first == BLACK_FLAG;
        let part = matches!(character, JOINER | TEXT_STYLE | EMOJI_STYLE) || tag || is_plain(character);
        if !part {
            marks += 1;
            if !is_mark(character) {
                return false;
            }
        }
    }
    marks <= MAX_MARKS && joined <= MAX_JOINED
}

// The standard library escapes quotation marks and backslashes, which only programs need.
fn is_plain(character: char) -> bool {
    matches!(character, '\'' | '"' | '\\') || character.escape_debug().len() == 1
}

// Excludes tags, which combine with the character before them but are invisible.
fn is_mark(character: char) -> bool {
    let mut bytes = [b'a'; 5];
    let length = 1 + character.encode_utf8(&mut bytes[1..]).len();
    // The standard library escapes no marks after a base character.
    let kept = str::from_utf8(&bytes[..length]).is_ok_and(|text| text.escape_debug().nth(1) == Some(character));
    kept && !matches!(character, '\u{200c}' | '\u{e0000}'..='\u{e0fff}')
}

fn escape(grapheme: &str, shown: &mut String) {
    for character in grapheme.chars() {
        if is_plain(character) {
            shown.push(character);
        } else if character.escape_debug().len() > 1 {
            shown.extend(character.escape_debug());
        } else {
            shown.extend(character.escape_unicode());
        }
    }
}

/// Cuts `text` at blanks into lines of at most `width` columns, or of one longer word. A line that fits keeps its
/// blanks.
///
/// ```
/// assert_eq!(termkit::wrap("one and two", 7), ["one and", "two"]);
/// ```
pub fn wrap(text: &str, width: usize) -> Vec<&str> {
    wrap_after(text, width, width)
}

/// The first line has only `first` columns.
pub(crate) fn wrap_after(text: &str, first: usize, width: usize) -> Vec<&str> {
    let (mut lines, mut rest, mut room) = (vec![], text, first);
    while rest.width() > room {
        let mut blanks = rest.match_indices(' ').map(|(at, _)| at);
        let fits = blanks.clone().take_while(|&at| rest[..at].width() <= room).last();
        let Some(cut) = fits.or_else(|| blanks.next()) else { break };
        lines.push(&rest[..cut]);
        (rest, room) = (&rest[cut + 1..], width);
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_emoji_stay_as_they_are() {
        for name in [
            "Żółć \"x\" \\o/ 'y'",
            "日本 한국",
            "नमस्ते",
            "e\u{301}",
            "👩‍🚀",
            "👨‍👩‍👧‍👦",
            "👍🏽",
            "❤️",
            "🇵🇱",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "🧑🏻‍❤️‍💋‍🧑🏿",
        ] {
            assert_eq!(printable(name), name);
        }
    }

    #[test]
    fn emoji_are_two_columns_wide_however_many_characters_they_have() {
        for emoji in ["👩‍🚀", "👨‍👩‍👧‍👦", "👍🏽", "🇵🇱"] {
            assert_eq!(printable(emoji).width(), 2, "{emoji}");
        }
    }

    #[test]
    fn control_and_bidi_characters_are_escaped() {
        for (name, shown) in [
            ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
            ("a\nb\r\n\t\0\x7f\u{9b}1m", "a\\nb\\r\\n\\t\\0\\u{7f}\\u{9b}1m"),
            ("\u{202e}abc\u{2066}\u{200f}", "\\u{202e}abc\\u{2066}\\u{200f}"),
            ("a\u{200b}\u{2028}\u{feff}b", "a\\u{200b}\\u{2028}\\u{feff}b"),
            ("\u{200d}", "\\u{200d}"),
            ("\u{301}a", "\\u{301}a"),
            ("\u{fe0f}", "\\u{fe0f}"),
            ("a\u{e0041}\u{e007f}", "a\\u{e0041}\\u{e007f}"),
            ("a\u{301}\u{302}\u{303}\u{304}", "a\\u{301}\\u{302}\\u{303}\\u{304}"),
        ] {
            assert_eq!(printable(name), shown, "{name:?}");
        }
        assert!(printable(&format!("👩{}", "\u{200d}👩".repeat(99))).contains("\\u{200d}"));
    }

    #[test]
    fn no_control_character_is_left_of_any_text() {
        for character in ('\0'..'\u{3000}').chain('\u{fb00}'..='\u{ffff}').chain('\u{e0000}'..'\u{e0200}') {
            let shown = printable(&character.to_string());
            assert!(shown.chars().all(|character| !character.is_control()), "{character:?}");
            let shown = printable(&format!("a{character}"));
            assert!(shown.width() >= 1 && shown.chars().all(|character| !character.is_control()), "{character:?}");
        }
    }

    #[test]
    fn lines_are_cut_at_blanks_by_columns() {
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("  1  2", 6), ["  1  2"]);
        assert_eq!(wrap("a longest word", 4), ["a", "longest", "word"]);
        assert_eq!(wrap("●●●● ○○○○ ····", 9), ["●●●● ○○○○", "····"]);
        assert_eq!(wrap("東京 東京", 5), ["東京", "東京"]);
        assert_eq!(wrap_after("one two three", 4, 20), ["one", "two three"]);
    }
}
