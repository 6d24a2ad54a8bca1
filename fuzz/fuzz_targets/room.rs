//! A recorded room whose peers send arbitrary bytes with arbitrary splits.
#![no_main]

libfuzzer_sys::fuzz_target!(|script: &[u8]| testkit::properties::rooms::room(script));
