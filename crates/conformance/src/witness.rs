//! The remains of a program under test: its exit and its last lines on standard error.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use crate::{
    launch::{Exit, Run},
    report::{Sender, clean},
    tape::Channel,
};

/// The number of the last lines of standard error that a breach quotes.
pub(crate) const QUOTED: usize = 6;

/// The observations of one program.
#[derive(Clone, Default)]
pub(crate) struct Remains {
    /// How the program ended, if it did so before the tester ended it.
    pub(crate) exit: Option<Exit>,
    pub(crate) errors: Vec<String>,
    /// The limit for which the program was ended.
    pub(crate) limit: Option<String>,
}

impl Remains {
    /// How the program crashed, if it did.
    pub(crate) fn crash(&self) -> Option<String> {
        if let Some(limit) = &self.limit {
            return Some(beyond(limit));
        }
        let exit = self.exit.as_ref().filter(|exit| exit.is_crash(&self.errors))?;
        Some(format!("the program ended with {exit}"))
    }

    /// Lines that explain the error, with at most the given number of lines of standard error.
    pub(crate) fn told(&self, most: usize) -> Vec<String> {
        let ended = self.exit.as_ref().filter(|exit| exit.code != Some(0));
        let ended = ended.map(|exit| format!("the program ended with {exit}"));
        let ended = self.limit.as_deref().map(beyond).or(ended);
        let last = self.errors.len().saturating_sub(most);
        let errors = self.errors.iter().skip(last).map(|line| format!("standard error: {}", clean(line)));
        ended.into_iter().chain(errors).collect()
    }
}

fn beyond(limit: &str) -> String {
    format!("the tester ended the program because it exceeded the limit {limit}")
}

/// The storage for the remains of a program after it is dropped.
pub(crate) type Witness = Arc<Mutex<Remains>>;

/// Watches a program and records the data on its `terminal`.
pub(crate) fn watched(run: Box<dyn Run>, terminal: Channel) -> (Box<dyn Run>, Witness) {
    let witness = Witness::default();
    (Box::new(Watched { run, terminal, witness: Arc::clone(&witness) }), witness)
}

struct Watched {
    run: Box<dyn Run>,
    terminal: Channel,
    witness: Witness,
}

impl Run for Watched {
    fn line(&mut self, by: Instant) -> Option<String> {
        let line = self.run.line(by)?;
        self.terminal.came(line.as_bytes());
        Some(line)
    }

    fn partial_line(&mut self) -> String {
        self.run.partial_line()
    }

    fn screen(&self) -> Option<Vec<String>> {
        self.run.screen()
    }

    fn type_bytes(&mut self, bytes: &[u8]) {
        self.terminal.sent(bytes);
        self.run.type_bytes(bytes);
    }

    fn end_input(&mut self) -> bool {
        let ended = self.run.end_input();
        if ended {
            self.terminal.note(Sender::Tester, "ends standard input");
        }
        ended
    }

    fn exit(&mut self, by: Instant) -> Option<Exit> {
        self.run.exit(by)
    }

    fn errors(&self) -> Vec<String> {
        self.run.errors()
    }

    fn limit(&self) -> Option<String> {
        self.run.limit()
    }

    fn first_output(&self) -> Option<Instant> {
        self.run.first_output()
    }

    fn udp_ports(&self) -> Option<Vec<u16>> {
        self.run.udp_ports()
    }

    fn id(&self) -> Option<u32> {
        self.run.id()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let exit = self.run.exit(Instant::now());
        let errors = self.run.errors();
        let limit = self.run.limit();
        *self.witness.lock().unwrap_or_else(PoisonError::into_inner) = Remains { exit, errors, limit };
    }
}
