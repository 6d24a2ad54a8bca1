//! What a robots client reads off its GUI's datagrams.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::robots::input_message(bytes));
