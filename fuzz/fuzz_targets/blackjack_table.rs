//! What is made of a learner's table file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::blackjack::table(bytes));
