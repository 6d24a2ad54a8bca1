//! Tests of the helpers, and tests that need only them.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod corpus;
mod host;
mod mutants;
mod recording;
mod simulation;
