//! Looks for a dealer that was lost, until a signal comes.

use std::{
    mem,
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use cmdkit::{FOLLOW, Pace};
use netshell::shutdown;
use tokio::runtime;
use tracing::{debug, info};

use crate::connection::Way;

/// How often it is checked whether a signal came.
const STEP: Duration = Duration::from_millis(50);

/// Looks for a dealer that was lost.
pub(crate) struct Search {
    begun: Instant,
    pace: Pace,
}

impl Search {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), pace: Pace::default() }
    }

    /// A connection to the dealer where it is now; nothing if a signal came, and an error if it is not found in time.
    pub(crate) fn next(&mut self, way: &mut Way, signal: &Signal) -> Option<anyhow::Result<TcpStream>> {
        loop {
            let (pause, mut there) = (self.pace.pause(), way.clone());
            let (told, found) = mpsc::channel();
            // Hubs and the system's resolver are waited for, and a signal must not.
            let looking = thread::Builder::new().name("search".into()).spawn(move || {
                thread::sleep(pause);
                let reached = there.again();
                let _ = told.send((there, reached));
            });
            if let Err(error) = looking {
                return Some(Err(error.into()));
            }
            let reached = loop {
                match found.recv_timeout(STEP) {
                    Ok((there, reached)) => {
                        *way = there;
                        break reached;
                    }
                    Err(RecvTimeoutError::Timeout) if signal.came() => {
                        info!("stopped");
                        return None;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Some(Err(anyhow::anyhow!("the search broke"))),
                }
            };
            match reached {
                Ok(stream) => {
                    info!("the dealer is at {}", way.in_words());
                    return Some(Ok(stream));
                }
                Err(error) if self.begun.elapsed() >= FOLLOW => return Some(Err(error)),
                Err(error) => debug!("{error:#}"),
            }
        }
    }
}

/// Whether a signal came, and the connection that it cuts.
#[derive(Default)]
pub(crate) struct Signal {
    came: Arc<AtomicBool>,
    cuts: Arc<Mutex<Option<TcpStream>>>,
    listens: bool,
}

impl Signal {
    pub(crate) fn came(&self) -> bool {
        self.came.load(Ordering::SeqCst)
    }

    /// From now on a signal shuts this connection down.
    pub(crate) fn cut(&mut self, stream: &TcpStream) -> anyhow::Result<()> {
        let stream = stream.try_clone().context("cannot share the connection")?;
        *self.cuts.lock().unwrap_or_else(PoisonError::into_inner) = Some(stream);
        self.listen()?;
        // It may have come before the connection was there.
        if self.came() {
            shut(&self.cuts);
        }
        Ok(())
    }

    pub(crate) fn listen(&mut self) -> anyhow::Result<()> {
        if mem::replace(&mut self.listens, true) {
            return Ok(());
        }
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        // Registered here: a signal that comes before the thread runs is not lost.
        let stop = {
            let _within = runtime.enter();
            shutdown().context("cannot listen for signals")?
        };
        let (came, cuts) = (Arc::clone(&self.came), Arc::clone(&self.cuts));
        thread::Builder::new().name("signals".into()).spawn(move || {
            runtime.block_on(stop);
            came.store(true, Ordering::SeqCst);
            shut(&cuts);
        })?;
        Ok(())
    }
}

fn shut(cuts: &Mutex<Option<TcpStream>>) {
    if let Some(stream) = &*cuts.lock().unwrap_or_else(PoisonError::into_inner) {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
