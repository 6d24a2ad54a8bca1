//! Which signals ask a program to end, and who asks twice: one rule for all programs, however they listen.
//!
//! - SIGINT and SIGTERM are requests: somebody, or a batch system, wants this program to end ([`REQUESTS`]).
//! - SIGHUP tells that the terminal is closed. It asks too, unless it is ignored, as under `nohup` ([`hang_up`]).
//! - A program that is asked saves its work and says goodbye. Only a second request ends it before that ([`Requests`]). SIGHUP is
//!   none: when a terminal is closed, it comes from the shell and from the system.
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! let mut requests = sigkit::Requests::default();
//! let start = Instant::now();
//! assert!(!requests.insist(start), "the first one asks");
//! assert!(!requests.insist(start + Duration::from_millis(1)), "the same request, sent to the process and to its group");
//! assert!(requests.insist(start + Duration::from_secs(1)), "somebody does not want to wait");
//! ```

use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};

/// The signals by which a program is asked to end on purpose.
pub const REQUESTS: [i32; 2] = [SIGINT, SIGTERM];

/// How long after the first request another one is still taken for the same. `timeout` sends two, one to the process and one
/// to its group; a person needs longer for a second Ctrl-C.
const SAME: Duration = Duration::from_millis(200);

/// All signals that ask this program to end. To be called before it listens for any of them, see [`hang_up`].
pub fn ending() -> impl Iterator<Item = i32> {
    REQUESTS.into_iter().chain(hang_up())
}

/// SIGHUP, if this program may listen for it: where the system tells that it is not ignored.
///
/// To be called before anything listens for SIGHUP, since listening for a signal ends its being ignored. Asking the system
/// directly takes `unsafe`; where it does not tell in a file, SIGHUP keeps the effect that it has.
#[cfg(unix)]
pub fn hang_up() -> Option<i32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    (ignores_hang_up(&status) == Some(false)).then_some(signal_hook::consts::SIGHUP)
}

/// None: this system has no such signal.
#[cfg(not(unix))]
pub const fn hang_up() -> Option<i32> {
    None
}

// Reads it off the status that Linux gives of a process: SigIgn is a set in hexadecimal digits, its lowest bit the first
// signal, which is SIGHUP.
#[cfg(unix)]
fn ignores_hang_up(status: &str) -> Option<bool> {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored.trim(), 16).ok()?;
    Some(ignored & 1 == 1)
}

/// The [`REQUESTS`] that have come, so that a second one can be told from the first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Requests {
    first: Option<Instant>,
}

impl Requests {
    /// Takes in a request that has come at `now`. Says whether somebody insists, that is, has asked before.
    pub fn insist(&mut self, now: Instant) -> bool {
        now.saturating_duration_since(*self.first.get_or_insert(now)) > SAME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn the_status_tells_whether_hanging_up_is_ignored() {
        for (status, ignored) in [
            (
                "Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n",
                Some(false),
            ),
            ("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000000\n", Some(true)),
            ("SigIgn:\t0000000000000002\n", Some(false)),
            ("SigIgn:\tnone\n", None),
            ("Name:\tx\n", None),
            ("", None),
        ] {
            assert_eq!(ignores_hang_up(status), ignored, "{status}");
        }
    }

    #[test]
    fn who_asks_again_insists_unless_it_is_the_same_request() {
        let start = Instant::now();
        for (gaps, insists) in [
            (&[0][..], &[false][..]),
            (&[0, 0, 1, 200], &[false, false, false, false]),
            (&[0, 201], &[false, true]),
            (&[0, 5_000, 5_001], &[false, true, true]),
            // Who presses again and again is heard, however quickly.
            (&[0, 90, 180, 270], &[false, false, false, true]),
        ] {
            let mut requests = Requests::default();
            let said: Vec<bool> =
                gaps.iter().map(|&after| requests.insist(start + Duration::from_millis(after))).collect();
            assert_eq!(said, insists, "{gaps:?}");
        }
    }
}
