//! Tests of the rules of mastermind and its codebreaker.
//!
//! The proofs for large games take minutes: `cargo test --release -p mastermind -- --ignored`.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]
#![expect(clippy::cast_precision_loss, reason = "means of counts that are far below 2^52")]

use mastermind::{Code, Rules};
use rand::SeedableRng;
use rand_pcg::Pcg64;

#[macro_use]
#[path = "../../../testkit/rules/transcript.rs"]
mod transcript;

mod codes;
mod document;
mod hints;
mod moves;
mod page;
mod records;
mod secrets;
mod server;
#[path = "../../../testkit/rules/table.rs"]
mod table;
mod transcripts;

fn code(text: &str) -> Code {
    text.parse().unwrap()
}

fn rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

fn rules(length: usize, colours: usize, repeats: bool) -> Rules {
    Rules::new(length, colours, repeats).unwrap()
}
