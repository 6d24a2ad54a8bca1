//! External text, such as names of players and output of programs, made safe for terminals and spreadsheets.

use std::{borrow::Cow, fmt::Write as _};

/// Whether a character acts on a terminal instead of being shown: a control character (C0, DEL or C1), or one that
/// changes the direction of the text around it.
pub const fn is_steering(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// The text on one line, with each [steering](is_steering) character escaped as in Rust.
///
/// ```
/// assert_eq!(cmdkit::printable("Zoë \"Z\""), "Zoë \"Z\"");
/// assert_eq!(cmdkit::printable("a\x1b[2J\u{202e}b"), r"a\u{1b}[2J\u{202e}b");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_steering, as_in_rust)
}

/// As [`printable`], but keeps line feeds.
///
/// ```
/// assert_eq!(cmdkit::printable_lines("two\nlines\x1b[2J"), "two\nlines\\u{1b}[2J");
/// ```
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| is_steering(character) && character != '\n', as_in_rust)
}

/// Escapes each [steering](is_steering) character in the strings of JSON. The parsed data stays the same.
///
/// ```
/// assert_eq!(cmdkit::printable_json("{\n  \"name\": \"a\u{9b}2J\"\n}"), "{\n  \"name\": \"a\\u009b2J\"\n}");
/// ```
pub fn printable_json(json: &str) -> Cow<'_, str> {
    // Outside of strings the only control characters are blanks; in strings these are escaped already.
    let is_meant = |character| is_steering(character) && !matches!(character, '\n' | '\r' | '\t');
    escaped(json, is_meant, |character, out| {
        let _ = write!(out, "\\u{:04x}", u32::from(character));
    })
}

fn as_in_rust(character: char, out: &mut String) {
    if character.is_ascii_control() {
        out.extend(character.escape_debug());
    } else {
        out.extend(character.escape_unicode());
    }
}

fn escaped(text: &str, is_meant: impl Fn(char) -> bool, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(&is_meant) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_meant(character) { escape(character, &mut out) } else { out.push(character) }
    }
    Cow::Owned(out)
}

/// Replaces [steering](is_steering) characters by U+FFFD, since they would act on the text around the name. Keeps
/// letters of right-to-left scripts.
///
/// ```
/// assert_eq!(cmdkit::display_name("Zoë"), "Zoë");
/// assert_eq!(cmdkit::display_name("a\u{202e}b\x1b"), "a\u{fffd}b\u{fffd}");
/// ```
pub fn display_name(name: &str) -> Cow<'_, str> {
    if !name.contains(is_steering) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().map(|letter| if is_steering(letter) { '\u{fffd}' } else { letter }).collect())
}

/// Encloses a text with right-to-left letters in U+2068 and U+2069. Otherwise a terminal shows neighbouring numbers and
/// punctuation on the wrong side of it.
///
/// ```
/// assert_eq!(cmdkit::isolated("Ann"), "Ann");
/// assert_eq!(cmdkit::isolated("שלום"), "\u{2068}שלום\u{2069}");
/// ```
pub fn isolated(text: &str) -> Cow<'_, str> {
    if text.contains(is_right_to_left) { Cow::Owned(format!("\u{2068}{text}\u{2069}")) } else { Cow::Borrowed(text) }
}

const fn is_right_to_left(letter: char) -> bool {
    matches!(
        letter,
        '\u{590}'..='\u{8ff}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{feff}'
            | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

/// Text as a cell of a CSV file: in quotation marks where RFC 4180 requires them, and with a leading apostrophe where a
/// spreadsheet would compute it as a formula. Not for computed numbers, which must stay numbers.
///
/// ```
/// assert_eq!(cmdkit::csv_cell("Bob, the \"B\""), "\"Bob, the \"\"B\"\"\"");
/// assert_eq!(cmdkit::csv_cell("=1+1"), "'=1+1");
/// ```
pub fn csv_cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let cell = if is_formula { format!("'{text}") } else { text.to_owned() };
    // In some countries the separator is a semicolon.
    if cell.contains([',', ';', '"', '\t', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_characters_and_bidirectional_controls() {
        let steering =
            "\0\u{7}\t\r\n\u{1b}\u{7f}\u{80}\u{9b}\u{9f}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}";
        assert!(steering.chars().all(is_steering));
        let shown = printable(steering);
        assert!(!shown.chars().any(is_steering) && shown.is_ascii(), "{shown}");
        assert!(shown.starts_with(r"\0\u{7}\t\r\n\u{1b}\u{7f}\u{80}"), "{shown}");
        assert!(shown.ends_with(r"\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}"), "{shown}");
        for name in ["Żółć \"x\" \\o/ 'y'", "שלום", "e\u{301} 👩‍🚀\u{a0}"] {
            assert!(matches!(printable(name), Cow::Borrowed(shown) if shown == name));
        }
    }

    #[test]
    fn csv_cells_are_no_formulas() {
        for formula in ["=1+1", "+1", "-cmd", "@SUM(A1)"] {
            assert_eq!(csv_cell(formula), format!("'{formula}"));
        }
        assert_eq!(csv_cell("\t=1"), "\"'\t=1\"");
        assert_eq!(csv_cell("\r=1"), "\"'\r=1\"");
        assert_eq!([csv_cell("a;=1"), csv_cell("anna-1"), csv_cell("")], ["\"a;=1\"", "anna-1", ""]);
    }

    #[test]
    fn replaces_all_controls_and_no_letters() {
        let controls = "\0\t\n\u{1b}\u{7f}\u{9b}\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        assert_eq!(display_name(controls), "\u{fffd}".repeat(controls.chars().count()));
        for name in ["Żółć 1 (x)", "שלום", "مرحبا", "e\u{301} 👩\u{200d}🚀", ""] {
            assert!(matches!(display_name(name), Cow::Borrowed(shown) if shown == name));
        }
    }

    #[test]
    fn isolates_names_with_letters_from_right_to_left() {
        assert_eq!(isolated("1 שלום"), "\u{2068}1 שלום\u{2069}");
        assert_eq!(isolated("مرحبا"), "\u{2068}مرحبا\u{2069}");
        for name in ["Żółć", "日本", "\u{fffd}", ""] {
            assert!(matches!(isolated(name), Cow::Borrowed(shown) if shown == name));
        }
    }
}
