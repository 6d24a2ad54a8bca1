//! A game whose engine panics on `!`, for tests.

use bytes::Bytes;
use journal_core::{Arrival, Entry, Excerpt, Head, Note, Replay};
use netcore::{
    DecodeError, Engine, Framing, Input, Link, Outbox, Outcome, PeerId, Phase, Protocol, Recorded, Role, StateError,
    Status, Time,
};
use ratatui::{buffer::Buffer, layout::Rect};
use termkit::Palette;

use crate::{
    games::PeerIdentity,
    games::{Describe, Description, Game, GameDisplay},
};

#[derive(Debug, Clone, Default)]
pub(crate) struct Glass(u64);

pub(crate) struct Sounds;

impl Protocol for Sounds {
    type Request = Bytes;
    type Decoder = ();
    const MAX_MESSAGE: usize = 9;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        Ok(Some(bytes.len()))
    }

    fn decode((): &mut (), message: &[u8], _: Framing) -> Result<Bytes, DecodeError> {
        Ok(Bytes::copy_from_slice(message))
    }
}

impl Engine for Glass {
    type Protocol = Sounds;

    fn input(&mut self, _: Time, input: Input<'_, Bytes>, _: &mut Outbox) {
        if let Input::Message { message, .. } = input {
            assert!(message != "!", "the glass breaks");
            self.0 += 1;
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn outcome(&self) -> Option<Outcome> {
        None
    }

    fn status(&self) -> Status {
        Status { phase: Phase::Playing, taken: 0, seats: 1 }
    }
}

impl Recorded for Glass {
    const GAME: &'static str = "glass";
    const RULES: u32 = 1;
    type Setup = u64;
    type State = u64;

    fn setup(&self) -> u64 {
        0
    }

    fn from_setup(_: u64) -> Result<Self, StateError> {
        Ok(Self(0))
    }

    fn state(&self) -> u64 {
        self.0
    }

    fn restore(_: u64, state: u64) -> Result<Self, StateError> {
        Ok(Self(state))
    }
}

impl Describe for Glass {
    fn describe(_: Link, bytes: &[u8]) -> Option<Description> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        Some(Description { action: Some(format!(": {text}")), text, name: None })
    }
}

impl Game for Glass {
    type Display = Blind;

    fn describe_setup(_: &u64, _: bool) -> Vec<(&'static str, String)> {
        vec![]
    }

    fn is_seat(_: &str, _: &str) -> bool {
        false
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Blind;

impl GameDisplay<Glass> for Blind {
    type View = ();

    fn new(_: bool) -> Self {
        Self
    }

    fn take_seat(&mut self, _: &PeerIdentity, _: Link, _: Time) {}

    fn receive(&mut self, _: bool, _: &Bytes, _: Time) {}

    fn view(_: Palette) {}

    fn scroll(&self, (): &mut (), _: i32, _: i32) {}

    fn draw(&mut self, (): &mut (), _: &Replay<Glass>, _: Rect, _: &mut Buffer) {}
}

/// One peer sends `a`, `b` and `last`. With `broke`, the journal records that `last` made the server panic.
pub(crate) fn journal(last: &'static str, broke: bool) -> Vec<u8> {
    let mut excerpt = Excerpt::new(&Head::new(&Glass::default(), "0.1.0", vec![], 0));
    let (peer, role, link) = (PeerId(0), Role::Player, Link::Message);
    let input = Input::Connected { peer, role, link, address: "10.0.0.7:1".into() };
    excerpt.push(&Entry::Arrival(Arrival { time: Time::ZERO, input, check: None }));
    for (at, said) in (1..).zip(["a", "b", last]) {
        let time = Time::from_millis(at * 1_000);
        let input = Input::Message { peer, message: said.into() };
        excerpt.push(&Entry::Arrival(Arrival { time, input, check: None }));
    }
    if broke {
        excerpt.push(&Entry::Note(Note::Broken));
    }
    excerpt.into_bytes()
}
