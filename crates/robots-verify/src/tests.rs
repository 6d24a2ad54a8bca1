//! Tests of explanations against the decoders, as text, and in the document.

mod agreeing;
mod document;
mod golden;

use crate::format::Kind;

/// Bytes from two hexadecimal digits each; spaces are ignored.
fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn kind(name: &str) -> Kind {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).unwrap_or_else(|| panic!("{name:?} is no kind"))
}
