//! What a nuggets client reads off a datagram.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::server_message(bytes));
