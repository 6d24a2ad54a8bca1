//! Servers that are killed at random points of their matches and resumed.

use std::{
    net::{Ipv4Addr, SocketAddr},
    thread,
    time::{Duration, Instant},
};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use testkit::{TempDir, process::Process, seeds::for_each_seed, terminal::Watched};

use crate::programs::program;

/// One start in this many is killed before the server reports that it listens.
const EARLY_KILLS: u32 = 8;
/// Longest time before such an early kill, in microseconds.
const EARLY_KILL_US: u64 = 5_000;

/// A server with a journal that is killed repeatedly and resumed at the same port.
pub(crate) struct Mortal {
    name: &'static str,
    sync: &'static str,
    directory: TempDir,
    // Always `Some` except between two processes.
    process: Option<Process>,
    chance: Pcg64,
    pub(crate) port: u16,
    pub(crate) kills: u32,
    // The standard output of earlier processes.
    stdout: String,
}

impl Mortal {
    /// Starts a server with a journal in a temporary directory. The seed determines the times of the kills and the sync
    /// policy.
    pub(crate) fn start(name: &'static str, arguments: &[&str], seed: u64) -> Self {
        let directory = TempDir::new();
        let sync = if seed.is_multiple_of(2) { "always" } else { "interval" };
        let process =
            Process::start(program(name).args(arguments).args(["--sync", sync]).arg("--journal").arg(directory.path()));
        let port = process.port();
        let process = Some(process);
        let chance = Pcg64::seed_from_u64(seed);
        Self { name, sync, directory, process, chance, port, kills: 0, stdout: String::new() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// A random number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.chance.random_range(0..end)
    }

    /// Kills the server and resumes it. Returns `false` if the match is over.
    pub(crate) fn kill(&mut self) -> bool {
        loop {
            self.process().kill();
            self.kills += 1;
            // The killed process has ended before the next one starts, so its journal and its port are free.
            if self.restart() {
                return false;
            }
            if self.chance.random_range(0..EARLY_KILLS) == 0 {
                let (start, pause) = (Instant::now(), Duration::from_micros(self.below(EARLY_KILL_US)));
                while start.elapsed() < pause {
                    thread::yield_now();
                }
                continue;
            }
            let goes_on = self.process().wait_stderr("whether the match continues", |stderr| {
                stderr.contains("Journal:").then_some(true).or_else(|| is_over(stderr).then_some(false))
            });
            if goes_on {
                assert_eq!(self.process().port(), self.port, "the resumed server has the same port");
            }
            return goes_on;
        }
    }

    // Starts the next process after a kill. Returns `true` if the previous process had ended by itself.
    fn restart(&mut self) -> bool {
        let mut next = program(self.name);
        next.args(["--sync", self.sync]).arg("--resume").arg(self.directory.path());
        let Some(before) = self.process.take() else { return true };
        let finished = before.wait();
        self.stdout += &finished.stdout;
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
        match finished.code {
            None => {
                self.process = Some(Process::start(&mut next));
                false
            }
            Some(0) => true,
            Some(_) => {
                assert!(is_over(&finished.stderr), "{}", finished.stderr);
                true
            }
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.process.as_ref().is_some_and(Process::is_running)
    }

    /// Waits until the match is over. Returns the standard output of all processes.
    pub(crate) fn wait(self) -> String {
        let Some(process) = self.process else { return self.stdout };
        let finished = process.wait();
        assert!(finished.code == Some(0) || is_over(&finished.stderr), "{:?}: {}", finished.code, finished.stderr);
        self.stdout + &finished.stdout
    }

    /// Stops the server in an orderly way and waits for its end.
    pub(crate) fn stop(self) -> String {
        self.process().terminate();
        self.wait()
    }

    pub(crate) fn process(&self) -> &Process {
        self.process.as_ref().expect("it was started")
    }
}

// Whether a server reports that the match is over.
fn is_over(stderr: &str) -> bool {
    stderr.contains("the match is over")
}

/// The state that the bots of a match share with the thread that kills their server.
#[derive(Default)]
pub(crate) struct Lives(pub(crate) Watched<State>);

#[derive(Default)]
pub(crate) struct State {
    /// Messages received by all bots together.
    pub(crate) messages: u64,
    /// Bots that have joined.
    pub(crate) joined: usize,
    /// Whether all bots have joined, so that the game may begin.
    pub(crate) begun: bool,
    /// Bots that have finished.
    done: usize,
    pub(crate) ended: bool,
}

impl Lives {
    /// Returns a guard that counts the bot as finished when it is dropped.
    pub(crate) fn bot(&self) -> Bot<'_> {
        Bot(self)
    }

    /// Reports that a bot currently receives no messages. Returns whether the server will be restarted.
    pub(crate) fn silence(&self) -> bool {
        self.0.change(|_| ());
        !self.0.lock().ended
    }

    /// Returns a guard that reports the end when it is dropped, even by a panic, so that no bot waits forever.
    pub(crate) fn ending(&self) -> Ending<'_> {
        Ending(self)
    }

    /// Waits for this many messages. Returns `false` if all `bots` finish first.
    pub(crate) fn wait(&self, messages: u64, bots: usize) -> bool {
        self.wait_unless(messages, bots, || false)
    }

    /// Waits for this many messages. Returns `false` if all `bots` finish first or `is_over` returns `true`, which is called
    /// after each event.
    pub(crate) fn wait_unless(&self, messages: u64, bots: usize, is_over: impl Fn() -> bool) -> bool {
        let target = self.0.lock().messages + messages;
        self.wait_for("a message", |state| {
            (state.messages >= target).then_some(true).or_else(|| (state.done >= bots || is_over()).then_some(false))
        })
    }

    /// Waits for this many messages, or until all `bots` have joined. Returns whether they have.
    pub(crate) fn wait_joined(&self, messages: u64, bots: usize) -> bool {
        let target = self.0.lock().messages + messages;
        self.wait_for("a bot", |state| {
            (state.joined >= bots).then_some(true).or_else(|| (state.messages >= target).then_some(false))
        })
    }

    fn wait_for<T>(&self, what: &str, find: impl FnMut(&State) -> Option<T>) -> T {
        self.0.find(find).unwrap_or_else(|| panic!("{what} never comes"))
    }
}

/// Reports the end of the server when it is dropped.
pub(crate) struct Ending<'a>(&'a Lives);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.0.change(|state| state.ended = true);
    }
}

/// A bot that has not finished.
pub(crate) struct Bot<'a>(&'a Lives);

impl Drop for Bot<'_> {
    fn drop(&mut self) {
        self.0.0.change(|state| state.done += 1);
    }
}

/// Plays matches until the server has been killed a hundred times. `play` takes a seed and the number of remaining kills,
/// and returns the number of its kills.
pub(crate) fn hundred_kills(mut play: impl FnMut(u64, u32) -> u32) {
    let mut kills = 0;
    for_each_seed(1_000, |seed| {
        if kills < 100 {
            kills += play(seed, 100 - kills);
            eprintln!("match {seed}: {kills} kills so far");
        }
    });
    assert!(kills >= 100, "{kills} kills");
}
