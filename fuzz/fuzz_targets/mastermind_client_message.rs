//! What is made of the bytes of a player of mastermind.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::mastermind::client_message(bytes));
