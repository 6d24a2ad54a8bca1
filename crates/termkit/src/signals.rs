use std::io;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT, SIGTERM, SIGQUIT.
    Leave,
    /// SIGHUP, unless it is ignored ([`sigkit::hang_up`]).
    HangUp,
    Resized,
    /// SIGTSTP, while a screen is drawn.
    Stop,
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

    #[derive(Debug)]
    pub struct Signals {
        leave: Vec<Stream>,
        // `None` if SIGHUP is ignored, which is left unchanged.
        hang_up: Option<Stream>,
        resized: Stream,
        continued: Stream,
        // `None` for the default action of the system.
        stops: Option<mpsc::Receiver<()>>,
    }

    impl Signals {
        pub fn listen() -> io::Result<Self> {
            Self::with_stops(None)
        }

        /// Also listens for SIGTSTP. Must be called before any other thread starts.
        pub fn for_screen() -> io::Result<Self> {
            // A queue of one merges pending signals of the same kind.
            let (sender, stops) = mpsc::channel(1);
            stops::listen(move || !matches!(sender.try_send(()), Err(TrySendError::Closed(()))))?;
            Self::with_stops(Some(stops))
        }

        fn with_stops(stops: Option<mpsc::Receiver<()>>) -> io::Result<Self> {
            // Includes SIGQUIT: by default, Ctrl-\ would leave the terminal in raw mode.
            let leave = sigkit::REQUESTS.map(SignalKind::from_raw).into_iter().chain([SignalKind::quit()]);
            Ok(Self {
                stops,
                leave: leave.map(signal).collect::<io::Result<_>>()?,
                hang_up: sigkit::hang_up().map(|number| signal(SignalKind::from_raw(number))).transpose()?,
                resized: signal(SignalKind::window_change())?,
                continued: signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?,
            })
        }

        /// Cancellation safe.
        pub async fn next(&mut self) -> Signal {
            select! {
                () = any(&mut self.leave) => Signal::Leave,
                () = any(self.hang_up.as_mut_slice()) => Signal::HangUp,
                _ = self.resized.recv() => Signal::Resized,
                _ = self.continued.recv() => Signal::Continued,
                Some(()) = async { self.stops.as_mut()?.recv().await } => Signal::Stop,
            }
        }
    }

    // Never resolves without streams.
    async fn any(streams: &mut [Stream]) {
        let mut came =
            |context: &mut Context<'_>| streams.iter_mut().any(|stream| stream.poll_recv(context).is_ready());
        future::poll_fn(|context| if came(context) { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::future;

    use super::{Signal, io};

    #[derive(Debug)]
    pub struct Signals;

    impl Signals {
        #[expect(clippy::unnecessary_wraps, reason = "as where something can fail")]
        pub fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        /// Like [`Signals::listen`], since this system has no other signals.
        pub fn for_screen() -> io::Result<Self> {
            Self::listen()
        }

        pub async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal::Leave,
                Err(_) => future::pending().await,
            }
        }
    }
}
