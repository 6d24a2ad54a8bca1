use std::time::{SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

/// In days since 1970, UTC.
pub(crate) fn today() -> u32 {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    u32::try_from(seconds / DAY).unwrap_or(u32::MAX)
}
