//! A dealer's stream as a player decodes it, and the state of the player.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::blackjack::dealer_message(bytes));
