//! Explanations against the decoders, as text, and in the document.

mod agreeing;
mod document;
mod golden;

use crate::format::Kind;

/// Bytes from two digits each, with spaces between.
fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn kind(name: &str) -> Kind {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).unwrap_or_else(|| panic!("{name:?} is no kind"))
}
