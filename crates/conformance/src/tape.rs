//! Recordings of a scenario's connections, for reports and transcripts.
//!
//! The owner of a connection gets a [`Channel`] from the judge and records all bytes with it, in both directions. The tape
//! splits them into messages and keeps the last ones. If a rule is broken, the judge adds them to the report.

mod recording;
mod talk;
mod transcript;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recording::Recording;
pub(crate) use talk::{Carrier, Description, Framed, Speech, TERMINAL, Talk};
pub(crate) use transcript::Transcripts;

use crate::report::{Message, Sender};

/// The recording of all connections of one scenario.
#[derive(Clone)]
pub(crate) struct Tape(Arc<Mutex<Recording>>);

impl Tape {
    /// The tape of a scenario with this name. Its clock starts now.
    pub(crate) fn new(scenario: &str, transcripts: Option<&Transcripts>) -> Self {
        let transcript = transcripts.and_then(|transcripts| transcripts.begin(scenario));
        Self(Arc::new(Mutex::new(Recording::new(transcript))))
    }

    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recording of a connection with this name, whose messages have this format.
    pub(crate) fn line(&self, name: &str, talk: &'static Talk) -> Channel {
        Channel { channel: self.recording().open(name, talk), tape: self.clone() }
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
pub(crate) struct Channel {
    tape: Tape,
    channel: usize,
}

impl Channel {
    /// Records bytes that the tester has sent: a datagram, or a part of a stream.
    pub(crate) fn sent(&self, bytes: &[u8]) {
        self.tape.recording().add(self.channel, Sender::Tester, bytes);
    }

    /// Records bytes of the program that have arrived: a datagram, or a part of a stream.
    pub(crate) fn came(&self, bytes: &[u8]) {
        self.tape.recording().add(self.channel, Sender::Program, bytes);
    }

    /// Records that the tester has read the given number of further messages of the program. A report omits unread
    /// messages. On a connection without any call of this function, all messages count as read.
    pub(crate) fn took(&self, messages: u64) {
        self.tape.recording().took(self.channel, messages);
    }

    /// Records that the tester has read all received messages.
    pub(crate) fn took_all(&self) {
        self.tape.recording().took_all(self.channel);
    }

    /// Records another event.
    pub(crate) fn note(&self, sender: Sender, what: &str) {
        self.tape.recording().note(self.channel, sender, what);
    }

    /// Makes this connection the subject of the next breach.
    pub(crate) fn attend(&self) {
        self.tape.recording().focus = Some(self.channel);
    }

    /// Renames the connection, including its earlier messages.
    pub(crate) fn rename(&self, name: &str) {
        self.tape.recording().rename(self.channel, name);
    }
}
