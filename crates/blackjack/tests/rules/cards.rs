//! Seeds are fixed, so the results of these tests do not vary.

use std::collections::BTreeMap;

use blackjack::{Action, Card, Deck, Policy, Round, Seed, exact::Solver};
use rand::Rng;

// The chi-square statistic for equally likely cells.
fn chi_square(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / f64::from(u32::try_from(counts.len()).unwrap());
    counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum()
}

// The probability of a false alarm is 10^-4, by the normal approximation of Wilson and Hilferty.
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
fn cards_are_equally_likely_at_each_position() {
    let mut rng = Seed::from_number(7).generator(1);
    let mut deck = Deck::new();
    let mut places = vec![[0_u32; 52]; 52];
    // The cyclic distance of the first two cards in the order of a new deck.
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
fn the_dealers_totals_agree_with_the_exact_odds() {
    let solver = Solver::new();
    let stand = Policy::stand();
    let mut rng = Seed::from_number(5).generator(1);
    let mut deck = Deck::new();
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
