//! What a dealer of the game of 21 reads off a player's stream.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::blackjack::player_message(bytes));
