//! A broker that does not answer.

use std::{fmt, time::Duration};

use crate::{MeshError, Trouble};

/// How long anything is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// The error for it.
pub(super) fn away(what: &str, place: &str, why: impl fmt::Display) -> MeshError {
    MeshError::new(
        Trouble::Away,
        what,
        place,
        why,
        "a hub tries again by itself; see whether most of the NATS servers run and can be reached",
    )
}
