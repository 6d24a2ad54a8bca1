use super::*;
use crate::verdict::Verdict;
use std::{sync::LazyLock, vec::Vec};

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
        let mut deck: Vec<u8> =
            (0..VALUES).flat_map(|index| core::iter::repeat_n(card_value(index), usize::from(counts[index]))).collect();
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
        for (hand, chance) in SOLVER.hands.nodes.iter().zip(SOLVER.first_two(up)).filter(|&(_, chance)| chance > 0.0) {
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
