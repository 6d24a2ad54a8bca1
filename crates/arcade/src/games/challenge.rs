//! The daily challenge of a game: one match of a person against the same bots, for all players of a day.

use bytes::Bytes;
use netcore::{Level, Standing};

/// The bots of a challenge.
pub(crate) const BOTS: u8 = 3;
pub(crate) const LEVEL: Level = Level::Normal;
/// The class of its matches.
pub(crate) const CHALLENGE: &str = "challenge";

/// Computes the score of a player from a match.
pub(crate) trait Tally: std::fmt::Debug + Send {
    /// Processes a message of the server, which may be repeated for each client.
    fn receive(&mut self, _frame: &Bytes) {}

    /// Higher is better.
    fn score(&self, standing: &Standing) -> i64;
}

/// The score of the result.
#[derive(Debug, Default)]
pub(crate) struct ResultScore;

impl Tally for ResultScore {
    fn score(&self, standing: &Standing) -> i64 {
        standing.score
    }
}
