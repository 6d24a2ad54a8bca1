//! When outputs may be sent.

use std::time::Duration;

/// Interval of syncs with [`SyncPolicy::Interval`]. With either policy, the status in the file is updated at this
/// interval.
pub const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// The durability that outputs wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncPolicy {
    /// The inputs that caused them are on disk: even a power cut loses no input whose outputs were sent.
    Always,
    /// The inputs that caused them were passed to the system: killing the server loses no input whose outputs were
    /// sent, but a power cut may lose the inputs of the last [`SYNC_INTERVAL`].
    #[default]
    Interval,
}
