//! A room that is recorded while its peers send anything, cut anywhere.
#![no_main]

libfuzzer_sys::fuzz_target!(|script: &[u8]| testkit::properties::rooms::room(script));
