//! Bots of blackjack.

use std::{sync::OnceLock, time::Duration};

use blackjack::{Client, Dialect, Name, Policy, StateSpace, exact::Solver, learn::Choice};
use netcore::{Client as _, Framing, Level, Time};

use crate::Pilot;

/// How long a bot thinks before it answers, so that people can follow.
const THOUGHT: Duration = Duration::from_millis(700);

/// A client of blackjack over a connection that joins a table, and its pilot: the best table that there is, or on [`Level::Easy`] one
/// that plays as dealers do.
///
/// The best table is computed by the first call, which takes a moment.
pub fn blackjack_bot(name: Name, level: Level) -> (Client, impl Pilot<Client> + Send) {
    blackjack_bot_at(name, level, THOUGHT)
}

/// The same, with the time that it thinks before it answers.
pub fn blackjack_bot_at(name: Name, level: Level, thought: Duration) -> (Client, impl Pilot<Client> + Send) {
    static BEST: OnceLock<Policy> = OnceLock::new();
    let policy = match level {
        Level::Easy => Policy::mimic(),
        Level::Normal | Level::Hard => BEST.get_or_init(|| Solver::new().best(StateSpace::Soft)).clone(),
    };
    (Client::new(name, Dialect::Text, Framing::Stream, policy.space()), Player { policy, thought, asked: None })
}

#[derive(Debug)]
struct Player {
    policy: Policy,
    thought: Duration,
    // When it was first seen that the dealer waits for an answer.
    asked: Option<Time>,
}

impl Pilot<Client> for Player {
    fn act(&mut self, client: &mut Client, now: Time) {
        let Some(state) = client.state() else {
            self.asked = None;
            return;
        };
        let asked = *self.asked.get_or_insert(now);
        if now >= asked.plus(self.thought) {
            client.act(now, Choice::sure(self.policy.action(state)));
            self.asked = None;
        }
    }

    fn due(&self, client: &Client) -> Option<Time> {
        client.state().and(self.asked).map(|asked| asked.plus(self.thought))
    }

    // Who leaves between two rounds forfeits nothing; in a round the hand is lost, as for anybody.
    fn leave(&mut self, _: &mut Client, _: Time) {}
}
