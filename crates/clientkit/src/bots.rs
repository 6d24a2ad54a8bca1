use std::{net::SocketAddr, ops::Range, sync::OnceLock, time::Duration};

use blackjack::{Dialect, Policy, StateSpace, exact::Solver, learn::Choice};
use mastermind::{
    ClientMessage, Code, Feedback, Peg, Rules,
    view::{Board, MaskedCode, TurnRecord},
};
use netcore::{Client as _, Framing, Level, Link, Time, wire::ShortText};
use nuggets::{Command, Participant, Typist};
use rand::{RngExt, SeedableRng, seq::SliceRandom as _};
use rand_pcg::Pcg64;

use crate::Pilot;

/// A bot of blackjack waits before it answers, so that users can follow.
const ANSWER_PAUSE: Duration = Duration::from_millis(700);
/// In milliseconds.
const GUESS_PAUSE: Range<u64> = 1_500..6_000;
/// In milliseconds.
const MOVE_PAUSE: Range<u64> = 700..2_500;
/// The pause after a refused game, as after the puzzle of the day.
const NEW_GAME_PAUSE: Duration = Duration::from_secs(60);
/// Random codes tried before the search for a consistent one: those are equally probable; the first ones that a search
/// finds are not.
const DRAWS: u32 = 2_000;

/// `seed` determines the pauses and mistakes. A brisk bot has a twentieth of the pauses.
pub fn nuggets_bot(
    name: nuggets::Name,
    level: Level,
    seed: u64,
    brisk: bool,
) -> (nuggets::Client, impl Pilot<nuggets::Client> + Send) {
    let pause = Duration::from_millis(match level {
        Level::Easy => 20,
        Level::Normal => 32,
        Level::Hard => 13,
    });
    (nuggets::Client::new(Participant::Player(name), Time::ZERO), Typist::new(level, brisk.then_some(pause), seed))
}

impl Pilot<nuggets::Client> for Typist {
    fn act(&mut self, client: &mut nuggets::Client, now: Time) {
        self.listen(client, now);
        if let Some(key) = self.key(client, now) {
            client.act(now, Command::Key(key));
        }
    }

    fn due(&self, client: &nuggets::Client) -> Option<Time> {
        Self::due(self, client)
    }

    fn leave(&mut self, client: &mut nuggets::Client, now: Time) {
        client.act(now, Command::Leave);
    }
}

/// A client that joins each game, and its pilot. `address` is its own end of the connection, which identifies it among
/// the players; `seed` determines its mistakes.
pub fn robots_bot(
    name: ShortText,
    address: Option<SocketAddr>,
    level: Level,
    seed: u32,
) -> (robots::Client, impl Pilot<robots::Client> + Send) {
    (robots::Client::new(name, address), Robot { bot: robots::Bot::with_level(seed, level), decided: None })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Situation {
    Lobby,
    Turn(u16),
}

#[derive(Debug)]
struct Robot {
    bot: robots::Bot,
    decided: Option<Situation>,
}

impl Pilot<robots::Client> for Robot {
    fn act(&mut self, client: &mut robots::Client, now: Time) {
        if client.parameters().is_none() {
            return;
        }
        let situation = match client.game() {
            // Before the first turn no player has a position.
            Some(game) if game.positions().is_empty() => return,
            Some(game) => Situation::Turn(game.turn()),
            None => Situation::Lobby,
        };
        if self.decided.replace(situation) != Some(situation)
            && let Some(input) = self.bot.next_input(client)
        {
            client.act(now, input);
        }
    }

    fn due(&self, _: &robots::Client) -> Option<Time> {
        None
    }

    // The protocol has no message for leaving, so the connection is closed.
    fn leave(&mut self, _: &mut robots::Client, _: Time) {}
}

/// The pilot plays optimally, or by the rule of the dealer on [`Level::Easy`]. A brisk bot does not pause.
///
/// The first call computes the optimal table, which takes a moment.
pub fn blackjack_bot(
    name: blackjack::Name,
    level: Level,
    brisk: bool,
) -> (blackjack::Client, impl Pilot<blackjack::Client> + Send) {
    static BEST: OnceLock<Policy> = OnceLock::new();
    let pause = if brisk { Duration::ZERO } else { ANSWER_PAUSE };
    let policy = match level {
        Level::Easy => Policy::mimic(),
        Level::Normal | Level::Hard => BEST.get_or_init(|| Solver::new().best(StateSpace::Soft)).clone(),
    };
    let client = blackjack::Client::new(name, Dialect::Text, Framing::Stream, policy.space());
    (client, Decider { policy, pause, asked: None })
}

#[derive(Debug)]
struct Decider {
    policy: Policy,
    pause: Duration,
    asked: Option<Time>,
}

impl Pilot<blackjack::Client> for Decider {
    fn act(&mut self, client: &mut blackjack::Client, now: Time) {
        let Some(state) = client.state() else {
            self.asked = None;
            return;
        };
        let asked = *self.asked.get_or_insert(now);
        if now >= asked.plus(self.pause) {
            client.act(now, Choice::sure(self.policy.action(state)));
            self.asked = None;
        }
    }

    fn due(&self, client: &blackjack::Client) -> Option<Time> {
        client.state().and(self.asked).map(|asked| asked.plus(self.pause))
    }

    // Leaving between two rounds loses no hand.
    fn leave(&mut self, _: &mut blackjack::Client, _: Time) {}
}

/// A client that takes part in each game, and its pilot. It guesses codes that are consistent with the answers that it
/// remembers; easier bots remember fewer. `seed` determines its guesses, and a brisk bot does not pause.
pub fn mastermind_bot(
    name: mastermind::Name,
    level: Level,
    seed: u64,
    brisk: bool,
) -> (mastermind::Client, impl Pilot<mastermind::Client> + Send) {
    let pause = if brisk { 0..1 } else { GUESS_PAUSE };
    let pilot = Guesser { level, rng: Pcg64::seed_from_u64(seed), pause, state: None, due: None };
    (mastermind::Client::new(Link::Stream, Some(name)), pilot)
}

#[derive(Debug)]
struct Guesser {
    level: Level,
    rng: Pcg64,
    pause: Range<u64>,
    // The current game, its turn, and whether it is over.
    state: Option<(u32, Option<usize>, bool)>,
    due: Option<Time>,
}

impl Guesser {
    // Consistent with the answers that the bot remembers.
    fn guess(&mut self, board: &Board) -> Code {
        let rules = board.rules;
        let answers: Vec<(Code, Feedback)> = board.lines.iter().filter_map(answer).collect();
        let remembered = match self.level {
            Level::Easy => 2,
            Level::Normal => 4,
            Level::Hard => answers.len(),
        };
        let recent = &answers[answers.len().saturating_sub(remembered)..];
        let fits = |guess| recent.iter().all(|(before, answer)| Feedback::of(*before, guess) == *answer);
        for _ in 0..DRAWS {
            let guess = rules.draw(&mut self.rng);
            if fits(guess) {
                return guess;
            }
        }
        let mut colours: Vec<Peg> = (0..rules.colours()).filter_map(Peg::new).collect();
        colours.shuffle(&mut self.rng);
        // Answers may contradict each other.
        completed(rules, recent, &colours, &mut vec![]).unwrap_or_else(|| rules.draw(&mut self.rng))
    }
}

// The first code that begins with `pegs` and is consistent with the answers.
fn completed(rules: Rules, known: &[(Code, Feedback)], colours: &[Peg], pegs: &mut Vec<Peg>) -> Option<Code> {
    let left = rules.length() - pegs.len();
    // `pegs` must be able to reach the number of matches with each guess that its answer gives.
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

/// A client that takes part in each game, and its pilot. `seed` determines its moves and pauses; a brisk bot does not
/// pause.
pub fn turn_based_bot<R: turnbased::Rules>(
    name: turnbased::Name,
    level: Level,
    seed: u64,
    brisk: bool,
) -> (turnbased::Client<R>, impl Pilot<turnbased::Client<R>> + Send) {
    let pause = if brisk { 0..1 } else { MOVE_PAUSE };
    let pilot = Mover { level, rng: Pcg64::seed_from_u64(seed), pause, decision: None };
    (turnbased::Client::new(Link::Stream, Some(name)), pilot)
}

#[derive(Debug)]
struct Mover {
    level: Level,
    rng: Pcg64,
    pause: Range<u64>,
    // The revision of the client's view, and when the bot acts on it.
    decision: Option<(u32, Option<Time>)>,
}

impl<R: turnbased::Rules> Pilot<turnbased::Client<R>> for Mover {
    fn act(&mut self, client: &mut turnbased::Client<R>, now: Time) {
        let can_act = !client.moves().is_empty() || client.result().is_some();
        if self.decision.is_none_or(|(revision, _)| revision != client.revision()) {
            let pause = Duration::from_millis(self.rng.random_range(self.pause.clone()));
            self.decision = can_act.then(|| (client.revision(), Some(now.plus(pause))));
        }
        let Some((_, due)) = self.decision.as_mut().filter(|(_, due)| due.is_some_and(|due| due <= now)) else {
            return;
        };
        *due = None;
        let message = match (client.seat(), client.view(), client.moves()) {
            (Some(seat), Some(view), [_, ..]) => {
                let chosen = R::choose(view, seat, client.moves(), self.level, self.rng.random());
                let Some(action) = client.moves().get(chosen) else { return };
                turnbased::ClientMessage::Move(action.to_string())
            }
            _ => turnbased::ClientMessage::Again,
        };
        client.act(now, message);
    }

    fn due(&self, _: &turnbased::Client<R>) -> Option<Time> {
        self.decision.and_then(|(_, due)| due)
    }

    fn leave(&mut self, client: &mut turnbased::Client<R>, now: Time) {
        client.act(now, turnbased::ClientMessage::Quit);
    }
}

const fn answer(line: &TurnRecord) -> Option<(Code, Feedback)> {
    match line {
        TurnRecord::Row { guess: MaskedCode::Code(guess), feedback, .. } => Some((*guess, *feedback)),
        TurnRecord::Row { .. } | TurnRecord::Lifeline { .. } => None,
    }
}

impl Pilot<mastermind::Client> for Guesser {
    fn act(&mut self, client: &mut mastermind::Client, now: Time) {
        let Some(board) = client.board() else { return };
        let state = (board.number, client.turn().map(|turn| turn.turn), board.over.is_some());
        if self.state != Some(state) {
            self.state = Some(state);
            self.due = Some(now.plus(Duration::from_millis(self.rng.random_range(self.pause.clone()))));
        }
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        // Only a refusal leaves the state unchanged.
        self.due = state.1.is_none().then(|| now.plus(NEW_GAME_PAUSE));
        let message = match state.1 {
            Some(_) => ClientMessage::Guess(self.guess(board)),
            // The bot waits for a race to start, or for its turn or the end of its game.
            None if client.missing().is_some() || !state.2 => return,
            None => ClientMessage::New(None),
        };
        client.act(now, message);
    }

    fn due(&self, client: &mastermind::Client) -> Option<Time> {
        client.board().and(self.due)
    }

    fn leave(&mut self, client: &mut mastermind::Client, now: Time) {
        client.act(now, ClientMessage::Quit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_no_game_before_the_last_one_is_over() {
        let (mut client, mut bot) = mastermind_bot(mastermind::Name::new(b"Bot").unwrap(), Level::Hard, 1, false);
        let mut now = Time::from_nanos(0);
        let mut answer = |lines: &str| {
            client.receive(now, lines.as_bytes()).unwrap();
            for _ in 0..2 {
                bot.act(&mut client, now);
                now = now.plus(Duration::from_millis(GUESS_PAUSE.end));
            }
            let sent: Vec<_> = std::iter::from_fn(|| client.take_outgoing()).collect();
            String::from_utf8(sent.concat()).unwrap()
        };
        assert_eq!(answer("ROOM solo 4 8 no\nOK 1\nSEAT 1 Bot\n"), "PLAY Bot\n");
        assert_eq!(answer("GAME 1 1 4 no\n"), "", "its turn has not been received");
        assert!(answer("TURN 1 available available 0\n").starts_with("GUESS "));
        assert_eq!(answer("OVER 1 resigned 1 0 1234\n"), "NEW\n");
    }

    #[test]
    fn search_finds_consistent_codes_where_few_are() {
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
            assert_eq!(known.last().map(|(guess, _)| *guess), Some(code), "each consistent guess excludes itself");
            let contradiction = Feedback { red: 0, white: 0 };
            known.push((code, contradiction));
            assert_eq!(completed(rules, &known, &colours, &mut vec![]), None);
        }
    }
}
