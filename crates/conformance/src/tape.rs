//! What a scenario's connections have carried, for reports and transcripts.
//!
//! Whoever opens a connection asks the judge for a [`Line`] and tells it of all bytes, in both directions. The tape cuts them into messages
//! and keeps the last ones; when a rule is broken, the judge takes them into the report.

mod recording;
mod talk;
mod transcript;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recording::Recording;
pub(crate) use talk::{Carrier, Framed, Speech, TERMINAL, Talk, Told};
pub(crate) use transcript::Transcripts;

use crate::report::{Message, Sender};

/// What the connections of one scenario have carried.
#[derive(Clone)]
pub(crate) struct Tape(Arc<Mutex<Recording>>);

impl Tape {
    /// The tape of a scenario of this name. Its clock starts now.
    pub(crate) fn new(scenario: &str, transcripts: Option<&Transcripts>) -> Self {
        let transcript = transcripts.and_then(|transcripts| transcripts.begin(scenario));
        Self(Arc::new(Mutex::new(Recording::new(transcript))))
    }

    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recording of a connection of this name, whose messages are in this format.
    pub(crate) fn line(&self, name: &str, talk: &'static Talk) -> Line {
        Line { channel: self.recording().open(name, talk), tape: self.clone() }
    }

    /// The last messages for a report. Messages of the program that the tester has not read yet are left out.
    pub(crate) fn tail(&self) -> Vec<Message> {
        self.recording().tail()
    }

    /// Writes the rest of the transcript, with these lines at its end.
    pub(crate) fn end(&self, lines: &[String]) {
        self.recording().end(lines);
    }
}

/// One connection of a scenario.
#[derive(Clone)]
pub(crate) struct Line {
    tape: Tape,
    channel: usize,
}

impl Line {
    /// The tester has sent these bytes: a datagram, or a part of a stream.
    pub(crate) fn sent(&self, bytes: &[u8]) {
        self.tape.recording().add(self.channel, Sender::Tester, bytes);
    }

    /// These bytes of the program have arrived: a datagram, or a part of a stream.
    pub(crate) fn came(&self, bytes: &[u8]) {
        self.tape.recording().add(self.channel, Sender::Program, bytes);
    }

    /// The tester has read so many more messages of the program. A report leaves out those that it has not read yet. On a connection
    /// where this is never called, all messages count as read.
    pub(crate) fn took(&self, messages: u64) {
        self.tape.recording().took(self.channel, messages);
    }

    /// The tester has read all that has come.
    pub(crate) fn took_all(&self) {
        self.tape.recording().took_all(self.channel);
    }

    /// Something else has happened.
    pub(crate) fn note(&self, sender: Sender, what: &str) {
        self.tape.recording().note(self.channel, sender, what);
    }

    /// What is judged now is about this connection.
    pub(crate) fn attend(&self) {
        self.tape.recording().focus = Some(self.channel);
    }

    /// Gives the connection another name, also in what it has carried before.
    pub(crate) fn rename(&self, name: &str) {
        self.tape.recording().rename(self.channel, name);
    }
}
