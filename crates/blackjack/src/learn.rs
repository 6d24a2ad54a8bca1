//! Learning in process: rounds without messages, as many millions a second as the cards allow.
//!
//! | how decisions are made | what comes of it |
//! |------------------------|------------------|
//! | [`Explore::Random`]: hit or stand with equal chance, with 21 as well | the course's way. The table approaches the values of *random play*, and playing by it never gets good, see below |
//! | [`Explore::Epsilon`]: at random with a small chance, else by the table so far | approaches good play, at the price of the random moves it keeps making |
//! | [`Explore::Doubt`]: at random only while a state's two means cannot be told apart, and credit only for what came after the last random move | the best table in the fewest rounds |
//!
//! Exact value of what is played after so many rounds, mean of several seeds; the best is -0.051474 coarse, -0.042806 soft:
//!
//! | rounds | epsilon 0.1, coarse | doubt, coarse | epsilon 0.1, soft | doubt, soft |
//! |--------|---------------------|---------------|-------------------|-------------|
//! | 10^4   | -0.0800 | -0.0773 | -0.0758 | -0.0786 |
//! | 10^5   | -0.0578 | -0.0543 | -0.0522 | -0.0487 |
//! | 10^6   | -0.0521 | -0.0517 | -0.0439 | -0.0433 |
//! | 10^7   | -0.0516 | -0.0515 | -0.0429 | -0.0428 |
//!
//! Why random training never plays well: what it learns about hitting 11 is what hitting is worth *if everything after it
//! is random too*, which mostly ends in a bust. So it learns to stand on 11 against 2 to 6, and on nearly all of 12 and
//! more. More rounds only make it more certain of that.
//!
//! Source of the first two: the requirements of the course's project, "Player, training".

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{
    cards::{Deck, DeckEmpty},
    hand::{BEST, MAX_HAND, Points},
    policy::{State, StateSpace},
    qtable::{Entry, QTable},
    round::{Action, Verdict},
};

/// A probability that 64 random bits are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    /// A chance of `probability`; `None` unless it is from 0 to 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked, and 1 saturates"
    )]
    pub fn new(probability: f64) -> Option<Self> {
        // 2^64 as a float; 1 becomes the largest number, which is off by 2^-64.
        (0.0..=1.0).contains(&probability).then_some(Self((probability * 18_446_744_073_709_551_616.0) as u64))
    }

    #[inline]
    const fn falls(self, bits: u64) -> bool {
        bits < self.0 || self.0 == u64::MAX
    }
}

/// How a learner decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explore {
    /// HIT or STAND with equal chance at every decision, also with 21.
    Random,
    /// At random with this chance, else by the table so far; never HIT with 21.
    Epsilon(Chance),
    /// At random with a chance of one half while the better action of the state is in doubt and with a small chance later,
    /// else by the table so far; never HIT with 21. Of a round only the last random decision and those after it are
    /// counted: the decisions before it had a random one among their consequences.
    Doubt,
}

impl Explore {
    /// Decides in a state, by the table so far.
    #[inline]
    pub fn choose<R: Rng + ?Sized>(self, table: &QTable, state: State, rng: &mut R) -> Choice {
        let total = state.total();
        match self {
            Self::Random => Choice::sure(coin(rng.next_u64())),
            Self::Epsilon(_) | Self::Doubt if total >= BEST => Choice::sure(Action::Stand),
            Self::Epsilon(chance) => {
                let explores = chance.falls(rng.next_u64());
                let action = if explores { coin(rng.next_u64()) } else { table.best(state) };
                Choice::sure(action)
            }
            Self::Doubt => {
                let chance = if in_doubt(table.entry(state)) { IN_DOUBT } else { SETTLED };
                if chance.falls(rng.next_u64()) {
                    Choice { action: coin(rng.next_u64()), counts_before: false }
                } else {
                    Choice::sure(table.best(state))
                }
            }
        }
    }
}

/// A decision of a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// What to do.
    pub action: Action,
    /// Whether the decisions of the round before this one still count.
    pub counts_before: bool,
}

impl Choice {
    /// An action that is no experiment: everything before it counts.
    pub const fn sure(action: Action) -> Self {
        Self { action, counts_before: true }
    }
}

// How often a state explores while its better action is in doubt, and after.
const IN_DOUBT: Chance = Chance(u64::MAX / 2);
const SETTLED: Chance = Chance(u64::MAX / 50);

#[inline]
const fn coin(bits: u64) -> Action {
    if bits >> 63 == 0 { Action::Hit } else { Action::Stand }
}

// Whether the two means are within two standard errors of each other.
#[expect(clippy::cast_precision_loss, reason = "a rule of thumb; which action is better is decided in whole numbers")]
fn in_doubt(Entry { hit, stand }: Entry) -> bool {
    // A reward varies by 1 at most, so the squared standard error of a mean is at most 1/n.
    let (m, n) = (hit.n as f64, stand.n as f64);
    let difference = hit.sum as f64 * n - stand.sum as f64 * m;
    hit.n == 0 || stand.n == 0 || difference * difference < 4.0 * (m + n) * m * n
}

/// How many rounds ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// Won.
    pub wins: u64,
    /// Neither won nor lost.
    pub pushes: u64,
    /// Lost to a better hand.
    pub losses: u64,
    /// Lost by going over 21.
    pub busts: u64,
}

impl Score {
    /// Counts one more.
    #[inline]
    pub const fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Win => self.wins += 1,
            Verdict::Push => self.pushes += 1,
            Verdict::Loose => self.losses += 1,
            Verdict::Bust => self.busts += 1,
        }
    }

    /// All rounds.
    pub const fn rounds(&self) -> u64 {
        self.wins + self.pushes + self.losses + self.busts
    }

    /// Mean reward of a round; 0 for no rounds.
    #[expect(clippy::cast_precision_loss, reason = "a mean for people to read")]
    pub fn mean(&self) -> f64 {
        (self.wins as f64 - (self.losses + self.busts) as f64) / self.rounds().max(1) as f64
    }

    /// The mean squared deviation of a round's reward from the mean.
    #[expect(clippy::cast_precision_loss, reason = "a deviation for people to read")]
    pub fn variance(&self) -> f64 {
        let decided = (self.wins + self.losses + self.busts) as f64 / self.rounds().max(1) as f64;
        decided - self.mean() * self.mean()
    }

    /// Half the width of the 95 % confidence interval around the mean reward; none below two rounds.
    #[expect(clippy::cast_precision_loss, reason = "a width for people to read")]
    pub fn half_width(&self) -> Option<f64> {
        let rounds = self.rounds() as f64;
        (rounds >= 2.0).then(|| 1.96 * square_root(self.variance() / (rounds - 1.0)))
    }
}

// By Newton's method, since the square root of the processor is not part of `core`.
fn square_root(of: f64) -> f64 {
    if of <= 0.0 {
        return 0.0;
    }
    (0..64).fold(of.max(1.0), |root, _| f64::midpoint(root, of / root))
}

impl core::ops::AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        self.wins += other.wins;
        self.pushes += other.pushes;
        self.losses += other.losses;
        self.busts += other.busts;
    }
}

/// The decisions of a round, which are learned from once its result is known.
#[derive(Debug, Clone)]
pub struct Episode {
    decisions: [Option<(State, Action)>; MAX_HAND],
    count: usize,
    // The first that counts.
    from: usize,
}

impl Default for Episode {
    fn default() -> Self {
        Self::new()
    }
}

impl Episode {
    /// No decisions.
    pub const fn new() -> Self {
        Self { decisions: [None; MAX_HAND], count: 0, from: 0 }
    }

    /// Forgets all decisions.
    #[inline]
    pub const fn clear(&mut self) {
        self.count = 0;
        self.from = 0;
    }

    /// Takes in the next decision. More than a hand can take are left out.
    #[inline]
    pub fn record(&mut self, state: State, choice: Choice) {
        if !choice.counts_before {
            self.from = self.count;
        }
        if let Some(decision) = self.decisions.get_mut(self.count) {
            *decision = Some((state, choice.action));
            self.count += 1;
        }
    }

    /// Learns from the decisions that count, in order, each with the reward of the round.
    #[inline]
    pub fn teach(&self, table: &mut QTable, verdict: Verdict) {
        let counted = self.decisions.get(self.from..self.count).unwrap_or_default();
        for &(state, action) in counted.iter().flatten() {
            table.learn(state, action, verdict.reward());
        }
    }
}

/// A learner that deals to itself: a table, a deck and a generator of random numbers.
///
/// The same generator and the same number of rounds give the same table, whether they are played at once or in parts.
// Two trainers that lie side by side and are used by two threads would slow each other down in a common cache line.
#[repr(align(128))]
#[derive(Debug, Clone)]
pub struct Trainer<R> {
    table: QTable,
    explore: Explore,
    deck: Deck,
    episode: Episode,
    rng: R,
}

impl Trainer<Pcg64Mcg> {
    /// A learner that goes on from `table` with the random numbers of a seed. Each `worker` that learns beside others gets
    /// numbers of its own, and so does each stretch of training: going on from a table with the seed that it was trained
    /// with does not play the same rounds again.
    pub fn seeded(table: QTable, explore: Explore, seed: u64, worker: u32) -> Self {
        // Odd multipliers spread the worker and the decisions so far over all bits; the generator's own seeding mixes them.
        let stretch = table.visited().fold(0_u64, |sum, (_, entry)| sum.wrapping_add(entry.visits()));
        let seed =
            seed ^ u64::from(worker).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ stretch.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self::new(table, explore, Pcg64Mcg::seed_from_u64(seed))
    }
}

impl<R: Rng> Trainer<R> {
    /// A learner that goes on from `table`.
    pub const fn new(table: QTable, explore: Explore, rng: R) -> Self {
        Self { table, explore, deck: Deck::new(), episode: Episode::new(), rng }
    }

    /// What is learned so far.
    pub const fn table(&self) -> &QTable {
        &self.table
    }

    /// What was learned.
    pub fn into_table(self) -> QTable {
        self.table
    }

    /// Plays rounds and learns from each.
    ///
    /// # Errors
    /// [`DeckEmpty`] never comes, since no round takes 52 cards; it is passed on rather than hidden.
    pub fn play(&mut self, rounds: u64) -> Result<Score, DeckEmpty> {
        // A loop of its own for each kind, so that nothing is decided twice.
        match self.explore {
            Explore::Random => self.rounds(rounds, Explore::Random),
            Explore::Epsilon(chance) => self.rounds(rounds, Explore::Epsilon(chance)),
            Explore::Doubt => self.rounds(rounds, Explore::Doubt),
        }
    }

    #[expect(clippy::inline_always, reason = "one loop for each way to explore; half the speed is lost otherwise")]
    #[inline(always)]
    fn rounds(&mut self, rounds: u64, explore: Explore) -> Result<Score, DeckEmpty> {
        // Counted by place, since how a round ends is what no processor foresees in a branch.
        let mut counts = [0; 4];
        match self.table.space() {
            StateSpace::Coarse => {
                for _ in 0..rounds {
                    counts[self.round(StateSpace::Coarse, explore)? as usize] += 1;
                }
            }
            StateSpace::Soft => {
                for _ in 0..rounds {
                    counts[self.round(StateSpace::Soft, explore)? as usize] += 1;
                }
            }
        }
        let of = |verdict: Verdict| counts[verdict as usize];
        let [wins, pushes, losses, busts] = [Verdict::Win, Verdict::Push, Verdict::Loose, Verdict::Bust].map(of);
        Ok(Score { wins, pushes, losses, busts })
    }

    #[expect(clippy::inline_always, reason = "see `rounds`")]
    #[inline(always)]
    fn round(&mut self, space: StateSpace, explore: Explore) -> Result<Verdict, DeckEmpty> {
        let Self { table, deck, episode, rng, .. } = self;
        deck.gather();
        episode.clear();
        let first = deck.draw(rng)?.value();
        let hole = deck.draw(rng)?.value();
        let second = deck.draw(rng)?.value();
        let upcard = deck.draw(rng)?.value();
        let mut points = Points::EMPTY.with(first).with(second);
        while !points.is_bust() {
            let state = State::of(space, points, upcard);
            let choice = explore.choose(table, state, rng);
            episode.record(state, choice);
            if choice.action == Action::Stand {
                break;
            }
            points = points.with(deck.draw(rng)?.value());
        }
        let mut dealer = Points::EMPTY.with(hole).with(upcard);
        if !points.is_bust() {
            while dealer.dealer_hits() {
                dealer = dealer.with(deck.draw(rng)?.value());
            }
        }
        let verdict = Verdict::of(points.total(), dealer.total());
        episode.teach(table, verdict);
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn training_in_parts_is_training_at_once() {
        for explore in [Explore::Random, Explore::Epsilon(Chance::new(0.1).unwrap()), Explore::Doubt] {
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

    #[test]
    fn chances_are_probabilities() {
        assert_eq!([Chance::new(-0.1), Chance::new(1.1), Chance::new(f64::NAN)], [None; 3]);
        let (never, always) = (Chance::new(0.0).unwrap(), Chance::new(1.0).unwrap());
        assert!(!never.falls(0) && always.falls(u64::MAX));
        let tenth = Chance::new(0.1).unwrap();
        assert!(tenth.falls(u64::MAX / 11) && !tenth.falls(u64::MAX / 9));
    }

    #[test]
    fn only_random_training_hits_21() {
        for (explore, hits) in
            [(Explore::Random, true), (Explore::Epsilon(Chance::new(1.0).unwrap()), false), (Explore::Doubt, false)]
        {
            let mut trainer = Trainer::new(QTable::new(StateSpace::Coarse), explore, Pcg64::seed_from_u64(1));
            trainer.play(10_000).unwrap();
            let hit_21 = trainer.table().visited().any(|(state, entry)| state.total() == 21 && entry.hit.n > 0);
            assert_eq!(hit_21, hits, "{explore:?}");
        }
    }

    #[test]
    fn every_round_leaves_one_last_decision_at_least() {
        // Each round ends with exactly one STAND or one HIT that busts, so these add up to the rounds.
        let mut trainer = Trainer::new(QTable::new(StateSpace::Coarse), Explore::Random, Pcg64::seed_from_u64(2));
        let score = trainer.play(20_000).unwrap();
        let stands: u64 = trainer.table().visited().map(|(_, entry)| entry.stand.n).sum();
        assert_eq!(stands + score.busts, score.rounds());
        assert!((score.mean() + 0.392_658).abs() < 4.5 * 0.9 / 20_000_f64.sqrt(), "{}", score.mean());
    }

    #[test]
    fn roots_are_roots() {
        for of in [0.0, 1e-12, 0.25, 2.0, 1e12] {
            assert!((square_root(of) - of.sqrt()).abs() <= 1e-9 * of.sqrt(), "{of}");
        }
    }
}
