use std::{fmt::Display, time::Instant};

use bytes::{Buf as _, BytesMut};

use crate::{
    judge::{Judge, ScenarioResult},
    net::Connection,
    rule::Rule,
    tester::Options,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    Whole,
    /// With a carriage return before each line feed.
    Returns,
    Bytes,
    /// All lines up to the next question in one write.
    Merged,
}

/// Of the program under test.
pub(super) struct Grammar<M> {
    /// Broken by an invalid message.
    pub(super) rule: &'static Rule,
    pub(super) sender: &'static str,
    pub(super) most: usize,
    /// Accepts only the exact form of a message.
    pub(super) parse: fn(&[u8]) -> Option<M>,
}

pub(super) type Received<M> = Result<M, &'static str>;

pub(super) struct Lines<M: 'static> {
    pub(super) connection: Connection,
    pub(super) options: Options,
    pub(super) delivery: Delivery,
    grammar: &'static Grammar<M>,
    waiting: Vec<u8>,
}

impl<M> Lines<M> {
    pub(super) fn new(connection: Connection, options: Options, grammar: &'static Grammar<M>) -> Self {
        Self { connection, options, delivery: Delivery::Whole, grammar, waiting: Vec::new() }
    }

    /// Sends now or with the next question, as the delivery requires.
    pub(super) fn send(&mut self, line: impl AsRef<[u8]>) {
        self.waiting.extend_from_slice(line.as_ref());
        self.waiting.extend_from_slice(if self.delivery == Delivery::Returns { b"\r\n" } else { b"\n" });
        if self.delivery != Delivery::Merged {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.waiting);
        if self.delivery == Delivery::Bytes {
            self.connection.send_in_bytes(&bytes);
        } else if !bytes.is_empty() {
            self.connection.send(&bytes);
        }
    }

    /// Without its line feed; `None` if it is too long or incomplete.
    pub(super) fn line(&mut self, by: Instant) -> Option<BytesMut> {
        loop {
            let buffer = &mut self.connection.buffer;
            if let Some(end) = buffer.iter().take(self.grammar.most + 1).position(|&byte| byte == b'\n') {
                let line = buffer.split_to(end);
                buffer.advance(1);
                self.connection.mark_read(1);
                return Some(line);
            }
            if buffer.len() > self.grammar.most || !self.connection.more(by) {
                return None;
            }
        }
    }

    /// Ignores additional blanks, and skips invalid messages. An error describes what arrived instead of a message.
    pub(super) fn receive(&mut self, judge: &mut Judge) -> ScenarioResult<Received<M>> {
        let Grammar { rule, sender, most, parse } = self.grammar;
        let by = self.options.deadline();
        while let Some(line) = self.line(by) {
            let exact = parse(&line);
            judge.check(rule, exact.is_some(), || {
                format!("expected a message of a {sender}, received {}", excerpt(&line))
            });
            if let Some(message) = exact.or_else(|| parse(&normalized(&line))) {
                return Ok(Ok(message));
            }
        }
        if self.connection.buffer.len() > *most {
            let wrong = excerpt(&self.connection.buffer);
            return judge.broken(rule, || format!("expected a line feed within {most} bytes, received {wrong}"));
        }
        if !self.connection.closed {
            return Ok(Err("nothing in time"));
        }
        let rest = self.connection.rest();
        let wrong = || {
            format!("expected the rest of a message before the end of the connection, received only {}", excerpt(&rest))
        };
        if rest.is_empty() { Ok(Err("the end of the connection")) } else { judge.broken(rule, wrong) }
    }
}

fn normalized(line: &[u8]) -> Vec<u8> {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(&b' ')
}

pub(super) fn describe<M: Display>(received: &Received<M>) -> String {
    received.as_ref().map_or_else(|what| (*what).to_owned(), |message| format!("'{message}'"))
}

pub(super) fn excerpt(bytes: &[u8]) -> String {
    format!("'{}'", bytes.get(..80).unwrap_or(bytes).escape_ascii())
}
