//! Shuffles are fair, and the dealer draws by the rules. Seeds are fixed, so these tests always come out the same.

use std::collections::BTreeMap;

use blackjack::{
    Action, Card, Deck, Policy, Round, Seed, StateSpace,
    exact::Solver,
    learn::{Explore, Trainer},
};
use rand::Rng;

// Sum of squared deviations over the expected count, for cells that are equally likely.
fn chi_square(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / f64::from(u32::try_from(counts.len()).unwrap());
    counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum()
}

// Chance 10^-4 to be outside, by the normal approximation of Wilson and Hilferty.
fn assert_plausible(what: &str, counts: &[u32]) {
    let freedom = f64::from(u32::try_from(counts.len() - 1).unwrap());
    let bound = |normal: f64| {
        let spread = 2.0 / (9.0 * freedom);
        freedom * (1.0 - spread + normal * spread.sqrt()).powi(3)
    };
    let value = chi_square(counts);
    assert!(value > bound(-3.89) && value < bound(3.89), "{what}: {value} with {freedom} degrees of freedom");
}

fn order(deck: &mut Deck, rng: &mut impl Rng) -> Vec<u8> {
    deck.shuffle(rng);
    std::iter::from_fn(|| deck.deal().ok()).map(Card::number).collect()
}

#[test]
fn every_card_is_as_likely_in_every_place() {
    let mut rng = Seed::from_number(7).generator(1);
    let mut deck = Deck::new();
    let mut places = vec![[0_u32; 52]; 52];
    // How far two cards that follow each other lie apart in a new deck, going round.
    let mut distances = [0_u32; 51];
    for _ in 0..52_000 {
        let order = order(&mut deck, &mut rng);
        for (place, &card) in places.iter_mut().zip(&order) {
            place[usize::from(card) - 1] += 1;
        }
        distances[usize::from((order[1] + 52 - order[0]) % 52) - 1] += 1;
    }
    for (place, counts) in places.iter().enumerate() {
        assert_plausible(&format!("place {place}"), counts);
    }
    assert_plausible("distances", &distances);
}

#[test]
fn first_card_second_card_and_upcard_of_rounds_are_fair() {
    let mut rng = Seed::from_number(3).generator(9);
    let mut deck = Deck::new();
    let mut counts = vec![vec![0_u32; 52]; 3];
    for _ in 0..52_000 {
        deck.shuffle(&mut rng);
        let round = Round::deal(deck.clone(), &[true]).unwrap();
        let view = round.view(0).unwrap();
        for (counts, card) in counts.iter_mut().zip([view.cards[0], view.cards[1], view.upcard]) {
            counts[usize::from(card.number()) - 1] += 1;
        }
    }
    for (what, counts) in ["first", "second", "upcard"].iter().zip(&counts) {
        assert_plausible(what, counts);
    }
}

#[test]
fn dealers_with_other_seeds_deal_other_cards() {
    let cards = |seed: Seed| order(&mut Deck::new(), &mut seed.generator(1));
    assert_ne!(cards(Seed::from_number(1)), cards(Seed::from_number(2)));
    assert_ne!(cards(Seed::new([1; 32])), cards(Seed::new([2; 32])));
    assert_eq!(cards(Seed::from_number(1)), cards(Seed::from_number(1)));
}

#[test]
fn the_dealers_totals_agree_with_the_exact_odds() {
    // What the dealer has when a player of 12 to 21 stands gives win, push and loss; against each upcard.
    let solver = Solver::new();
    let stand = Policy::stand();
    let mut rng = Seed::from_number(5).generator(1);
    let mut deck = Deck::new();
    // For each hand and upcard: rounds, wins, pushes.
    let mut seen: BTreeMap<(Vec<u8>, u8), [u32; 3]> = BTreeMap::new();
    for _ in 0..200_000 {
        deck.shuffle(&mut rng);
        let mut round = Round::deal(deck.clone(), &[true]).unwrap();
        round.apply(0, Action::Stand).unwrap();
        let view = round.view(0).unwrap();
        let mut values: Vec<u8> = view.cards.iter().map(|card| card.value()).collect();
        values.sort_unstable();
        let reward = view.verdict.unwrap().reward();
        let counts = seen.entry((values, view.upcard.value())).or_default();
        counts[0] += 1;
        counts[1] += u32::from(reward == 1);
        counts[2] += u32::from(reward == 0);
    }
    let mut wins = [0.0; 2];
    let mut variance = [0.0; 2];
    for ((values, upcard), [rounds, won, pushed]) in &seen {
        let (odds, _) = solver.odds(values, *upcard, &stand).unwrap();
        for (at, (count, chance)) in [(won, odds.win), (pushed, odds.push)].into_iter().enumerate() {
            let rounds = f64::from(*rounds);
            let deviation = f64::from(*count) - rounds * chance;
            wins[at] += deviation;
            variance[at] += rounds * chance * (1.0 - chance);
            assert!(deviation.powi(2) <= 30.0 * (rounds * chance * (1.0 - chance)).max(1.0), "{values:?} {upcard}");
        }
    }
    for (sum, variance) in wins.into_iter().zip(variance) {
        assert!(f64::abs(sum) < 4.0 * f64::sqrt(variance), "{sum} of {}", f64::sqrt(variance));
    }
}

// 17 to 21, and bust.
const OUTCOMES: usize = 6;

fn outcome(total: u8) -> usize {
    usize::from(total.clamp(17, 22)) - 17
}

// The exact odds of what a dealer with this upcard comes to, as long as nothing is known of the player's cards: those are
// two of the cards that are left, like any others. By its own arithmetic, so that nothing is asked that is to be tested.
fn dealers_odds(upcard: u8, hits_soft_17: bool) -> [f64; OUTCOMES] {
    fn draw(sum: u8, aces: u8, left: &mut [u8; 12], chance: f64, hits_soft_17: bool, odds: &mut [f64; OUTCOMES]) {
        // `sum` has every ace as 1; the first of them counts 11 if that is not too much.
        let soft = aces > 0 && sum <= 11;
        let total = if soft { sum + 10 } else { sum };
        if total > 17 || (total == 17 && !(soft && hits_soft_17)) {
            odds[outcome(total)] += chance;
            return;
        }
        let all: u8 = left.iter().sum();
        for value in 1..=10 {
            let like = left[usize::from(value)];
            if like > 0 {
                left[usize::from(value)] -= 1;
                let chance = chance * f64::from(like) / f64::from(all);
                draw(sum + value, aces + u8::from(value == 1), left, chance, hits_soft_17, odds);
                left[usize::from(value)] += 1;
            }
        }
    }
    let mut left = [0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 16, 0];
    let low = if upcard == 11 { 1 } else { upcard };
    left[usize::from(low)] -= 1;
    let mut odds = [0.0; OUTCOMES];
    draw(low, u8::from(low == 1), &mut left, 1.0, hits_soft_17, &mut odds);
    assert!((odds.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    odds
}

#[test]
fn by_what_the_dealer_comes_to_it_stands_on_soft_17() {
    let mut rng = Seed::from_number(17).generator(1);
    let mut deck = Deck::new();
    // By the value of the upcard.
    let mut counts = [[0_u32; OUTCOMES]; 12];
    for _ in 0..100_000 {
        deck.shuffle(&mut rng);
        let mut round = Round::deal(deck.clone(), &[true]).unwrap();
        round.apply(0, Action::Stand).unwrap();
        let upcard = round.view(0).unwrap().upcard.value();
        counts[usize::from(upcard)][outcome(round.revealed().unwrap().total())] += 1;
    }
    // How much likelier the totals are if the dealer stands than if it hits: the logarithm of the ratio.
    let (mut for_standing, mut deviation) = (0.0, 0.0);
    for upcard in 2..=11_u8 {
        let counts = counts[usize::from(upcard)];
        let rounds = f64::from(counts.iter().sum::<u32>());
        let [stands, hits] = [false, true].map(|hits_soft_17| dealers_odds(upcard, hits_soft_17));
        for ((count, stands), hits) in counts.into_iter().zip(stands).zip(hits) {
            for_standing += f64::from(count) * (stands / hits).ln();
            deviation += (f64::from(count) - rounds * stands).powi(2) / (rounds * stands);
        }
    }
    assert!(for_standing > 100.0, "e^{for_standing} times as likely by a dealer that stands on soft 17");
    // The sum of squares has 5 degrees of freedom for each of 10 upcards.
    assert!(
        (20.0..95.0).contains(&deviation),
        "the totals are off the exact odds: {deviation} with 50 degrees of freedom"
    );
}

#[test]
fn training_deals_what_the_dealer_deals() {
    // Random play in process against its exact value: the draws of training are the same game.
    let mut trainer = Trainer::seeded(blackjack::QTable::new(StateSpace::Coarse), Explore::Random, 11, 0);
    let score = trainer.play(1_000_000).unwrap();
    let error = score.mean() - Solver::new().value_of_random();
    assert!(error.abs() < 3.0 * 0.95 / 1_000.0, "{error}");
}
