//! Exact values of policies: every hand and every draw of the dealer is weighted by its probability.
//!
//! The model is one fresh deck per round and one player. A hand is the counts of its card values; about three thousand
//! are not bust.
//!
//! | decision rule | reward per round |
//! |--------------|------------------|
//! | the best that considers the exact cards of the hand | -0.042462 |
//! | the best on total, soft, upcard | -0.042806 |
//! | the best on total, upcard | -0.051474 |
//! | as the dealer does | -0.080092 |
//! | the table that random training approaches, with soft | -0.113946 |
//! | the table that random training approaches | -0.126285 |
//! | never a hit | -0.183443 |
//! | a coin | -0.392658 |

mod hands;

use alloc::{boxed::Box, vec, vec::Vec};

use self::hands::{BUST, Deal, Hands, VALUES, card_value, index_of};
use crate::{
    game::Action,
    hand::{BEST, Points},
    policy::{MIN_UPCARD, Policy, STATES, State, StateSpace, UPCARDS},
};

/// The probabilities of the results of a round.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Odds {
    /// The probability of a win.
    pub win: f64,
    /// The probability of a push.
    pub push: f64,
    /// The probability of a loss, bust or otherwise.
    pub lose: f64,
}

impl Odds {
    const LOST: Self = Self { win: 0.0, push: 0.0, lose: 1.0 };

    /// The expected reward.
    pub fn reward(self) -> f64 {
        self.win - self.lose
    }

    fn add(&mut self, weight: f64, other: Self) {
        self.win += weight * other.win;
        self.push += weight * other.push;
        self.lose += weight * other.lose;
    }
}

/// The mean rewards of the two actions in a state.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ActionValues {
    /// The expected number of visits of the state per round.
    pub visits: f64,
    /// The mean reward of rounds with a hit here.
    pub hit: f64,
    /// The mean reward of rounds with a stand here.
    pub stand: f64,
}

/// The mean rewards of each state, which a table approaches.
#[derive(Debug, Clone)]
pub struct Limit {
    space: StateSpace,
    values: Box<[ActionValues; STATES]>,
}

impl Limit {
    /// The means of a state.
    pub fn values(&self, state: State) -> ActionValues {
        self.values[state.index()]
    }

    /// The policy of a table with these means: HIT only if it is better.
    pub fn policy(&self) -> Policy {
        Policy::new(self.space, |state| self.values(state).hit > self.values(state).stand)
    }
}

/// Computes exact values. Reuse it: building takes a fraction of a second.
#[derive(Debug, Clone)]
pub struct Solver {
    hands: Hands,
    deal: Deal,
    // By upcard (2 to ace), the reward of standing with each hand.
    stands: Vec<Vec<f64>>,
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
    /// A solver for the deck of 52 cards.
    pub fn new() -> Self {
        Self::with(Deal::FULL)
    }

    fn with(deal: Deal) -> Self {
        let hands = Hands::new(&deal);
        let stands = (0..UPCARDS)
            .map(|upcard| hands.nodes.iter().map(|hand| hands.stand(&deal, hand, upcard).reward()).collect())
            .collect();
        Self { hands, deal, stands }
    }

    /// The expected reward of a round played by a policy.
    pub fn value(&self, policy: &Policy) -> f64 {
        self.value_by(|points, upcard| certainly(policy.decide(points, upcard)))
    }

    pub(crate) fn value_by(&self, hits: impl Fn(Points, u8) -> f64) -> f64 {
        (0..UPCARDS).map(|upcard| self.deal.upcard(upcard) * self.value_against(upcard, &hits)).sum()
    }

    /// The expected reward of random play, even with 21.
    pub fn value_of_random(&self) -> f64 {
        self.value_by(|_, _| 0.5)
    }

    /// The expected reward of the best play that considers the exact cards of the hand.
    pub fn best_value_with_cards(&self) -> f64 {
        let best = |upcard: usize| {
            let values = self.values(upcard, |_, hit, stand| hit.max(stand));
            self.start(upcard, &values)
        };
        (0..UPCARDS).map(|upcard| self.deal.upcard(upcard) * best(upcard)).sum()
    }

    /// The best policy of a space, found by improving one decision at a time.
    pub fn best(&self, space: StateSpace) -> Policy {
        let mut best = Policy::new(space, |state| state.total() < crate::hand::DEALER_STANDS);
        for upcard in 0..UPCARDS {
            let (draws, first_two, card) = (self.draws(upcard), self.first_two(upcard), card_value(upcard));
            let value = |policy: &Policy| {
                let values =
                    self.values_after(upcard, &draws, |points, hit, stand| match policy.decide(points, card) {
                        Action::Hit => hit,
                        Action::Stand => stand,
                    });
                weighted(&first_two, &values)
            };
            let states: Vec<State> =
                space.states().filter(|state| index_of(state.upcard()) == upcard && state.total() < BEST).collect();
            let mut reached = value(&best);
            loop {
                let before = reached;
                for &state in &states {
                    let was = best.action(state);
                    best.set(state, if was == Action::Hit { Action::Stand } else { Action::Hit });
                    let changed = value(&best);
                    if changed > reached {
                        reached = changed;
                    } else {
                        best.set(state, was);
                    }
                }
                if reached <= before {
                    break;
                }
            }
        }
        best
    }

    /// The means that a table approaches if every decision is random.
    pub fn limit_of_random(&self, space: StateSpace) -> Limit {
        self.limit_by(space, |_, _| 0.5)
    }

    /// The mean rewards of both actions in each state if `policy` makes all later decisions; 0 if unreachable.
    pub fn action_values(&self, policy: &Policy) -> Limit {
        self.limit_by(policy.space(), |points, upcard| certainly(policy.decide(points, upcard)))
    }

    fn limit_by(&self, space: StateSpace, hits: impl Fn(Points, u8) -> f64) -> Limit {
        let mut values = Box::new([ActionValues::default(); STATES]);
        for upcard in 0..UPCARDS {
            let value = card_value(upcard);
            let after = self.values(upcard, |points, hit, stand| {
                let chance = hits(points, value);
                chance * hit + (1.0 - chance) * stand
            });
            let mut reach = self.first_two(upcard);
            for (at, hand) in self.hands.nodes.iter().enumerate().filter(|(_, hand)| hand.cards >= 2) {
                let draws = self.deal.without(hand, upcard);
                let chance = hits(hand.points, value);
                let mut hit = 0.0;
                for (card, probability) in draws.chances() {
                    hit += probability * hand.after(&after, card);
                    if let Some(next) = hand.next[card] {
                        reach[usize::from(next)] += reach[at] * chance * probability;
                    }
                }
                let weight = reach[at] * self.deal.upcard(upcard);
                let entry = &mut values[State::of(space, hand.points, value).index()];
                entry.visits += weight;
                entry.hit += weight * hit;
                entry.stand += weight * self.stands[upcard][at];
            }
        }
        for entry in values.iter_mut().filter(|entry| entry.visits > 0.0) {
            entry.hit /= entry.visits;
            entry.stand /= entry.visits;
        }
        Limit { space, values }
    }

    /// The odds of a hand against an upcard if it stands, and if it takes one card and continues by `policy`.
    ///
    /// `values` and `upcard` are card values, 2 to 11. `None` for a hand without a decision or not in one deck.
    pub fn odds(&self, values: &[u8], upcard: u8, policy: &Policy) -> Option<(Odds, Odds)> {
        let (hand, up) = (self.hands.find(values)?, (MIN_UPCARD..=11).contains(&upcard).then(|| index_of(upcard))?);
        if hand.cards < 2 || self.deal.without(hand, up).short {
            return None;
        }
        Some((self.hands.stand(&self.deal, hand, up), self.hit(hand, up, policy)))
    }

    fn hit(&self, hand: &hands::Node, upcard: usize, policy: &Policy) -> Odds {
        let mut odds = Odds::default();
        for (card, chance) in self.deal.without(hand, upcard).chances() {
            let after = match self.hands.next(hand, card) {
                None => Odds::LOST,
                Some(next) if policy.decide(next.points, card_value(upcard)) == Action::Hit => {
                    self.hit(next, upcard, policy)
                }
                Some(next) => self.hands.stand(&self.deal, next, upcard),
            };
            odds.add(chance, after);
        }
        odds
    }

    fn value_against(&self, upcard: usize, hits: impl Fn(Points, u8) -> f64) -> f64 {
        let values = self.values(upcard, |points, hit, stand| {
            let chance = hits(points, card_value(upcard));
            chance * hit + (1.0 - chance) * stand
        });
        self.start(upcard, &values)
    }

    fn draws(&self, upcard: usize) -> Vec<[f64; VALUES]> {
        self.hands.nodes.iter().map(|hand| self.deal.without(hand, upcard).all_chances()).collect()
    }

    fn values(&self, upcard: usize, decide: impl Fn(Points, f64, f64) -> f64) -> Vec<f64> {
        self.values_after(upcard, &self.draws(upcard), decide)
    }

    fn values_after(
        &self,
        upcard: usize,
        draws: &[[f64; VALUES]],
        decide: impl Fn(Points, f64, f64) -> f64,
    ) -> Vec<f64> {
        let mut values = vec![0.0; self.hands.nodes.len()];
        // Hands with more cards come later, so each hand follows its successors here.
        for (at, (hand, draws)) in self.hands.nodes.iter().zip(draws).enumerate().rev() {
            if hand.cards < 2 {
                break;
            }
            let hit = draws.iter().enumerate().map(|(card, chance)| chance * hand.after(&values, card)).sum();
            values[at] = decide(hand.points, hit, self.stands[upcard][at]);
        }
        values
    }

    fn start(&self, upcard: usize, values: &[f64]) -> f64 {
        weighted(&self.first_two(upcard), values)
    }

    fn first_two(&self, upcard: usize) -> Vec<f64> {
        let mut chances = vec![0.0; self.hands.nodes.len()];
        let nothing = self.hands.nothing();
        for (first, chance) in self.deal.without(nothing, upcard).chances() {
            let Some(one) = self.hands.next(nothing, first) else { continue };
            for (second, then) in self.deal.without(one, upcard).chances() {
                if let Some(two) = one.next[second] {
                    chances[usize::from(two)] += chance * then;
                }
            }
        }
        chances
    }
}

fn weighted(chances: &[f64], values: &[f64]) -> f64 {
    chances.iter().zip(values).map(|(chance, value)| chance * value).sum()
}

const fn certainly(action: Action) -> f64 {
    match action {
        Action::Hit => 1.0,
        Action::Stand => 0.0,
    }
}

const _: () = assert!(VALUES == UPCARDS && BUST == -1.0);

#[cfg(test)]
mod tests {
    use std::{sync::LazyLock, vec::Vec};

    use super::*;
    use crate::verdict::Verdict;

    static SOLVER: LazyLock<Solver> = LazyLock::new(Solver::new);

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
    }

    #[test]
    fn values_match_the_table_of_the_module() {
        let solver = &*SOLVER;
        assert_near(solver.best_value_with_cards(), -0.042_462);
        assert_near(solver.value(&solver.best(StateSpace::Soft)), -0.042_806);
        assert_near(solver.value(&solver.best(StateSpace::Coarse)), -0.051_474);
        assert_near(solver.value(&Policy::mimic()), -0.080_092);
        assert_near(solver.value(&solver.limit_of_random(StateSpace::Soft).policy()), -0.113_946);
        assert_near(solver.value(&solver.limit_of_random(StateSpace::Coarse).policy()), -0.126_285);
        assert_near(solver.value(&Policy::stand()), -0.183_443);
        assert_near(solver.value_of_random(), -0.392_658);
    }

    #[test]
    fn best_policies_hit_up_to_the_expected_totals() {
        // The totals from 12 up that hit. Hard totals up to 11 always hit.
        let hits = |policy: &Policy, soft: bool, upcard: u8| -> Vec<u8> {
            let state = |total| State::new(policy.space(), total, soft, upcard).unwrap();
            (12..=21).filter(|&total| policy.action(state(total)) == Action::Hit).collect()
        };
        let coarse = SOLVER.best(StateSpace::Coarse);
        let soft = SOLVER.best(StateSpace::Soft);
        for upcard in 2..=11 {
            let to = |last| (12..=last).collect::<Vec<u8>>();
            let expected = [13, 12, 12, 11, 11, 16, 16, 16, 16, 16][usize::from(upcard) - 2];
            assert_eq!(hits(&coarse, false, upcard), to(expected), "coarse against {upcard}");
            let expected = [12, 12, 11, 11, 11, 16, 16, 16, 16, 16][usize::from(upcard) - 2];
            assert_eq!(hits(&soft, false, upcard), to(expected), "hard against {upcard}");
            let expected = if (9..=11).contains(&upcard) { 18 } else { 17 };
            assert_eq!(hits(&soft, true, upcard), to(expected), "soft against {upcard}");
            for policy in [&coarse, &soft] {
                let below_12 = (4..12).map(|total| State::new(policy.space(), total, false, upcard).unwrap());
                assert!(below_12.into_iter().all(|state| policy.action(state) == Action::Hit));
            }
        }
    }

    #[test]
    fn no_other_table_of_the_coarse_space_is_better() {
        // Totals up to 11 always hit, which leaves nine decisions per upcard.
        let best = SOLVER.best(StateSpace::Coarse);
        for upcard in 0..UPCARDS {
            let value = |hits: &dyn Fn(u8) -> bool| {
                SOLVER.value_against(upcard, |points, _| f64::from(u8::from(hits(points.total()))))
            };
            let reached = value(&|total| {
                let state = State::new(StateSpace::Coarse, total, false, card_value(upcard)).unwrap();
                best.action(state) == Action::Hit
            });
            for choice in 0..1_u32 << 9 {
                let other = value(&|total| match total {
                    ..12 => true,
                    12..21 => choice >> (total - 12) & 1 == 1,
                    _ => false,
                });
                assert!(other <= reached + 1e-12, "upcard {upcard}, {choice:09b}: {other} is better than {reached}");
            }
        }
    }

    // A slow reference that deals card by card.
    struct Slow<'a> {
        deck: &'a mut Vec<u8>,
        hits: &'a dyn Fn(Points, u8) -> bool,
    }

    impl Slow<'_> {
        fn each(&mut self, mut then: impl FnMut(&mut Self, u8) -> f64) -> f64 {
            let cards = self.deck.len();
            assert!(cards > 0, "the deck of this test is large enough");
            let mut sum = 0.0;
            for at in 0..cards {
                let card = self.deck.swap_remove(at);
                sum += then(self, card);
                self.deck.push(card);
                self.deck.swap(at, cards - 1);
            }
            sum / f64::from(u32::try_from(cards).unwrap())
        }

        fn round(&mut self) -> f64 {
            self.each(|slow, one| {
                slow.each(|slow, hole| {
                    slow.each(|slow, two| slow.each(|slow, up| slow.player(&mut std::vec![one, two], hole, up)))
                })
            })
        }

        fn player(&mut self, hand: &mut Vec<u8>, hole: u8, up: u8) -> f64 {
            let points = hand.iter().fold(Points::EMPTY, |points, &value| points.with(value));
            if points.is_bust() {
                return -1.0;
            }
            if !(self.hits)(points, up) {
                return self.dealer(points.total(), &mut std::vec![hole, up]);
            }
            self.each(|slow, card| {
                hand.push(card);
                let value = slow.player(hand, hole, up);
                hand.pop();
                value
            })
        }

        fn dealer(&mut self, player: u8, hand: &mut Vec<u8>) -> f64 {
            let points = hand.iter().fold(Points::EMPTY, |points, &value| points.with(value));
            if points.total() >= 17 {
                return f64::from(Verdict::of(player, points.total()).reward());
            }
            self.each(|slow, card| {
                hand.push(card);
                let value = slow.dealer(player, hand);
                hand.pop();
                value
            })
        }
    }

    #[test]
    fn a_small_deck_dealt_card_by_card_gives_the_same_values() {
        // Ten cards whose values end every round before the deck is empty.
        for counts in [[0, 0, 1, 0, 2, 0, 1, 1, 3, 2], [1, 1, 0, 1, 0, 2, 0, 2, 2, 1]] {
            let deal = Deal::of(counts);
            let mut deck: Vec<u8> = (0..VALUES)
                .flat_map(|index| core::iter::repeat_n(card_value(index), usize::from(counts[index])))
                .collect();
            let solver = Solver::with(deal);
            let rules: [&dyn Fn(Points, u8) -> bool; 4] = [
                &|_, _| false,
                &|points, _| points.total() < 17,
                &|points, up| points.total() < if up > 6 || points.is_soft() { 18 } else { 13 },
                &|points, _| points.total() < 12,
            ];
            for (rule, hits) in rules.iter().enumerate() {
                let fast = solver.value_by(|points, up| f64::from(u8::from(hits(points, up))));
                let slow = Slow { deck: &mut deck, hits }.round();
                assert!((fast - slow).abs() < 1e-12, "rule {rule}: {fast} is not {slow}");
            }
        }
    }

    #[test]
    fn odds_add_up_and_agree_with_values() {
        let policy = SOLVER.best(StateSpace::Soft);
        let (stand, hit) = SOLVER.odds(&[10, 6], 10, &policy).unwrap();
        for odds in [stand, hit] {
            assert!((odds.win + odds.push + odds.lose - 1.0).abs() < 1e-12);
        }
        assert!(stand.push.abs() < 1e-12, "16 cannot push");
        assert!(hit.reward() > stand.reward());
        let mut sum = 0.0;
        for up in 0..UPCARDS {
            for (hand, chance) in
                SOLVER.hands.nodes.iter().zip(SOLVER.first_two(up)).filter(|&(_, chance)| chance > 0.0)
            {
                let values: Vec<u8> = (0..VALUES)
                    .flat_map(|index| core::iter::repeat_n(card_value(index), usize::from(hand.counts[index])))
                    .collect();
                let (stand, hit) = SOLVER.odds(&values, card_value(up), &policy).unwrap();
                let chosen = match policy.decide(hand.points, card_value(up)) {
                    Action::Hit => hit,
                    Action::Stand => stand,
                };
                sum += SOLVER.deal.upcard(up) * chance * chosen.reward();
            }
        }
        assert_near(sum, -0.042_806);
    }

    #[test]
    fn impossible_hands_have_no_odds() {
        let policy = Policy::mimic();
        for (values, upcard) in [
            (&[10, 9, 5][..], 10),
            (&[10], 10),
            (&[], 10),
            (&[10, 1], 10),
            (&[10, 12], 10),
            (&[2, 2, 2, 2, 2], 10),
            (&[2, 2, 2, 2], 2),
            (&[10, 6], 1),
            (&[10, 6], 12),
            (&[10, 6], 0),
        ] {
            assert_eq!(SOLVER.odds(values, upcard, &policy), None, "{values:?} against {upcard}");
        }
        assert!(SOLVER.odds(&[2, 2, 2, 2], 3, &policy).is_some());
    }

    #[test]
    fn the_limit_of_random_training_stands_on_eleven() {
        let limit = SOLVER.limit_of_random(StateSpace::Coarse);
        let state = State::new(StateSpace::Coarse, 11, false, 5).unwrap();
        let values = limit.values(state);
        assert!((values.hit + 0.2216).abs() < 5e-5 && (values.stand + 0.1209).abs() < 5e-5, "{values:?}");
        let policy = limit.policy();
        for upcard in 2..=6 {
            let state = State::new(StateSpace::Coarse, 11, false, upcard).unwrap();
            assert_eq!(policy.action(state), Action::Stand);
        }
        let good = SOLVER.action_values(&SOLVER.best(StateSpace::Soft));
        let state = State::new(StateSpace::Soft, 11, false, 5).unwrap();
        assert!((good.values(state).hit - 0.365).abs() < 5e-4, "{:?}", good.values(state));
    }
}
