//! What is counted in the rooms of one game, because it happens often.

use std::time::Duration;

use prometheus_client::metrics::{counter::Counter, histogram::Histogram};

/// The numbers of the rooms of one game.
#[derive(Debug, Clone)]
pub(crate) struct Counters {
    pub(crate) received: Counter,
    pub(crate) malformed: Counter,
    pub(crate) sent: Counter,
    pub(crate) lateness: Histogram,
    pub(crate) broken: Counter,
}

impl Default for Counters {
    // Counts for nobody.
    fn default() -> Self {
        let counter = Counter::default;
        let lateness = Histogram::new([]);
        Self { received: counter(), malformed: counter(), sent: counter(), lateness, broken: counter() }
    }
}

impl Counters {
    /// A message arrived.
    pub(crate) fn received(&self, is_message: bool) {
        if is_message {
            self.received.inc()
        } else {
            self.malformed.inc()
        };
    }

    /// A message was written to a browser.
    pub(crate) fn sent(&self) {
        self.sent.inc();
    }

    /// A deadline, such as that of a turn, was noticed this late.
    pub(crate) fn late(&self, late: Duration) {
        self.lateness.observe(late.as_secs_f64());
    }

    /// An engine panicked.
    pub(crate) fn broken(&self) {
        self.broken.inc();
    }
}
