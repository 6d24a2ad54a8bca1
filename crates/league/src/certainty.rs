//! The certainty that one player is better than another.
//!
//! Two players are compared only on even terms: in a deal that both have played, or by their results against the same
//! opponent in the same round. Equal players would come out ahead equally often, like a fair coin, whatever the game
//! and the opponents. `evidence` is the likelihood ratio of a coin of any bias (uniform prior) to a fair one,
//! `2^n / ((n + 1) C(n, ahead))`. By Ville's inequality, for equal players it *ever* exceeds `1 / (1 - c)`, at any
//! number of checks, with a probability of at most `1 - c`. A league may therefore stop as soon as it does.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub ahead: u32,
    pub behind: u32,
}

/// The first player has the higher rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    Better,
    /// Both players came out ahead equally often.
    Equal,
    /// One player came out ahead more often, but not often enough.
    Uncertain,
    /// The second player is better on even terms, although rated lower.
    Contrary,
}

impl Tally {
    pub(crate) fn add(&mut self, order: std::cmp::Ordering) {
        match order {
            std::cmp::Ordering::Greater => self.ahead += 1,
            std::cmp::Ordering::Less => self.behind += 1,
            std::cmp::Ordering::Equal => {}
        }
    }

    // The natural logarithm of the evidence.
    fn evidence(self) -> f64 {
        let (n, fewer) = (f64::from(self.ahead + self.behind), self.ahead.min(self.behind));
        let ways: f64 = (1..=fewer).map(|k| ((n - f64::from(k) + 1.0) / f64::from(k)).ln()).sum();
        n * std::f64::consts::LN_2 - (n + 1.0).ln() - ways
    }

    /// From 0 to 1.
    pub fn certainty(self) -> f64 {
        (1.0 - (-self.evidence()).exp()).max(0.0)
    }

    pub fn order(self, certainty: f64) -> Order {
        match self.certainty() >= certainty {
            true if self.ahead > self.behind => Order::Better,
            true => Order::Contrary,
            false if self.ahead == self.behind => Order::Equal,
            false => Order::Uncertain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64;

    fn tally(ahead: u32, behind: u32) -> Tally {
        Tally { ahead, behind }
    }

    #[test]
    fn evidence_follows_the_formula() {
        // 2^8 / (9 * 1), and 2^10 / (11 * 10).
        assert!((tally(8, 0).evidence() - (256.0_f64 / 9.0).ln()).abs() < 1e-12);
        assert!((tally(1, 9).evidence() - (1024.0_f64 / 110.0).ln()).abs() < 1e-12);
        assert!(tally(0, 0).certainty() <= 0.0);
        assert!(tally(50, 50).certainty() <= 0.0);
        assert!(tally(4_000_000, 0).certainty() > 0.999_999);
    }

    #[test]
    fn eight_of_eight_are_certain_and_seven_of_seven_are_not() {
        assert_eq!(tally(8, 0).order(0.95), Order::Better);
        assert_eq!(tally(0, 8).order(0.95), Order::Contrary);
        assert_eq!(tally(7, 0).order(0.95), Order::Uncertain);
        assert_eq!(tally(0, 7).order(0.95), Order::Uncertain);
        assert_eq!(tally(7, 7).order(0.95), Order::Equal);
    }

    #[test]
    fn equal_players_are_rarely_distinguished_at_any_number_of_checks() {
        let mut chance = Pcg64::seed_from_u64(1);
        let mut wrong = 0;
        for _ in 0..1_000 {
            let mut tally = Tally::default();
            wrong += u32::from((0..200).any(|_| {
                tally.add(if chance.random() { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less });
                matches!(tally.order(0.95), Order::Better | Order::Contrary)
            }));
        }
        assert!(wrong <= 50, "{wrong} of 1,000");
        assert!(wrong >= 5, "{wrong} of 1,000: the bound is not far from what happens");
    }

    #[test]
    fn slightly_better_player_is_recognized() {
        let mut chance = Pcg64::seed_from_u64(2);
        let mut tally = Tally::default();
        for _ in 0..2_000 {
            let ahead = chance.random_range(0..100) < 60;
            tally.add(if ahead { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less });
        }
        assert_eq!(tally.order(0.95), Order::Better);
    }
}
