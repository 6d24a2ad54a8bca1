//! Bots of mastermind.

use core::{ops::Range, time::Duration};

use mastermind::{
    Client, ClientMessage, Code, Feedback, Name, Peg, Rules,
    view::{Board, Line, Shown},
};
use netcore::{Client as _, Level, Link, Time};
use rand::{RngExt, SeedableRng, seq::SliceRandom as _};
use rand_pcg::Pcg64;

use crate::Pilot;

/// How long a bot thinks about a guess, in milliseconds.
const THINKS: Range<u64> = 1_500..6_000;
/// How long a bot waits before it asks again for a game that it was refused, as after the puzzle of the day.
const ASKS_AGAIN: Duration = Duration::from_secs(60);
/// Codes that are drawn in search of one that fits, before all are searched. Drawn codes are equally probable; those that a search finds
/// first are not.
const DRAWS: u32 = 2_000;

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
    // The game and the turn that it thinks about, and whether the game is over.
    seen: Option<(u32, Option<usize>, bool)>,
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
        let fits = |guess| known.iter().all(|(before, answer)| Feedback::of(*before, guess) == *answer);
        for _ in 0..DRAWS {
            let guess = rules.draw(&mut self.rng);
            if fits(guess) {
                return guess;
            }
        }
        let mut colours: Vec<Peg> = (0..rules.colours()).filter_map(Peg::new).collect();
        colours.shuffle(&mut self.rng);
        // None fits answers that contradict each other.
        completed(rules, known, &colours, &mut vec![]).unwrap_or_else(|| rules.draw(&mut self.rng))
    }
}

// The first code that begins with `pegs` and fits the answers.
fn completed(rules: Rules, known: &[(Code, Feedback)], colours: &[Peg], pegs: &mut Vec<Peg>) -> Option<Code> {
    let left = rules.length() - pegs.len();
    // `pegs` can have as much in common with each guess as the answer says, and no more.
    let possible = |(guess, answer): &(Code, Feedback)| {
        let red = guess.pegs().zip(&*pegs).filter(|(of_guess, peg)| of_guess == *peg).count();
        let mut counts = guess.counts();
        let is_shared = |peg: &&Peg| {
            let count = &mut counts[peg.index()];
            let before = *count;
            *count = before.saturating_sub(1);
            before > 0
        };
        let shared = pegs.iter().filter(is_shared).count();
        let reachable = |now: usize, needed: usize| now <= needed && needed <= now + left;
        reachable(red, usize::from(answer.red)) && reachable(shared, answer.shared())
    };
    if !known.iter().all(possible) {
        return None;
    }
    if left == 0 {
        return Code::new(pegs).ok();
    }
    colours.iter().find_map(|colour| {
        if !rules.repeats() && pegs.contains(colour) {
            return None;
        }
        pegs.push(*colour);
        let code = completed(rules, known, colours, pegs);
        pegs.pop();
        code
    })
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
        let seen = (board.number, client.turn().map(|turn| turn.turn), board.over.is_some());
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
            // It takes part in a race that has not begun, or its turn or the end of its game has not been received yet.
            None if client.missing().is_some() || !seen.2 => return,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_game_is_requested_before_the_last_one_is_over() {
        let (mut client, mut bot) = mastermind_bot(Name::new(b"Bot").unwrap(), Level::Hard, 1);
        let mut now = Time::from_nanos(0);
        let mut said = |lines: &str| {
            client.receive(now, lines.as_bytes()).unwrap();
            for _ in 0..2 {
                bot.act(&mut client, now);
                now = now.plus(Duration::from_millis(THINKS.end));
            }
            let sent: Vec<_> = std::iter::from_fn(|| client.take_outgoing()).collect();
            String::from_utf8(sent.concat()).unwrap()
        };
        assert_eq!(said("ROOM solo 4 8 no\nOK 1\nSEAT 1 Bot\n"), "PLAY Bot\n");
        assert_eq!(said("GAME 1 1 4 no\n"), "", "its turn has not been received");
        assert!(said("TURN 1 available available 0\n").starts_with("GUESS "));
        assert_eq!(said("OVER 1 resigned 1 0 1234\n"), "NEW\n");
    }

    #[test]
    fn a_search_finds_a_code_that_fits_where_hardly_any_does() {
        for (length, repeats) in [(4, true), (6, true), (8, true), (5, false), (8, false)] {
            let rules = Rules::new(length, 8, repeats).unwrap();
            let mut rng = Pcg64::seed_from_u64(1);
            let colours: Vec<Peg> = (0..8).filter_map(Peg::new).collect();
            let code = rules.draw(&mut rng);
            let mut known: Vec<(Code, Feedback)> = vec![];
            for _ in 0..100 {
                let guess = completed(rules, &known, &colours, &mut vec![]).unwrap();
                assert!(known.iter().all(|(before, answer)| Feedback::of(*before, guess) == *answer), "{guess}");
                known.push((guess, Feedback::of(guess, code)));
                if guess == code {
                    break;
                }
            }
            assert_eq!(known.last().map(|(guess, _)| *guess), Some(code), "each guess that fits excludes itself");
            let contradiction = Feedback { red: 0, white: 0 };
            known.push((code, contradiction));
            assert_eq!(completed(rules, &known, &colours, &mut vec![]), None);
        }
    }
}
