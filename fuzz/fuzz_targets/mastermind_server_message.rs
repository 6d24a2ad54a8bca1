//! Messages of a mastermind server.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testkit::properties::mastermind::server_message(bytes));
