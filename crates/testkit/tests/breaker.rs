//! A mastermind client played by a simple codebreaker.

use std::{collections::BTreeMap, time::Duration};

use mastermind::{
    Client, ClientMessage, Code, Feedback, Lifeline, Name, Rules,
    view::{Board, Shown, TurnRecord},
};
use netcore::{Link, Time};

use crate::bot::{Bot, Mind};

/// Guesses a code that is still possible, occasionally requests a lifeline or a hint, and continues with further
/// games.
#[derive(Debug)]
pub(crate) struct Codebreaker {
    // The index at which the search for a code starts.
    number: usize,
    codes: Vec<Code>,
}

/// A codebreaker; without a name it observes.
pub(crate) type Breaker = Bot<Client, Codebreaker>;

impl Breaker {
    /// Joins at `now` and sends a message after each `pause`; `number` makes it different from other codebreakers.
    pub(crate) fn new(link: Link, name: Option<&str>, number: usize, now: Time, pause: Duration) -> Self {
        let codes = Rules::new(4, 8, false).expect("these rules are possible").all();
        let client = Client::new(link, name.and_then(|name| Name::new(name.as_bytes()).ok()));
        Self::over(client, name.is_some(), Codebreaker { number, codes }, now, pause)
    }
}

impl Mind<Client> for Codebreaker {
    fn think(&mut self, client: &Client) -> Option<ClientMessage> {
        let board = client.board()?;
        if board.over.is_some() {
            return Some(ClientMessage::New(None));
        }
        let turn = client.turn()?;
        match (self.number + turn.turn) % 7 {
            3 if turn.turn == 3 => return Some(ClientMessage::Lifeline(Lifeline::Place)),
            5 if client.advice().is_none() => return Some(ClientMessage::Hint),
            _ => {}
        }
        let fits = |code: &&Code| {
            board.lines.iter().all(|line| match line {
                TurnRecord::Row { guess: Shown::Code(guess), feedback, .. } => {
                    Feedback::of(*guess, **code) == *feedback
                }
                _ => true,
            })
        };
        let from = self.number * 97 % self.codes.len();
        let mut codes = self.codes[from..].iter().chain(&self.codes[..from]);
        codes.find(fits).map(|code| ClientMessage::Guess(*code))
    }
}

/// All games reported to any client, by number and seat.
#[derive(Debug, Default)]
pub(crate) struct Told(BTreeMap<(u32, u8), Board>);

impl Told {
    /// Compares the state of a client with the reports to other clients, and adds it.
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
                        if let TurnRecord::Row { guess: Shown::Code(_), .. } = line {
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

    /// The number of games that are over for at least one client.
    pub(crate) fn over(&self) -> usize {
        self.0.values().filter(|board| board.over.is_some()).count()
    }

    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

// Whether both lines agree in the parts that both show.
fn agree(one: &TurnRecord, other: &TurnRecord) -> bool {
    match (one, other) {
        (TurnRecord::Row { turn, guess, feedback }, TurnRecord::Row { turn: at, guess: digits, feedback: answer }) => {
            let same = match (guess, digits) {
                (Shown::Code(one), Shown::Code(other)) => one == other,
                _ => guess.len() == digits.len(),
            };
            same && turn == at && feedback == answer
        }
        (
            TurnRecord::Lifeline { turn, lifeline, revealed },
            TurnRecord::Lifeline { turn: at, lifeline: which, revealed: fact },
        ) => turn == at && lifeline == which && (revealed.is_none() || fact.is_none() || revealed == fact),
        _ => false,
    }
}
