//! Text of programs under test, made harmless.

use std::fmt::{self, Write as _};

use cmdkit::is_steering;

/// The longest text of one line that a report shows, in characters.
const LONGEST: usize = 2000;
/// What may be added to it, so that a line that was cut is not cut again.
const MARGIN: usize = 200;

/// Text in which nothing acts on what shows it: control characters other than line feeds, marks that turn the direction of text, and
/// characters that XML forbids are spelled out. Each line is cut at a bound.
pub fn clean(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Characters of a text that [`shortened`] leaves at its front, and at its end, where texts state what would be right.
const FRONT: usize = 300;
const END: usize = 200;

/// A text on one line, the middle of which is left out if it is very long, such as with a name of 5,000 bytes.
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

// What steers a terminal, separators of lines, and what is no character.
fn acts(letter: char) -> bool {
    is_steering(letter)
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || u32::from(letter) & 0xfffe == 0xfffe
}

/// Text as XML and HTML have it, also within quotes, in which nothing acts on what shows it.
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
    fn what_acts_on_a_terminal_or_a_page_is_spelled_out() {
        assert_eq!(clean("a\x1b[2J\r\n\u{202e}Ż\u{85}\u{ffff}"), "a\\x1b[2J\\r\n\\u202eŻ\\u0085\\uffff");
        let cut = clean(&"x".repeat(1 << 20));
        assert!(cut.len() < LONGEST + 40 && cut.ends_with("... (1048576 characters)"));
        assert_eq!(clean(&cut), cut);
    }
}
