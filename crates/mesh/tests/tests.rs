//! Tests of what hubs share.
//!
//! - `contract`: what every implementation does; `local` and `nats` run it.
//! - `handing`: how rooms are handed over, step by step.
//! - `simulation`: a fleet of nodes with lossy networks, pauses and deaths, in one thread.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod contract;
mod handing;
mod local;
#[cfg(feature = "nats")]
mod nats;
mod simulation;

/// How long a test waits for something that is to happen.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);
