//! What a robots GUI reads off its client's datagrams.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::robots::draw_message(bytes));
