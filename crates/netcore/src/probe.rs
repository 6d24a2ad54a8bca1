//! Hooks for simulations: faults that are planted to check that a simulation finds them, and counters of the paths that
//! a run took.
//!
//! Without the feature `probe`, which no released program has, the hooks have no effect. With it, they belong to the
//! thread that called `enter`.

/// A fault that a simulation plants in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// The host sends outputs before they are safe.
    OutputsNotHeld,
    /// The time of a room goes back with the clock.
    TimeGoesBack,
    /// Outputs that have become safe do not wake the host.
    SafeOutputsWakeNobody,
    /// After an error a datagram socket is not read again by itself.
    SocketNotReadAgain,
    /// New records do not wake the thread that writes them.
    RecordsWakeNobody,
    /// One record in many is not written.
    RecordDropped,
    /// A snapshot is recorded with a later position than that of its state.
    SnapshotTooLate,
    /// With a sync for each write, the sync precedes the write.
    SyncBeforeWrite,
    /// Outputs are released although the journal could not be written and could not be marked as cut.
    ReleasedWithoutCut,
    /// A journal is cut after a record that was written in part.
    CutOverPartialRecord,
    /// Of new directories only the innermost is synced.
    ParentNotSynced,
    /// The name of a new segment is not synced.
    NameNotSynced,
    /// The part that only the previous segment contains is not synced before the next segment continues it.
    OldSegmentNotSynced,
    /// A segment that is not the last one is continued.
    WrongSegment,
    /// The status of a journal claims that records are on disk before they are.
    SyncedTooEarly,
    /// A resumed journal is not locked.
    NotLocked,
    /// A decoder refuses a message because of bytes behind it, which are not recorded.
    LooksBehind,
    /// A restored nuggets server has lost the list of players who quit.
    QuittersForgotten,
    /// The fence of an append is not checked.
    FenceNotChecked,
    /// A repeated append is stored twice.
    RetryStoredTwice,
    /// A claim overwrites another one.
    ClaimOverwrites,
    /// A resumed watch leaves out a change.
    WatchSkips,
    /// A result is acknowledged before it is committed.
    AcknowledgedBeforeCommit,
    /// A node keeps its rooms after its lease has expired.
    LeaseIgnored,
    /// A node removes the entry of another node before its promise to that node has expired.
    PromiseForgotten,
    /// A node removes the entry of a node that does not know it without the longer delay for such nodes.
    StrangerBuries,
    /// A node that is silent for a moment is considered dead.
    ExpiredTooEarly,
    /// A node whose heartbeat is refused continues as before.
    ExpiryUnnoticed,
    /// A room is handed over before its owner has fallen silent.
    ReleasedTooEarly,
    /// A claim of this node that it does not know about is not removed.
    GhostsStay,
    /// Effects are published before their records are stored.
    ToldBeforeStored,
    /// A node removes the entry of another node without ending its heartbeats first.
    HeartbeatsNotEnded,
    /// A node sends heartbeats that a node of the previous version does not read.
    FormerNodesIgnored,
    /// No fault: the node behaves like one of the version before heartbeats had entries of their own.
    FormerVersion,
    /// A node that takes a match over reads its journal before it has raised the fence.
    ReadBeforeOpen,
}

#[cfg(feature = "probe")]
pub use self::thread::{Probe, current, enter};

/// Whether this fault is planted in the current thread.
#[inline]
pub fn has(fault: Planted) -> bool {
    #[cfg(feature = "probe")]
    return thread::has(fault);
    #[cfg(not(feature = "probe"))]
    {
        let _ = fault;
        false
    }
}

/// Counts that the code took this path.
#[inline]
pub fn pass(path: &'static str) {
    #[cfg(feature = "probe")]
    thread::pass(path);
    #[cfg(not(feature = "probe"))]
    let _ = path;
}

#[cfg(feature = "probe")]
mod thread {
    use alloc::collections::BTreeMap;
    use std::{
        cell::RefCell,
        sync::{Arc, Mutex, PoisonError},
    };

    use super::Planted;

    std::thread_local! {
        static CURRENT: RefCell<Probe> = RefCell::default();
    }

    /// The planted fault and the path counters of a thread. Clones share the counters.
    #[derive(Debug, Clone, Default)]
    pub struct Probe {
        /// The fault, if one is planted.
        pub planted: Option<Planted>,
        passed: Option<Arc<Mutex<BTreeMap<&'static str, u64>>>>,
    }

    impl Probe {
        /// A probe that counts the paths taken.
        pub fn new(planted: Option<Planted>) -> Self {
            Self { planted, passed: Some(Arc::default()) }
        }

        /// How often each path was taken.
        pub fn passed(&self) -> BTreeMap<&'static str, u64> {
            let passed = self.passed.as_ref();
            passed.map(|passed| passed.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
        }
    }

    /// Sets the probe of this thread and returns the previous one.
    pub fn enter(probe: Probe) -> Probe {
        CURRENT.replace(probe)
    }

    /// The probe of this thread.
    pub fn current() -> Probe {
        CURRENT.with_borrow(Clone::clone)
    }

    pub(super) fn has(fault: Planted) -> bool {
        CURRENT.with_borrow(|probe| probe.planted == Some(fault))
    }

    pub(super) fn pass(path: &'static str) {
        CURRENT.with_borrow(|probe| {
            if let Some(passed) = &probe.passed {
                *passed.lock().unwrap_or_else(PoisonError::into_inner).entry(path).or_default() += 1;
            }
        });
    }
}
