//! Programs under test that are threads of the test, and what the tests of all testers check.
#![allow(dead_code, unused_imports, unused_macros, reason = "no test uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

use std::{
    fmt::Debug,
    io::{Read as _, Write as _},
    net::TcpStream,
    str::FromStr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use conformance::{Exit, Launcher, Options, Outcome, Plan, Report, Run, Tester, Values, Verdict};

/// Declares what the programs of a test do wrong, each with the rule that it breaks unless it is none, and the list of both.
macro_rules! crimes {
    ($($(#[$doc:meta])* $crime:ident $(=> $rule:literal)?,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Crime {
            $($(#[$doc])* $crime,)*
        }

        use Crime as C;

        const CRIMES: &[(Crime, &str)] = &[$($((Crime::$crime, $rule),)?)*];
    };
}
pub(crate) use crimes;

/// The terminal of a program that runs in a thread.
pub(crate) struct Console {
    lines: Sender<String>,
    errors: Arc<Mutex<Vec<String>>>,
    /// What is typed. It ends with the input.
    pub(crate) keys: Receiver<u8>,
    /// How many programs were started before it by the same test of a crime.
    pub(crate) number: u32,
    stop: Arc<AtomicBool>,
}

impl Console {
    pub(crate) fn print(&self, line: impl Into<String>) {
        // The tester may not read any more.
        let _ = self.lines.send(line.into());
    }

    /// Writes a line on standard error.
    pub(crate) fn complain(&self, line: &str) {
        self.errors.lock().unwrap().push(line.to_owned());
    }

    /// Says on standard error why it does not start, and returns the exit status.
    pub(crate) fn refuse(&self, why: &str) -> i32 {
        self.complain(why);
        1
    }

    /// Whether the tester has killed the program.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Does nothing until the tester kills the program.
    pub(crate) fn idle(&self) {
        while !self.is_stopped() {
            thread::park_timeout(Duration::from_millis(2));
        }
    }
}

struct Running {
    lines: Receiver<String>,
    errors: Arc<Mutex<Vec<String>>>,
    keyboard: Option<Sender<u8>>,
    stop: Arc<AtomicBool>,
    status: Receiver<i32>,
    exit: Option<Exit>,
}

/// A program that commits a crime. It is given the values for its placeholders, and returns its exit status.
pub(crate) type Program<C> = fn(C, Values<'_>, &Console) -> i32;

struct Crooked<'a, C> {
    crime: C,
    program: Program<C>,
    placeholders: &'a [&'a str],
    starts: AtomicU32,
}

impl<C: Copy + Send + Sync + 'static> Launcher for Crooked<'_, C> {
    fn takes(&self, name: &str) -> bool {
        // All take further words.
        name == "extra" || self.placeholders.contains(&name)
    }

    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.start_with(values, &[])
    }

    fn start_with(&self, values: Values<'_>, more: &[&str]) -> anyhow::Result<Box<dyn Run>> {
        let (print, lines) = mpsc::channel();
        let (keyboard, keys) = mpsc::channel();
        let (exits, status) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let number = self.starts.fetch_add(1, Ordering::Relaxed);
        let errors = Arc::default();
        let console = Console { lines: print, errors: Arc::clone(&errors), keys, number, stop: Arc::clone(&stop) };
        let (crime, program) = (self.crime, self.program);
        let mut values: Vec<_> = values.iter().filter(|(name, _)| self.takes(name)).cloned().collect();
        values.extend(more.iter().map(|&word| ("more", word.to_owned())));
        thread::spawn(move || {
            let code = program(crime, &values, &console);
            // The tester may have killed it.
            let _ = exits.send(code);
        });
        Ok(Box::new(Running { lines, errors, keyboard: Some(keyboard), stop, status, exit: None }))
    }
}

/// Tests a program that commits a crime and whose command has all placeholders.
pub(crate) fn tried<C: Copy + Send + Sync + 'static>(
    tester: &Tester,
    program: Program<C>,
    crime: C,
    millis: u64,
) -> Report {
    tried_with(tester, tester.known, program, crime, millis)
}

/// As [`tried`], with these placeholders.
pub(crate) fn tried_with<C: Copy + Send + Sync + 'static>(
    tester: &Tester,
    placeholders: &[&str],
    program: Program<C>,
    crime: C,
    millis: u64,
) -> Report {
    let crooked = Crooked { crime, program, placeholders, starts: AtomicU32::new(0) };
    tester.test(&crooked, &Options { patience: Duration::from_millis(millis), ..Options::default() })
}

/// As [`tried`], as this plan says.
pub(crate) fn planned<C: Copy + Send + Sync + 'static>(
    tester: &Tester,
    program: Program<C>,
    crime: C,
    plan: &Plan,
) -> Report {
    let crooked = Crooked { crime, program, placeholders: tester.known, starts: AtomicU32::new(0) };
    tester.run(&crooked, plan).unwrap()
}

impl Run for Running {
    fn line(&mut self, by: Instant) -> Option<String> {
        self.lines.recv_timeout(by.saturating_duration_since(Instant::now())).ok()
    }

    fn type_bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let _ = self.keyboard.as_ref().map(|keyboard| keyboard.send(byte));
        }
    }

    fn end_input(&mut self) -> bool {
        self.keyboard = None;
        true
    }

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

    fn errors(&self) -> Vec<String> {
        said(&self.errors)
    }
}

// What the program has said on standard error.
fn said(errors: &Mutex<Vec<String>>) -> Vec<String> {
    errors.lock().unwrap().clone()
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

/// A connection on which every message is a text that a NUL ends.
pub(crate) struct Line {
    pub(crate) stream: TcpStream,
    pub(crate) buffer: Vec<u8>,
}

impl Line {
    pub(crate) fn new(stream: TcpStream) -> Self {
        // Without it each message waits until the one before is acknowledged.
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    /// The next message, or `None` at the end of the stream, or when what has arrived and has no NUL is `hopeless`.
    pub(crate) fn hear(&mut self, hopeless: impl Fn(&[u8]) -> bool) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|&byte| byte == 0) {
                return String::from_utf8(self.buffer.drain(..=end).take(end).collect()).ok();
            }
            if !self.buffer.is_empty() && hopeless(&self.buffer) {
                return None;
            }
            let mut chunk = [0; 512];
            let read = self.stream.read(&mut chunk).ok().filter(|&read| read > 0)?;
            self.buffer.extend_from_slice(&chunk[..read]);
        }
    }

    pub(crate) fn say(&mut self, text: &str) {
        // Whoever tests it may have gone.
        let _ = self.stream.write_all(format!("{text}\0").as_bytes());
    }
}

/// The value for a placeholder, or `None` if there is none or it cannot be read as a `T`.
pub(crate) fn value<T: FromStr>(values: Values<'_>, name: &str) -> Option<T> {
    values.iter().find(|(other, _)| *other == name)?.1.parse().ok()
}

pub(crate) fn assert_all_pass(report: &Report) {
    for rule in &report.rules {
        assert_eq!(rule.verdict, Verdict::Passed, "{}\n{report}", rule.id);
    }
    assert_eq!(report.outcome(), Outcome::Passed);
    // Whoever asks for one rule only is spared no scenario that shows it.
    for rule in &report.rules {
        let shown = report.scenarios.iter().any(|scenario| {
            let is_played = scenario.meant_for.is_empty() || scenario.meant_for.contains(&rule.id);
            is_played && scenario.observed.contains(&rule.id)
        });
        assert!(shown, "with --only {} no scenario shows it", rule.id);
    }
}

// Nobody who reads a report needs to know in which language the tester is written.
pub(crate) fn speaks_the_language_of_the_protocol(report: &Report, crime: &str) {
    let breaches = || report.rules.iter().flat_map(|rule| &rule.breaches);
    let messages = breaches().flat_map(|breach| &breach.conversation).map(|message| &message.text);
    for text in breaches().map(|breach| &breach.text).chain(messages) {
        for word in ["Some(", "None", "Ok(", "Err(", "ShortText", "Position {", "PlayerId", "Card {", "Card("] {
            assert!(!text.contains(word), "{crime}: {text}");
        }
    }
}

/// As [`tried`], to find out whether this rule is broken. In debug builds, where scenarios cost most, only those are played that are meant
/// for it.
pub(crate) fn tried_for<C: Copy + Send + Sync + 'static>(
    tester: &Tester,
    program: Program<C>,
    crime: C,
    rule: &str,
    millis: u64,
) -> Report {
    let options = Options { patience: Duration::from_millis(millis), ..Options::default() };
    let only = tester.rule(rule).filter(|_| cfg!(debug_assertions)).map(|rule| vec![rule]);
    planned(tester, program, crime, &Plan { only, ..Plan::from(options) })
}

/// Checks that each crime is found by its rule, with `at_once` trials at the same time. Returns the reports with the rules that were
/// broken. `references.rs` checks that each rule is broken by some program.
pub(crate) fn find_out<C: Copy + Debug + Send + Sync>(
    tester: &Tester,
    crimes: &[(C, &'static str)],
    at_once: usize,
    tried: impl Fn(C, &'static str) -> Report + Sync,
) -> Vec<(&'static str, Report)> {
    for (crime, id) in crimes {
        assert!(tester.rule(id).is_some(), "{crime:?} breaks {id}, which is no rule");
    }
    let open = Mutex::new(crimes.iter());
    let reports = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let Some(&(crime, id)) = open.lock().unwrap().next() else { return };
                    let report = tried(crime, id);
                    reports.lock().unwrap().push((crime, id, report));
                }
            });
        }
    });
    let reports = reports.into_inner().unwrap();
    let missed = reports.iter().filter(|(_, id, report)| !report.failed().contains(id));
    let missed: Vec<_> =
        missed.map(|(crime, id, report)| format!("{crime:?} does not break {id}:\n{report}")).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    for (crime, _, report) in &reports {
        speaks_the_language_of_the_protocol(report, &format!("{crime:?}"));
    }
    assert_eq!(reports.len(), crimes.len());
    reports.into_iter().map(|(_, id, report)| (id, report)).collect()
}
