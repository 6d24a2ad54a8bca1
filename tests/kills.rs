//! Servers that are killed at random points of their matches and go on with them.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Instant,
};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use testkit::{PATIENCE, TempDir, process::Process, seeds::for_each_seed};

use crate::programs::program;

/// One start in so many is killed before the server says that it listens.
const EARLY_KILLS: u32 = 8;
/// Steps of the test until such a kill, at most.
const EARLY_STEPS: u32 = 5_000;

/// A server with a journal that is killed now and then and goes on with its match at the same port.
pub(crate) struct Mortal {
    name: &'static str,
    sync: &'static str,
    directory: TempDir,
    // There is one but for the moment between two.
    process: Option<Process>,
    chance: Pcg64,
    pub(crate) port: u16,
    /// How often it was killed.
    pub(crate) kills: u32,
    // What those that are gone had written to standard output.
    stdout: String,
}

impl Mortal {
    /// Starts a server with a journal in a directory of its own. The seed decides when it is killed, and what its answers wait for.
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

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// A random number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.chance.random_range(0..end)
    }

    /// Kills it and has it go on. Whether there is something left to go on with.
    pub(crate) fn kill(&mut self) -> bool {
        loop {
            self.process().kill();
            self.kills += 1;
            // The one that was killed is gone before the next one starts, so its journal and its port are free.
            if self.restart() {
                return false;
            }
            if self.chance.random_range(0..EARLY_KILLS) == 0 {
                (0..self.chance.random_range(0..EARLY_STEPS)).for_each(|_| thread::yield_now());
                continue;
            }
            let goes_on = self.process().wait_stderr("whether the match goes on", |stderr| {
                stderr.contains("Journal:").then_some(true).or_else(|| is_over(stderr).then_some(false))
            });
            if goes_on {
                assert_eq!(self.process().port(), self.port, "it goes on where it was");
            }
            return goes_on;
        }
    }

    // Whether the one before had come to its end by itself.
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

    /// Waits until its standard output, since it was started last, holds what `find` looks for.
    pub(crate) fn wait_stdout<T>(&self, what: &str, find: impl FnMut(&str) -> Option<T>) -> T {
        self.process().wait_stdout(what, find)
    }

    /// Waits until its log, since it was started last, holds what `find` looks for.
    pub(crate) fn wait_stderr<T>(&self, what: &str, find: impl FnMut(&str) -> Option<T>) -> T {
        self.process().wait_stderr(what, find)
    }

    /// Whether it runs.
    pub(crate) fn is_running(&self) -> bool {
        self.process.as_ref().is_some_and(Process::is_running)
    }

    /// Waits until its match is over; gives what all its processes have written to standard output.
    pub(crate) fn wait(self) -> String {
        let Some(process) = self.process else { return self.stdout };
        let finished = process.wait();
        assert!(finished.code == Some(0) || is_over(&finished.stderr), "{:?}: {}", finished.code, finished.stderr);
        self.stdout + &finished.stdout
    }

    /// Has it stop in order, and waits for that.
    pub(crate) fn stop(self) -> String {
        self.process().terminate();
        self.wait()
    }

    fn process(&self) -> &Process {
        self.process.as_ref().expect("it was started")
    }
}

// Whether a server says that it has nothing to go on with.
fn is_over(stderr: &str) -> bool {
    stderr.contains("the match is over")
}

/// What the bots of a match and the one that kills their server know of each other.
#[derive(Default)]
pub(crate) struct Lives {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What the bots were told, all together.
    messages: u64,
    /// Bots that take part.
    joined: usize,
    /// Whether all of them are there, so that the game may begin.
    begun: bool,
    /// Bots that are done.
    done: usize,
    /// How often the server was started again.
    again: u64,
    ended: bool,
}

impl Lives {
    /// A bot was told something.
    pub(crate) fn message(&self) {
        self.change(|state| state.messages += 1);
    }

    /// A bot takes part.
    pub(crate) fn join(&self) {
        self.change(|state| state.joined += 1);
    }

    /// Lets the bots begin.
    pub(crate) fn begin(&self) {
        self.change(|state| state.begun = true);
    }

    /// Whether the bots may begin.
    pub(crate) fn has_begun(&self) -> bool {
        self.lock().begun
    }

    /// Says that a bot is done when it goes out of scope, however that comes.
    pub(crate) fn bot(&self) -> Bot<'_> {
        Bot(self)
    }

    /// A bot hears nothing for the moment. Whether the server will be there again.
    pub(crate) fn silence(&self) -> bool {
        self.changed.notify_all();
        !self.lock().ended
    }

    /// The server was started again.
    pub(crate) fn next(&self) {
        self.change(|state| state.again += 1);
    }

    /// The server is not started again.
    pub(crate) fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// Waits for so many messages; `false` if all `bots` are done before they came.
    pub(crate) fn wait(&self, messages: u64, bots: usize) -> bool {
        self.wait_unless(messages, bots, || false)
    }

    /// Waits for so many messages; `false` if all `bots` are done before they came, or if it `is_over`, which is asked again
    /// whenever something happens.
    pub(crate) fn wait_unless(&self, messages: u64, bots: usize, is_over: impl Fn() -> bool) -> bool {
        let target = self.lock().messages + messages;
        self.wait_for("a message", |state| {
            (state.messages >= target).then_some(true).or_else(|| (state.done >= bots || is_over()).then_some(false))
        })
    }

    /// Waits for so many messages, or until all `bots` take part. Whether they do.
    pub(crate) fn wait_joined(&self, messages: u64, bots: usize) -> bool {
        let target = self.lock().messages + messages;
        self.wait_for("a bot", |state| {
            (state.joined >= bots).then_some(true).or_else(|| (state.messages >= target).then_some(false))
        })
    }

    /// Waits for a life of the server, counted from 1, after that one; none if it has no more.
    pub(crate) fn after(&self, life: u64) -> Option<u64> {
        self.wait_for("a server", |state| {
            let now = state.again + 1;
            (now > life).then_some(Some(now)).or_else(|| state.ended.then_some(None))
        })
    }

    fn wait_for<T>(&self, what: &str, mut find: impl FnMut(&State) -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        let mut state = self.lock();
        loop {
            if let Some(found) = find(&state) {
                return found;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{what} never comes");
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bot that is not done.
pub(crate) struct Bot<'a>(&'a Lives);

impl Drop for Bot<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.done += 1);
    }
}

/// Plays matches one after the other, `play` given a seed and the kills that are left, until the server was killed a hundred
/// times.
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
