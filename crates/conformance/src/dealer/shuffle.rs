//! Whether the cards are well shuffled.

use std::collections::{BTreeMap, HashSet};

use blackjack::Card;

use super::{
    odds::STRANGE,
    rules::{DRAWN_UNIFORM, NEIGHBOURS, UNIFORM, UPCARD_UNIFORM, WHOLE_DECK},
};
use crate::{judge::Judge, rule::Rule};

/// The number of cards before they are compared: five of each. A significant bias shows within several thousand cards.
const ENOUGH: f64 = 260.0;
/// The number of rounds before repeated cards in successive rounds are counted.
const ROUNDS: u32 = 24;

/// The statistics of the cards.
#[derive(Default)]
pub(super) struct Shuffles {
    // How often each card was at each of the players' places, by the number of cards in the deal.
    places: BTreeMap<(usize, usize), Counts<52>>,
    upcards: Counts<52>,
    drawn: Counts<52>,
    // The distance of each card of a deal from the previous one, in the order of card numbers.
    steps: Counts<51>,
    again: Again,
    deals: u32,
    draws: u32,
}

// How often each of several values occurred, and how often it was expected.
struct Counts<const N: usize> {
    came: [f64; N],
    expected: [f64; N],
}

impl<const N: usize> Default for Counts<N> {
    fn default() -> Self {
        Self { came: [0.0; N], expected: [0.0; N] }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of cards are small")]
impl<const N: usize> Counts<N> {
    // Adds one of all values.
    fn add(&mut self, which: usize) {
        self.came[which] += 1.0;
        self.expected.iter_mut().for_each(|expected| *expected += 1.0 / N as f64);
    }

    // Adds one of these values.
    fn add_among(&mut self, which: usize, among: &[usize]) {
        self.came[which] += 1.0;
        for &possible in among {
            self.expected[possible] += 1.0 / among.len() as f64;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.came.iter_mut().zip(&other.came).for_each(|(own, came)| *own += came);
        self.expected.iter_mut().zip(&other.expected).for_each(|(own, expected)| *own += expected);
    }

    fn total(&self) -> f64 {
        self.came.iter().sum()
    }

    // Chi square, and its degrees of freedom.
    fn squares(&self) -> (f64, f64) {
        if self.total() < ENOUGH {
            return (0.0, 0.0);
        }
        let squares = self.came.iter().zip(&self.expected).filter(|(_, expected)| **expected > 0.0);
        (squares.map(|(came, expected)| (came - expected).powi(2) / expected).sum(), (N - 1) as f64)
    }
}

// The deviation of a sum of chi-square values from its expected value, in standard deviations.
fn deviation(squares: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let sum = |(square, freedom), (more, too)| (square + more, freedom + too);
    let (squares, freedom): (f64, f64) = squares.into_iter().fold((0.0, 0.0), sum);
    if freedom == 0.0 {
        return 0.0;
    }
    // The cube root of chi square is almost normal (Wilson and Hilferty).
    let spread = 2.0 / (9.0 * freedom);
    (f64::cbrt(squares / freedom) - (1.0 - spread)) / spread.sqrt()
}

// The number of cards of a round that are in the deal of the next round.
#[derive(Default)]
struct Again {
    rounds: u32,
    came: f64,
    expected: f64,
    variance: f64,
}

impl Again {
    fn deviation(&self) -> f64 {
        if self.rounds < ROUNDS { 0.0 } else { (self.came - self.expected) / self.variance.sqrt() }
    }
}

fn index(card: Card) -> usize {
    usize::from(card.number() - 1)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of cards are small")]
impl Shuffles {
    /// Counts the cards of a deal, with the dealer's card last, and those of `before`, the previous round at the same
    /// table.
    pub(super) fn deal(&mut self, dealt: &[Card], before: &HashSet<Card>) {
        let Some((upcard, players)) = dealt.split_last() else { return };
        self.deals += 1;
        for (place, card) in players.iter().enumerate() {
            self.places.entry((dealt.len(), place)).or_default().add(index(*card));
        }
        self.upcards.add(index(*upcard));
        for (one, next) in dealt.iter().zip(dealt.iter().skip(1)) {
            let step = (index(*next) + 52 - index(*one)) % 52;
            // A repeated card is judged elsewhere.
            if step > 0 {
                self.steps.add(step - 1);
            }
        }
        if !before.is_empty() {
            let (taken, all) = (dealt.len() as f64, before.len() as f64 / 52.0);
            self.again.rounds += 1;
            self.again.came += dealt.iter().filter(|card| before.contains(card)).count() as f64;
            self.again.expected += taken * all;
            self.again.variance += taken * all * (1.0 - all) * (52.0 - taken) / 51.0;
        }
    }

    /// Counts a card that a player has drawn, given the other cards on the table.
    pub(super) fn draw(&mut self, card: Card, table: &[Card]) {
        let left: Vec<usize> = Card::all().filter(|other| !table.contains(other)).map(index).collect();
        if !table.contains(&card) {
            self.draws += 1;
            self.drawn.add_among(index(card), &left);
        }
    }

    /// Adds the counts of another game.
    pub(super) fn add(&mut self, other: &Self) {
        for (place, counts) in &other.places {
            self.places.entry(*place).or_default().merge(counts);
        }
        self.upcards.merge(&other.upcards);
        self.drawn.merge(&other.drawn);
        self.steps.merge(&other.steps);
        self.again.rounds += other.again.rounds;
        self.again.came += other.again.came;
        self.again.expected += other.again.expected;
        self.again.variance += other.again.variance;
        self.deals += other.deals;
        self.draws += other.draws;
    }

    /// The largest deviation of all statistics.
    pub(super) fn bias(&self) -> f64 {
        self.all().into_iter().map(|(_, _, bias)| bias).fold(0.0, f64::max)
    }

    // Each rule with a description of its statistics, and the deviation from the expected value in standard deviations.
    fn all(&self) -> [(&'static Rule, String, f64); 5] {
        let Self { deals, draws, again, .. } = self;
        let places = self.places.values().map(Counts::squares);
        [
            (
                &UNIFORM,
                format!("in {deals} deals some cards appeared more often than others at the same position"),
                deviation(places),
            ),
            (
                &UPCARD_UNIFORM,
                format!("in {deals} deals some cards appeared more often than others as the upcard"),
                deviation([self.upcards.squares()]),
            ),
            (
                &DRAWN_UNIFORM,
                format!("among {draws} drawn cards, some appeared more often than other remaining cards"),
                deviation([self.drawn.squares()]),
            ),
            (
                &NEIGHBOURS,
                format!("in {deals} deals some cards appeared more often than others right after a certain card"),
                deviation([self.steps.squares()]),
            ),
            (
                &WHOLE_DECK,
                format!(
                    "in {} rounds, {} cards of the previous round were dealt again where {:.0} are expected",
                    again.rounds, again.came, again.expected
                ),
                again.deviation().abs(),
            ),
        ]
    }

    /// Judges the statistics of all deals.
    pub(super) fn judge(&self, judge: &mut Judge) {
        if self.deals == 0 {
            return;
        }
        for (rule, what, bias) in self.all() {
            judge.observe(rule, self.deals - 1);
            judge.check(rule, bias < STRANGE, || format!("{what}: {bias:.0} standard deviations"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(number: u32) -> Card {
        Card::new(u8::try_from(number % 52).unwrap() + 1).unwrap()
    }

    #[test]
    fn detects_one_frequent_card_but_not_a_uniform_deck() {
        let (mut even, mut odd) = (Shuffles::default(), Shuffles::default());
        for number in 0..5200_u32 {
            // Each pair of cards occurs about as often as any other.
            let pair = |one: u32| [card(one), card(one + 1 + number / 52 % 51)];
            even.deal(&pair(number), &HashSet::new());
            odd.deal(&pair(if number % 10 == 0 { 7 } else { number }), &HashSet::new());
        }
        assert!(even.bias() < 1.0, "{}", even.bias());
        assert!(odd.bias() > STRANGE);
    }

    #[test]
    fn detects_cards_that_never_repeat() {
        let mut rest = Shuffles::default();
        for number in 0..200 {
            let before: HashSet<Card> = (0..20).map(|more| card(number + more)).collect();
            rest.deal(&[card(number + 20), card(number + 30), card(number + 40)], &before);
        }
        assert!(rest.again.deviation() < -STRANGE);
    }

    #[test]
    fn draws_are_compared_with_remaining_cards() {
        let mut drawn = Shuffles::default();
        let table: Vec<Card> = (0..26).map(card).collect();
        for number in 0..2600 {
            drawn.draw(card(26 + number % 26), &table);
        }
        assert!(drawn.bias() < 0.1, "half of the deck is on the table and the other half is dealt evenly");
        for number in 0..2600 {
            drawn.draw(card(26 + number % 13), &table);
        }
        assert!(drawn.bias() > STRANGE);
    }
}
