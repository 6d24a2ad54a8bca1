//! Being told to stop.

#[cfg(unix)]
use std::future::pending;
use std::io;

/// Waits for SIGINT, SIGTERM or, where the system tells that it is not ignored, SIGHUP (on systems without signals, for
/// Ctrl-C).
///
/// SIGHUP comes when the terminal is closed. Under `nohup` it is ignored, and that stays so.
///
/// # Errors
/// When the system does not let the process listen for signals.
#[cfg(unix)]
pub fn shutdown() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    // Registered here, not when first polled: a signal that comes in between must not end the process unheard.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = if hang_up_counts() { Some(signal(SignalKind::hangup())?) } else { None };
    Ok(async move {
        let closed_terminal = async {
            match &mut hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = closed_terminal => {}
        }
    })
}

// Whether SIGHUP does something to this process. Listening for a signal ends its being ignored, and asking the system
// directly takes `unsafe`; where it does not say so in a file either, SIGHUP keeps its effect.
#[cfg(unix)]
fn hang_up_counts() -> bool {
    let status = std::fs::read_to_string("/proc/self/status");
    status.is_ok_and(|status| ignores_hang_up(&status) == Some(false))
}

// Reads it off the status that Linux gives of a process: SigIgn is a set in hexadecimal digits, its lowest bit the first
// signal, which is SIGHUP.
#[cfg(unix)]
fn ignores_hang_up(status: &str) -> Option<bool> {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored.trim(), 16).ok()?;
    Some(ignored & 1 == 1)
}

/// Waits for Ctrl-C.
///
/// # Errors
/// None on this system.
#[cfg(not(unix))]
pub fn shutdown() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
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
}
