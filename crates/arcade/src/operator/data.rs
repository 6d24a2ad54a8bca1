//! What lies where in the directory of the hub.

/// The file of the database.
pub(crate) const RESULTS: &str = "results.db";
/// The file that is locked while a hub runs.
pub(crate) const LOCK: &str = "lock";
