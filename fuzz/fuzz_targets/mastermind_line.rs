//! Lines that a codebreaker types.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::mastermind::line(bytes));
