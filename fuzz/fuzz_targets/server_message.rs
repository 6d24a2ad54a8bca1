//! Datagrams to a nuggets client.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::server_message(bytes));
