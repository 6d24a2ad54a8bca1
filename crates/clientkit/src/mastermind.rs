//! Bots of mastermind.

use core::{ops::Range, time::Duration};

use mastermind::{
    Client, ClientMessage, Code, Feedback, Name,
    view::{Board, Line, Shown},
};
use netcore::{Client as _, Level, Link, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::Pilot;

/// How long a bot thinks about a guess, in milliseconds.
const THINKS: Range<u64> = 1_500..6_000;
/// How long a bot waits before it asks again for a game that it was refused, as after the puzzle of the day.
const ASKS_AGAIN: Duration = Duration::from_secs(60);
/// Codes that are drawn in search of one that fits; the last is guessed anyway.
const DRAWS: u32 = 20_000;

/// A client of mastermind that takes part in each game, and its pilot. It guesses codes that fit the answers, and the easier it is, the
/// more answers it forgets. `seed` determines its guesses.
pub fn mastermind_bot(name: Name, level: Level, seed: u64) -> (Client, impl Pilot<Client> + Send) {
    mastermind_bot_at(name, level, seed, THINKS)
}

/// The same, with the time that it thinks about a guess, in milliseconds.
pub fn mastermind_bot_at(
    name: Name,
    level: Level,
    seed: u64,
    thinks: Range<u64>,
) -> (Client, impl Pilot<Client> + Send) {
    let driver = Driver { level, rng: Pcg64::seed_from_u64(seed), thinks, seen: None, due: None };
    (Client::new(Link::Stream, Some(name)), driver)
}

#[derive(Debug)]
struct Driver {
    level: Level,
    rng: Pcg64,
    thinks: Range<u64>,
    // The game and the turn that it thinks about; no turn once the game is over.
    seen: Option<(u32, Option<usize>)>,
    due: Option<Time>,
}

impl Driver {
    // A code that fits the answers that the bot remembers.
    fn guess(&mut self, board: &Board) -> Code {
        let rules = board.rules;
        let answers: Vec<(Code, Feedback)> = board.lines.iter().filter_map(answer).collect();
        let remembered = match self.level {
            Level::Easy => 2,
            Level::Normal => 4,
            Level::Hard => answers.len(),
        };
        let known = &answers[answers.len().saturating_sub(remembered)..];
        let mut guess = rules.draw(&mut self.rng);
        for _ in 0..DRAWS {
            if known.iter().all(|(before, answer)| Feedback::of(*before, guess) == *answer) {
                break;
            }
            guess = rules.draw(&mut self.rng);
        }
        guess
    }
}

const fn answer(line: &Line) -> Option<(Code, Feedback)> {
    match line {
        Line::Row { guess: Shown::Code(guess), feedback, .. } => Some((*guess, *feedback)),
        Line::Row { .. } | Line::Lifeline { .. } => None,
    }
}

impl Pilot<Client> for Driver {
    fn act(&mut self, client: &mut Client, now: Time) {
        let Some(board) = client.board() else { return };
        let seen = (board.number, client.turn().map(|turn| turn.turn));
        if self.seen != Some(seen) {
            self.seen = Some(seen);
            self.due = Some(now.plus(Duration::from_millis(self.rng.random_range(self.thinks.clone()))));
        }
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        // An answer to a guess is another turn, and a game that begins another game. Only a refusal changes nothing.
        self.due = seen.1.is_none().then(|| now.plus(ASKS_AGAIN));
        let message = match seen.1 {
            Some(_) => ClientMessage::Guess(self.guess(board)),
            // It takes part in a race that has not begun.
            None if client.missing().is_some() => return,
            None => ClientMessage::New(None),
        };
        client.act(now, message);
    }

    fn due(&self, client: &Client) -> Option<Time> {
        // Without a board there is nothing to do until a message arrives.
        client.board().and(self.due)
    }

    fn leave(&mut self, client: &mut Client, now: Time) {
        client.act(now, ClientMessage::Quit);
    }
}
