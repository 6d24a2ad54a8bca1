//! What a simulation sees of the code that it runs: faults that are planted to see that they are found, and which
//! paths a run took.
//!
//! Without the feature `probe` there are neither, and no released program has it. With it, they belong to the thread that
//! called `enter`.

/// A fault that a mistake in the code could be.
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
    /// A snapshot is said to be the state after a later record than it is.
    SnapshotTooLate,
    /// With each write synced, it is synced before it is written.
    SyncBeforeWrite,
    /// Outputs are released although the journal could neither be written nor be marked as cut.
    ReleasedWithoutCut,
    /// A journal is cut after a record that was written in part.
    CutOverPartialRecord,
    /// Of new directories only the innermost is synced.
    ParentNotSynced,
    /// The name of a new segment is not synced.
    NameNotSynced,
    /// What only the previous segment has is not synced before the next one continues it.
    OldSegmentNotSynced,
    /// A segment that is not the last one is continued.
    WrongSegment,
    /// The status of a journal says that records are on disk before they are.
    SyncedTooEarly,
    /// A resumed journal is not locked.
    NotLocked,
    /// A decoder refuses a message because of bytes behind it, which are not recorded.
    LooksBehind,
    /// A restored server of nuggets has forgotten who had quit.
    QuittersForgotten,
    /// The fence of an append is not checked.
    FenceNotChecked,
    /// An append that is repeated is stored twice.
    RetryStoredTwice,
    /// A claim overwrites another one.
    ClaimOverwrites,
    /// A resumed watch leaves out a change.
    WatchSkips,
    /// A result is acknowledged before it is committed.
    AcknowledgedBeforeCommit,
    /// A node owns its rooms also when its lease is over.
    LeaseIgnored,
    /// A node buries another one that it has promised to leave alone.
    PromiseForgotten,
    /// A node buries another one that does not know it.
    StrangerBuries,
    /// A node that is silent for a moment is taken for dead.
    ExpiredTooEarly,
    /// A node whose heartbeat is refused goes on as before.
    ExpiryUnnoticed,
    /// A room is handed over before its owner has fallen silent.
    ReleasedTooEarly,
    /// A claim of this node that it knows nothing of stays.
    GhostsStay,
    /// What waits for a journal is told before it is stored.
    ToldBeforeStored,
    /// A node removes the entry of another one without ending its heartbeats first.
    HeartbeatsNotEnded,
    /// A node sends heartbeats that a node of the former version does not read.
    FormerNodesIgnored,
    /// No fault: the node behaves like one of the version before heartbeats had entries of their own.
    FormerVersion,
    /// Who takes a match over reads its journal before it has raised the fence.
    ReadBeforeOpen,
}

#[cfg(feature = "probe")]
pub use self::thread::{Probe, current, enter};

/// Whether this thread runs with this fault.
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

/// Notes that the code came here.
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

    /// What the probes of a thread see. Clones share them.
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

    /// Sets the probe of this thread. Returns the one that it had.
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
