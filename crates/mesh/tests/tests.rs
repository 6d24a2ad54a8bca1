//! Tests of the state that hubs share.
//!
//! - `contract`: tests of every implementation; `local` and `nats` run them.
//! - `former`: nodes of the version before separate heartbeats.
//! - `handovers`: handovers, step by step.
//! - `simulation`: a fleet of nodes with lossy networks, pauses and crashes, in one thread.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod contract;
mod former;
mod handovers;
mod local;
#[cfg(feature = "nats")]
mod nats;
mod simulation;

/// How long a test waits for an expected event.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);
