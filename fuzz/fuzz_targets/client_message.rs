//! Datagrams to a nuggets server.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::client_message(bytes));
