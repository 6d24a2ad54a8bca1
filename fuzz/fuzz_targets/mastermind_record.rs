//! Records of past games.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::mastermind::record(bytes));
