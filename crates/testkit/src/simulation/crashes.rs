use std::{io, path::Path, time::Duration};

use journal_core::{Disk, Parts, Resumable, ResumeError, SyncPolicy};
use rand::RngExt;

use super::{
    Game, HANG, MILLISECOND, Match, Next, SECOND, Simulation,
    oracle::{Survived, Written, arrivals_left, check_delivered, is_damaged_and_cut},
    start_over,
};
use crate::{
    disk::{Crash, SimulatedDisk},
    net::Restart,
};

/// A peer whose connection was closed less than this before a crash receives its last messages again.
const FAREWELL: Duration = SECOND;

impl<G: Game> Simulation<G> {
    pub(super) fn suspend(&mut self) -> Next {
        self.report.count("stopped to be resumed");
        for each in self.matches.iter_mut().filter(|each| !each.over && each.end.is_open()) {
            each.net.suspend();
        }
        // The server is killed if it takes too long.
        let until = self.random_time_within(2 * HANG);
        let mut closed = false;
        while self.now() < until && !self.disk.is_dead() {
            self.step(self.now().plus(10 * MILLISECOND).min(until));
            let stopping = self.matches.iter().filter(|each| !each.over && each.end.is_open());
            if !closed && stopping.clone().all(|each| !each.net.is_up()) {
                closed = true;
                self.matches.iter().for_each(|each| each.end.close());
            }
            if closed && self.matches.iter().all(|each| each.end.finish(Duration::ZERO)) {
                self.report.count("stopped in time");
                break;
            }
        }
        self.crash_randomly()
    }

    pub(super) fn crash_randomly(&mut self) -> Next {
        let how = if self.rng.random_range(0..2) == 0 { Crash::Kill } else { Crash::PowerCut };
        let down = match self.rng.random_range(0..10) {
            0..7 => 2 * SECOND,
            7..9 => 20 * SECOND,
            _ => 90 * SECOND,
        };
        let until = self.random_time_within(down);
        let mut ready = self.crash(how);
        loop {
            if ready.is_empty() {
                return Next::End;
            }
            // The networks continue without the server.
            while self.now() < until {
                self.step(until);
            }
            // The server may be killed while it is being resumed.
            if self.rng.random_range(0..6) == 0 {
                let death = self.draw_death(60);
                self.disk.set_fault(Some(death));
            }
            if self.restart(ready) {
                for each in &mut self.matches {
                    let forked = std::mem::take(&mut each.forked);
                    self.report.count("resumed");
                    self.report.add_to("resumed without lost input", u64::from(forked));
                    each.game.resumed(&mut each.net, forked);
                    each.game.step(&mut each.net);
                }
                return Next::Restarted;
            }
            self.report.count("killed while it was being resumed");
            let how = if self.rng.random_range(0..2) == 0 { Crash::Kill } else { Crash::PowerCut };
            ready = self.crash(how);
        }
    }

    // Checks what the process left. Returns the resumable matches in order, and discards the others.
    pub(super) fn crash(&mut self, how: Crash) -> Vec<Resumable<G::Server>> {
        self.report.count(match how {
            Crash::Kill => "killed",
            Crash::PowerCut => "power cut",
        });
        for each in &mut self.matches {
            each.net.crash(how);
        }
        self.disk.kill();
        self.scribes.kill();
        let struck = self.dishonest;
        let before: Vec<Written> = if struck {
            vec![]
        } else {
            self.matches.iter().map(|each| Written::read(&self.disk, &each.journal)).collect()
        };
        let certain = self.disk.certain();
        self.disk.crash(how, &mut self.rng);
        if struck {
            for each in &self.matches {
                self.report.count(examine(each, &certain, &self.disk));
            }
            for each in std::mem::take(&mut self.matches) {
                self.count_traffic(&each);
            }
            return vec![];
        }
        self.faulty = false;
        let forgetful = std::mem::take(&mut self.forgetful);
        let (mut ready, mut kept) = (vec![], vec![]);
        for (mut each, written) in std::mem::take(&mut self.matches).into_iter().zip(before) {
            if let Some(resumable) = self.check(&mut each, how, &written, forgetful) {
                ready.push(resumable);
                kept.push(each);
            } else {
                self.count_traffic(&each);
            }
        }
        self.matches = kept;
        ready
    }

    // `None` if the journal cannot be resumed.
    fn check(
        &mut self,
        each: &mut Match<G>,
        how: Crash,
        before: &Written,
        forgetful: bool,
    ) -> Option<Resumable<G::Server>> {
        let (disk, journal) = (&self.disk, &each.journal);
        if forgetful && is_damaged_and_cut(disk, journal) {
            // Data of a failed sync was lost, so the journal was given up.
            let resumed = Resumable::<G::Server>::open(disk, journal);
            assert!(resumed.is_err(), "a damaged journal is resumed");
            self.report.count("journals cut");
            return None;
        }
        before.compare(how, disk, journal);
        let strict = (how == Crash::Kill || self.writing.sync == SyncPolicy::Always) && !each.forked;
        let survived: Survived = check_delivered(&each.net, disk, journal, strict);
        self.report.add_to("frames compared", survived.frames);
        self.report.add_to("snapshots", survived.snapshots);
        self.report.add_to("segments after the first", survived.segments - 1);
        self.report.add_to("journals without their first segment", u64::from(!disk.is_file(journal)));
        let resumable = Resumable::<G::Server>::open(disk, journal);
        if survived.cut {
            self.report.count("journals cut");
            assert!(matches!(resumable, Err(ResumeError::Cut)), "a journal that was cut is resumed");
            return None;
        }
        let resumable = match resumable {
            Ok(resumable) => resumable,
            Err(ResumeError::Over(_)) if survived.over => return None,
            Err(error) => panic!("it cannot be resumed: {error}"),
        };
        survived.compare(&resumable);
        for peer in &survived.interrupted {
            let farewell = resumable.farewells.iter().find(|farewell| farewell.peer.peer == peer.peer);
            if resumable.time.since(peer.closed) <= FAREWELL {
                let frames = farewell.map(|farewell| &farewell.frames[..]);
                let fits = |frames: &[_]| frames.ends_with(&peer.missing) || peer.missing.ends_with(frames);
                assert!(frames.is_some_and(fits), "{peer:?} receives no farewell");
            } else {
                self.report.count("farewells too old to be repeated");
            }
        }
        each.net.set_expected(survived.expected);
        each.forked |= survived.forked;
        each.ever_forked |= survived.forked;
        Some(resumable)
    }

    // Returns `false` if it is killed meanwhile.
    fn restart(&mut self, ready: Vec<Resumable<G::Server>>) -> bool {
        start_over(&mut self.scribes, &mut self.writing, &self.disk);
        for (each, resumable) in self.matches.iter_mut().zip(ready) {
            let (at, next_peer) = (resumable.time, resumable.next_peer);
            let (peers, farewells) = (resumable.returning(), resumable.last_words());
            let parts: io::Result<Parts<G::Server>> = resumable.resume(&self.writing);
            if self.disk.is_dead() {
                return false;
            }
            let (room, hold, end) = parts.expect("the disk is sound");
            each.end = end;
            each.over = false;
            each.net.resume(Restart { room, hold, at, next_peer, peers, farewells });
        }
        self.disk.set_fault(None);
        true
    }
}

// With lost and changed data, the journal is refused, or leads to a state that the match had, with all synced arrivals.
// Returns the event to count.
fn examine<G: Game>(each: &Match<G>, certain: &SimulatedDisk, disk: &SimulatedDisk) -> &'static str {
    let journal: &Path = &each.journal;
    let found_out = "dishonest disks found out";
    let left = arrivals_left(disk, journal);
    let resumable = Resumable::<G::Server>::open(disk, journal);
    let Ok(resumable) = resumable else { return found_out };
    let had = each.net.had(journal_core::digest(resumable.room()));
    assert!(had, "a disk that lies leads to a state that the match never had");
    if let (Some(left), Some(certain)) = (&left, arrivals_left(certain, journal)) {
        assert!(left.starts_with(&certain), "a lying disk loses certain arrivals without an error");
    }
    if left.is_none() { found_out } else { "resumed in spite of a disk that lies" }
}
