//! What the system has to tell.

use std::io;

/// A signal that matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "elsewhere there is but one"))]
pub(crate) enum Signal {
    /// Leave in order: SIGINT, SIGTERM, SIGQUIT.
    Leave,
    /// The terminal is gone: SIGHUP.
    HangUp,
    /// The window has another size.
    Resized,
    /// The shell lets the program go on.
    Continued,
}

#[cfg(not(unix))]
pub(crate) use elsewhere::Signals;
#[cfg(unix)]
pub(crate) use unix::Signals;

#[cfg(unix)]
mod unix {
    use tokio::{
        select,
        signal::unix::{Signal as Stream, SignalKind, signal},
    };

    use super::{Signal, io};

    /// The signals that come to this program.
    #[derive(Debug)]
    pub(crate) struct Signals {
        interrupt: Stream,
        terminate: Stream,
        quit: Stream,
        hang_up: Stream,
        resized: Stream,
        continued: Stream,
    }

    impl Signals {
        pub(crate) fn listen() -> io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                quit: signal(SignalKind::quit())?,
                hang_up: signal(SignalKind::hangup())?,
                resized: signal(SignalKind::window_change())?,
                continued: signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?,
            })
        }

        /// Waits for the next one.
        pub(crate) async fn next(&mut self) -> Signal {
            select! {
                _ = self.interrupt.recv() => Signal::Leave,
                _ = self.terminate.recv() => Signal::Leave,
                _ = self.quit.recv() => Signal::Leave,
                _ = self.hang_up.recv() => Signal::HangUp,
                _ = self.resized.recv() => Signal::Resized,
                _ = self.continued.recv() => Signal::Continued,
            }
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::future;

    use super::{Signal, io};

    /// The signals that come to this program.
    #[derive(Debug)]
    pub(crate) struct Signals;

    impl Signals {
        pub(crate) fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits for the next one.
        pub(crate) async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal::Leave,
                Err(_) => future::pending().await,
            }
        }
    }
}
