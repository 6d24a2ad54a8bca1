//! The queue from rooms to the task that stores results.
//!
//! A room only reports that its journal has a new result, and never waits. Results are computed from the journal, so a
//! room takes one entry however long the database is away.

use std::{
    collections::BTreeSet,
    ops::Bound,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

/// Queued journals. Beyond it, all journals are scanned.
const MAX_JOURNALS: usize = 4_096;
/// Queued names. A dropped name is marked as used when its match is stored.
const MAX_NAMES: usize = 1_024;
/// The pause before an unreadable journal is read again.
const RETRY: Duration = Duration::from_secs(10);

/// The permanent id of a match: its journal and its number in the journal.
pub(crate) fn match_id(journal: u64, number: u32) -> String {
    format!("{journal:016x}-{number}")
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    Scan,
    /// The file name of a journal that may have new results.
    Journal(String),
    /// A proven name that has joined a match.
    Name(String),
}

#[derive(Debug)]
pub(crate) struct Ledger {
    state: Mutex<LedgerState>,
    changed: Notify,
}

#[derive(Debug)]
struct LedgerState {
    is_scan_due: bool,
    journals: BTreeSet<String>,
    names: BTreeSet<String>,
    retry: BTreeSet<Work>,
    retry_at: Option<Instant>,
    // The last returned journal, so that each gets its turn.
    last: String,
    is_working: bool,
    is_ending: bool,
}

impl Default for Ledger {
    /// Starts with a scan of all journals.
    fn default() -> Self {
        let state = LedgerState {
            is_scan_due: true,
            journals: BTreeSet::new(),
            names: BTreeSet::new(),
            retry: BTreeSet::new(),
            retry_at: None,
            last: String::new(),
            is_working: false,
            is_ending: false,
        };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }
}

impl LedgerState {
    fn add_journal(&mut self, file: String) {
        if self.journals.len() < MAX_JOURNALS || self.journals.contains(&file) {
            self.journals.insert(file);
        } else {
            self.is_scan_due = true;
        }
    }

    fn take(&mut self, now: Instant) -> Option<Work> {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
            for work in std::mem::take(&mut self.retry) {
                match work {
                    Work::Scan => self.is_scan_due = true,
                    Work::Journal(file) => self.add_journal(file),
                    Work::Name(name) => {
                        self.names.insert(name);
                    }
                }
            }
        }
        if let Some(name) = self.names.pop_first() {
            return Some(Work::Name(name));
        }
        if std::mem::take(&mut self.is_scan_due) {
            // The scan includes these.
            self.journals.clear();
            return Some(Work::Scan);
        }
        let after = (Bound::Excluded(&self.last), Bound::Unbounded);
        let next = self.journals.range::<String, _>(after).next().or(self.journals.first())?.clone();
        self.journals.remove(&next);
        self.last.clone_from(&next);
        Some(Work::Journal(next))
    }
}

impl Ledger {
    fn state(&self) -> MutexGuard<'_, LedgerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut LedgerState)) {
        change(&mut self.state());
        self.changed.notify_one();
    }

    /// `journal` is a file name.
    pub(crate) fn match_ended(&self, journal: &str) {
        self.change(|state| state.add_journal(journal.to_owned()));
    }

    /// Queues a used proven name, which keeps it reserved for its key.
    pub(crate) fn name_used(&self, name: &str) {
        self.change(|state| {
            if state.names.len() < MAX_NAMES {
                state.names.insert(name.to_owned());
            }
        });
    }

    pub(crate) fn retry(&self, work: Work) {
        self.change(|state| {
            state.retry.insert(if state.retry.len() < MAX_JOURNALS { work } else { Work::Scan });
            state.retry_at.get_or_insert_with(|| Instant::now() + RETRY);
        });
    }

    /// [`next`](Self::next) returns `None` once the queue is empty.
    pub(crate) fn end(&self) {
        self.change(|state| state.is_ending = true);
    }

    /// The previous work then counts as done, so only one task may call this.
    pub(crate) async fn next(&self) -> Option<Work> {
        self.state().is_working = false;
        loop {
            let retry_at = {
                let mut state = self.state();
                if let Some(work) = state.take(Instant::now()) {
                    state.is_working = true;
                    return Some(work);
                }
                if state.is_ending {
                    return None;
                }
                state.retry_at
            };
            match retry_at {
                // There may be work in either case.
                Some(at) => drop(timeout_at(at, self.changed.notified()).await),
                None => self.changed.notified().await,
            }
        }
    }

    /// Counts queued and current journals and names.
    pub(crate) fn waiting(&self) -> usize {
        let state = self.state();
        state.journals.len() + state.retry.len() + state.names.len() + usize::from(state.is_working)
    }

    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state();
        state.journals.is_empty() && state.names.is_empty() && !state.is_scan_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_journal_waits_once_and_gets_its_turn() {
        let ledger = Ledger::default();
        assert_eq!(ledger.next().await, Some(Work::Scan));
        for _ in 0..3 {
            ledger.match_ended("a");
            ledger.match_ended("b");
        }
        assert_eq!(ledger.waiting(), 3, "two journals, and the scan that is not done");
        assert_eq!(ledger.next().await, Some(Work::Journal("a".into())));
        ledger.match_ended("a");
        assert_eq!(ledger.next().await, Some(Work::Journal("b".into())));
        ledger.name_used("Ann");
        assert_eq!(ledger.next().await, Some(Work::Name("Ann".into())));
        ledger.end();
        assert_eq!(ledger.next().await, Some(Work::Journal("a".into())));
        assert_eq!((ledger.next().await, ledger.waiting()), (None, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn unreadable_journal_is_read_again_later() {
        let ledger = Ledger::default();
        assert_eq!(ledger.next().await, Some(Work::Scan));
        ledger.retry(Work::Journal("a".into()));
        let start = Instant::now();
        assert_eq!(ledger.next().await, Some(Work::Journal("a".into())));
        assert!(start.elapsed() >= RETRY);
        ledger.retry(Work::Scan);
        assert_eq!(ledger.next().await, Some(Work::Scan));
    }

    #[tokio::test]
    async fn full_queue_is_replaced_by_a_scan() {
        let ledger = Ledger::default();
        assert_eq!(ledger.next().await, Some(Work::Scan));
        for number in 0..=MAX_JOURNALS {
            ledger.match_ended(&number.to_string());
            ledger.name_used(&number.to_string());
        }
        assert_eq!(ledger.waiting(), MAX_JOURNALS + MAX_NAMES + 1);
        for _ in 0..MAX_NAMES {
            assert!(matches!(ledger.next().await, Some(Work::Name(_))));
        }
        assert_eq!(ledger.next().await, Some(Work::Scan));
        assert!(ledger.is_idle());
    }
}
