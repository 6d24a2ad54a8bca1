//! Describes messages of the text protocols, and finds the first error in a text.

pub(crate) mod blackjack;
pub(crate) mod mastermind;
pub(crate) mod nuggets;

use crate::tape::Framed;

pub(crate) enum Part {
    Word(&'static str),
    /// None is a prefix of another.
    OneOf(&'static [&'static str]),
    Number,
    Letter,
    /// The allowed bytes, the minimum and maximum length, and the name in reports.
    Of(&'static [u8], usize, usize, &'static str),
    Byte,
    /// Any bytes, at least this number.
    Rest(usize),
}

pub(crate) type Form = &'static [Part];

/// Splits messages of at most `most` bytes that end with the byte `end`, which reports call `what`.
pub(crate) fn ended_by(end: u8, most: usize, what: &str, bytes: &[u8]) -> Framed {
    match bytes.iter().take(most + 1).position(|&byte| byte == end) {
        Some(at) => Framed::Whole(at + 1),
        None if bytes.len() > most => Framed::Wrong(most, format!("expected {what} within {most} bytes")),
        None => Framed::Part,
    }
}

/// The offset of the first byte that matches no form, and the expected text. `None` for a valid message.
pub(crate) fn wrong(forms: &[Form], text: &[u8]) -> Option<(usize, String)> {
    let mut furthest = 0;
    let mut wanted: Vec<String> = Vec::new();
    for form in forms {
        let (at, right) = first_mismatch(form, text)?;
        if at > furthest {
            (furthest, wanted) = (at, Vec::new());
        }
        if at == furthest {
            wanted.extend(right.into_iter().filter(|right| !wanted.contains(right)).collect::<Vec<_>>());
        }
    }
    let wanted = match wanted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    };
    Some((furthest, format!("expected {wanted}")))
}

/// The length of the first message, regardless of the following bytes.
pub(crate) fn prefix(forms: &[Form], bytes: &[u8]) -> Option<usize> {
    (1..=bytes.len()).rev().find(|&length| forms.iter().any(|form| first_mismatch(form, &bytes[..length]).is_none()))
}

fn first_mismatch(form: Form, text: &[u8]) -> Option<(usize, Vec<String>)> {
    let mut at = 0;
    for part in form {
        let rest = text.get(at..).unwrap_or_default();
        let common = |word: &str| rest.iter().zip(word.as_bytes()).take_while(|(one, other)| one == other).count();
        let quoted = |from: usize, word: &str| format!("'{}'", word.get(from..).unwrap_or_default());
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let missing = |is_there: bool, what: &str| if is_there { Ok(1) } else { Err((at, vec![what.to_owned()])) };
        let length = match part {
            Part::Word(word) if common(word) == word.len() => Ok(word.len()),
            Part::Word(word) => Err((at + common(word), vec![quoted(common(word), word)])),
            Part::OneOf(words) => {
                let most = words.iter().map(|word| common(word)).max().unwrap_or(0);
                let nearest = words.iter().filter(|word| common(word) == most);
                match nearest.clone().find(|word| word.len() == most) {
                    Some(word) => Ok(word.len()),
                    None => Err((at + most, nearest.map(|word| quoted(most, word)).collect())),
                }
            }
            Part::Number => missing(digits > 0, "a digit").map(|_| digits),
            Part::Letter => missing(rest.first().is_some_and(u8::is_ascii_uppercase), "a capital letter"),
            Part::Of(bytes, least, most, what) => {
                let count = rest.iter().take(*most).take_while(|byte| bytes.contains(byte)).count();
                if count < *least { Err((at + count, vec![(*what).to_owned()])) } else { Ok(count) }
            }
            Part::Byte => missing(!rest.is_empty(), "one more byte"),
            Part::Rest(least) => missing(rest.len() >= *least, "text").map(|_| rest.len()),
        };
        match length {
            Ok(length) => at += length,
            Err(wrong) => return Some(wrong),
        }
    }
    (at < text.len()).then(|| (at, vec!["the end of the message".to_owned()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: &[Form] = &[
        &[Part::Word("CARD "), Part::OneOf(&["Two", "Three"])],
        &[Part::Word("CALL")],
        &[Part::Word("N "), Part::Number],
    ];

    fn at(text: &str) -> Option<(usize, String)> {
        wrong(FORMS, text.as_bytes())
    }

    #[test]
    fn reports_the_first_byte_that_matches_no_form() {
        assert_eq!(at("CARD Two"), None);
        assert_eq!(at("CARD Thr"), Some((8, "expected 'ee'".into())));
        assert_eq!(at("CARD two"), Some((5, "expected 'Two' or 'Three'".into())));
        assert_eq!(at("CAKE"), Some((2, "expected 'RD ' or 'LL'".into())));
        assert_eq!(at("CALLS"), Some((4, "expected the end of the message".into())));
        assert_eq!(at("N 12x"), Some((4, "expected the end of the message".into())));
        assert_eq!(at("N "), Some((2, "expected a digit".into())));
    }
}
