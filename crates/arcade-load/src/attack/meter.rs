//! What innocents see, alone and under attack.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Whether the attacks have begun.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attacked(Arc<AtomicBool>);

impl Attacked {
    /// They begin.
    pub(crate) fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What an innocent saw in one phase.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How late answers came.
    pub(crate) answers: Vec<Duration>,
    /// What was refused or not answered.
    pub(crate) failed: u64,
    /// Seats and sockets that were taken away.
    pub(crate) lost: u64,
    /// Matches that were played to their end.
    pub(crate) matches: u64,
    /// Why something failed or was lost, and how often.
    pub(crate) why: BTreeMap<String, u64>,
}

/// What an innocent saw in both phases.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) alone: Seen,
    pub(crate) attacked: Seen,
}

/// Writes into the meter of an innocent, in the phase that it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder {
    meter: Rc<RefCell<Meter>>,
    attacked: Attacked,
}

impl Recorder {
    pub(crate) fn new(attacked: &Attacked) -> Self {
        Self { meter: Rc::default(), attacked: attacked.clone() }
    }

    /// Something was answered so late.
    pub(crate) fn answered(&self, late: Duration) {
        self.write(|seen| seen.answers.push(late));
    }

    /// Something was refused, or not answered in time.
    pub(crate) fn failed(&self, why: impl Into<String>) {
        self.write(|seen| {
            seen.failed += 1;
            *seen.why.entry(why.into()).or_default() += 1;
        });
    }

    /// A seat or a socket was taken away.
    pub(crate) fn lost(&self, why: impl Into<String>) {
        self.write(|seen| {
            seen.lost += 1;
            *seen.why.entry(why.into()).or_default() += 1;
        });
    }

    /// A match was played to its end.
    pub(crate) fn ended(&self) {
        self.write(|seen| seen.matches += 1);
    }

    /// What was written so far.
    pub(crate) fn take(&self) -> Meter {
        self.meter.take()
    }

    fn write(&self, write: impl FnOnce(&mut Seen)) {
        let mut meter = self.meter.borrow_mut();
        write(if self.attacked.has_begun() { &mut meter.attacked } else { &mut meter.alone });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_counts_in_its_phase() {
        let attacked = Attacked::default();
        let recorder = Recorder::new(&attacked);
        recorder.answered(Duration::from_millis(3));
        attacked.begin();
        recorder.clone().lost("close 4003");
        recorder.failed("429");
        let Meter { alone, attacked } = recorder.take();
        assert_eq!((alone.answers.len(), alone.failed, alone.lost), (1, 0, 0));
        assert_eq!((attacked.answers.len(), attacked.failed, attacked.lost), (0, 1, 1));
        assert_eq!(attacked.why.keys().collect::<Vec<_>>(), ["429", "close 4003"]);
    }
}
