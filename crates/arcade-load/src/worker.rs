//! A thread with a runtime of its own, so that what it does delays nobody else.

use std::{
    io,
    thread::{self, JoinHandle},
};

use anyhow::anyhow;
use tokio::{sync::oneshot, task::LocalSet};

/// Work that goes on until it is stopped.
#[derive(Debug)]
pub(crate) struct Worker<T> {
    thread: JoinHandle<anyhow::Result<T>>,
    stop: oneshot::Sender<()>,
}

impl<T: Send + 'static> Worker<T> {
    /// Begins work, which is told when it is stopped.
    pub(crate) fn start<F: Future<Output = anyhow::Result<T>>>(
        name: &str,
        work: impl FnOnce(oneshot::Receiver<()>) -> F + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(name.into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            LocalSet::new().block_on(&runtime, work(stopped))
        })?;
        Ok(Self { thread, stop })
    }

    /// Stops it, and returns what came of it.
    pub(crate) fn stop(self) -> anyhow::Result<T> {
        let Self { thread, stop } = self;
        // If nobody listens, the work has failed already.
        let _ = stop.send(());
        let name = thread.thread().name().unwrap_or_default().to_owned();
        thread.join().map_err(|_| anyhow!("the thread '{name}' panicked"))?
    }
}
