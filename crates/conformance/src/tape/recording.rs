//! Splits bytes into messages and keeps the last ones.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::{
    talk::{Carrier, Framed, Speech, Talk},
    transcript::Transcript,
};
use crate::report::{Excerpt, Message, Sender, WrongByte, shortened};

/// The maximum number of messages that are kept of a scenario.
const KEPT: usize = 256;
/// The maximum number of bytes that are kept of these messages.
const KEPT_BYTES: usize = 1 << 20;
/// The maximum length of an incomplete message in bytes, which is the length of the longest message of any protocol.
const LONGEST: usize = 1 << 20;
/// An incomplete message of at least this length in bytes is parsed again only when it has grown by a quarter, not at
/// each segment.
const LONG: usize = 4096;
/// The number of messages in a report, all of the connection that it is about.
const SHOWN: usize = 12;
/// The number of bytes of a message that a report shows. A wrong byte is shown in the middle.
const SHOWN_BYTES: usize = 32;
/// The number of characters of a message that a report shows for each of these bytes. A nuggets picture has several
/// thousand.
const LETTERS: usize = 256;
/// The number of bytes of a message that a transcript shows.
const WRITTEN_BYTES: usize = 1 << 16;

struct Channel {
    name: String,
    talk: &'static Talk,
    tester: Side,
    program: Side,
    /// The number of the program's messages that the tester has read, if it is known.
    taken: Option<u64>,
}

/// The bytes that one side of a connection has sent and that do not form a complete message yet.
#[derive(Default)]
struct Side {
    pending: Vec<u8>,
    // The offset of the first byte in the stream.
    start: u64,
    messages: u64,
    // The length when it was parsed last.
    looked: usize,
    // The bytes after a wrong byte cannot be split any more.
    is_lost: bool,
}

struct Said {
    channel: usize,
    sender: Sender,
    at: Duration,
    // The number of the message on this side, and its offset in the stream.
    number: u64,
    start: u64,
    what: What,
}

enum What {
    Message(Vec<u8>),
    /// The next bytes are not a valid message, because of the byte at this offset.
    Wrong(Vec<u8>, usize, String),
    /// The bytes after an invalid message.
    Raw(Vec<u8>),
    Note(String),
}

impl What {
    fn len(&self) -> usize {
        match self {
            Self::Message(bytes) | Self::Wrong(bytes, ..) | Self::Raw(bytes) => bytes.len(),
            Self::Note(text) => text.len(),
        }
    }
}

pub(super) struct Recording {
    begin: Instant,
    channels: Vec<Channel>,
    said: VecDeque<Said>,
    bytes: usize,
    /// The connection that the next breach is about.
    pub(super) focus: Option<usize>,
    transcript: Option<Transcript>,
}

impl Recording {
    pub(super) fn new(transcript: Option<Transcript>) -> Self {
        Self { begin: Instant::now(), channels: Vec::new(), said: VecDeque::new(), bytes: 0, focus: None, transcript }
    }

    pub(super) fn open(&mut self, name: &str, talk: &'static Talk) -> usize {
        let (tester, program) = (Side::default(), Side::default());
        self.channels.push(Channel { name: name.to_owned(), talk, tester, program, taken: None });
        self.channels.len() - 1
    }

    pub(super) fn rename(&mut self, channel: usize, name: &str) {
        if let Some(channel) = self.channels.get_mut(channel) {
            name.clone_into(&mut channel.name);
        }
    }

    pub(super) fn took(&mut self, channel: usize, messages: u64) {
        self.focus = Some(channel);
        if let Some(channel) = self.channels.get_mut(channel) {
            *channel.taken.get_or_insert(0) += messages;
        }
    }

    pub(super) fn took_all(&mut self, channel: usize) {
        self.focus = Some(channel);
        self.look(channel, Sender::Program, true);
        if let Some(channel) = self.channels.get_mut(channel) {
            channel.taken = Some(channel.program.messages);
        }
    }

    pub(super) fn note(&mut self, channel: usize, sender: Sender, what: &str) {
        self.look(channel, sender, true);
        self.push(channel, sender, (u64::MAX, 0), What::Note(format!("({what})")));
    }

    pub(super) fn add(&mut self, channel: usize, sender: Sender, bytes: &[u8]) {
        if sender == Sender::Program {
            self.focus = Some(channel);
        }
        let Some((speech, side)) = self.side(channel, sender) else { return };
        if let (Carrier::Stream(_), false) = (&speech.carrier, side.is_lost) {
            side.pending.extend_from_slice(bytes);
            self.look(channel, sender, false);
            return;
        }
        let place = (side.messages, side.start);
        side.start += bytes.len() as u64;
        side.messages += 1;
        let what = if side.is_lost { What::Raw(bytes.to_vec()) } else { What::Message(bytes.to_vec()) };
        self.push(channel, sender, place, what);
    }

    fn side(&mut self, channel: usize, sender: Sender) -> Option<(&'static Speech, &mut Side)> {
        let channel = self.channels.get_mut(channel)?;
        Some(match sender {
            Sender::Tester => (&channel.talk.tester, &mut channel.tester),
            Sender::Program => (&channel.talk.program, &mut channel.program),
        })
    }

    // Splits off whole messages. Long incomplete messages are parsed only occasionally, unless `now` is set.
    fn look(&mut self, channel: usize, sender: Sender, now: bool) {
        while let Some((speech, side)) = self.side(channel, sender) {
            let Carrier::Stream(frame) = speech.carrier else { return };
            let length = side.pending.len();
            let is_early = length > LONG && length < side.looked + side.looked / 4;
            if side.is_lost || length == 0 || is_early && !now {
                return;
            }
            let place = (side.messages, side.start);
            let what = match frame(&side.pending) {
                Framed::Whole(end) => {
                    let rest = side.pending.split_off(end.clamp(1, length));
                    What::Message(std::mem::replace(&mut side.pending, rest))
                }
                Framed::Wrong(at, why) => What::Wrong(std::mem::take(&mut side.pending), at, why),
                Framed::Part if length > LONGEST => What::Raw(std::mem::take(&mut side.pending)),
                Framed::Part => {
                    side.looked = length;
                    return;
                }
            };
            side.is_lost = !matches!(what, What::Message(_));
            side.start += what.len() as u64;
            side.messages += 1;
            side.looked = 0;
            self.push(channel, sender, place, what);
        }
    }

    fn push(&mut self, channel: usize, sender: Sender, (number, start): (u64, u64), what: What) {
        let said = Said { channel, sender, at: self.begin.elapsed(), number, start, what };
        if let Some(transcript) = &mut self.transcript {
            transcript.write(&told(&self.channels, &said, WRITTEN_BYTES));
        }
        self.bytes += said.what.len();
        self.said.push_back(said);
        while self.said.len() > KEPT || self.bytes > KEPT_BYTES && self.said.len() > 1 {
            self.bytes -= self.said.pop_front().map_or(0, |said| said.what.len());
        }
    }

    pub(super) fn tail(&mut self) -> Vec<Message> {
        let all = 0..self.channels.len();
        for channel in all {
            self.look(channel, Sender::Program, true);
            self.look(channel, Sender::Tester, true);
        }
        // If the connection has carried no messages, those of the other connections explain the breach.
        let is_about = |said: &Said| self.focus == Some(said.channel);
        let is_silent = !self.said.iter().any(|said| is_about(said) && self.is_read(said));
        let read = self.said.iter().rev().filter(|said| self.is_read(said) && (is_silent || is_about(said)));
        let mut shown: Vec<Message> = Vec::new();
        for said in read.take(SHOWN) {
            let mut message = told(&self.channels, said, SHOWN_BYTES);
            if !message.text.contains('\n') {
                message.text = shortened(&message.text);
            }
            if message.wrong.is_none() && matches!(said.what, What::Message(_)) {
                // The text is sufficient.
                message.bytes = None;
            }
            shown.push(message);
        }
        // Only the last picture is shown in full.
        let is_picture = |message: &&mut Message| message.text.contains('\n');
        let whole = shown.iter().position(|message| message.text.contains('\n'));
        for (_, message) in
            shown.iter_mut().enumerate().filter(|(at, message)| Some(*at) != whole && is_picture(message))
        {
            let (first, rest) = message.text.split_once('\n').unwrap_or_default();
            message.text = format!("{first} ({} lines)", rest.lines().count());
        }
        shown.reverse();
        shown.extend(self.focus.and_then(|focus| self.incomplete(focus, SHOWN_BYTES)));
        shown
    }

    // Whether the message is relevant now. Messages of the program that the tester has not read yet are not, unless the
    // reading stops there.
    fn is_read(&self, said: &Said) -> bool {
        let taken = self.channels.get(said.channel).and_then(|channel| channel.taken);
        let is_message = matches!(said.what, What::Message(_));
        said.sender == Sender::Tester || !is_message || taken.is_none_or(|taken| said.number < taken)
    }

    // The start of the program's incomplete message on this connection.
    fn incomplete(&self, number: usize, most: usize) -> Option<Message> {
        let channel = self.channels.get(number)?;
        let side = &channel.program;
        if side.pending.is_empty() {
            return None;
        }
        let (bytes, count) = (excerpt(&side.pending, 0, most), side.pending.len());
        Some(Message {
            at_ms: millis(self.begin.elapsed()),
            channel: channel.name.clone(),
            sender: Sender::Program,
            text: format!("({count} bytes of an incomplete message)"),
            bytes: Some(bytes),
            wrong: None,
        })
    }

    pub(super) fn end(&mut self, lines: &[String]) {
        let Some(mut transcript) = self.transcript.take() else { return };
        for channel in 0..self.channels.len() {
            if let Some(message) = self.incomplete(channel, WRITTEN_BYTES) {
                transcript.write(&message);
            }
        }
        transcript.end(lines);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn told(channels: &[Channel], said: &Said, most: usize) -> Message {
    let channel = channels.get(said.channel);
    let speech = channel.map(|channel| match said.sender {
        Sender::Tester => &channel.talk.tester,
        Sender::Program => &channel.talk.program,
    });
    let (mut text, wrong) = match &said.what {
        What::Message(bytes) => {
            speech.map(|speech| (speech.tell)(bytes)).map_or_else(Default::default, |told| (told.text, told.wrong))
        }
        What::Wrong(bytes, at, why) => ("(no message)".to_owned(), Some(((*at).min(bytes.len()), why.clone()))),
        What::Raw(bytes) => (format!("({} bytes that are not messages)", bytes.len()), None),
        What::Note(text) => (text.clone(), None),
    };
    if let Some((end, _)) = text.char_indices().nth(most * LETTERS) {
        text.truncate(end);
        text.push_str("...");
    }
    let bytes = match &said.what {
        What::Message(bytes) | What::Wrong(bytes, ..) | What::Raw(bytes) => Some(bytes),
        What::Note(_) => None,
    };
    let is_binary = channel.is_some_and(|channel| channel.talk.is_binary) || !matches!(said.what, What::Message(_));
    let is_stream = speech.is_some_and(|speech| matches!(speech.carrier, Carrier::Stream(_)));
    Message {
        at_ms: millis(said.at),
        channel: channel.map_or_else(String::new, |channel| channel.name.clone()),
        sender: said.sender,
        text,
        bytes: bytes
            .filter(|_| is_binary || wrong.is_some())
            .map(|bytes| excerpt(bytes, wrong.as_ref().map_or(0, |(at, _)| *at), most)),
        wrong: wrong.map(|(at, text)| WrongByte {
            offset: at as u64,
            stream_offset: is_stream.then_some(said.start + at as u64),
            byte: bytes.and_then(|bytes| bytes.get(at)).copied(),
            text,
        }),
    }
}

// An excerpt of at most the given number of bytes, which includes this byte.
fn excerpt(bytes: &[u8], around: usize, most: usize) -> Excerpt {
    let from = if around < most { 0 } else { around - most / 2 };
    let hex: Vec<_> = bytes.iter().skip(from).take(most).map(|byte| format!("{byte:02x}")).collect();
    Excerpt { from: from as u64, hex: hex.join(" "), of: bytes.len() as u64 }
}

#[cfg(test)]
mod tests;
