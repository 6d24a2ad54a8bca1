//! What a robots client reads off its server's stream, and what it makes of it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::robots::server_message(bytes));
