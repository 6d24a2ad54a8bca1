//! A server's stream as a robots client decodes it, and the state of the client.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::robots::server_message(bytes));
