//! What only many rounds show: whether the cards are well shuffled, and by which rule the dealer draws.
//!
//! Each limit is so far from what chance does that a right dealer breaks it once in a hundred thousand tests, at most.

use std::collections::BTreeMap;

use blackjack::{Card, Verdict};

use super::{
    odds::finals,
    rules::{ODDS, SOFT_17, UNIFORM},
};
use crate::judge::Judge;

/// Standard deviations from the expected mean that are no accident.
const STRANGE: f64 = 6.0;
/// Rounds before a mean is compared.
const ENOUGH: u32 = 24;
/// Rounds after which the mean is known well enough.
const PLENTY: u32 = 600;
/// The logarithm of how many times likelier the RESULTs of one dealer are, after which no more rounds are needed.
const CONVINCING: f64 = 11.5;
/// Deals before their cards are compared. Bias that is worth the name shows in some thousand.
const DEALS: u32 = 200;

/// What was counted so far.
#[derive(Default)]
pub(super) struct Chance {
    rounds: u32,
    // What the players have won in these rounds, and what is expected, with the variance. The mean of a table counts.
    won: f64,
    expected: f64,
    variance: f64,
    // How much likelier the RESULTs are when the dealer draws on a soft 17 than when it stands, as a logarithm.
    draws_on_soft_17: f64,
    telling: u32,
    // How often each card came at each place of a deal, by the number of cards in the deal.
    places: BTreeMap<usize, Places>,
}

#[derive(Default)]
struct Places {
    deals: u32,
    counts: Vec<[u32; 52]>,
}

impl Chance {
    /// Counts the cards of a deal.
    pub(super) fn deal(&mut self, dealt: &[Card]) {
        let places = self.places.entry(dealt.len()).or_default();
        places.deals += 1;
        places.counts.resize(dealt.len(), [0; 52]);
        for (counts, card) in places.counts.iter_mut().zip(dealt) {
            counts[usize::from(card.number() - 1)] += 1;
        }
    }

    /// Counts the RESULTs of a round: each player's total with its verdict. All cards on the table were `seen`.
    pub(super) fn round(&mut self, upcard: Card, seen: &[Card], results: &[(u8, Verdict)]) {
        let live: Vec<_> = results.iter().filter(|(_, verdict)| *verdict != Verdict::Bust).collect();
        // From then on only upcards with which a dealer often comes to a soft 17 tell anything new, and the others take time.
        if live.is_empty() || self.rounds > PLENTY && !matches!(upcard.value(), 6 | 11) {
            return;
        }
        let (stands, draws) = finals(upcard, seen);
        let count = f64::from(u32::try_from(live.len()).unwrap_or(u32::MAX));
        let mean = |verdicts: &mut dyn Iterator<Item = Verdict>| {
            verdicts.map(|verdict| f64::from(verdict.reward())).sum::<f64>() / count
        };
        let (mut expected, mut square) = (0.0, 0.0);
        for (dealer, chance) in stands.iter() {
            let reward = mean(&mut live.iter().map(|(total, _)| Verdict::of(*total, dealer)));
            expected += chance * reward;
            square += chance * reward * reward;
        }
        self.rounds += 1;
        self.won += mean(&mut live.iter().map(|(_, verdict)| *verdict));
        self.expected += expected;
        self.variance += square - expected * expected;

        let fits = |dealer: u8| live.iter().all(|(total, verdict)| Verdict::of(*total, dealer) == *verdict);
        let likely = |finals: super::odds::Finals| {
            finals.iter().filter(|(dealer, _)| fits(*dealer)).map(|(_, chance)| chance).sum::<f64>()
        };
        let (stands, draws) = (likely(stands), likely(draws));
        // What no dealer does is judged elsewhere.
        if stands > 0.0 && draws > 0.0 && (stands - draws).abs() > 1e-9 {
            self.draws_on_soft_17 += (draws / stands).ln();
            self.telling += 1;
        }
    }

    /// Adds what was counted elsewhere.
    pub(super) fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.won += other.won;
        self.expected += other.expected;
        self.variance += other.variance;
        self.draws_on_soft_17 += other.draws_on_soft_17;
        self.telling += other.telling;
        for (cards, places) in other.places {
            let own = self.places.entry(cards).or_default();
            own.deals += places.deals;
            own.counts.resize(cards, [0; 52]);
            for (own, count) in own.counts.iter_mut().flatten().zip(places.counts.iter().flatten()) {
                *own += count;
            }
        }
    }

    /// Whether more rounds would not change what is said of the dealer.
    pub(super) fn is_clear(&self) -> bool {
        let bias = self.bias();
        self.is_strange() || bias > STRANGE || self.draws_on_soft_17.abs() > CONVINCING && bias < STRANGE / 3.0
    }

    /// Whether the players win so much or so little that it is no accident.
    pub(super) fn is_strange(&self) -> bool {
        self.deviation().abs() > STRANGE
    }

    fn deviation(&self) -> f64 {
        if self.rounds < ENOUGH || self.variance <= 0.0 {
            return 0.0;
        }
        (self.won - self.expected) / self.variance.sqrt()
    }

    // How far the counts of cards are from equal ones, in standard deviations.
    fn bias(&self) -> f64 {
        let (mut squares, mut freedom) = (0.0, 0.0);
        for places in self.places.values().filter(|places| places.deals >= DEALS) {
            let expected = f64::from(places.deals) / 52.0;
            for counts in &places.counts {
                squares += counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum::<f64>();
                freedom += 51.0;
            }
        }
        if freedom == 0.0 {
            return 0.0;
        }
        // The cube root of chi square is almost normal (Wilson and Hilferty).
        let spread = 2.0 / (9.0 * freedom);
        (f64::cbrt(squares / freedom) - (1.0 - spread)) / spread.sqrt()
    }

    /// Says what all rounds together show.
    pub(super) fn judge(&self, judge: &mut Judge) {
        let rounds = f64::from(self.rounds.max(1));
        if self.rounds > 0 {
            judge.observe(&ODDS, self.rounds - 1);
            judge.check(&ODDS, !self.is_strange(), || {
                format!(
                    "in {} rounds the mean reward of the players was {:+.3}; {:+.3} would be expected with these cards, and this is {:.0} \
                     standard deviations off",
                    self.rounds,
                    self.won / rounds,
                    self.expected / rounds,
                    self.deviation().abs()
                )
            });
        }
        // What is said of soft hands assumes that the dealer plays by the rules otherwise.
        if self.telling > 0 && !self.is_strange() {
            judge.observe(&SOFT_17, self.telling - 1);
            judge.check(&SOFT_17, self.draws_on_soft_17 < CONVINCING, || {
                format!(
                    "in {} rounds that tell, the RESULTs are e^{:.0} times likelier from a dealer who draws on a soft 17",
                    self.telling, self.draws_on_soft_17
                )
            });
        }
        let deals: u32 = self.places.values().map(|places| places.deals).sum();
        if deals > 0 {
            let bias = self.bias();
            judge.observe(&UNIFORM, deals - 1);
            judge.check(&UNIFORM, bias < STRANGE, || {
                format!("in {deals} deals some cards come more often than others at the same place: {bias:.0} standard deviations")
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_card_that_comes_too_often_is_seen_and_equal_cards_are_not() {
        let (mut even, mut odd) = (Chance::default(), Chance::default());
        for number in 0..5200_u32 {
            let card = Card::new(u8::try_from(number % 52).unwrap() + 1).unwrap();
            even.deal(&[card]);
            odd.deal(&[if number % 10 == 0 { Card::new(7).unwrap() } else { card }]);
        }
        assert!(even.bias() < 0.0 && odd.bias() > STRANGE);
    }
}
