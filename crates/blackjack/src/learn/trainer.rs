//! The learner that deals to itself, with look-up tables: the sum of a hand's [`Weight`]s replaces its [`Points`], and
//! tables map it to its total and state. The plan of a state is updated when it learns.

use core::ops::Add;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{Explore, Plan};
use crate::{
    cards::{ACE, Card, DECK, DeckEmpty, Pile},
    game::Action,
    hand::{BEST, DEALER_STANDS, Points},
    policy::{MIN_UPCARD, STATES, State, StateSpace},
    qtable::QTable,
    verdict::{Score, Verdict},
};

/// The weight of a card or of a hand. Five bits hold the points with every ace as 1, the bits above the number of aces.
/// A hand ends with at most 31 points and a deck has four aces, so a byte is enough.
#[derive(Debug, Clone, Copy)]
struct Weight(u8);

impl Weight {
    const COUNT: usize = 1 << 8;
    const LOW_BITS: u32 = 5;

    const fn of(card: Card) -> Self {
        match card.value() {
            ACE => Self((1 << Self::LOW_BITS) + 1),
            value => Self(value),
        }
    }

    fn of_all() -> [Self; DECK] {
        let mut weights = [Self(0); DECK];
        for (weight, card) in weights.iter_mut().zip(Card::all()) {
            *weight = Self::of(card);
        }
        weights
    }

    const fn points(self) -> Points {
        let aces = self.0 >> Self::LOW_BITS;
        Points::of_low(self.0 - (aces << Self::LOW_BITS), aces > 0)
    }

    #[inline]
    fn total(self) -> u8 {
        TOTALS[usize::from(self.0)]
    }
}

impl Add for Weight {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

const TOTALS: [u8; Weight::COUNT] = {
    let mut totals = [0; Weight::COUNT];
    let mut weight: u8 = 0;
    loop {
        totals[weight as usize] = Weight(weight).points().total();
        match weight.checked_add(1) {
            Some(next) => weight = next,
            None => break totals,
        }
    }
};

/// By weight, the index of its state against the lowest upcard; those against higher upcards follow.
struct Places([u16; Weight::COUNT]);

impl Places {
    const COARSE: Self = Self::new(StateSpace::Coarse);
    const SOFT: Self = Self::new(StateSpace::Soft);

    const fn new(space: StateSpace) -> Self {
        let mut places = [0; Weight::COUNT];
        let mut weight: u8 = 0;
        loop {
            let points = Weight(weight).points();
            if !points.is_bust() {
                #[expect(clippy::cast_possible_truncation, reason = "there are 360 places")]
                let place = State::of(space, points, MIN_UPCARD).index() as u16;
                places[weight as usize] = place;
            }
            match weight.checked_add(1) {
                Some(next) => weight = next,
                None => break Self(places),
            }
        }
    }

    const fn of(space: StateSpace) -> &'static Self {
        match space {
            StateSpace::Coarse => &Self::COARSE,
            StateSpace::Soft => &Self::SOFT,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Decision {
    place: u16,
    total: u8,
    action: Action,
}

/// The maximum number of decisions of a round: the longest hand that is not bust has 11 cards, and the first decision
/// is made with 2.
const MOST_DECISIONS: usize = 10;

/// A learner that deals to itself.
///
/// The result depends only on the generator and the total number of rounds.
// Aligned to avoid false sharing between the trainers of two threads.
#[repr(align(128))]
#[derive(Debug, Clone)]
pub struct Trainer<R> {
    table: QTable,
    explore: Explore,
    plans: [Plan; STATES],
    deck: Pile<Weight>,
    rng: R,
}

impl Trainer<Pcg64Mcg> {
    /// Creates a learner that continues from `table` with random numbers derived from a seed, which differ for each
    /// parallel `worker` and each stretch of training.
    pub fn seeded(table: QTable, explore: Explore, seed: u64, worker: u32) -> Self {
        // Odd multipliers spread the worker and the decisions so far over all bits.
        let stretch = table.visited().fold(0_u64, |sum, (_, entry)| sum.wrapping_add(entry.visits()));
        let seed =
            seed ^ u64::from(worker).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ stretch.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self::new(table, explore, Pcg64Mcg::seed_from_u64(seed))
    }
}

impl<R: Rng> Trainer<R> {
    /// Creates a learner that continues from `table`.
    pub fn new(table: QTable, explore: Explore, rng: R) -> Self {
        let mut plans = [Plan::default(); STATES];
        for state in table.space().states() {
            plans[state.index()] = explore.plan(&table.entry(state), state.total());
        }
        Self { table, explore, plans, deck: Pile::new(Weight::of_all()), rng }
    }

    /// The table learned so far.
    pub const fn table(&self) -> &QTable {
        &self.table
    }

    /// Returns the learned table.
    pub fn into_table(self) -> QTable {
        self.table
    }

    /// Plays rounds and learns from each.
    ///
    /// # Errors
    /// [`DeckEmpty`] cannot occur, since no round takes 52 cards.
    pub fn play(&mut self, rounds: u64) -> Result<Score, DeckEmpty> {
        // One loop for each kind, so that the kind is not checked in every round.
        match self.explore {
            Explore::Random => self.rounds(rounds, Explore::Random),
            Explore::Epsilon(chance) => self.rounds(rounds, Explore::Epsilon(chance)),
            Explore::UntilConfident => self.rounds(rounds, Explore::UntilConfident),
        }
    }

    #[expect(clippy::inline_always, reason = "one loop for each way to explore; half the speed is lost otherwise")]
    #[inline(always)]
    fn rounds(&mut self, rounds: u64, explore: Explore) -> Result<Score, DeckEmpty> {
        let places = Places::of(self.table.space());
        let mut decisions = [Decision { place: 0, total: 0, action: Action::Stand }; MOST_DECISIONS];
        // A branch on the verdict would often be mispredicted.
        let mut counts = [0; 4];
        for _ in 0..rounds {
            counts[self.round(explore, places, &mut decisions)? as usize] += 1;
        }
        let of = |verdict: Verdict| counts[verdict as usize];
        let [wins, pushes, losses, busts] = [Verdict::Win, Verdict::Push, Verdict::Lose, Verdict::Bust].map(of);
        Ok(Score { wins, pushes, losses, busts })
    }

    #[expect(clippy::inline_always, reason = "see `rounds`")]
    #[inline(always)]
    fn round(
        &mut self,
        explore: Explore,
        Places(places): &Places,
        decisions: &mut [Decision; MOST_DECISIONS],
    ) -> Result<Verdict, DeckEmpty> {
        let Self { table, plans, deck, rng, .. } = self;
        let [first, hole, second, upcard] = deck.draw_four(rng);
        let column = u16::from(upcard.total() - MIN_UPCARD);
        let mut hand = first + second;
        let mut total = hand.total();
        // The decisions that count are `from..count`.
        let (mut from, mut count) = (0, 0);
        while total <= BEST {
            let place = places[usize::from(hand.0)] + column;
            let choice = explore.choose_by(plans[usize::from(place)], total, rng);
            if !choice.counts_before {
                from = count;
            }
            decisions[count] = Decision { place, total, action: choice.action };
            count += 1;
            if choice.action == Action::Stand {
                break;
            }
            hand = hand + deck.draw(rng)?;
            total = hand.total();
        }
        let mut dealer = hole + upcard;
        if total <= BEST {
            while dealer.total() < DEALER_STANDS {
                dealer = dealer + deck.draw(rng)?;
            }
        }
        let verdict = Verdict::of(total, dealer.total());
        for &Decision { place, total, action } in &decisions[from..count] {
            let place = usize::from(place);
            let entry = table.learn_at(place, action, verdict.reward());
            plans[place] = explore.plan(entry, total);
        }
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cards::Card,
        learn::{Chance, Episode},
    };
    use rand_pcg::Pcg64;
    use std::vec::Vec;

    fn ways() -> [Explore; 5] {
        let epsilon = |chance| Explore::Epsilon(Chance::new(chance).unwrap());
        [Explore::Random, epsilon(0.0), epsilon(0.1), epsilon(1.0), Explore::UntilConfident]
    }

    // A reference implementation.
    fn trained(table: &mut QTable, explore: Explore, rng: &mut Pcg64, rounds: u64) -> Score {
        let values: Vec<u8> = Card::all().map(Card::value).collect();
        let mut deck = Pile::new(values.try_into().unwrap());
        let mut score = Score::default();
        for _ in 0..rounds {
            deck.reset();
            let mut episode = Episode::default();
            let mut draw = |rng: &mut Pcg64| deck.draw(rng).unwrap();
            let [first, hole, second, upcard] = core::array::from_fn(|_| draw(rng));
            let mut player = Points::EMPTY.with(first).with(second);
            while !player.is_bust() {
                let state = State::of(table.space(), player, upcard);
                let choice = explore.choose(table, state, rng);
                episode.record(state, choice);
                if choice.action == Action::Stand {
                    break;
                }
                player = player.with(draw(rng));
            }
            let mut dealer = Points::EMPTY.with(hole).with(upcard);
            while !player.is_bust() && dealer.dealer_hits() {
                dealer = dealer.with(draw(rng));
            }
            let verdict = Verdict::of(player.total(), dealer.total());
            episode.teach(table, verdict);
            score.add(verdict);
        }
        score
    }

    #[test]
    fn trainer_learns_the_same_as_the_reference_implementation() {
        for space in [StateSpace::Coarse, StateSpace::Soft] {
            for explore in ways() {
                let mut table = QTable::new(space);
                for rounds in [30_000, 5_000] {
                    let mut trainer = Trainer::new(table.clone(), explore, Pcg64::seed_from_u64(8));
                    let score = trainer.play(rounds).unwrap();
                    assert_eq!(
                        score,
                        trained(&mut table, explore, &mut Pcg64::seed_from_u64(8), rounds),
                        "{explore:?}"
                    );
                    assert!(*trainer.table() == table, "{explore:?}, {space}");
                }
            }
        }
    }

    #[test]
    fn weights_add_up_as_points_do() {
        fn go(weight: Weight, points: Points, left: &mut [u8; 12]) {
            assert_eq!((weight.total(), weight.points().is_soft()), (points.total(), points.is_soft()));
            if points.is_bust() {
                return;
            }
            for value in 2..=ACE {
                if left[usize::from(value)] > 0 {
                    left[usize::from(value)] -= 1;
                    let card = Card::all().find(|card| card.value() == value).unwrap();
                    go(weight + Weight::of(card), points.with(value), left);
                    left[usize::from(value)] += 1;
                }
            }
        }
        // Every hand of one deck in every order.
        go(Weight(0), Points::EMPTY, &mut [0, 0, 4, 4, 4, 4, 4, 4, 4, 4, 16, 4]);
    }

    #[test]
    fn training_in_parts_gives_the_same_table() {
        for explore in ways() {
            let start = || Trainer::new(QTable::new(StateSpace::Soft), explore, Pcg64::seed_from_u64(5));
            let (mut once, mut parts) = (start(), start());
            let whole = once.play(3_000).unwrap();
            let mut sum = Score::default();
            for part in [1, 1_999, 0, 1_000] {
                sum += parts.play(part).unwrap();
            }
            assert_eq!((whole, once.table()), (sum, parts.table()));
            assert_eq!(whole.rounds(), 3_000);
        }
    }
}
