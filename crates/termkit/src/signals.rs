//! What the system has to tell.

use std::io;

/// A signal that matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Leave in order: SIGINT, SIGTERM, SIGQUIT.
    Leave,
    /// The terminal is gone: SIGHUP, where [`sigkit::hang_up`] says that it counts.
    HangUp,
    /// The window has another size.
    Resized,
    /// The program is to stop until the shell lets it go on: SIGTSTP, while a screen is drawn.
    Stop,
    /// The shell lets the program go on.
    Continued,
}

#[cfg(not(unix))]
pub use elsewhere::Signals;
#[cfg(unix)]
pub use unix::Signals;

#[cfg(unix)]
mod unix {
    use std::{
        future,
        task::{Context, Poll},
    };

    use tokio::{
        select,
        signal::unix::{Signal as Stream, SignalKind, signal},
        sync::mpsc::{self, error::TrySendError},
    };

    use super::{Signal, io};
    use crate::stops;

    /// The signals that come to this program.
    #[derive(Debug)]
    pub struct Signals {
        // Of what asks the program to leave, each kind.
        leave: Vec<Stream>,
        // None where it is ignored, and that stays so.
        hang_up: Option<Stream>,
        resized: Stream,
        continued: Stream,
        // None where the system may stop the program as it likes.
        stops: Option<mpsc::Receiver<()>>,
    }

    impl Signals {
        /// Listens to what ends a program.
        ///
        /// # Errors
        /// When the system refuses.
        pub fn listen() -> io::Result<Self> {
            Self::with_stops(None)
        }

        /// Listens to what ends, stops or changes a screen. To be called before any thread is started.
        ///
        /// # Errors
        /// When the system refuses, or there can be no thread.
        pub fn for_screen() -> io::Result<Self> {
            // One that waits stands for all that came meanwhile.
            let (sender, stops) = mpsc::channel(1);
            stops::listen(move || !matches!(sender.try_send(()), Err(TrySendError::Closed(()))))?;
            Self::with_stops(Some(stops))
        }

        fn with_stops(stops: Option<mpsc::Receiver<()>>) -> io::Result<Self> {
            // Ctrl-\ too, which would leave the terminal as no shell wants it.
            let leave = sigkit::REQUESTS.map(SignalKind::from_raw).into_iter().chain([SignalKind::quit()]);
            Ok(Self {
                stops,
                leave: leave.map(signal).collect::<io::Result<_>>()?,
                hang_up: sigkit::hang_up().map(|number| signal(SignalKind::from_raw(number))).transpose()?,
                resized: signal(SignalKind::window_change())?,
                continued: signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?,
            })
        }

        /// Waits for the next one. Dropping it before it is done loses nothing.
        pub async fn next(&mut self) -> Signal {
            select! {
                () = any(&mut self.leave) => Signal::Leave,
                () = any(self.hang_up.as_mut_slice()) => Signal::HangUp,
                _ = self.resized.recv() => Signal::Resized,
                _ = self.continued.recv() => Signal::Continued,
                () = stopped(&mut self.stops) => Signal::Stop,
            }
        }
    }

    // For ever if there are none.
    async fn any(streams: &mut [Stream]) {
        let mut came =
            |context: &mut Context<'_>| streams.iter_mut().any(|stream| stream.poll_recv(context).is_ready());
        future::poll_fn(|context| if came(context) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    async fn stopped(stops: &mut Option<mpsc::Receiver<()>>) {
        let told = match stops {
            Some(stops) => stops.recv().await,
            None => None,
        };
        if told.is_none() {
            future::pending::<()>().await;
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::future;

    use super::{Signal, io};

    /// The signals that come to this program.
    #[derive(Debug)]
    pub struct Signals;

    impl Signals {
        /// Listens to what ends a program.
        ///
        /// # Errors
        /// None here.
        #[expect(clippy::unnecessary_wraps, reason = "as where something can fail")]
        pub fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        /// As [`Signals::listen`]: nothing else is told here.
        ///
        /// # Errors
        /// None here.
        pub fn for_screen() -> io::Result<Self> {
            Self::listen()
        }

        /// Waits for the next one. Dropping it before it is done loses nothing.
        pub async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal::Leave,
                Err(_) => future::pending().await,
            }
        }
    }
}
