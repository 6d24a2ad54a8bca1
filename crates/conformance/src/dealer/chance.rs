//! Statistics over many rounds: the rules by which the dealer draws and pays. [`super::shuffle`] has the statistics of
//! the cards.
//!
//! Each limit is so far from the expected value that a correct dealer exceeds it at most once in 100,000 tests.

use std::collections::{BTreeMap, HashSet};

use blackjack::{Card, Verdict};

use super::{
    odds::{Finals, STRANGE, finals},
    rules::{PUSHES, SOFT_17, UPCARDS, WINS},
    shuffle::Shuffles,
};
use crate::judge::Judge;

/// Rounds before a mean is compared.
const ENOUGH: u32 = 24;
/// The number of rounds after which the means of all rounds are sufficiently precise.
const PLENTY: u32 = 600;
/// The log-likelihood ratio above which the dealer certainly draws on a soft 17.
const CONVINCING: f64 = 11.5;
/// The dealer certainly stands on a soft 17 if the log-likelihood ratio is below the negative of this value. Between
/// the two limits, more rounds are played if there is time.
const SURE: f64 = 7.0;
/// The margin by which the logarithm must exceed a limit before no more rounds are played. Rounds of other games are
/// added later and may reduce it. The same margin applies to a mean, in standard deviations.
const MARGIN: f64 = 4.0;
const MARGIN_OF_DEVIATIONS: f64 = 0.5;

/// The counts so far.
#[derive(Default)]
pub(super) struct Chance {
    rounds: u32,
    wins: Mean,
    pushes: Mean,
    // The players' winnings by the value of the dealer's upcard.
    rewards: BTreeMap<u8, Mean>,
    // The log-likelihood ratio of the RESULTs between a dealer that draws on a soft 17 and one that stands.
    draws_on_soft_17: f64,
    telling: u32,
    pub(super) cards: Shuffles,
}

/// The sums of observed and expected values of some rounds, with the variance. The mean of a table counts once per
/// round.
#[derive(Clone, Copy, Default)]
struct Mean {
    rounds: u32,
    came: f64,
    expected: f64,
    variance: f64,
}

impl Mean {
    // Adds a round whose value follows from the dealer's total.
    fn add(&mut self, came: f64, finals: &Finals, worth: impl Fn(u8) -> f64) {
        let (mut expected, mut square) = (0.0, 0.0);
        for (dealer, chance) in finals.iter() {
            expected += chance * worth(dealer);
            square += chance * worth(dealer).powi(2);
        }
        self.merge(&Self { rounds: 1, came, expected, variance: square - expected * expected });
    }

    fn merge(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.came += other.came;
        self.expected += other.expected;
        self.variance += other.variance;
    }

    fn deviation(&self) -> f64 {
        if self.rounds < ENOUGH || self.variance <= 0.0 {
            return 0.0;
        }
        (self.came - self.expected) / self.variance.sqrt()
    }

    fn is_strange(&self) -> bool {
        self.is_beyond(STRANGE)
    }

    fn is_beyond(&self, deviations: f64) -> bool {
        self.deviation().abs() > deviations
    }

    fn told(&self, what: &str) -> String {
        let rounds = f64::from(self.rounds.max(1));
        format!(
            "{what} in {} rounds: expected {:.3} with these cards, received {:.3}, {:.0} standard deviations off",
            self.rounds,
            self.expected / rounds,
            self.came / rounds,
            self.deviation().abs()
        )
    }
}

impl Chance {
    /// Counts the cards of a deal and those of `before`, the previous round at the same table.
    pub(super) fn deal(&mut self, dealt: &[Card], before: &HashSet<Card>) {
        self.cards.deal(dealt, before);
    }

    /// Counts the RESULTs of a round: each player's total with its verdict. `seen` contains all cards on the table.
    pub(super) fn round(&mut self, upcard: Card, seen: &[Card], results: &[(u8, Verdict)]) {
        let live: Vec<_> = results.iter().filter(|(_, verdict)| *verdict != Verdict::Bust).collect();
        // After that, only upcards that often lead to a soft 17 add information, and the others take time.
        if live.is_empty() || self.rounds > PLENTY && !matches!(upcard.value(), 6 | 11) {
            return;
        }
        let (stands, draws) = finals(upcard, seen);
        let count = f64::from(u32::try_from(live.len()).unwrap_or(u32::MAX));
        let came = |worth: fn(Verdict) -> f64| live.iter().map(|(_, verdict)| worth(*verdict)).sum::<f64>() / count;
        let due = |worth: fn(Verdict) -> f64, dealer: u8| {
            live.iter().map(|(total, _)| worth(Verdict::of(*total, dealer))).sum::<f64>() / count
        };
        let add =
            |mean: &mut Mean, worth: fn(Verdict) -> f64| mean.add(came(worth), &stands, |dealer| due(worth, dealer));
        self.rounds += 1;
        if self.rounds <= PLENTY {
            add(&mut self.wins, |verdict| f64::from(u8::from(verdict == Verdict::Win)));
            add(&mut self.pushes, |verdict| f64::from(u8::from(verdict == Verdict::Push)));
        }
        add(self.rewards.entry(upcard.value()).or_default(), |verdict| f64::from(verdict.reward()));

        let fits = |dealer: u8| live.iter().all(|(total, verdict)| Verdict::of(*total, dealer) == *verdict);
        let likely =
            |finals: Finals| finals.iter().filter(|(dealer, _)| fits(*dealer)).map(|(_, chance)| chance).sum::<f64>();
        let (stands, draws) = (likely(stands), likely(draws));
        // Behavior that is impossible for any dealer is judged elsewhere.
        if stands > 0.0 && draws > 0.0 && (stands - draws).abs() > 1e-9 {
            self.draws_on_soft_17 += (draws / stands).ln();
            self.telling += 1;
        }
    }

    /// Adds the counts of another game.
    pub(super) fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.wins.merge(&other.wins);
        self.pushes.merge(&other.pushes);
        for (upcard, mean) in other.rewards {
            self.rewards.entry(upcard).or_default().merge(&mean);
        }
        self.draws_on_soft_17 += other.draws_on_soft_17;
        self.telling += other.telling;
        self.cards.add(&other.cards);
    }

    /// Whether more rounds would not change the verdict.
    pub(super) fn is_clear(&self) -> bool {
        let bias = self.cards.bias();
        let strange = STRANGE + MARGIN_OF_DEVIATIONS;
        self.is_beyond(strange)
            || bias > strange
            || self.draws_on_soft_17.abs() > CONVINCING + MARGIN && bias < STRANGE / 3.0
    }

    /// Whether more rounds are needed to decide whether the dealer draws on a soft 17.
    pub(super) fn is_open(&self) -> bool {
        !self.is_strange() && (-SURE - MARGIN..CONVINCING + MARGIN).contains(&self.draws_on_soft_17)
    }

    /// Whether the players' winnings deviate too far from the expected value to be chance.
    pub(super) fn is_strange(&self) -> bool {
        self.is_beyond(STRANGE)
    }

    fn is_beyond(&self, deviations: f64) -> bool {
        let mut means = [&self.wins, &self.pushes].into_iter().chain(self.rewards.values());
        means.any(|mean| mean.is_beyond(deviations))
    }

    /// Judges the statistics of all rounds.
    pub(super) fn judge(&self, judge: &mut Judge) {
        self.cards.judge(judge);
        let (wins, pushes) = (&self.wins, &self.pushes);
        if wins.rounds > 0 {
            judge.observe(&WINS, wins.rounds - 1);
            judge.check(&WINS, !wins.is_strange(), || wins.told("share of hands with WIN"));
            judge.observe(&PUSHES, pushes.rounds - 1);
            judge.check(&PUSHES, !pushes.is_strange(), || pushes.told("share of hands with PUSH"));
        }
        // The checks of single upcards and soft hands assume that the dealer otherwise follows the rules.
        if let Some(broken) = [(&WINS, wins), (&PUSHES, pushes)].into_iter().find(|(_, mean)| mean.is_strange()) {
            judge.leave_out_for([&UPCARDS, &SOFT_17], broken.0);
            return;
        }
        for (upcard, mean) in &self.rewards {
            judge.check(&UPCARDS, !mean.is_strange(), || {
                mean.told(&format!("mean winnings against a card that counts {upcard}"))
            });
        }
        if self.is_strange() {
            judge.leave_out_for([&SOFT_17], &UPCARDS);
        } else if self.telling > 0 {
            judge.observe(&SOFT_17, self.telling - 1);
            judge.check(&SOFT_17, self.draws_on_soft_17 < CONVINCING, || {
                format!(
                    "in {} relevant rounds, the RESULTs are e^{:.0} times more likely from a dealer who draws on a soft 17",
                    self.telling, self.draws_on_soft_17
                )
            });
        }
    }
}
