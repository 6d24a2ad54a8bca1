//! A mastermind client played by a simple codebreaker.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use mastermind::{
    Client, ClientMessage, Code, Feedback, Lifeline, Name, Rules,
    view::{Board, Line, Shown},
};
use netcore::{DecodeError, Gone, Link, Time};

/// Guesses a code that may still be the one, asks for a lifeline and a hint now and then, and plays on; without a name it looks on.
#[derive(Debug)]
pub(crate) struct Breaker {
    pub(crate) client: Client,
    plays: bool,
    pause: Duration,
    next: Time,
    // Where it begins to look for a code.
    number: usize,
    codes: Vec<Code>,
    /// Its connection has ended.
    pub(crate) gone: bool,
}

impl Breaker {
    /// Joins at `now` and says something after each `pause`; `number` makes it different from others.
    pub(crate) fn new(link: Link, name: Option<&str>, number: usize, now: Time, pause: Duration) -> Self {
        let codes = Rules::new(4, 8, false).expect("these rules are possible").all();
        let plays = name.is_some();
        let client = Client::new(link, name.and_then(|name| Name::new(name.as_bytes()).ok()));
        Self { client, plays, pause, next: now.plus(pause), number, codes, gone: false }
    }

    fn think(&self) -> Option<ClientMessage> {
        let board = self.client.board()?;
        if board.over.is_some() {
            return Some(ClientMessage::New(None));
        }
        let turn = self.client.turn()?;
        match (self.number + turn.turn) % 7 {
            3 if turn.turn == 3 => return Some(ClientMessage::Lifeline(Lifeline::Place)),
            5 if self.client.advice().is_none() => return Some(ClientMessage::Hint),
            _ => {}
        }
        let fits = |code: &&Code| {
            board.lines.iter().all(|line| match line {
                Line::Row { guess: Shown::Code(guess), feedback, .. } => Feedback::of(*guess, **code) == *feedback,
                _ => true,
            })
        };
        let from = self.number * 97 % self.codes.len();
        let mut codes = self.codes[from..].iter().chain(&self.codes[..from]);
        codes.find(fits).map(|code| ClientMessage::Guess(*code))
    }
}

impl netcore::Client for Breaker {
    type Action = ClientMessage;
    type Error = DecodeError;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), DecodeError> {
        self.client.receive(now, bytes)
    }

    fn act(&mut self, now: Time, action: ClientMessage) {
        self.client.act(now, action);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.client.take_outgoing()
    }

    fn deadline(&self, _: Time) -> Option<Time> {
        (self.plays && !self.is_over()).then_some(self.next)
    }

    fn elapsed(&mut self, now: Time) {
        self.next = now.plus(self.pause);
        if let Some(message) = self.think() {
            self.client.act(now, message);
        }
    }

    fn disconnected(&mut self, now: Time, why: Gone) {
        self.gone = true;
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}

/// All games that anybody was told of, by their number and seat.
#[derive(Debug, Default)]
pub(crate) struct Told(BTreeMap<(u32, u8), Board>);

impl Told {
    /// Compares what a client knows with what others were told, and adds it.
    pub(crate) fn check(&mut self, client: &Client, who: &str) {
        for (&seat, place) in client.places() {
            let Some(board) = &place.board else { continue };
            let known = self.0.entry((board.number, seat)).or_insert_with(|| Board {
                lines: vec![],
                over: None,
                ..board.clone()
            });
            assert_eq!(known.rules, board.rules, "{who}, game {}", board.number);
            for (at, line) in board.lines.iter().enumerate() {
                match known.lines.get_mut(at) {
                    None => known.lines.push(*line),
                    Some(before) => {
                        assert!(agree(before, line), "{who}, game {}: {before:?} and {line:?}", board.number);
                        if let Line::Row { guess: Shown::Code(_), .. } = line {
                            *before = *line;
                        }
                    }
                }
            }
            if let (Some(before), Some(now)) = (known.over, board.over) {
                assert_eq!((before.how, before.turns), (now.how, now.turns), "{who}, game {}", board.number);
            }
            known.over = known.over.or(board.over);
        }
    }

    /// The games that are over for somebody.
    pub(crate) fn over(&self) -> usize {
        self.0.values().filter(|board| board.over.is_some()).count()
    }

    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

// The same line, as far as both show it.
fn agree(one: &Line, other: &Line) -> bool {
    match (one, other) {
        (Line::Row { turn, guess, feedback }, Line::Row { turn: at, guess: digits, feedback: answer }) => {
            let same = match (guess, digits) {
                (Shown::Code(one), Shown::Code(other)) => one == other,
                _ => guess.len() == digits.len(),
            };
            same && turn == at && feedback == answer
        }
        (Line::Lifeline { turn, lifeline, revealed }, Line::Lifeline { turn: at, lifeline: which, revealed: fact }) => {
            turn == at && lifeline == which && (revealed.is_none() || fact.is_none() || revealed == fact)
        }
        _ => false,
    }
}
