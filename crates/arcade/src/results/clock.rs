//! The clock of results.

pub(crate) use store::unix_now;
