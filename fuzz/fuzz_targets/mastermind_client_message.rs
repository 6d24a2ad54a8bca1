//! Messages of mastermind players.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::mastermind::client_message(bytes));
