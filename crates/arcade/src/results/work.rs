//! The task that stores results.

use std::{
    collections::BTreeSet,
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use journal_core::SystemDisk;
use mesh::Committed;
use store::{Known, NewMatch, Trouble};
use tokio::{
    sync::mpsc,
    task::spawn_blocking,
    time::{Instant, sleep, timeout_at},
};
use tracing::warn;

use super::{
    Job, LONGEST_PAUSE, Missed, PAUSE, Results, State, Waiting,
    examine::{self, Examined},
    name_of,
};

/// How often a journal is read until the end of a match has reached the file; the pause doubles each time, to 16 s in all.
const READINGS: u32 = 7;
/// How long the task waits at most before it reads a journal again.
const LONGEST_LOOK: Duration = Duration::from_mins(1);

/// Why a journal was not looked through to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unread {
    /// The system cannot read it just now.
    Away,
    /// It is damaged.
    Damaged,
}

impl Results {
    pub(super) async fn run(self: Arc<Self>, mut waiting: Waiting) {
        insist!(self, "prepare the database", self.store.prepare());
        self.refresh().await;
        self.prepared.send_replace(true);
        self.catch_up(|_| true).await;
        self.caught_up.send_replace(true);
        self.refresh().await;
        let mut changed = false;
        loop {
            // What is told comes first, so that the queue does not grow while journals are read.
            let job = match self.next_look() {
                Some(due) => timeout_at(due, waiting.0.recv()).await,
                None => Ok(waiting.0.recv().await),
            };
            match job {
                Ok(Some(Job::End) | None) => {
                    // The journals of all rooms are closed.
                    self.look_at_last().await;
                    return;
                }
                Ok(Some(job)) => changed |= self.work(job).await,
                // It is time to look for results in journals.
                Err(_) => {}
            }
            if waiting.0.is_empty() {
                changed |= self.look_again().await;
                if std::mem::take(&mut changed) {
                    self.refresh().await;
                }
            }
        }
    }

    // Does a job; says whether there may be a new result.
    async fn work(&self, job: Job) -> bool {
        match job {
            Job::Match(new, known) => {
                self.record(&new).await;
                self.note_known(&new, known).await;
                return true;
            }
            Job::Examine(new) => self.state().look_for(new),
            Job::Name(name) => insist!(self, "note that a name is used", self.store.hold_name(&name)),
            Job::End => {}
        }
        false
    }

    // Stores a match, or leaves it to whichever hub takes it.
    async fn record(&self, new: &NewMatch) {
        if self.submit(new).await {
            return;
        }
        let mut pause = PAUSE;
        while self.commit(new).await.is_none() {
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    // Stores a match in the database. Returns `None` if the database does not answer. A match that the database rejects must not keep
    // the others waiting.
    pub(super) async fn commit(&self, new: &NewMatch) -> Option<Committed> {
        match self.store.record(new).await {
            Ok(is_new) => {
                self.succeeded();
                if is_new {
                    self.stored.fetch_add(1, Ordering::Relaxed);
                }
                Some(Committed::Stored)
            }
            Err(error) if error.trouble() == Trouble::Refused => {
                let error = format!("{:#}", anyhow::Error::from(error));
                warn!(id = new.id, error, "the database refuses this result, which is left out; its journal has it");
                Some(Committed::Rejected)
            }
            Err(error) => {
                self.failed("store a match", error);
                None
            }
        }
    }

    // After a match was stored: the next start need not look for it. What was missed is not known.
    pub(super) async fn note_known(&self, new: &NewMatch, known: Known) {
        let known = {
            let mut state = self.state();
            if state.lost_track.is_some() || state.missed.contains_key(&new.journal) {
                return;
            }
            let Some(running) = state.running.get_mut(&new.journal) else { return };
            running.remove(&new.number);
            running.values().copied().fold(known, |first, other| if other.until < first.until { other } else { first })
        };
        insist!(self, "note a journal", self.store.note_known(&new.journal, known));
    }

    /// Stores the results that earlier runs did not, from all `wanted` journals that have grown since they were last examined.
    pub(crate) async fn catch_up(&self, wanted: impl Fn(&str) -> bool) {
        let directory = self.journals.clone();
        let found = spawn_blocking(move || journal_core::find(&SystemDisk, &directory)).await;
        let Ok(Ok(found)) = found else {
            warn!(directory = %self.journals.display(), "the journals cannot be listed, which is retried; results of earlier runs are missing");
            self.state().lost_track = Some(Instant::now() + LONGEST_LOOK);
            return;
        };
        let notes = insist!(self, "read what is known of journals", self.store.journals());
        for journal in found {
            let Some(file) = name_of(&journal.path).filter(|file| wanted(file)) else { continue };
            if journal.end != Some(notes.get(file).map_or(0, |note| note.examined)) {
                let (_, unread) = self.examine(file).await;
                if unread == Some(Unread::Away) {
                    self.state().miss(file);
                }
            }
        }
    }

    // When journals have to be looked through.
    fn next_look(&self) -> Option<Instant> {
        let state = self.state();
        state.missed.values().map(|missed| missed.due).chain(state.lost_track).min()
    }

    // Looks for results in the journals whose turn it is; says whether there may be a new one.
    async fn look_again(&self) -> bool {
        let due: Vec<(String, Missed)> = {
            let now = Instant::now();
            self.state().missed.extract_if(.., |_, missed| missed.due <= now).collect()
        };
        let mut changed = false;
        for (file, mut missed) in due {
            let (found, unread) = self.examine(&file).await;
            changed |= !found.is_empty();
            missed.numbers.retain(|number| !found.contains(number));
            let is_complete = missed.numbers.is_empty() && unread != Some(Unread::Away);
            if !is_complete {
                self.look_later(&file, missed, unread);
            }
        }
        let is_lost = self.state().lost_track.take_if(|due| *due <= Instant::now()).is_some();
        if is_lost {
            self.catch_up(|_| true).await;
        }
        changed |= self.record_told().await;
        changed | is_lost
    }

    // The hub ends: looks once more for matches that are only partly known.
    async fn look_at_last(&self) {
        let told = std::mem::take(&mut self.state().told);
        let mut read: Option<(String, bool)> = None;
        for ((file, _), new) in told {
            if read.as_ref().is_none_or(|(before, _)| *before != file) {
                let (_, unread) = self.examine(&file).await;
                read = Some((file, unread != Some(Unread::Away)));
            }
            // The next start finds the match in a journal that cannot be read just now.
            if read.as_ref().is_some_and(|(_, is_read)| *is_read) {
                self.record(&new).await;
            }
        }
    }

    // Stores matches that are not looked for any more as far as their rooms know them: their journals were cut before they were over. Says
    // whether there may be a new one; one that was found is stored already.
    async fn record_told(&self) -> bool {
        let told: Vec<_> = {
            let mut state = self.state();
            if state.lost_track.is_some() {
                return false;
            }
            let State { told, missed, .. } = &mut *state;
            let is_sought =
                |file: &String, number: &u32| missed.get(file).is_some_and(|missed| missed.numbers.contains(number));
            told.extract_if(.., |(file, number), _| !is_sought(file, number)).map(|(_, new)| new).collect()
        };
        for new in &told {
            self.record(new).await;
        }
        !told.is_empty()
    }

    // A journal that cannot be read just now is read again until it can; one that is damaged, or in which a match does not appear,
    // only for a while.
    fn look_later(&self, file: &str, mut missed: Missed, unread: Option<Unread>) {
        missed.attempts += 1;
        if missed.attempts >= READINGS && unread != Some(Unread::Away) {
            let numbers = missed.numbers;
            warn!(
                file,
                ?numbers,
                "the end of matches does not appear in their journal; what their room knows of them is stored"
            );
            return;
        }
        let pause = PAUSE.saturating_mul(1 << missed.attempts.min(READINGS + 1).saturating_sub(1)).min(LONGEST_LOOK);
        missed.due = Instant::now() + pause;
        let mut state = self.state();
        // More may have been missed meanwhile.
        if let Some(newer) = state.miss(file) {
            missed.numbers.into_iter().for_each(|number| newer.seek(number));
            newer.attempts = newer.attempts.max(missed.attempts);
            newer.due = newer.due.max(missed.due);
        }
    }

    // Stores all matches of a journal; gives their numbers, and why there may be more.
    async fn examine(&self, file: &str) -> (BTreeSet<u32>, Option<Unread>) {
        let known = insist!(self, "read what is known of a journal", self.store.known(file));
        // For journals of earlier versions, which do not describe themselves.
        let note = insist!(self, "read what is known of a journal", self.store.journal(file));
        let seats = insist!(self, "read what is known of seats", self.store.seats(&note.room));
        let (sender, mut found) = mpsc::channel(16);
        let source = examine::Source { path: self.journals.join(file), note, seats, known };
        let task = spawn_blocking(move || source.read(|new| sender.blocking_send(new).is_ok()));
        let mut numbers = BTreeSet::new();
        while let Some(new) = found.recv().await {
            self.record(&new).await;
            numbers.insert(new.number);
        }
        let unread = match task.await {
            Ok(Ok(Examined { position, known, running })) => {
                insist!(self, "note a journal", self.store.note_examined(file, position, known));
                self.state().running.insert(file.to_owned(), running);
                None
            }
            Ok(Err(error)) => {
                let unread = if is_away(&error) { Unread::Away } else { Unread::Damaged };
                let error = format!("{error:#}");
                warn!(file, error, "a journal cannot be scanned for results");
                Some(unread)
            }
            Err(_) => {
                warn!(file, "a journal makes its game panic; its results are missing from there on");
                Some(Unread::Damaged)
            }
        };
        (numbers, unread)
    }
}

// Whether the system could not read a file that is there.
fn is_away(error: &anyhow::Error) -> bool {
    let of_system = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    of_system.is_some_and(|error| error.kind() != io::ErrorKind::NotFound)
}
