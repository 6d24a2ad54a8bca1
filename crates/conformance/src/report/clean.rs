//! Sanitizes text of programs under test.

use std::fmt::{self, Write as _};

use cmdkit::is_steering;

/// The maximum length of a line that a report shows, in characters.
const LONGEST: usize = 2000;
/// The number of characters that may be added to it, so that a shortened line is not shortened again.
const MARGIN: usize = 200;

/// Sanitizes text for display: control characters other than line feeds, marks that change the direction of text, and
/// characters that XML forbids are escaped. Each line has a maximum length.
pub fn clean(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The number of characters that [`shortened`] keeps at the start and at the end of a text, where texts state the
/// expected value.
const FRONT: usize = 300;
const END: usize = 200;

/// A text on one line. The middle of a very long text is omitted, such as that of a name of 5,000 bytes.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.replace('\n', "\\n");
    let count = text.chars().count();
    if count <= FRONT + END {
        return text;
    }
    let front: String = text.chars().take(FRONT).collect();
    let end: String = text.chars().skip(count - END).collect();
    format!("{front} ... ({count} characters) ... {end}")
}

fn line(line: &str) -> String {
    let count = line.chars().count();
    let kept = if count > LONGEST + MARGIN { LONGEST } else { count };
    let mut out = String::new();
    for letter in line.chars().take(kept) {
        match letter {
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if letter.is_ascii_control() => out.extend(["\\x", &format!("{:02x}", u32::from(letter))]),
            _ if acts(letter) => out.extend(["\\u", &format!("{:04x}", u32::from(letter))]),
            _ => out.push(letter),
        }
    }
    if kept < count {
        out.extend(["... (", &count.to_string(), " characters)"]);
    }
    out
}

// Control characters of terminals, line separators, and code points that are not characters.
fn acts(letter: char) -> bool {
    is_steering(letter)
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || u32::from(letter) & 0xfffe == 0xfffe
}

/// Text that is sanitized and escaped for XML and HTML, including attribute values.
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in clean(self.0).chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                _ => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_and_direction_characters() {
        assert_eq!(clean("a\x1b[2J\r\n\u{202e}Ż\u{85}\u{ffff}"), "a\\x1b[2J\\r\n\\u202eŻ\\u0085\\uffff");
        let cut = clean(&"x".repeat(1 << 20));
        assert!(cut.len() < LONGEST + 40 && cut.ends_with("... (1048576 characters)"));
        assert_eq!(clean(&cut), cut);
    }
}
