//! Other processes that read the journals of a running server, copy them, or try to resume them.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use journal_core::{Journal, Resumable, ResumeError, Scribe, Writing};

use super::{Game, Simulation, oracle::check_delivered};
use crate::disk::SimulatedDisk;

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
    pub(super) fn intrude(&mut self) {
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
            if !self.forgetful || !super::oracle::is_damaged_and_cut(&other, &each.journal) {
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
        for path in before.keys().filter(|path| path.starts_with(super::GAMES)) {
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
