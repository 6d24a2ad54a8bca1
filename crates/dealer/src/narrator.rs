//! Tells the log what happens at the tables; the engine itself has no log.

use std::{mem, time::Duration};

use blackjack::{Dealer, Request, dealer::Ending, protocol::Blackjack};
use netcore::{Engine, Input, Outbox, Outcome, Time};
use tracing::{info, warn};

/// When accounts are given, and what the last one was about.
#[derive(Debug)]
struct Accounts {
    every: Duration,
    due: Time,
    last: Time,
    rounds: u64,
}

/// A dealer that is watched from outside.
#[derive(Debug)]
pub(crate) struct Narrator {
    dealer: Dealer,
    accounts: Option<Accounts>,
}

impl Narrator {
    /// Watches `dealer`, to whom nobody has come yet, and gives an account of its tables every so often.
    pub(crate) fn new(dealer: Dealer, every: Option<Duration>) -> Self {
        let accounts = every.map(|every| Accounts { every, due: Time::ZERO.plus(every), last: Time::ZERO, rounds: 0 });
        Self { dealer, accounts }
    }

    /// How the dealer's work ended.
    pub(crate) fn ending(&self) -> Option<Ending> {
        self.dealer.ending()
    }

    fn tell(&self) {
        for event in self.dealer.events() {
            if event.is_fault() {
                warn!("{event}");
            } else {
                info!("{event}");
            }
        }
    }

    fn account(&mut self, now: Time) {
        let Some(accounts) = self.accounts.as_mut().filter(|accounts| accounts.due <= now) else { return };
        let rounds = self.dealer.rounds();
        let gained = rounds - mem::replace(&mut accounts.rounds, rounds);
        let seconds = now.since(mem::replace(&mut accounts.last, now)).as_secs_f64();
        // From now on and not from when it was due: a machine that stood still owes no accounts.
        accounts.due = now.plus(accounts.every);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
        let rate = gained as f64 / seconds;
        info!("{rounds} rounds so far, {rate:.1} a second");
        for (number, table) in self.dealer.tables() {
            info!("table {number} after {} rounds:", table.played());
            // The first line is the number of the table.
            for line in table.standings(number).to_string().lines().skip(1) {
                info!("{line}");
            }
        }
    }
}

impl Engine for Narrator {
    type Protocol = Blackjack;

    fn input(&mut self, now: Time, input: Input<'_, Request>, out: &mut Outbox) {
        self.dealer.input(now, input, out);
        self.tell();
        self.account(now);
    }

    fn deadline(&self) -> Option<Time> {
        self.dealer.deadline().into_iter().chain(self.accounts.as_ref().map(|accounts| accounts.due)).min()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.dealer.outcome()
    }

    fn digest(&self) -> u64 {
        self.dealer.digest()
    }
}
