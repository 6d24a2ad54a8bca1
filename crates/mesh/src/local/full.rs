//! The error for a reached limit.

use std::fmt;

use crate::{MeshError, Trouble};

pub(super) fn full(what: &str, most: impl fmt::Display) -> MeshError {
    MeshError::new(
        Trouble::Full,
        what,
        "this process",
        format_args!("there are {most} already"),
        "remove unused entries",
    )
}
