//! A game whose engine panics, for tests.

use bytes::Bytes;
use journal_core::{Entry, Excerpt, Head, Note, Reader, Replay, SyncPolicy};
use netcore::{Link, Time};
use ratatui::{buffer::Buffer, layout::Rect};
use termkit::Palette;
use testkit::{adder::Adder, disk::SimulatedDisk, recording::Recording};

use crate::{
    games::{Description, Game, GameDisplay},
    guest::Guest,
};

impl Game for Adder {
    type Display = Blind;

    fn setup_in_words(_: &u64, _: bool) -> Vec<(&'static str, String)> {
        vec![]
    }

    fn said(_: Link, bytes: &[u8]) -> Option<Description> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        Some(Description { action: Some(format!(": {text}")), text, name: None })
    }

    fn is_seat(_: &str, _: &str) -> bool {
        false
    }

    fn weight(&self) -> usize {
        1
    }
}

/// Shows nothing.
#[derive(Debug, Clone)]
pub(crate) struct Blind;

impl GameDisplay<Adder> for Blind {
    type View = ();

    fn new(_: bool) -> Self {
        Self
    }

    fn sit(&mut self, _: &Guest, _: Link, _: Time) {}

    fn hear(&mut self, _: bool, _: &Bytes, _: Time) {}

    fn view(_: Palette) {}

    fn scroll(&self, (): &mut (), _: i32, _: i32) {}

    fn draw(&mut self, (): &mut (), _: &Replay<Adder>, _: Rect, _: &mut Buffer) {}
}

/// A journal of one peer that sends `a`, `b` and `last`, a second after one another. If `broke` is set, `last` made the server
/// panic: one that is a panic here too, or another one.
pub(crate) fn journal(last: &str, broke: bool) -> Vec<u8> {
    let (head, how) = (Head::new(&Adder::new(0), "0.1.0", vec![], 0), (SyncPolicy::Interval, journal_core::MAX_SIZE));
    let mut recording = Recording::begin(SimulatedDisk::new(), "/games".as_ref(), Adder::new(0), head, how);
    recording.connect(0, Link::Message, "10.0.0.7:1");
    recording.pause = std::time::Duration::from_secs(1);
    let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ["a", "b", last].iter().for_each(|said| recording.say(0, said.as_bytes()));
    }));
    recording.settle();
    let bytes = recording.disk.written(&recording.journal);
    if !broke || panics.is_err() {
        return bytes;
    }
    let mut reader = Reader::new(&bytes[..], bytes.len() as u64).unwrap();
    let mut excerpt = Excerpt::new(reader.head());
    let mut arrivals = 0;
    while let Some(mut entry) = reader.next().unwrap() {
        if let Entry::Arrival(arrival) = &mut entry {
            arrivals += 1;
            // The digest after a panic is unknown.
            arrival.check ^= u8::from(arrivals == 4);
        }
        excerpt.push(&entry);
    }
    excerpt.push(&Entry::Note(Note::Broken));
    excerpt.into_bytes()
}
