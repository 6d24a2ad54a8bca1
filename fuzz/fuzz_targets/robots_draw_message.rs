//! Datagrams from a client to a robots GUI.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::robots::draw_message(bytes));
