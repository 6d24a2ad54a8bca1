//! What a player of the game of 21 reads off a dealer's stream, and what it makes of it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::blackjack::dealer_message(bytes));
