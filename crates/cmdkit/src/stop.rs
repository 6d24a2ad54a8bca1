//! Being asked to end, by those whose work goes on for a while.

use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use crate::EXIT_FAILURE;

/// What asks a program to end: Ctrl-C, batch systems, a terminal that closes.
#[cfg(unix)]
const ASKING: &[i32] = &[SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const ASKING: &[i32] = &[SIGINT, SIGTERM];

/// A flag that is set once the program is asked to end. Whoever asks again ends it at once, with [`EXIT_FAILURE`].
///
/// # Errors
/// When the system refuses.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for &signal in ASKING {
        // First, so that it sees whether the flag was set before this signal.
        flag::register_conditional_shutdown(signal, EXIT_FAILURE.into(), Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
