//! The result of a hand, and counts of results.

use core::{fmt, ops::AddAssign};
use serde::{Deserialize, Serialize};

/// The result of a hand. On the wire, [`Lose`](Verdict::Lose) is spelled `LOOSE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// The player has more, or the dealer is bust.
    Win,
    /// The dealer has more.
    Lose,
    /// The player's total is above 21, regardless of the dealer's.
    Bust,
    /// Both have the same total.
    Push,
}

impl Verdict {
    /// The result for these totals of the player and the dealer.
    #[inline]
    pub const fn of(player: u8, dealer: u8) -> Self {
        if player > 21 {
            Self::Bust
        } else if dealer > 21 || player > dealer {
            Self::Win
        } else if player == dealer {
            Self::Push
        } else {
            Self::Lose
        }
    }

    /// The reward: 1, 0 or -1.
    #[inline]
    pub const fn reward(self) -> i8 {
        // A look-up is faster than a match in training.
        [1, -1, -1, 0][self as usize]
    }

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Win => "WIN",
            Self::Lose => "LOOSE",
            Self::Bust => "BUST",
            Self::Push => "PUSH",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The number of rounds with each result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Score {
    /// Won.
    pub wins: u64,
    /// Pushes.
    pub pushes: u64,
    /// Lost to a better hand.
    pub losses: u64,
    /// Lost by going over 21.
    pub busts: u64,
}

impl Score {
    /// Adds one verdict.
    #[inline]
    pub const fn add(&mut self, verdict: Verdict) {
        *self.count(verdict) += 1;
    }

    pub(crate) const fn take_back(&mut self, verdict: Verdict) {
        let count = self.count(verdict);
        *count = count.saturating_sub(1);
    }

    #[inline]
    const fn count(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Win => &mut self.wins,
            Verdict::Push => &mut self.pushes,
            Verdict::Lose => &mut self.losses,
            Verdict::Bust => &mut self.busts,
        }
    }

    /// The number of rounds.
    pub const fn rounds(&self) -> u64 {
        self.wins + self.pushes + self.losses + self.busts
    }

    /// The net result of a stake of 1 in each round.
    pub fn bankroll(&self) -> i64 {
        let lost = self.losses.saturating_add(self.busts);
        let difference = i64::try_from(self.wins.abs_diff(lost)).unwrap_or(i64::MAX);
        if self.wins < lost { -difference } else { difference }
    }

    /// The mean reward of a round; 0 if there are no rounds.
    #[expect(clippy::cast_precision_loss, reason = "a mean for people to read")]
    pub fn mean(&self) -> f64 {
        (self.wins as f64 - (self.losses + self.busts) as f64) / self.rounds().max(1) as f64
    }

    #[expect(clippy::cast_precision_loss, reason = "a deviation for people to read")]
    pub(crate) fn variance(&self) -> f64 {
        let decided = (self.wins + self.losses + self.busts) as f64 / self.rounds().max(1) as f64;
        decided - self.mean() * self.mean()
    }

    /// Half the width of the 95 % confidence interval around the mean reward; `None` below two rounds.
    #[expect(clippy::cast_precision_loss, reason = "a width for people to read")]
    pub fn half_width(&self) -> Option<f64> {
        let rounds = self.rounds() as f64;
        (rounds >= 2.0).then(|| 1.96 * square_root(self.variance() / (rounds - 1.0)))
    }
}

// Newton's method: `core` has no square root.
fn square_root(of: f64) -> f64 {
    if of <= 0.0 {
        return 0.0;
    }
    (0..64).fold(of.max(1.0), |root, _| f64::midpoint(root, of / root))
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        self.wins += other.wins;
        self.pushes += other.pushes;
        self.losses += other.losses;
        self.busts += other.busts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_those_of_the_table() {
        for player in 4..=31 {
            for dealer in 17..=31 {
                let expected = match (player, dealer) {
                    (22.., _) => Verdict::Bust,
                    (_, 22..) => Verdict::Win,
                    _ if player > dealer => Verdict::Win,
                    _ if player == dealer => Verdict::Push,
                    _ => Verdict::Lose,
                };
                let verdict = Verdict::of(player, dealer);
                assert_eq!(verdict, expected, "{player} against {dealer}");
                assert!(player != 21 || verdict != Verdict::Lose);
                assert!(player >= 17 || verdict != Verdict::Push);
            }
        }
        assert_eq!([Verdict::Win, Verdict::Push, Verdict::Lose, Verdict::Bust].map(Verdict::reward), [1, 0, -1, -1]);
    }

    #[test]
    fn integer_roots_are_exact() {
        for of in [0.0, 1e-12, 0.25, 2.0, 1e12] {
            assert!((square_root(of) - of.sqrt()).abs() <= 1e-9 * of.sqrt(), "{of}");
        }
    }
}
