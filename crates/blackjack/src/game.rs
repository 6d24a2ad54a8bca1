//! A game: consecutive rounds with the same players, and their results.
//!
//! Source: the requirements of the course's project, "Tournament": rank by wins; ties by mean reward, then by seat.

mod round;

use alloc::{format, string::String, vec::Vec};
use core::{array, fmt};

use netcore::{Outcome, StateError};
use rand::{SeedableRng, TryRng, rngs::ChaCha12Rng};
use serde::{Deserialize, Serialize};

use self::round::RoundState;
use crate::{
    cards::{Card, Deck},
    hand::Hand,
    name::Name,
    verdict::{Score, Verdict},
    view::View,
};

pub use self::round::{Action, MAX_SEATS, Round, RoundError};

/// The maximum number of rounds of a game.
pub const MAX_ROUNDS: u32 = 1_000_000_000;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    name: Name,
    score: Score,
    forfeits: u64,
    present: bool,
}

impl Record {
    const fn is_done(&self, rounds: u32) -> bool {
        self.score.rounds() >= rounds as u64
    }

    const fn wants_cards(&self, rounds: u32) -> bool {
        self.present && !self.is_done(rounds)
    }
}

/// Consecutive rounds with the same players, some of whom may leave.
///
/// A cancelled round counts only for hands forfeited in it, so each seat has its own number of rounds.
#[derive(Clone)]
pub struct Game {
    records: Vec<Record>,
    rounds: u32,
    deck: Deck,
    rng: Generator,
    round: Option<Round>,
    revealed: Option<Hand>,
    // Of the last finished round. Only shown, so not part of the state.
    hands: [Option<Hand>; MAX_SEATS],
}

// Logs must not contain hidden cards or the generator's state.
impl fmt::Debug for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Game").field("records", &self.records).field("rounds", &self.rounds).finish_non_exhaustive()
    }
}

impl Game {
    /// Creates a game and deals the first round to all named players.
    pub fn new(names: Vec<Name>, rounds: u32, mut rng: ChaCha12Rng) -> Result<Self, RoundError> {
        let record = |name| Record { name, score: Score::default(), forfeits: 0, present: true };
        let records: Vec<Record> = names.into_iter().map(record).collect();
        let mut deck = Deck::new();
        let round = deal(&mut deck, &records, rounds, &mut rng)?;
        let hands = [None; MAX_SEATS];
        Ok(Self { records, rounds, deck, rng: Generator(rng), round: Some(round), revealed: None, hands })
    }

    /// The current or last round; `None` after a cancelled round.
    pub const fn round(&self) -> Option<&Round> {
        self.round.as_ref()
    }

    /// The largest number of finished rounds of any seat.
    pub fn played(&self) -> u32 {
        let most = self.records.iter().map(|record| record.score.rounds()).max();
        most.map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// The total number of rounds for each seat.
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// How the game ended: finished if a seat has played all rounds, otherwise deserted; `None` while it continues.
    pub fn outcome(&self) -> Option<Outcome> {
        let any = |is: fn(&Record, u32) -> bool| self.records.iter().any(|record| is(record, self.rounds));
        if self.round.as_ref().is_some_and(|round| !round.is_over()) || any(Record::wants_cards) {
            None
        } else if any(Record::is_done) {
            Some(Outcome::Finished)
        } else {
            Some(Outcome::Deserted)
        }
    }

    pub(crate) fn is_done(&self, seat: usize) -> bool {
        self.records.get(seat).is_some_and(|record| record.is_done(self.rounds))
    }

    pub(crate) fn name(&self, seat: usize) -> Option<&Name> {
        self.records.get(seat).map(|record| &record.name)
    }

    pub(crate) fn is_deserted(&self) -> bool {
        !self.records.iter().any(|record| record.present)
    }

    /// The view of the round from a seat.
    pub fn view(&self, seat: usize) -> Option<View<'_>> {
        self.round.as_ref()?.view(seat)
    }

    /// The dealer's hand of the last finished round, hole card first.
    pub const fn revealed(&self) -> Option<&Hand> {
        self.revealed.as_ref()
    }

    /// The hands of the last finished round by seat; `None` without cards, and in a restored game.
    pub const fn hands(&self) -> &[Option<Hand>; MAX_SEATS] {
        &self.hands
    }

    /// Applies the decision of a seat.
    pub fn apply(&mut self, seat: usize, action: Action) -> Result<(), RoundError> {
        self.round.as_mut().ok_or(RoundError::NotAsked(seat))?.apply(seat, action)?;
        self.count();
        Ok(())
    }

    /// Forfeits the hand of a seat that breaks the rules of play or leaves during its hand, and stops dealing to it.
    pub fn forfeit(&mut self, seat: usize) {
        let round = self.round.as_mut().filter(|round| !round.is_over());
        let counts = round.map(|round| round.forfeit(seat)).is_some();
        self.leave(seat);
        if counts {
            self.count();
        }
    }

    /// Cancels the round, except for forfeited hands. Its cards are not dealt again.
    pub(crate) fn call_off(&mut self) {
        let Some(round) = self.round.take_if(|round| !round.is_over()) else { return };
        for (seat, record) in self.records.iter_mut().enumerate() {
            if round.is_forfeited(seat) {
                record.score.add(Verdict::Lose);
                record.forfeits += 1;
            }
        }
    }

    pub(crate) fn take_back(&mut self, seat: usize, verdict: Verdict) {
        if let Some(record) = self.records.get_mut(seat) {
            record.score.take_back(verdict);
        }
    }

    /// Stops dealing to a seat. Its finished hand counts.
    pub fn leave(&mut self, seat: usize) {
        if let Some(record) = self.records.get_mut(seat) {
            record.present = false;
        }
    }

    /// Deals the next round to all present players with rounds left.
    pub fn deal(&mut self) -> Result<(), RoundError> {
        self.round = Some(deal(&mut self.deck, &self.records, self.rounds, &mut self.rng.0)?);
        Ok(())
    }

    /// The ranking of the players, best first.
    pub fn standings(&self, table: u32) -> Standings {
        let records = self.records.iter().map(|record| (record.name.clone(), record.score, record.forfeits));
        Standings::new(table, records.collect())
    }

    fn count(&mut self) {
        let Some(round) = self.round.as_ref().filter(|round| round.is_over()) else { return };
        self.revealed = round.revealed().copied();
        self.hands = array::from_fn(|seat| round.public_hand(seat).map(|(hand, _)| hand));
        for (seat, record) in self.records.iter_mut().enumerate() {
            if let Some(verdict) = round.view(seat).and_then(|view| view.verdict) {
                record.score.add(verdict);
                record.forfeits += u64::from(round.is_forfeited(seat));
            }
        }
    }
}

fn deal(deck: &mut Deck, records: &[Record], rounds: u32, rng: &mut ChaCha12Rng) -> Result<Round, RoundError> {
    let present: Vec<bool> = records.iter().map(|record| record.wants_cards(rounds)).collect();
    deck.shuffle(rng);
    Round::deal(deck.clone(), &present)
}

/// The state of a game, without the parts in the configuration.
#[derive(Serialize, Deserialize)]
pub(crate) struct GameState {
    records: Vec<Record>,
    deck: Vec<Card>,
    drawn: u64,
    round: Option<RoundState>,
    revealed: Option<Hand>,
}

impl Game {
    pub(crate) fn state(&self) -> GameState {
        GameState {
            records: self.records.clone(),
            deck: self.deck.order().to_vec(),
            // The maximum of 10^9 rounds takes about 2^35 words.
            drawn: u64::try_from(self.rng.0.get_word_pos()).unwrap_or(u64::MAX),
            round: self.round.as_ref().map(Round::state),
            revealed: self.revealed,
        }
    }

    /// `rounds`, `seed` and the table's number must be the original ones. Fails if the round is unreachable.
    pub(crate) fn restore(rounds: u32, (seed, table): (Seed, u32), state: GameState) -> Result<Self, StateError> {
        let GameState { records, deck, drawn, round, revealed } = state;
        let deck = Deck::in_order(&deck).ok_or("a deck without each card once")?;
        let round = round.map(|round| Round::restore(&round, deck.clone())).transpose()?;
        let mut rng = seed.generator(table);
        rng.set_word_pos(drawn.into());
        Ok(Self { records, rounds, deck, rng: Generator(rng), round, revealed, hands: [None; MAX_SEATS] })
    }
}

// The ranking of the players at a table.

/// The results of one seat.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The seat, counted from 1.
    pub seat: usize,
    /// The name of the player.
    pub name: Name,
    /// The results of the rounds. Forfeited hands are losses.
    pub score: Score,
    /// Forfeited hands.
    pub forfeits: u64,
}

/// The ranking of a table, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    /// The table, counted from 1.
    pub table: u32,
    /// One row per seat, ordered by wins, then by mean reward, then by seat.
    pub rows: Vec<Row>,
}

impl Standings {
    fn new(table: u32, seats: Vec<(Name, Score, u64)>) -> Self {
        let row = |(at, (name, score, forfeits))| Row { seat: at + 1, name, score, forfeits };
        let mut rows: Vec<Row> = seats.into_iter().enumerate().map(row).collect();
        // The sort is stable, so ties keep the order of seats.
        rows.sort_by(|one, other| {
            other.score.wins.cmp(&one.score.wins).then(other.score.mean().total_cmp(&one.score.mean()))
        });
        Self { table, rows }
    }

    /// The standings as one line of JSON.
    pub fn to_json(&self) -> String {
        let rows: Vec<String> = self.rows.iter().enumerate().map(|(at, row)| json(at + 1, row)).collect();
        format!("{{\"table\":{},\"seats\":[{}]}}", self.table, rows.join(","))
    }
}

fn json(rank: usize, row: &Row) -> String {
    let Row { seat, name, score, forfeits } = row;
    // Names are printable ASCII, so other characters need no escapes.
    let name = name.as_str().replace('\\', "\\\\").replace('"', "\\\"");
    let Score { wins, pushes, losses, busts } = score;
    let (rounds, mean) = (score.rounds(), score.mean());
    let width = row.score.half_width().map_or_else(|| "null".into(), |width| format!("{width:.6}"));
    format!(
        "{{\"rank\":{rank},\"seat\":{seat},\"name\":\"{name}\",\"rounds\":{rounds},\"wins\":{wins},\"pushes\":{pushes},\
         \"losses\":{losses},\"busts\":{busts},\"forfeits\":{forfeits},\"mean\":{mean:.6},\"ci95\":{width}}}"
    )
}

impl fmt::Display for Standings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.name.as_str().len()).max().unwrap_or(0).max(4);
        write!(f, "Table {}\nrank  seat  {:<width$}", self.table, "name")?;
        write!(f, "      rounds        wins      pushes      losses       busts    forfeits  mean reward (95 %)")?;
        for (at, row) in self.rows.iter().enumerate() {
            let Row { seat, name, score, forfeits } = row;
            let Score { wins, pushes, losses, busts } = score;
            write!(f, "\n{:>4}  {seat:>4}  {name:<width$}  {:>10}", at + 1, score.rounds())?;
            write!(f, "  {wins:>10}  {pushes:>10}  {losses:>10}  {busts:>10}  {forfeits:>10}  {:+.4}", score.mean())?;
            if let Some(width) = row.score.half_width() {
                write!(f, " +/- {width:.4}")?;
            }
        }
        Ok(())
    }
}

// The seed of the cards and their generator.

/// The key of a `ChaCha` generator, whose cards do not reveal later ones.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Creates a seed from a key, which must be random in real games.
    pub const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Creates the seed for a number, for tests: it can be guessed.
    pub fn from_number(number: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        Self(key)
    }

    /// The seed for a number if there is one, otherwise a seed from this entropy.
    pub fn from_number_or<R: TryRng>(number: Option<u64>, entropy: &mut R) -> Result<Self, R::Error> {
        if let Some(number) = number {
            return Ok(Self::from_number(number));
        }
        let mut key = [0; 32];
        entropy.try_fill_bytes(&mut key)?;
        Ok(Self(key))
    }

    /// The generator of a table: a separate stream, independent of other tables.
    pub fn generator(self, table: u32) -> ChaCha12Rng {
        let mut rng = ChaCha12Rng::from_seed(self.0);
        rng.set_stream(u64::from(table));
        rng
    }
}

// Logs must not contain the key.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

struct Generator(ChaCha12Rng);

impl Clone for Generator {
    fn clone(&self) -> Self {
        let mut rng = ChaCha12Rng::from_seed(self.0.get_seed());
        rng.set_stream(self.0.get_stream());
        rng.set_word_pos(self.0.get_word_pos());
        Self(rng)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use std::string::ToString;

    use super::*;

    #[test]
    fn cards_depend_on_table_and_seed() {
        let cards = |seed: u64, table: u32| {
            let names = vec![Name::new(b"Ann").unwrap()];
            let game = Game::new(names, 1, Seed::from_number(seed).generator(table)).unwrap();
            game.view(0).unwrap().cards.to_vec()
        };
        assert_eq!(cards(1, 1), cards(1, 1));
        assert_ne!(cards(1, 1), cards(1, 2));
        assert_ne!(cards(1, 1), cards(2, 1));
        assert_eq!(alloc::format!("{:?}", Seed::from_number(77)), "Seed(..)");
    }

    fn standings(seats: &[(&str, [u64; 4], u64)]) -> Standings {
        let seat = |&(name, [wins, pushes, losses, busts], forfeits): &(&str, [u64; 4], u64)| {
            (Name::new(name.as_bytes()).unwrap(), Score { wins, pushes, losses, busts }, forfeits)
        };
        Standings::new(1, seats.iter().map(seat).collect())
    }

    #[test]
    fn wins_decide_then_the_mean_then_the_seat() {
        let table = standings(&[
            ("Ann", [4, 0, 6, 0], 0),
            ("Bob", [5, 0, 5, 0], 0),
            ("Cy", [4, 2, 2, 2], 0),
            ("Dee", [4, 0, 0, 6], 0),
        ]);
        let order: Vec<usize> = table.rows.iter().map(|row| row.seat).collect();
        assert_eq!(order, [2, 3, 1, 4]);
    }

    #[test]
    fn standings_are_printed_as_table_and_json() {
        let table = standings(&[("Ann", [43, 9, 30, 18], 1), ("a\"b\\", [0, 0, 1, 0], 1)]);
        assert_eq!(
            table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n"),
            "Table 1\n\
             rank  seat  name      rounds        wins      pushes      losses       busts    forfeits  mean reward (95 %)\n   \
             1     1  Ann          100          43           9          30          18           1  -0.0500 +/- 0.1877\n   \
             2     2  a\"b\\           1           0           0           1           0           1  -1.0000"
        );
        assert_eq!(
            table.to_json(),
            r#"{"table":1,"seats":[{"rank":1,"seat":1,"name":"Ann","rounds":100,"wins":43,"pushes":9,"losses":30,"busts":18,"forfeits":1,"mean":-0.050000,"ci95":0.187656},{"rank":2,"seat":2,"name":"a\"b\\","rounds":1,"wins":0,"pushes":0,"losses":1,"busts":0,"forfeits":1,"mean":-1.000000,"ci95":null}]}"#
        );
    }
}
