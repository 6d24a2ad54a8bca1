//! Programs under test that run as threads of the test.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::{
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use conformance::{Exit, Launcher, Options, Plan, Report, Rule, Run, Tester, Values};

/// The terminal of a program that runs in a thread.
pub(crate) struct Console {
    lines: Sender<String>,
    /// The number of programs that the same test has started before.
    pub(crate) number: u32,
    stop: Arc<AtomicBool>,
}

impl Console {
    pub(crate) fn print(&self, line: impl Into<String>) {
        // The tester may not read any more.
        let _ = self.lines.send(line.into());
    }

    /// Whether the tester has killed the program.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

struct Running {
    lines: Receiver<String>,
    stop: Arc<AtomicBool>,
    status: Receiver<i32>,
    exit: Option<Exit>,
}

/// A program under test. It receives the values for its placeholders and returns its exit status.
pub(crate) type Thread = fn(Values<'_>, &Console) -> i32;

struct Threads {
    program: Thread,
    placeholders: &'static [&'static str],
    starts: AtomicU32,
}

impl Launcher for Threads {
    fn takes(&self, name: &str) -> bool {
        self.placeholders.contains(&name)
    }

    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        let (print, lines) = mpsc::channel();
        let (exits, status) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let number = self.starts.fetch_add(1, Ordering::Relaxed);
        let console = Console { lines: print, number, stop: Arc::clone(&stop) };
        let program = self.program;
        let values: Vec<_> = values.iter().filter(|(name, _)| self.takes(name)).cloned().collect();
        thread::spawn(move || {
            let code = program(&values, &console);
            // The tester may have killed it.
            let _ = exits.send(code);
        });
        Ok(Box::new(Running { lines, stop, status, exit: None }))
    }
}

/// A plan with this patience in milliseconds.
pub(crate) fn plan(millis: u64) -> Plan {
    Plan::from(Options { patience: Duration::from_millis(millis), ..Options::default() })
}

/// Runs a check for each item, a few at a time, since checks mostly wait.
pub(crate) fn side_by_side<T: Copy + Send + Sync>(items: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    let items: Vec<T> = items.into_iter().collect();
    for some in items.chunks(3) {
        thread::scope(|scope| {
            for &item in some {
                let check = &check;
                scope.spawn(move || check(item));
            }
        });
    }
}

/// The rules with these names.
pub(crate) fn only<'a>(tester: &Tester, ids: impl IntoIterator<Item = &'a str>) -> Vec<&'static Rule> {
    let known = |id| tester.rule(id).unwrap_or_else(|| panic!("a {} has no rule {id}", tester.kind));
    ids.into_iter().map(known).collect()
}

/// Tests a program whose command has all placeholders, with this plan.
pub(crate) fn planned(tester: &Tester, program: Thread, plan: &Plan) -> Report {
    tester.run(&Threads { program, placeholders: tester.known, starts: AtomicU32::new(0) }, plan).unwrap()
}

impl Run for Running {
    fn line(&mut self, by: Instant) -> Option<String> {
        self.lines.recv_timeout(by.saturating_duration_since(Instant::now())).ok()
    }

    // Input is ignored.
    fn type_bytes(&mut self, _: &[u8]) {}

    fn exit(&mut self, by: Instant) -> Option<Exit> {
        if self.exit.is_none() {
            match self.status.recv_timeout(by.saturating_duration_since(Instant::now())) {
                Ok(code) => self.exit = Some(Exit::with(code)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("the program under test has panicked"),
            }
        }
        self.exit.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

/// The value for a placeholder, or `None` if there is none or it cannot be read as a `T`.
pub(crate) fn value<T: FromStr>(values: Values<'_>, name: &str) -> Option<T> {
    values.iter().find(|(other, _)| *other == name)?.1.parse().ok()
}
