//! Connections record all bytes with a [`Channel`] from the judge. The tape splits them into messages and keeps the
//! last ones for the report of a breach.

use std::{
    collections::{BTreeMap, VecDeque},
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::report::{Excerpt, Message, Sender, WrongByte, message_lines, shortened};

#[derive(Clone)]
pub(crate) struct Tape(Arc<Mutex<Recording>>);

impl Default for Tape {
    fn default() -> Self {
        Self::new("", None)
    }
}

impl Tape {
    pub(crate) fn new(scenario: &str, transcripts: Option<&Transcripts>) -> Self {
        let transcript = transcripts.and_then(|transcripts| transcripts.begin(scenario));
        Self(Arc::new(Mutex::new(Recording::new(transcript))))
    }

    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(&self, name: &str, format: &'static ChannelFormat) -> Channel {
        Channel { channel: self.recording().open(name, format), tape: self.clone() }
    }

    /// Excludes messages of the program that the tester has not read yet.
    pub(crate) fn tail(&self) -> Vec<Message> {
        self.recording().tail()
    }

    pub(crate) fn end(&self, lines: &[String]) {
        self.recording().end(lines);
    }
}

#[derive(Clone)]
pub(crate) struct Channel {
    tape: Tape,
    channel: usize,
}

impl Channel {
    pub(crate) fn sent(&self, bytes: &[u8]) {
        self.tape.recording().add(self.channel, Sender::Tester, bytes);
    }

    pub(crate) fn received(&self, bytes: &[u8]) {
        self.tape.recording().add(self.channel, Sender::Program, bytes);
    }

    /// Counts messages that the tester has read. Reports omit unread ones. Without any call, all messages of a
    /// connection count as read.
    pub(crate) fn mark_read(&self, messages: u64) {
        self.tape.recording().mark_read(self.channel, messages);
    }

    pub(crate) fn mark_all_read(&self) {
        self.tape.recording().mark_all_read(self.channel);
    }

    pub(crate) fn note(&self, sender: Sender, what: &str) {
        self.tape.recording().note(self.channel, sender, what);
    }

    /// The next breach is about this connection.
    pub(crate) fn focus(&self) {
        self.tape.recording().focus = Some(self.channel);
    }

    /// Also renames the channel of earlier messages.
    pub(crate) fn rename(&self, name: &str) {
        self.tape.recording().rename(self.channel, name);
    }
}

pub(crate) struct ChannelFormat {
    pub(crate) tester: MessageFormat,
    pub(crate) program: MessageFormat,
    /// Reports show the bytes beside the description.
    pub(crate) is_binary: bool,
}

pub(crate) struct MessageFormat {
    pub(crate) framing: MessageFraming,
    pub(crate) describe: fn(&[u8]) -> Description,
}

pub(crate) enum MessageFraming {
    Datagrams,
    Stream(fn(&[u8]) -> Framed),
}

pub(crate) enum Framed {
    Whole(usize),
    Part,
    /// The offset of the byte where decoding stops, and the error.
    Wrong(usize, String),
}

pub(crate) struct Description {
    pub(crate) text: String,
    /// The offset of the first wrong byte, and the error.
    pub(crate) wrong: Option<(usize, String)>,
}

impl Description {
    pub(crate) fn right(text: impl Into<String>) -> Self {
        Self { text: text.into(), wrong: None }
    }
}

pub(crate) static TERMINAL: ChannelFormat = ChannelFormat { tester: TYPED, program: PRINTED, is_binary: false };

const TYPED: MessageFormat = MessageFormat {
    framing: MessageFraming::Datagrams,
    describe: |bytes| Description::right(format!("types '{}'", bytes.escape_ascii())),
};

const PRINTED: MessageFormat = MessageFormat {
    framing: MessageFraming::Datagrams,
    describe: |bytes| Description::right(format!("prints '{}'", String::from_utf8_lossy(bytes))),
};

const MAX_RECORDS: usize = 256;
const MAX_RECORDED_BYTES: usize = 1 << 20;
/// In bytes: the longest message of any protocol.
const LONGEST: usize = 1 << 20;
/// In bytes. A longer incomplete message is parsed again after it has grown by a quarter, not at each segment.
const LONG: usize = 4096;
const SHOWN: usize = 12;
/// Bytes of a message in a report, with a wrong byte in the middle.
const SHOWN_BYTES: usize = 32;
/// Characters of a message in a report per shown byte. A nuggets picture has several thousand.
const LETTERS: usize = 256;
/// Bytes of a message in a transcript.
const WRITTEN_BYTES: usize = 1 << 16;

struct Connection {
    name: String,
    format: &'static ChannelFormat,
    tester: Side,
    program: Side,
    /// Messages of the program that the tester has read, if known.
    read: Option<u64>,
}

#[derive(Default)]
struct Side {
    pending: Vec<u8>,
    // The offset of the first byte in the stream.
    start: u64,
    messages: u64,
    // The length when it was parsed last.
    parsed_length: usize,
    // Bytes after a wrong byte cannot be split.
    is_lost: bool,
}

struct Record {
    channel: usize,
    sender: Sender,
    at: Duration,
    // The number of the message on this side, and its offset in the stream.
    number: u64,
    start: u64,
    what: Content,
}

enum Content {
    Message(Vec<u8>),
    Wrong(Vec<u8>, usize, String),
    Raw(Vec<u8>),
    Note(String),
}

impl Content {
    fn len(&self) -> usize {
        match self {
            Self::Message(bytes) | Self::Wrong(bytes, ..) | Self::Raw(bytes) => bytes.len(),
            Self::Note(text) => text.len(),
        }
    }
}

struct Recording {
    begin: Instant,
    channels: Vec<Connection>,
    records: VecDeque<Record>,
    bytes: usize,
    /// The channel of the next breach.
    focus: Option<usize>,
    transcript: Option<Transcript>,
}

impl Recording {
    fn new(transcript: Option<Transcript>) -> Self {
        Self {
            begin: Instant::now(),
            channels: Vec::new(),
            records: VecDeque::new(),
            bytes: 0,
            focus: None,
            transcript,
        }
    }

    fn open(&mut self, name: &str, format: &'static ChannelFormat) -> usize {
        let (tester, program) = (Side::default(), Side::default());
        self.channels.push(Connection { name: name.to_owned(), format, tester, program, read: None });
        self.channels.len() - 1
    }

    fn rename(&mut self, channel: usize, name: &str) {
        if let Some(channel) = self.channels.get_mut(channel) {
            name.clone_into(&mut channel.name);
        }
    }

    fn mark_read(&mut self, channel: usize, messages: u64) {
        self.focus = Some(channel);
        if let Some(channel) = self.channels.get_mut(channel) {
            *channel.read.get_or_insert(0) += messages;
        }
    }

    fn mark_all_read(&mut self, channel: usize) {
        self.focus = Some(channel);
        self.split_pending(channel, Sender::Program, true);
        if let Some(channel) = self.channels.get_mut(channel) {
            channel.read = Some(channel.program.messages);
        }
    }

    fn note(&mut self, channel: usize, sender: Sender, what: &str) {
        self.split_pending(channel, sender, true);
        self.push(channel, sender, (u64::MAX, 0), Content::Note(format!("({what})")));
    }

    fn add(&mut self, channel: usize, sender: Sender, bytes: &[u8]) {
        if sender == Sender::Program {
            self.focus = Some(channel);
        }
        let Some((message_format, side)) = self.side(channel, sender) else { return };
        if let (MessageFraming::Stream(_), false) = (&message_format.framing, side.is_lost) {
            side.pending.extend_from_slice(bytes);
            self.split_pending(channel, sender, false);
            return;
        }
        let place = (side.messages, side.start);
        side.start += bytes.len() as u64;
        side.messages += 1;
        let what = if side.is_lost { Content::Raw(bytes.to_vec()) } else { Content::Message(bytes.to_vec()) };
        self.push(channel, sender, place, what);
    }

    fn side(&mut self, channel: usize, sender: Sender) -> Option<(&'static MessageFormat, &mut Side)> {
        let channel = self.channels.get_mut(channel)?;
        Some(match sender {
            Sender::Tester => (&channel.format.tester, &mut channel.tester),
            Sender::Program => (&channel.format.program, &mut channel.program),
        })
    }

    // Parses long incomplete messages only occasionally, unless `now` is set.
    fn split_pending(&mut self, channel: usize, sender: Sender, now: bool) {
        while let Some((message_format, side)) = self.side(channel, sender) {
            let MessageFraming::Stream(frame) = message_format.framing else { return };
            let length = side.pending.len();
            let is_early = length > LONG && length < side.parsed_length + side.parsed_length / 4;
            if side.is_lost || length == 0 || is_early && !now {
                return;
            }
            let place = (side.messages, side.start);
            let what = match frame(&side.pending) {
                Framed::Whole(end) => {
                    let rest = side.pending.split_off(end.clamp(1, length));
                    Content::Message(std::mem::replace(&mut side.pending, rest))
                }
                Framed::Wrong(at, why) => Content::Wrong(std::mem::take(&mut side.pending), at, why),
                Framed::Part if length > LONGEST => Content::Raw(std::mem::take(&mut side.pending)),
                Framed::Part => {
                    side.parsed_length = length;
                    return;
                }
            };
            side.is_lost = !matches!(what, Content::Message(_));
            side.start += what.len() as u64;
            side.messages += 1;
            side.parsed_length = 0;
            self.push(channel, sender, place, what);
        }
    }

    fn push(&mut self, channel: usize, sender: Sender, (number, start): (u64, u64), what: Content) {
        let records = Record { channel, sender, at: self.begin.elapsed(), number, start, what };
        if let Some(transcript) = &mut self.transcript {
            transcript.write(&describe(&self.channels, &records, WRITTEN_BYTES));
        }
        self.bytes += records.what.len();
        self.records.push_back(records);
        while self.records.len() > MAX_RECORDS || self.bytes > MAX_RECORDED_BYTES && self.records.len() > 1 {
            self.bytes -= self.records.pop_front().map_or(0, |records| records.what.len());
        }
    }

    fn tail(&mut self) -> Vec<Message> {
        let all = 0..self.channels.len();
        for channel in all {
            self.split_pending(channel, Sender::Program, true);
            self.split_pending(channel, Sender::Tester, true);
        }
        // Without messages on the connection, those of the others explain the breach.
        let is_about = |records: &Record| self.focus == Some(records.channel);
        let is_silent = !self.records.iter().any(|records| is_about(records) && self.is_read(records));
        let read =
            self.records.iter().rev().filter(|records| self.is_read(records) && (is_silent || is_about(records)));
        let mut shown: Vec<Message> = Vec::new();
        for records in read.take(SHOWN) {
            let mut message = describe(&self.channels, records, SHOWN_BYTES);
            if !message.text.contains('\n') {
                message.text = shortened(&message.text);
            }
            if message.wrong.is_none() && matches!(records.what, Content::Message(_)) {
                // A valid message needs only its text.
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

    // Messages of the program that the tester has not read are irrelevant, unless reading stops there.
    fn is_read(&self, records: &Record) -> bool {
        let read = self.channels.get(records.channel).and_then(|channel| channel.read);
        let is_message = matches!(records.what, Content::Message(_));
        records.sender == Sender::Tester || !is_message || read.is_none_or(|read| records.number < read)
    }

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

    fn end(&mut self, lines: &[String]) {
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

fn describe(channels: &[Connection], records: &Record, most: usize) -> Message {
    let channel = channels.get(records.channel);
    let message_format = channel.map(|channel| match records.sender {
        Sender::Tester => &channel.format.tester,
        Sender::Program => &channel.format.program,
    });
    let (mut text, wrong) = match &records.what {
        Content::Message(bytes) => message_format
            .map(|message_format| (message_format.describe)(bytes))
            .map_or_else(Default::default, |describe| (describe.text, describe.wrong)),
        Content::Wrong(bytes, at, why) => ("(no message)".to_owned(), Some(((*at).min(bytes.len()), why.clone()))),
        Content::Raw(bytes) => (format!("({} bytes that are not messages)", bytes.len()), None),
        Content::Note(text) => (text.clone(), None),
    };
    if let Some((end, _)) = text.char_indices().nth(most * LETTERS) {
        text.truncate(end);
        text.push_str("...");
    }
    let bytes = match &records.what {
        Content::Message(bytes) | Content::Wrong(bytes, ..) | Content::Raw(bytes) => Some(bytes),
        Content::Note(_) => None,
    };
    let is_binary =
        channel.is_some_and(|channel| channel.format.is_binary) || !matches!(records.what, Content::Message(_));
    let is_stream =
        message_format.is_some_and(|message_format| matches!(message_format.framing, MessageFraming::Stream(_)));
    Message {
        at_ms: millis(records.at),
        channel: channel.map_or_else(String::new, |channel| channel.name.clone()),
        sender: records.sender,
        text,
        bytes: bytes
            .filter(|_| is_binary || wrong.is_some())
            .map(|bytes| excerpt(bytes, wrong.as_ref().map_or(0, |(at, _)| *at), most)),
        wrong: wrong.map(|(at, text)| WrongByte {
            offset: at as u64,
            stream_offset: is_stream.then_some(records.start + at as u64),
            byte: bytes.and_then(|bytes| bytes.get(at)).copied(),
            text,
        }),
    }
}

// At most `most` bytes, including the byte at `around`.
fn excerpt(bytes: &[u8], around: usize, most: usize) -> Excerpt {
    let from = if around < most { 0 } else { around - most / 2 };
    let hex: Vec<_> = bytes.iter().skip(from).take(most).map(|byte| format!("{byte:02x}")).collect();
    Excerpt { from: from as u64, hex: hex.join(" "), of: bytes.len() as u64 }
}

/// The maximum size of a transcript in bytes.
const MOST: usize = 32 << 20;
/// Of the column for connection names.
const WIDTH: usize = 16;

#[derive(Clone)]
pub(crate) struct Transcripts(Arc<Inside>);

struct Inside {
    folder: PathBuf,
    names: Mutex<BTreeMap<String, u32>>,
    error: Mutex<Option<String>>,
}

impl Transcripts {
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let (names, error) = (Mutex::default(), Mutex::default());
        Ok(Self(Arc::new(Inside { folder: folder.to_owned(), names, error })))
    }

    fn begin(&self, scenario: &str) -> Option<Transcript> {
        let mut name: String =
            scenario.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
        let mut names = self.0.names.lock().unwrap_or_else(PoisonError::into_inner);
        let count = names.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            name = format!("{name}-{count}");
        }
        drop(names);
        let path = self.0.folder.join(format!("{name}.txt"));
        match File::create(&path) {
            Ok(file) => {
                let mut transcript = Transcript { of: self.clone(), path, file: BufWriter::new(file), left: MOST };
                transcript.line(&format!("{scenario}\n"));
                Some(transcript)
            }
            Err(error) => {
                self.fail(&path, &error);
                None
            }
        }
    }

    pub(crate) fn error(&self) -> Option<String> {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, path: &Path, error: &io::Error) {
        let mut first = self.0.error.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| format!("cannot write the transcript {}: {error}", path.display()));
    }
}

struct Transcript {
    of: Transcripts,
    path: PathBuf,
    file: BufWriter<File>,
    left: usize,
}

impl Transcript {
    fn write(&mut self, message: &Message) {
        for line in message_lines(message, WIDTH) {
            self.line(&line);
        }
    }

    fn end(mut self, lines: &[String]) {
        // The last lines are written even if the transcript is full.
        self.left = self.left.max(MOST / 16);
        self.line("");
        for line in lines {
            self.line(line);
        }
        if let Err(error) = self.file.flush() {
            self.of.fail(&self.path, &error);
        }
    }

    fn line(&mut self, line: &str) {
        let length = line.len() + 1;
        if self.left == 0 {
            return;
        }
        let written = if length > self.left {
            self.left = 0;
            writeln!(self.file, "(the transcript is truncated at {MOST} bytes)")
        } else {
            self.left -= length;
            writeln!(self.file, "{line}")
        };
        if let Err(error) = written {
            self.left = 0;
            self.of.fail(&self.path, &error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Messages end with a full stop. A '!' is an error.
    static STOPS: ChannelFormat = ChannelFormat { tester: STOP, program: STOP, is_binary: false };
    const STOP: MessageFormat = MessageFormat {
        framing: MessageFraming::Stream(|bytes| match bytes.iter().position(|byte| matches!(byte, b'.' | b'!')) {
            Some(at) if bytes.get(at) == Some(&b'!') => Framed::Wrong(at, "no '!'".into()),
            Some(at) => Framed::Whole(at + 1),
            None => Framed::Part,
        }),
        describe: |bytes| Description::right(String::from_utf8_lossy(bytes)),
    };

    fn texts(recording: &mut Recording) -> Vec<String> {
        recording.tail().into_iter().map(|message| message.text).collect()
    }

    #[test]
    fn messages_are_reassembled_from_any_pieces() {
        let mut recording = Recording::new(None);
        let channel = recording.open("a", &STOPS);
        for bytes in ["on", "e.tw", "o.", "three.fo"] {
            recording.add(channel, Sender::Program, bytes.as_bytes());
        }
        recording.add(channel, Sender::Tester, b"yes.no.");
        recording.focus = Some(channel);
        let beginning = "(2 bytes of an incomplete message)";
        assert_eq!(texts(&mut recording), ["one.", "two.", "three.", "yes.", "no.", beginning]);
        recording.mark_read(channel, 2);
        assert_eq!(texts(&mut recording), ["one.", "two.", "yes.", "no.", beginning]);
        recording.add(channel, Sender::Program, b"ur!five.");
        let last = recording.tail().pop().unwrap();
        let wrong = last.wrong.unwrap();
        assert_eq!((wrong.offset, wrong.stream_offset, wrong.byte), (4, Some(18), Some(b'!')));
        assert_eq!(last.bytes.unwrap().hex, "66 6f 75 72 21 66 69 76 65 2e");
    }

    #[test]
    fn report_has_the_messages_of_its_connection() {
        let mut recording = Recording::new(None);
        let (one, other) = (recording.open("one", &STOPS), recording.open("other", &STOPS));
        recording.add(other, Sender::Program, b"aside.");
        recording.focus = Some(one);
        assert_eq!(texts(&mut recording), ["aside."], "its connection has carried no data");
        for number in 0..20 {
            recording.add(one, Sender::Program, format!("{number}.").as_bytes());
            recording.add(other, Sender::Program, b"aside.");
        }
        recording.focus = Some(one);
        let last: Vec<String> = (20 - SHOWN..20).map(|number| format!("{number}.")).collect();
        assert_eq!(texts(&mut recording), last);
        recording.add(one, Sender::Program, b"first\npicture.second\npicture.");
        let shown = texts(&mut recording);
        assert_eq!(shown[SHOWN - 2..], ["first (1 lines)", "second\npicture."]);
    }

    #[test]
    fn memory_is_bounded_for_any_input() {
        let mut recording = Recording::new(None);
        let channel = recording.open("a", &STOPS);
        for _ in 0..1000 {
            recording.add(channel, Sender::Tester, b"x.");
        }
        let endless = vec![b'x'; 100_000];
        for _ in 0..40 {
            recording.add(channel, Sender::Program, &endless);
        }
        let pending = recording.channels[channel].program.pending.len();
        assert!(pending <= LONGEST + endless.len() && recording.records.len() <= MAX_RECORDS, "{pending}");
        assert!(recording.bytes <= MAX_RECORDED_BYTES + LONGEST + endless.len());
        assert!(texts(&mut recording).iter().any(|text| text.contains("that are not messages")));
    }
}
