//! A broker that does not answer.

use std::{fmt, time::Duration};

use crate::{MeshError, Trouble};

/// The timeout of requests.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// Creates the error for an unreachable broker.
pub(super) fn away(what: &str, place: &str, why: impl fmt::Display) -> MeshError {
    MeshError::new(
        Trouble::Away,
        what,
        place,
        why,
        "the hub retries automatically; check that most of the NATS servers are running and reachable",
    )
}
