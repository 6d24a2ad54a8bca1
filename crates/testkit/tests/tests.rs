//! Tests of the helpers, and tests that need only them.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

/// The fuzz corpus satisfies the properties of its targets.
mod corpus;
/// A host with scripted transports.
mod host;
/// Defects that the simulations must find.
mod mutants;
/// A recorded room and its replay decide the same, whatever is sent in whatever pieces.
mod recording;
/// Servers that are killed and resumed from their journals.
mod simulation;
