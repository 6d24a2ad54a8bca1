use std::time::Duration;

/// The time between syncs with [`SyncPolicy::Interval`], and between updates of the status in the file with either
/// policy.
pub const SYNC_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncPolicy {
    /// Inputs are on disk: even a power cut loses no input whose outputs were sent.
    Always,
    /// Inputs were passed to the system: killing the server loses no input whose outputs were sent, but a power cut may
    /// lose those of the last [`SYNC_INTERVAL`].
    #[default]
    Interval,
}
