//! The rules of mastermind and its codebreaker, one named test each.
//!
//! | module | rules |
//! |--------|-------|
//! | [`codes`] | what is a code, what rules a game can have, and how codes are drawn |
//! | [`answers`] | feedback, against a second definition and for many codes at once |
//! | [`playing`] | guesses, turns, winning and losing, as transcripts |
//! | [`lifelines`] | what they tell, what they cost, when they are refused |
//! | [`days`] | the puzzle of a day |
//! | [`sharing`] | results to be pasted |
//! | [`records`] | statistics and the text that they are kept as |
//! | [`hints`] | what is known, which codes are possible, what the codebreaker suggests |
//! | [`transcripts`] | what a server says to whom |
//! | [`serving`] | seats, results, mistakes, hints and silence |
//! | [`secrets`] | that no line shows a code before its time |
//! | [`resuming`] | what a digest covers, and states that no room can be in |
//! | [`document`] | that the page of the protocol is true |
//! | [`page`] | what the page of the hub repeats of the rules, as vectors for its tests |
//! | [`totals`] | how many turns the strategies and the search take over all codes |
//! | [`proofs`] | the same for large games, which takes minutes: `cargo test --release -p mastermind -- --ignored` |
//!
//! The proofs that hints find every code in ten turns are unit tests of `solver::hint`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]
#![expect(clippy::cast_precision_loss, reason = "means of counts that are far below 2^52")]

use mastermind::{Code, Rules};
use rand::SeedableRng;
use rand_pcg::Pcg64;

mod answers;
mod codes;
mod days;
mod document;
mod hints;
mod lifelines;
mod page;
mod playing;
mod proofs;
mod records;
mod resuming;
mod room;
mod secrets;
mod serving;
mod sharing;
mod totals;
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
