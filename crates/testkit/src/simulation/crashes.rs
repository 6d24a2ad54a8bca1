//! Crashes and restarts of the simulated server.

use std::{fmt::Debug, net::SocketAddr, time::Duration};

use journal::{Parts, Resumable, ResumeError, Scribe, SyncPolicy};
use netcore::{Client, Hosted, Recorded};
use rand::RngExt;

use super::{
    Game, MILLISECOND, Next, SECOND, Simulation, injected,
    oracle::{Survived, check_delivered, check_files, is_damaged_and_cut},
    report::InjectedBug,
};
use crate::{
    disk::{Crash, Fault},
    net::Restart,
};

/// A peer that was closed this shortly before a crash receives its last messages again.
const FAREWELL: Duration = SECOND;

/// A match that can be resumed.
pub(super) struct Restartable<E: Recorded> {
    resumable: Resumable<E>,
    forked: bool,
}

impl<E, C, G> Simulation<E, C, G>
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client,
    C::Error: Debug,
    G: Game<E, C>,
{
    // Stopped by a signal, and started again.
    pub(super) fn suspend(&mut self) -> Next {
        self.report.suspends += 1;
        if !self.end.is_open() {
            return Next::Continue;
        }
        self.net.suspend();
        let until = self.net.now().plus(30 * SECOND);
        while self.net.is_up() && self.net.now() < until {
            self.net.step(self.net.now().plus(10 * MILLISECOND));
            while self.writing.scribe.write() {
                if self.disk.is_dead() {
                    return self.crash_randomly();
                }
            }
            self.net.poke();
        }
        assert!(!self.net.is_up(), "the server does not stop");
        self.end.close();
        while self.writing.scribe.write() {
            if self.disk.is_dead() {
                return self.crash_randomly();
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
        match self.crash(how) {
            // The network continues without the server.
            None => Next::End,
            Some(mut ready) => loop {
                while self.net.now() < until {
                    let next = self.game.wake().map_or(until, |wake| wake.min(until));
                    self.net.step(next);
                    self.game.step(&mut self.net);
                }
                // It may be killed while it is being resumed.
                if self.rng.random_range(0..8) == 0 {
                    let die = self.rng.random_range(0..3);
                    self.disk.set_fault(Some(match self.rng.random_range(0..2) {
                        0 => Fault::DeathInWrite(self.rng.random_range(0..40)),
                        _ => Fault::DeathInSync(die, self.rng.random_range(0..2) == 0),
                    }));
                }
                let forked = ready.forked;
                if self.restart(ready) {
                    self.report.resumes += 1;
                    self.report.forks += u64::from(forked);
                    self.game.resumed(&mut self.net, forked);
                    self.game.step(&mut self.net);
                    self.plan_write();
                    return Next::Continue;
                }
                let how = if self.rng.random_range(0..2) == 0 { Crash::Kill } else { Crash::PowerCut };
                match self.crash(how) {
                    None => return Next::End,
                    Some(again) => ready = Restartable { forked: again.forked || forked, ..again },
                }
            },
        }
    }

    // Ends the server and checks what it left. `None` if the journal cannot be resumed.
    pub(super) fn crash(&mut self, how: Crash) -> Option<Restartable<E>> {
        match how {
            Crash::Kill => self.report.kills += 1,
            Crash::PowerCut => self.report.power_cuts += 1,
        }
        let (written, synced) = (self.disk.written(), self.disk.synced());
        // It may have been given up without being able to mark that on the disk.
        let given_up = !self.end.is_open() && (self.faulty || self.write_at.is_some());
        self.net.crash(how);
        self.disk.crash(how, &mut self.rng);
        let faulty = std::mem::take(&mut self.faulty);
        self.write_at = None;
        if faulty && is_damaged_and_cut(&self.disk.written()) {
            // Data of a failed sync was lost, and the journal had been given up because of that.
            let (reader, length) = self.disk.reader();
            assert!(Resumable::<E>::read(reader, length).is_err(), "a damaged journal is resumed");
            self.report.cut += 1;
            return None;
        }
        check_files(&written, &synced, &self.disk.written());
        if self.injected == Some(InjectedBug::LostArrival) {
            self.disk.replace(injected::leave_one_out::<E>(&self.disk.written(), &mut self.rng));
        }
        let strict = how == Crash::Kill || self.writing.sync == SyncPolicy::Always;
        let survived: Survived = check_delivered(&self.net, &self.disk.written(), strict, given_up);
        self.report.frames += survived.frames;
        self.report.snapshots += survived.snapshots;
        let (reader, length) = self.disk.reader();
        let resumable = Resumable::<E>::read(reader, length);
        if survived.cut {
            self.report.cut += 1;
            assert!(matches!(resumable, Err(ResumeError::Cut)), "a journal that was cut is resumed");
            return None;
        }
        if survived.beyond {
            self.report.unmarked += 1;
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
                assert!(
                    frames.is_some_and(|frames| frames.ends_with(&peer.missing) || peer.missing.ends_with(frames)),
                    "{peer:?} receives no farewell"
                );
            } else {
                self.report.unheard += 1;
            }
        }
        self.net.set_expected(survived.expected);
        Some(Restartable { resumable, forked: survived.forked })
    }

    // Restarts the server. Returns `false` if it is killed meanwhile.
    fn restart(&mut self, Restartable { resumable, .. }: Restartable<E>) -> bool {
        self.writing.scribe = Scribe::by_hand();
        let (at, next_peer, peers) = (resumable.time, resumable.next_peer, resumable.peers.clone());
        let farewells = resumable.farewells.iter().map(|farewell| {
            let address: SocketAddr = farewell.peer.address.parse().expect("an address of the simulated network");
            (address, farewell.frames.clone())
        });
        let farewells = farewells.collect();
        let parts: std::io::Result<Parts<E>> =
            resumable.resume(&self.writing, self.disk.clone(), "simulated".to_owned());
        if self.disk.is_dead() {
            return false;
        }
        let (room, hold, end) = parts.expect("the disk is sound");
        self.end = end;
        self.disk.set_fault(None);
        self.net.resume(Restart { room, hold, at, next_peer, peers, farewells });
        true
    }
}
