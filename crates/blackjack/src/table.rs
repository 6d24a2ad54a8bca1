//! A table: who sits there, round after round, and how they did.
//!
//! Source: the requirements of the course's project, "Tournament": rank by wins; ties by mean reward, then by seat.

mod standings;

use alloc::vec::Vec;
use rand::{SeedableRng, rngs::ChaCha12Rng};

pub use standings::{Row, Standings};

use crate::{
    cards::Deck,
    learn::Score,
    protocol::Name,
    round::{Action, Round, RoundError, View},
};

/// The most rounds that a table plays.
pub const MAX_ROUNDS: u32 = 1_000_000_000;

/// Where the cards of a dealer come from: the key of a `ChaCha` generator, so that cards that were seen do not give away
/// those that come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A key from the operating system's entropy: what to play with.
    pub const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The key for a number, which makes games that can be repeated, and guessed by trying numbers: for tests.
    pub fn from_number(number: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        Self(key)
    }

    /// The generator of a table. Each has a stream of its own, so that its cards do not depend on what goes on at others.
    pub fn generator(self, table: u32) -> ChaCha12Rng {
        let mut rng = ChaCha12Rng::from_seed(self.0);
        rng.set_stream(u64::from(table));
        rng
    }
}

// A key that is printed is no secret any more.
impl core::fmt::Debug for Seed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Seed(..)")
    }
}

#[derive(Debug, Clone)]
struct Seat {
    name: Name,
    score: Score,
    forfeits: u64,
    present: bool,
}

/// A table on which a number of rounds is played.
#[derive(Debug)]
pub struct Table {
    seats: Vec<Seat>,
    rounds: u32,
    played: u32,
    deck: Deck,
    rng: ChaCha12Rng,
    round: Round,
}

impl Table {
    /// A table whose first round is dealt to everybody named.
    ///
    /// # Errors
    /// [`RoundError::Seats`] unless there are one to six names.
    pub fn new(names: Vec<Name>, rounds: u32, mut rng: ChaCha12Rng) -> Result<Self, RoundError> {
        let seats: Vec<Seat> =
            names.into_iter().map(|name| Seat { name, score: Score::default(), forfeits: 0, present: true }).collect();
        let mut deck = Deck::new();
        let round = deal(&mut deck, &seats, &mut rng)?;
        Ok(Self { seats, rounds, played: 0, deck, rng, round })
    }

    /// The round that is played, or the last one.
    pub const fn round(&self) -> &Round {
        &self.round
    }

    /// Rounds that are over.
    pub const fn played(&self) -> u32 {
        self.played
    }

    /// Whether no round is left to be played, or nobody to play it.
    pub fn is_over(&self) -> bool {
        self.round.is_over() && (self.played >= self.rounds || self.is_deserted())
    }

    /// Whether nobody sits there any more.
    pub fn is_deserted(&self) -> bool {
        !self.seats.iter().any(|seat| seat.present)
    }

    /// How a seat did so far.
    pub fn score(&self, seat: usize) -> Option<Score> {
        self.seats.get(seat).map(|seat| seat.score)
    }

    /// What a seat may know of the round.
    pub fn view(&self, seat: usize) -> Option<View<'_>> {
        self.round.view(seat)
    }

    /// Takes in the decision of a seat.
    ///
    /// # Errors
    /// [`RoundError`] when it was not asked; nothing changes then.
    pub fn apply(&mut self, seat: usize, action: Action) -> Result<(), RoundError> {
        self.round.apply(seat, action)?;
        self.count();
        Ok(())
    }

    /// A seat breaks the rules of play or leaves in the middle of its hand: the hand is lost, and no more are dealt to it.
    pub fn forfeit(&mut self, seat: usize) {
        let over = self.round.is_over();
        self.round.forfeit(seat);
        self.leave(seat);
        if !over {
            self.count();
        }
    }

    /// No more hands are dealt to a seat; one that it has played to the end counts.
    pub fn leave(&mut self, seat: usize) {
        if let Some(seat) = self.seats.get_mut(seat) {
            seat.present = false;
        }
    }

    /// Deals the next round to everybody who is there.
    ///
    /// # Errors
    /// [`RoundError::Seats`] when nobody is there.
    pub fn deal(&mut self) -> Result<(), RoundError> {
        self.round = deal(&mut self.deck, &self.seats, &mut self.rng)?;
        Ok(())
    }

    /// How everybody did, best first.
    pub fn standings(&self, table: u32) -> Standings {
        let seats = self.seats.iter().map(|seat| (seat.name.clone(), seat.score, seat.forfeits));
        Standings::new(table, seats.collect())
    }

    // Counts the results of a round that has just ended.
    fn count(&mut self) {
        if !self.round.is_over() {
            return;
        }
        self.played += 1;
        for (number, seat) in self.seats.iter_mut().enumerate() {
            if let Some(verdict) = self.round.view(number).and_then(|view| view.verdict) {
                seat.score.add(verdict);
                seat.forfeits += u64::from(self.round.is_forfeited(number));
            }
        }
    }
}

fn deal(deck: &mut Deck, seats: &[Seat], rng: &mut ChaCha12Rng) -> Result<Round, RoundError> {
    let present: Vec<bool> = seats.iter().map(|seat| seat.present).collect();
    deck.shuffle(rng);
    Round::deal(deck.clone(), &present)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn table(seats: usize, rounds: u32, number: u32) -> Table {
        let names = vec![Name::new(b"Ann").unwrap(); seats];
        Table::new(names, rounds, Seed::from_number(1).generator(number)).unwrap()
    }

    #[test]
    fn a_forfeit_is_a_loss_and_the_seat_is_dealt_no_more() {
        let mut table = table(2, 3, 1);
        table.forfeit(0);
        table.apply(1, Action::Stand).unwrap();
        assert_eq!((table.played(), table.is_over()), (1, false));
        table.deal().unwrap();
        assert_eq!(table.view(0), None);
        table.apply(1, Action::Stand).unwrap();
        let row = |seat| table.standings(1).rows.into_iter().find(|row: &Row| row.seat == seat).unwrap();
        assert_eq!((row(1).score.rounds(), row(1).score.losses, row(1).forfeits), (1, 1, 1));
        assert_eq!((row(2).score.rounds(), row(2).forfeits), (2, 0));
    }

    #[test]
    fn a_table_is_over_when_its_rounds_or_its_players_are_gone() {
        let mut rounds = table(1, 2, 1);
        rounds.apply(0, Action::Stand).unwrap();
        assert!(!rounds.is_over());
        rounds.deal().unwrap();
        assert!(!rounds.is_over());
        rounds.apply(0, Action::Stand).unwrap();
        assert!(rounds.is_over() && !rounds.is_deserted());
        let mut players = table(2, 9, 1);
        players.forfeit(1);
        assert!(!players.is_over());
        players.forfeit(0);
        assert!(players.is_over() && players.is_deserted());
        assert_eq!(players.deal(), Err(RoundError::Seats));
    }

    #[test]
    fn tables_and_seeds_have_cards_of_their_own() {
        let cards = |table: &Table| table.view(0).unwrap().cards.to_vec();
        let (one, same, other) = (table(1, 1, 1), table(1, 1, 1), table(1, 1, 2));
        assert_eq!(cards(&one), cards(&same));
        assert_ne!(cards(&one), cards(&other));
        let names = vec![Name::new(b"Ann").unwrap()];
        let seed = Table::new(names, 1, Seed::from_number(2).generator(1)).unwrap();
        assert_ne!(cards(&one), cards(&seed));
        assert_eq!(alloc::format!("{:?}", Seed::from_number(77)), "Seed(..)");
    }
}
