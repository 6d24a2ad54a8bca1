//! The faults of a simulation, one after the other.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use journal_core::{Disk, Journal, Parts, Resumable, ResumeError, Scribe, SyncPolicy, Writing};
use rand::RngExt;

use super::{
    DAY, GAMES, Game, HANG, MILLISECOND, Match, Next, SECOND, Simulation,
    oracle::{Survived, Written, arrivals_left, check_delivered, is_damaged_and_cut},
    start_over,
};
use crate::{
    disk::{Crash, Fault, SimulatedDisk},
    net::Restart,
};

impl<G: Game> Simulation<G> {
    pub(super) fn inject_trouble(&mut self) -> Next {
        let index = self.rng.random_range(0..self.matches.len());
        let spoils = self.mix.bad_disk || self.mix.dishonest;
        if spoils && self.rng.random_range(0..4) == 0 {
            self.spoil_disk();
            return Next::Continue;
        }
        match self.rng.random_range(0..100) {
            0..35 => return self.crash_randomly(),
            35..52 => {
                let fault = self.draw_death(2_000);
                if !self.faulty && !self.disk.has_fault() {
                    self.disk.set_fault(Some(fault));
                }
            }
            52..60 => return self.suspend(),
            60..65 => {
                let to = self.random_time_within(10 * SECOND);
                let by = to.since(self.now());
                self.matches[index].net.jump_back(by);
                self.report.count("clocks set back");
            }
            65..70 => {
                let within = if self.rng.random_range(0..3) == 0 { DAY } else { 10 * SECOND };
                let to = self.random_time_within(within);
                let by = to.since(self.now());
                self.matches[index].net.jump(by);
                self.report.count("clocks set forward");
            }
            70..76 => self.intrude(),
            76..81 => self.read(),
            81..86 => self.copy(),
            _ => {
                let hang = self.random_time_within(HANG).since(self.now());
                self.disk.hang(hang);
            }
        }
        Next::Continue
    }

    fn draw_death(&mut self, bytes: u64) -> Fault {
        match self.rng.random_range(0..5) {
            0 | 1 => Fault::DeathInWrite(self.rng.random_range(0..bytes)),
            2 | 3 => Fault::DeathInSync(self.rng.random_range(0..4), self.rng.random_range(0..2) == 0),
            _ => Fault::DeathInNames(self.rng.random_range(0..3)),
        }
    }

    fn spoil_disk(&mut self) {
        let more = self.rng.random_range(0..3_000);
        if self.mix.dishonest {
            self.dishonest = true;
            let what = match self.rng.random_range(0..4) {
                0 => {
                    self.disk.set_fault(Some(Fault::LostWrite(more / 100)));
                    "disks that lose a write"
                }
                1 => {
                    self.disk.set_fault(Some(Fault::MisdirectedWrite(more / 100)));
                    "disks that misdirect a write"
                }
                2 => {
                    self.disk.set_lies(true);
                    "disks that lie about syncs"
                }
                _ => {
                    self.rot();
                    "disks that rot"
                }
            };
            self.report.count(what);
        } else if !self.disk.has_fault() {
            self.faulty = true;
            let kind = self.rng.random_range(0..4);
            self.forgetful = kind == 3;
            let (fault, what) = match kind {
                0 => (Fault::Full(more), "disks that are full"),
                1 => (Fault::FailingWrites(more), "disks that fail to write"),
                2 => (Fault::FailingNames(more / 1_000), "disks that fail to change names"),
                _ => (Fault::FailingSyncs(more / 1_000), "disks that fail to sync"),
            };
            self.disk.set_fault(Some(fault));
            self.report.count(what);
        }
    }

    fn rot(&mut self) {
        let files: Vec<PathBuf> = self.disk.files().into_iter().filter(|path| path.starts_with(GAMES)).collect();
        if !files.is_empty() {
            let file = &files[self.rng.random_range(0..files.len())];
            self.disk.rot(file, usize::MAX, &mut self.rng);
        }
    }
}

/// A peer whose connection was closed less than this before a crash receives its last messages again.
const FAREWELL: Duration = SECOND;

impl<G: Game> Simulation<G> {
    fn suspend(&mut self) -> Next {
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

// Other processes that read the journals of a running server, copy them, or try to resume them.

const COPIES: &str = "/copies";

type Files = BTreeMap<PathBuf, Vec<u8>>;

fn expect_unchanged(disk: &SimulatedDisk, before: &Files, who: &str) {
    let now = disk.snapshot();
    for (path, content) in before {
        assert!(now.get(path) == Some(content), "{who} has changed {}", path.display());
    }
}

impl<G: Game> Simulation<G> {
    // Starts a second server by mistake.
    fn intrude(&mut self) {
        if self.dishonest {
            return;
        }
        let (other, before) = (self.disk.other_process(), self.disk.snapshot());
        for each in &self.matches {
            let resumed = Resumable::<G::Server>::open(&other, &each.journal);
            let refused = matches!(resumed, Err(ResumeError::InUse | ResumeError::Cut));
            assert!(refused, "a second server resumes a journal that is in use: {:?}", resumed.err());
        }
        expect_unchanged(&self.disk, &before, "a second server that was refused");
        other.kill();
        self.report.count("second servers refused");
    }

    // Reads the journals, which contain all delivered output at any time.
    pub(super) fn read(&mut self) {
        if self.dishonest {
            return;
        }
        let (other, before) = (self.disk.other_process(), self.disk.snapshot());
        for each in &self.matches {
            for _ in Journal::open_on(&other, &each.journal).into_iter().flat_map(|journal| journal.reader()) {}
        }
        expect_unchanged(&self.disk, &before, "who reads a journal");
        for each in &self.matches {
            if !self.forgetful || !is_damaged_and_cut(&other, &each.journal) {
                check_delivered(&each.net, &other, &each.journal, !each.forked);
            }
        }
        other.kill();
        self.report.count("readers");
    }

    // Also reads the copies, and resumes them on the same machine.
    pub(super) fn copy(&mut self) {
        if self.dishonest || self.faulty || self.disk.has_fault() {
            return;
        }
        let (other, before) = (self.disk.other_process(), self.disk.snapshot());
        for path in before.keys().filter(|path| path.starts_with(GAMES)) {
            let name = path.file_name().unwrap_or_default();
            self.disk.copy(path, PathBuf::from(COPIES).join(name));
        }
        for each in &self.matches {
            let copy = PathBuf::from(COPIES).join(each.journal.file_name().unwrap_or_default());
            let shown = Journal::open_on(&other, &copy).and_then(|journal| {
                let mut reader = journal.reader()?;
                while reader.next()?.is_some() {}
                Ok(())
            });
            shown.unwrap_or_else(|error| panic!("a copy of a journal: {error}"));
            expect_unchanged(&self.disk, &before, "who reads a copy");
            match Resumable::<G::Server>::open(&other, &copy) {
                Ok(resumable) => {
                    let had = each.net.had(journal_core::digest(resumable.room()));
                    assert!(had, "a copy leads to a state that the match never had");
                    let (disk, scribe) = (Arc::new(other.clone()), Scribe::by_hand());
                    let writing = Writing { disk, scribe: scribe.clone(), copy: None, ..self.writing };
                    let _running = resumable.resume(&writing).expect("the disk is sound");
                    while scribe.write() || scribe.keep() {}
                    self.report.count("copies resumed");
                }
                Err(ResumeError::Over(_) | ResumeError::Cut) => {}
                Err(error) => panic!("a copy cannot be resumed: {error}"),
            }
            expect_unchanged(&self.disk, &before, "who resumes a copy");
        }
        other.kill();
        self.disk.retain_names(|path| before.contains_key(path));
        self.report.count("copies read");
    }
}
