use store::unix_now;

/// In milliseconds.
pub(crate) const DAY: u64 = 86_400_000;

/// In days since 1970, UTC.
pub(crate) fn today() -> u32 {
    u32::try_from(unix_now() / DAY).unwrap_or(u32::MAX)
}
