//! Datagrams from a GUI to a robots client.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::robots::input_message(bytes));
