//! Text from elsewhere, such as names of players and output of programs, for terminals and spreadsheets.

use std::{borrow::Cow, fmt::Write as _};

/// Whether a character acts on a terminal instead of being shown: a control character (C0, DEL or C1), or one that changes the
/// direction of the text around it.
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

/// The text on one line, with each [steering](is_steering) character escaped as in Rust. Everything else stays as it is.
///
/// ```
/// assert_eq!(cmdkit::printable("Zoë \"Z\""), "Zoë \"Z\"");
/// assert_eq!(cmdkit::printable("a\x1b[2J\u{202e}b"), r"a\u{1b}[2J\u{202e}b");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_steering, as_in_rust)
}

/// As [`printable`], but line feeds stay: for texts of several lines, such as errors that quote a name.
///
/// ```
/// assert_eq!(cmdkit::printable_lines("two\nlines\x1b[2J"), "two\nlines\\u{1b}[2J");
/// ```
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| is_steering(character) && character != '\n', as_in_rust)
}

/// JSON with each [steering](is_steering) character in its strings escaped. A parser reads the same data from it.
///
/// ```
/// assert_eq!(cmdkit::printable_json("{\n  \"name\": \"a\u{9b}2J\"\n}"), "{\n  \"name\": \"a\\u009b2J\"\n}");
/// ```
pub fn printable_json(json: &str) -> Cow<'_, str> {
    // Outside of strings the only control characters are line feeds and other blanks. In strings those are escaped already.
    let is_meant = |character| is_steering(character) && !matches!(character, '\n' | '\r' | '\t');
    escaped(json, is_meant, |character, out| {
        // Writing into memory cannot fail.
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

/// Text as a cell of a CSV file: in quotation marks where RFC 4180 requires them, and with an apostrophe in front where a
/// spreadsheet would compute it as a formula. Numbers of our own are written without this function, so that they stay numbers.
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
}
