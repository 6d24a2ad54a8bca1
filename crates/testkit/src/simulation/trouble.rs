//! The faults of a simulation, one after the other.

use std::path::PathBuf;

use rand::RngExt;

use super::{DAY, GAMES, Game, HANG, Next, SECOND, Simulation};
use crate::disk::Fault;

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

    pub(super) fn draw_death(&mut self, bytes: u64) -> Fault {
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
