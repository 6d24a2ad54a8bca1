//! A client's stream as a robots server decodes it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::robots::client_message(bytes));
