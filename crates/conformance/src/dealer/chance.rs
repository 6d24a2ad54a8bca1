//! Statistics over many rounds: the cards, and the dealer's rules for drawing and paying.
//!
//! A correct dealer exceeds each limit at most once in 100,000 tests.

use std::collections::{BTreeMap, HashSet};

use blackjack::{
    Card, Verdict,
    hand::{BEST, DEALER_STANDS, Points},
};

use super::{DRAWN_UNIFORM, NEIGHBOURS, PUSHES, SOFT_17, UNIFORM, UPCARD_UNIFORM, UPCARDS, WHOLE_DECK, WINS};
use crate::{judge::Judge, rule::Rule};

const ENOUGH: u32 = 24;
/// The number of rounds after which the means are precise enough.
const PLENTY: u32 = 600;
/// Above this log-likelihood ratio, the dealer certainly draws on a soft 17.
const CONVINCING: f64 = 11.5;
/// Below the negative of this ratio, it certainly stands. In between, more rounds are played.
const SURE: f64 = 7.0;
/// How far the ratio must exceed a limit to stop, since rounds of other games may reduce it.
const MARGIN: f64 = 4.0;
/// Like [`MARGIN`], for a mean, in standard deviations.
const MARGIN_OF_DEVIATIONS: f64 = 0.5;

#[derive(Default)]
pub(super) struct Chance {
    rounds: u32,
    wins: Mean,
    pushes: Mean,
    rewards: BTreeMap<u8, Mean>,
    // The log-likelihood ratio of a dealer that draws on a soft 17 to one that stands.
    draws_on_soft_17: f64,
    telling: u32,
    pub(super) cards: Shuffles,
}

/// All results of a table in a round count as one value.
#[derive(Clone, Copy, Default)]
struct Mean {
    rounds: u32,
    came: f64,
    expected: f64,
    variance: f64,
}

impl Mean {
    // `worth` values each total of the dealer.
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

    fn describe(&self, what: &str) -> String {
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
    pub(super) fn round(&mut self, upcard: Card, seen: &[Card], results: &[(u8, Verdict)]) {
        let live: Vec<_> = results.iter().filter(|(_, verdict)| *verdict != Verdict::Bust).collect();
        // After `PLENTY` rounds, only upcards that often lead to a soft 17 are worth the time.
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
        // Behavior that is impossible for any dealer breaks another rule.
        if stands > 0.0 && draws > 0.0 && (stands - draws).abs() > 1e-9 {
            self.draws_on_soft_17 += (draws / stands).ln();
            self.telling += 1;
        }
    }

    pub(super) fn is_clear(&self) -> bool {
        let bias = self.cards.bias();
        let strange = STRANGE + MARGIN_OF_DEVIATIONS;
        self.is_beyond(strange)
            || bias > strange
            || self.draws_on_soft_17.abs() > CONVINCING + MARGIN && bias < STRANGE / 3.0
    }

    pub(super) fn is_open(&self) -> bool {
        !self.is_strange() && (-SURE - MARGIN..CONVINCING + MARGIN).contains(&self.draws_on_soft_17)
    }

    pub(super) fn is_strange(&self) -> bool {
        self.is_beyond(STRANGE)
    }

    fn is_beyond(&self, deviations: f64) -> bool {
        let mut means = [&self.wins, &self.pushes].into_iter().chain(self.rewards.values());
        means.any(|mean| mean.is_beyond(deviations))
    }

    pub(super) fn judge(&self, judge: &mut Judge) {
        self.cards.judge(judge);
        let (wins, pushes) = (&self.wins, &self.pushes);
        if wins.rounds > 0 {
            judge.observe(&WINS, wins.rounds - 1);
            judge.check(&WINS, !wins.is_strange(), || wins.describe("share of hands with WIN"));
            judge.observe(&PUSHES, pushes.rounds - 1);
            judge.check(&PUSHES, !pushes.is_strange(), || pushes.describe("share of hands with PUSH"));
        }
        // Upcards and soft hands are judged only for a dealer that otherwise follows the rules.
        if let Some(broken) = [(&WINS, wins), (&PUSHES, pushes)].into_iter().find(|(_, mean)| mean.is_strange()) {
            judge.leave_out_for([&UPCARDS, &SOFT_17], broken.0);
            return;
        }
        for (upcard, mean) in &self.rewards {
            judge.check(&UPCARDS, !mean.is_strange(), || {
                mean.describe(&format!("mean winnings against a card that counts {upcard}"))
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

/// Five of each card. A significant bias shows within several thousand cards.
const ENOUGH_CARDS: f64 = 260.0;

#[derive(Default)]
pub(super) struct Shuffles {
    places: BTreeMap<(usize, usize), Counts<52>>,
    upcards: Counts<52>,
    drawn: Counts<52>,
    // Differences of successive card numbers.
    steps: Counts<51>,
    // Cards of a round that the next round deals again.
    again: Mean,
    deals: u32,
    draws: u32,
}

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
    fn add(&mut self, which: usize) {
        self.came[which] += 1.0;
        self.expected.iter_mut().for_each(|expected| *expected += 1.0 / N as f64);
    }

    // Counts a value of those in `among`, which were equally likely.
    fn add_among(&mut self, which: usize, among: &[usize]) {
        self.came[which] += 1.0;
        for &possible in among {
            self.expected[possible] += 1.0 / among.len() as f64;
        }
    }

    fn total(&self) -> f64 {
        self.came.iter().sum()
    }

    // Chi square and its degrees of freedom.
    fn squares(&self) -> (f64, f64) {
        if self.total() < ENOUGH_CARDS {
            return (0.0, 0.0);
        }
        let squares = self.came.iter().zip(&self.expected).filter(|(_, expected)| **expected > 0.0);
        (squares.map(|(came, expected)| (came - expected).powi(2) / expected).sum(), (N - 1) as f64)
    }
}

// The deviation of the sum, in standard deviations.
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

fn index(card: Card) -> usize {
    usize::from(card.number() - 1)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of cards are small")]
impl Shuffles {
    /// The last card is the dealer's. `before` is the previous round at the same table.
    pub(super) fn deal(&mut self, dealt: &[Card], before: &HashSet<Card>) {
        let Some((upcard, players)) = dealt.split_last() else { return };
        self.deals += 1;
        for (place, card) in players.iter().enumerate() {
            self.places.entry((dealt.len(), place)).or_default().add(index(*card));
        }
        self.upcards.add(index(*upcard));
        for (one, next) in dealt.iter().zip(dealt.iter().skip(1)) {
            let step = (index(*next) + 52 - index(*one)) % 52;
            // Another rule covers a repeated card.
            if step > 0 {
                self.steps.add(step - 1);
            }
        }
        if !before.is_empty() {
            let (taken, all) = (dealt.len() as f64, before.len() as f64 / 52.0);
            self.again.merge(&Mean {
                rounds: 1,
                came: dealt.iter().filter(|card| before.contains(card)).count() as f64,
                expected: taken * all,
                variance: taken * all * (1.0 - all) * (52.0 - taken) / 51.0,
            });
        }
    }

    pub(super) fn draw(&mut self, card: Card, table: &[Card]) {
        let left: Vec<usize> = Card::all().filter(|other| !table.contains(other)).map(index).collect();
        if !table.contains(&card) {
            self.draws += 1;
            self.drawn.add_among(index(card), &left);
        }
    }

    pub(super) fn bias(&self) -> f64 {
        self.all().into_iter().map(|(_, _, bias)| bias).fold(0.0, f64::max)
    }

    // With the finding, and the deviation in standard deviations.
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

/// In standard deviations. A larger deviation is not chance.
pub(super) const STRANGE: f64 = 6.0;
pub(super) const BUST: u8 = BEST + 1;
const FINALS: usize = (BUST - DEALER_STANDS + 1) as usize;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finals([f64; FINALS]);

impl Finals {
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, f64)> {
        (DEALER_STANDS..=BUST).zip(self.0)
    }

    fn add(&mut self, total: u8, weight: f64) {
        if let Some(sum) = self.0.get_mut(usize::from(total.clamp(DEALER_STANDS, BUST) - DEALER_STANDS)) {
            *sum += weight;
        }
    }
}

/// The final totals of a dealer that stands on a soft 17, and of one that draws, given all other visible cards.
pub(super) fn finals(upcard: Card, seen: &[Card]) -> (Finals, Finals) {
    // The remaining cards by value; an ace counts 11.
    let mut left = [0_u8; 12];
    for card in Card::all().filter(|card| *card != upcard && !seen.contains(card)) {
        if let Some(count) = left.get_mut(usize::from(card.value())) {
            *count += 1;
        }
    }
    let mut both = (Finals::default(), Finals::default());
    draw(Points::EMPTY.with(upcard.value()), &mut left, 1.0, (true, true), &mut both);
    both
}

// Either dealer may have stood already.
fn draw(
    points: Points,
    left: &mut [u8; 12],
    weight: f64,
    (mut stands, mut draws): (bool, bool),
    both: &mut (Finals, Finals),
) {
    let total = points.total();
    if total >= DEALER_STANDS {
        if stands {
            both.0.add(total, weight);
            stands = false;
        }
        if draws && !(total == DEALER_STANDS && points.is_soft()) {
            both.1.add(total, weight);
            draws = false;
        }
    }
    let cards: u8 = left.iter().sum();
    if !(stands || draws) || cards == 0 {
        return;
    }
    for value in 2..=11_u8 {
        let count = left[usize::from(value)];
        if count > 0 {
            left[usize::from(value)] -= 1;
            draw(points.with(value), left, weight * f64::from(count) / f64::from(cards), (stands, draws), both);
            left[usize::from(value)] += 1;
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

    fn named(name: &str) -> Card {
        Card::from_name(name.as_bytes()).unwrap()
    }

    #[test]
    fn dealer_totals_match_published_odds() {
        let (stands, draws) = finals(named("Ace of Spades"), &[]);
        let near = |finals: &Finals, wanted: [f64; 6]| {
            finals.iter().zip(wanted).all(|((_, found), wanted)| (found - wanted).abs() < 5e-4)
        };
        let sum: f64 = stands.iter().map(|(_, chance)| chance).sum();
        assert!((sum - 1.0).abs() < 1e-9);
        // Computed by an independent program over the 51 remaining cards.
        assert!(near(&stands, STANDS), "{stands:?}");
        assert!(near(&draws, DRAWS), "{draws:?}");
        // With a hard total, the two dealers behave the same.
        let (stands, draws) = finals(named("Ten of Spades"), &[]);
        assert!(stands.iter().zip(draws.iter()).all(|(one, other)| (one.1 - other.1).abs() < 1e-12));
    }

    const STANDS: [f64; 6] = [0.12613, 0.131, 0.12949, 0.13155, 0.36529, 0.11654];
    const DRAWS: [f64; 6] = [0.05612, 0.14095, 0.14148, 0.14375, 0.3773, 0.14039];
}
