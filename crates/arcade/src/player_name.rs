//! Names of players and rooms, and their form on wires that carry ASCII only.

use deunicode::deunicode_with_tofu;
use unicode_normalization::is_nfc;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};
use unicode_security::{GeneralSecurityProfile as _, MixedScript, general_security_profile::IdentifierType};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::message::{Message, message};

/// In bytes.
const MAX_NAME: usize = 64;
/// Characters of a player's name as users count them: an emoji with joiners is one.
const MAX_CHARACTERS: usize = 20;
/// Marks above or below one letter (UTS 39, section 5.4).
const MAX_MARKS: usize = 4;
/// In bytes. Mastermind cuts longer names.
const MAX_ASCII: usize = 24;
/// Leaves place for a number within [`MAX_ASCII`].
const MAX_BASE: usize = 20;
/// For a name without a transliteration.
const NAMELESS: &str = "Player";

/// As [`check_label`], with at most [`MAX_CHARACTERS`] characters.
pub(crate) fn check_name(name: &str) -> Result<(), Message> {
    check_label(name)?;
    if name.graphemes(true).count() > MAX_CHARACTERS {
        return Err(message!("name_long", "a name has up to {most} characters", most = MAX_CHARACTERS));
    }
    Ok(())
}

/// Requires visible characters, composed where possible, and one script for the letters of a word. Names therefore
/// never differ only in invisible characters, or in similar letters of different scripts within a word.
pub(crate) fn check_label(name: &str) -> Result<(), Message> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(message!("name_length", "a name has 1 to {most} bytes", most = MAX_NAME));
    }
    if name.trim() != name || name.contains("  ") {
        return Err(message!("name_spaces", "a name has no spaces at its ends, and no two in a row"));
    }
    if is_path(name) {
        return Err(message!("name_path", "a name is not '.' or '..', which browsers resolve as paths"));
    }
    name.graphemes(true).try_for_each(check_character)?;
    check_marks(name)?;
    if !is_nfc(name) {
        return Err(message!("name_not_composed", "a name has composed letters (Unicode NFC)"));
    }
    if !name.split(' ').all(MixedScript::is_single_script) {
        return Err(message!(
            "name_scripts",
            "a word of a name has letters of one script, since letters of others may look the same"
        ));
    }
    Ok(())
}

/// Whether browsers would resolve the name as a path in a URL.
pub(crate) fn is_path(name: &str) -> bool {
    matches!(name, "." | "..")
}

// Joiners, variation selectors and tags are valid only in an emoji that Unicode recommends for general interchange;
// elsewhere they may be invisible.
fn check_character(cluster: &str) -> Result<(), Message> {
    if emojis::get(cluster).is_some() {
        return Ok(());
    }
    if let Some(hidden) = cluster.chars().find(|&letter| !is_visible(letter)) {
        let letter = format!("U+{:04X}", u32::from(hidden));
        return Err(message!("name_invisible", "a name has visible characters only, not {letter}", letter = letter));
    }
    if cluster.contains(is_emoji_part) {
        return Err(message!("name_emoji", "a name has complete emoji only, not parts such as half a flag"));
    }
    Ok(())
}

fn check_marks(name: &str) -> Result<(), Message> {
    let (mut before, mut marks) = (None, 0);
    for letter in name.chars() {
        marks = if is_nonspacing(letter) { marks + 1 } else { 0 };
        let is_mark = marks > 0 || letter.general_category() == GeneralCategory::SpacingMark;
        let has_no_letter = is_mark && before.is_none_or(|before| before == ' ');
        if has_no_letter || marks > MAX_MARKS || (marks > 1 && before == Some(letter)) {
            return Err(message!(
                "name_marks",
                "a letter of a name has up to {most} different marks, and no mark is without a letter",
                most = MAX_MARKS
            ));
        }
        before = Some(letter);
    }
    Ok(())
}

// Whether a character is visible and keeps its position.
fn is_visible(letter: char) -> bool {
    // A blank of braille, and the replacements of unknown objects and of hidden characters.
    const BLANKS: [char; 3] = ['\u{2800}', '\u{fffc}', '\u{fffd}'];
    let is_other_space = letter.is_whitespace() && letter != ' ';
    let hides = matches!(
        letter.identifier_type(),
        // Unassigned, or for private use.
        None | Some(IdentifierType::Not_Character | IdentifierType::Default_Ignorable | IdentifierType::Deprecated)
    );
    let formats = letter.general_category() == GeneralCategory::Format;
    !(letter.is_control() || is_other_space || hides || formats || BLANKS.contains(&letter))
}

// Regional indicators and skin tones.
const fn is_emoji_part(letter: char) -> bool {
    matches!(letter, '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}')
}

fn is_nonspacing(letter: char) -> bool {
    matches!(letter.general_category(), GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark)
}

/// Whether all wires carry the name unchanged.
pub(crate) fn is_plain(name: &str) -> bool {
    (1..=MAX_ASCII).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A transliteration for ASCII wires. It satisfies [`is_plain`] but not `is_taken`.
pub(crate) fn to_ascii(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let text = deunicode_with_tofu(name, "");
    let words: Vec<&str> =
        text.split(|letter: char| !letter.is_ascii_graphic()).filter(|word| !word.is_empty()).collect();
    let mut base = words.join("_");
    base.truncate(MAX_BASE);
    if base.is_empty() {
        NAMELESS.clone_into(&mut base);
    }
    let numbered = (2_u32..).map(|number| format!("{base}_{number}"));
    let is_free = |name: &String| !is_path(name) && !is_taken(name);
    std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(name: &str) -> String {
        check_name(name).expect_err(&format!("{name:?}")).to_json()["code"].as_str().unwrap_or_default().to_owned()
    }

    #[test]
    fn names_in_any_script_are_valid() {
        let names = [
            "A",
            "Zoë with a hat",
            "<script>",
            "=1+1",
            "Łukasz",
            "שרה",
            "שָׂרָה",
            "محمد",
            "Жанна 7",
            "健太",
            "日本のゆき",
            "김민수",
            "नेहा क्षत्रिय",
            "မြွှေး",
            "ไก่ที่",
            "★ Bob ★",
            "Anna Жанна",
            "🎲",
            "Ola🎲🎲",
            "👩‍👩‍👧",
            "👍🏽 ok",
            "🇵🇱🇮🇱",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "1️⃣",
            "❤",
            "❤️",
            "...",
            &"x".repeat(20),
            &"Ł".repeat(20),
        ];
        for name in names {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_look_like_others_are_rejected() {
        // Zero-width, bidirectional, blank, private use, tag, format and unassigned characters.
        let hidden = [
            "An\u{200b}n",
            "Ann\u{200d}",
            "\u{200d}",
            "A\u{200c}nn",
            "\u{feff}Ann",
            "\u{202e}nnA",
            "A\u{2066}nn",
            "Ann\u{200f}",
            "Ann\u{61c}",
            "A\u{a0}nn",
            "A\u{3000}nn",
            "A\u{2028}nn",
            "Ann\u{3164}",
            "Ann\u{115f}",
            "\u{2800}",
            "Ann\u{e000}",
            "Ann\u{e0041}",
            "A\u{ad}nn",
            "Ann\u{fe0f}",
            "Ann\u{34f}",
            "A\nB",
            "A\u{1b}[31mB",
            "A\0B",
            "\u{7f}",
            "\u{9b}31m",
            "Ann\u{fff9}",
            "Ann\u{110bd}",
            "Ann\u{378}",
            "Ann\u{fdd0}",
            "❤\u{fe0e}",
            "A\u{20e3}",
            "A\u{fffd}",
            // A joiner between emoji that have no common picture, at an end, and tags of no flag.
            "👩\u{200d}🚗",
            "👩\u{200d}",
            "🎲\u{e0061}\u{e007f}",
            "🏴\u{e0067}\u{e007f}",
        ];
        for name in hidden {
            assert_eq!(problem(name), "name_invisible", "{name:?}");
        }
        for name in ["\u{1f1f5}", "🇵🇱\u{1f1f5}", "\u{1f3fd}", "🎲\u{1f3fd}"] {
            assert_eq!(problem(name), "name_emoji", "{name:?}");
        }
        for name in ["\u{410}nn", "Ann\u{3b1}", "\u{43e}liver", "Bob\u{5d0}", "Anna Ж\u{61}нна"] {
            assert_eq!(problem(name), "name_scripts", "{name:?}");
        }
        assert_eq!(problem("Zoe\u{308}"), "name_not_composed");
    }

    #[test]
    fn letters_have_few_marks_and_marks_have_letters() {
        let tower: String = "z\u{316}\u{317}\u{318}\u{319}\u{31c}".into();
        for name in [&tower, "z\u{353}\u{353}", "\u{301}nn", "A \u{353}x", "\u{93e}", "A \u{93e}"] {
            assert_eq!(problem(name), "name_marks", "{name:?}");
        }
        assert_eq!(check_name("z\u{353}"), Ok(()));
    }

    #[test]
    fn names_are_bounded_and_have_an_address() {
        for name in ["", &"x".repeat(65), &"👩‍👩‍👧".repeat(4)] {
            assert_eq!(problem(name), "name_length", "{name:?}");
        }
        for name in [" A", "A ", "A  B", "\u{2003}A"] {
            assert_eq!(problem(name), "name_spaces", "{name:?}");
        }
        for name in [".", ".."] {
            assert_eq!(problem(name), "name_path");
        }
        assert_eq!(problem(&"x".repeat(21)), "name_long");
        assert_eq!(check_label(&"x".repeat(64)), Ok(()), "the name of a room");
    }

    #[test]
    fn names_are_transliterated_for_wires_of_ascii() {
        let free = |name: &str| to_ascii(name, |_| false);
        for (name, ascii) in [
            ("Łukasz Weiß", "Lukasz_Weiss"),
            ("שרה", "shrh"),
            ("Жанна 7", "Zhanna_7"),
            ("🎲", "game_die"),
            ("👩‍👩‍👧", "woman_woman_girl"),
            ("‥", ".._2"),
            ("…", "..."),
            ("\u{16fe4}", "Player"),
            ("Bob the great", "Bob_the_great"),
        ] {
            assert_eq!(free(name), ascii, "{name}");
        }
        for name in ["🎲".repeat(16), "龘".repeat(21), "x".repeat(64), "\u{0}".into()] {
            let ascii = to_ascii(&name, |taken| !taken.ends_with("_999"));
            assert!(is_plain(&ascii) && ascii.ends_with("_999"), "{ascii}");
        }
        let taken = ["Lukasz", "lukasz_2"];
        let is_taken = |name: &str| taken.iter().any(|other| other.eq_ignore_ascii_case(name));
        assert_eq!(to_ascii("Łukasz", is_taken), "Lukasz_3");
        for name in ["", "Bob B", "Ł", "x\u{7f}", &"x".repeat(25)] {
            assert!(!is_plain(name), "{name:?}");
        }
    }
}
