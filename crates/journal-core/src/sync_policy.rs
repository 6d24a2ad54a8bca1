//! When outputs may be sent.

use std::time::Duration;

/// Interval of syncs with [`SyncPolicy::Interval`]. With either policy, the status in the file is updated at this
/// interval.
pub const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// What outputs wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncPolicy {
    /// The inputs that caused them are on disk: not even a power cut loses anything that was sent.
    Always,
    /// The inputs that caused them were passed to the system: killing the server loses nothing that was sent, but a
    /// power cut may lose the last [`SYNC_INTERVAL`].
    #[default]
    Interval,
}
