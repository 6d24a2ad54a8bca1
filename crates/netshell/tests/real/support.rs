//! A server in its own thread.

use std::{
    future::pending,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

use netcore::{Engine, GameEvent, Hosted, Leave, Outcome, Protocol, Time};
use netshell::{Clock, Host, Observer, Transport, serve};
use tokio::sync::oneshot;

/// Collects what is printed on standard output.
#[derive(Clone, Default)]
struct Summaries(Arc<Mutex<Vec<String>>>);

impl Observer for Summaries {
    fn event(&mut self, _: Time, event: &GameEvent, _: Option<&str>) {
        if let GameEvent::Summary(text) = event {
            self.0.lock().unwrap().push(text.clone());
        }
    }
}

pub(crate) struct Served {
    stop: Option<oneshot::Sender<Leave>>,
    thread: JoinHandle<(Outcome, Vec<String>)>,
}

/// Serves an engine over the transport that `transport` creates within the runtime.
pub(crate) fn start<E, T>(engine: E, transport: impl FnOnce() -> T + Send + 'static) -> Served
where
    E: Engine + Send + 'static,
    <E::Protocol as Protocol>::Decoder: Send,
    T: Transport + Send + 'static,
{
    let (stop, stopped) = oneshot::channel();
    let thread = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let summaries = Summaries::default();
            let shutdown = async {
                match stopped.await {
                    Ok(leave) => leave,
                    Err(_) => pending().await,
                }
            };
            let host = Host::new(Hosted::new(engine)).with_transport(transport()).with_observer(summaries.clone());
            let outcome = serve(host, Clock::start(), shutdown).await.unwrap();
            let summaries = summaries.0.lock().unwrap().clone();
            (outcome, summaries)
        })
    });
    Served { stop: Some(stop), thread }
}

impl Served {
    /// Tells the server to shut down.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(Leave::Over).unwrap();
    }

    /// Its outcome, and what it printed on standard output.
    pub(crate) fn join(self) -> (Outcome, Vec<String>) {
        self.thread.join().unwrap()
    }
}
