//! What a robots server reads off a client's stream.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::robots::client_message(bytes));
