//! Being told to stop.

use std::io;

/// Waits for SIGINT or SIGTERM (on systems without signals, for Ctrl-C).
///
/// # Errors
/// When the system does not let the process listen for signals.
#[cfg(unix)]
pub fn shutdown() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    // Registered here, not when first polled: a signal that comes in between must not end the process unheard.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
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
