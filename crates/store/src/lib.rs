//! Results of matches in a database.
//!
//! The default is SQLite, in one file. PostgreSQL is for operators who have outgrown it. Both run the same migrations,
//! queries and tests.
//!
//! - [`Store`] connects on first use, so a program can start without the database. One connection writes and others
//!   read. Each statement has a timeout and uses an index.
//! - [`Store::record`] stores a match and counts it on its boards in one transaction. Storing the same match id again
//!   has no effect.
//! - [`Store::copy_to`] copies all data into another database of either kind.
//! - The other methods are the queries of the web pages.
//!
//! A person is a name and a [`PlayerKind`], because anyone may use an unproven name.

#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

// The shared test helpers refer to this crate by its name.
#[cfg(test)]
extern crate self as store;

mod challenges;
mod connection;
mod copy;
mod database;
mod devices;
mod error;
mod inspect;
mod journals;
mod leaders;
mod matches;
mod names;
mod place;
mod rating;
mod record;
mod search;
mod season;
#[cfg(test)]
mod tests;

pub use challenges::{Attempt, Challenge, ChallengeScore};
pub use copy::Copied;
pub use database::{READERS, Store};
pub use devices::{MAX_KEYS, NameChanges, RedeemOutcome, ReplaceOutcome};
pub use error::{StoreError, Trouble};
pub use inspect::Totals;
pub use journals::{EARLIER, JournalNote, RoomTime, SeatRecord, unix_now};
pub use leaders::{Board, Leader, Order, Score};
pub use matches::{MAX_PAGE, Match, MatchPlayer};
pub use names::{Claim, KEY_HASH_LENGTH, MAX_NAMES};
pub use rating::LADDER;
pub use record::{DAILY, MAX_MEETINGS_A_DAY, RANKED_AFTER};
pub use search::{MAX_MEETINGS, MatchFilter, Ties};
pub use season::{ALL_TIME, day_of, is_season, season_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlayerKind {
    /// Any client may have used the name.
    #[default]
    Unproven,
    /// The player has the key of the name's owner.
    Proven,
    Bot,
}

impl PlayerKind {
    pub(crate) const fn number(self) -> i64 {
        match self {
            Self::Unproven => 0,
            Self::Proven => 1,
            Self::Bot => 2,
        }
    }

    pub(crate) const fn from_number(number: i64) -> Self {
        match number {
            1 => Self::Proven,
            2 => Self::Bot,
            _ => Self::Unproven,
        }
    }
}
