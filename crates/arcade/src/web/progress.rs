//! How fast a client has to take its answer.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// How long a client may take for the next piece of an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// By when a connection has to have room for the next piece of an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Arc<watch::Sender<Option<Instant>>>);

impl Progress {
    /// A piece of an answer is on its way, and more follows.
    pub(crate) fn expect_progress(&self) {
        self.0.send_replace(Some(Instant::now() + PATIENCE));
    }

    /// Nothing more follows.
    pub(crate) fn rest(&self) {
        self.0.send_replace(None);
    }

    /// Waits until the client is too late.
    pub(crate) async fn missed(&self) {
        let mut due = self.0.subscribe();
        loop {
            let until = *due.borrow_and_update();
            let late = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = late => return,
                // The sender is here.
                _ = due.changed() => {}
            }
        }
    }
}
