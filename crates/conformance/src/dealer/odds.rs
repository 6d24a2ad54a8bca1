//! The probability of each final total of a dealer.

use blackjack::{
    Card,
    hand::{BEST, DEALER_STANDS, Points},
};

/// The deviation from the expected mean, in standard deviations, above which it is not considered chance.
pub(super) const STRANGE: f64 = 6.0;
/// A value that represents all totals above 21.
pub(super) const BUST: u8 = BEST + 1;
/// The number of final totals: 17 to 21, and bust.
const FINALS: usize = (BUST - DEALER_STANDS + 1) as usize;

/// The probability of each final total.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finals([f64; FINALS]);

impl Finals {
    /// Each total with its probability.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, f64)> {
        (DEALER_STANDS..=BUST).zip(self.0)
    }

    fn add(&mut self, total: u8, weight: f64) {
        if let Some(sum) = self.0.get_mut(usize::from(total.clamp(DEALER_STANDS, BUST) - DEALER_STANDS)) {
            *sum += weight;
        }
    }
}

/// The final totals of a dealer with this upcard, given the other cards seen: those of a dealer that stands on a soft
/// 17, and of one that draws.
pub(super) fn finals(upcard: Card, seen: &[Card]) -> (Finals, Finals) {
    // The number of remaining cards of each value. An ace counts 11.
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

// Adds each way to draw further cards. Each of the two dealers may have stood already.
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

    fn card(name: &str) -> Card {
        Card::from_name(name.as_bytes()).unwrap()
    }

    #[test]
    fn dealer_totals_match_published_odds() {
        let (stands, draws) = finals(card("Ace of Spades"), &[]);
        let near = |finals: &Finals, wanted: [f64; 6]| {
            finals.iter().zip(wanted).all(|((_, found), wanted)| (found - wanted).abs() < 5e-4)
        };
        let sum: f64 = stands.iter().map(|(_, chance)| chance).sum();
        assert!((sum - 1.0).abs() < 1e-9);
        // Computed by an independent program over the 51 remaining cards.
        assert!(near(&stands, STANDS), "{stands:?}");
        assert!(near(&draws, DRAWS), "{draws:?}");
        // With a hard total, the two dealers behave the same.
        let (stands, draws) = finals(card("Ten of Spades"), &[]);
        assert!(stands.iter().zip(draws.iter()).all(|(one, other)| (one.1 - other.1).abs() < 1e-12));
    }

    const STANDS: [f64; 6] = [0.12613, 0.131, 0.12949, 0.13155, 0.36529, 0.11654];
    const DRAWS: [f64; 6] = [0.05612, 0.14095, 0.14148, 0.14375, 0.3773, 0.14039];
}
