//! Tests of the shared state: `contract` of every implementation, which `local` and `nats` run; `handovers`, step by
//! step, with nodes of the `former` version; and the `simulation` of a fleet.

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
