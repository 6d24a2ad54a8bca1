use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
};

use signal_hook::flag;

use crate::EXIT_FAILURE;

/// A flag that the signals of [`sigkit::ending`] set. A second request (see [`sigkit::Requests`]) ends the program
/// immediately with [`EXIT_FAILURE`].
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    end_if_insisted()?;
    for signal in sigkit::ending() {
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

// In a thread, because a signal handler must not read the clock.
#[cfg(unix)]
fn end_if_insisted() -> io::Result<()> {
    use std::{io::Read, os::unix::net::UnixStream, thread, time::Instant};

    use signal_hook::low_level::{exit, pipe};

    let (mut told, teller) = UnixStream::pair()?;
    for signal in sigkit::REQUESTS {
        pipe::register(signal, teller.try_clone()?)?;
    }
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut requests = sigkit::Requests::default();
        while told.read_exact(&mut [0]).is_ok() {
            if requests.register(Instant::now()) {
                exit(EXIT_FAILURE.into());
            }
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn end_if_insisted() -> io::Result<()> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in sigkit::REQUESTS {
        // Must come first, to see whether the flag was set before this signal.
        flag::register_conditional_shutdown(signal, EXIT_FAILURE.into(), Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(())
}
