//! A player's stream as a dealer decodes it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::blackjack::player_message(bytes));
