//! `moves` tests single inputs, and `days` simulated days with the programs of `world`.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod days;
mod moves;
mod world;
