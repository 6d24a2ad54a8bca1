//! Results of matches in a database.
//!
//! SQLite, one file, is the default; PostgreSQL is for hosts who have outgrown it. Both run the same migrations and the same
//! queries, and the same tests.
//!
//! - [`Store`] is the database. It connects when it is first used, so that a program starts without it. One connection writes and
//!   others read; each statement has a time limit, and an index that answers it.
//! - [`Store::record`] stores a match and counts it on its boards in one transaction. The id of a match is unique, so storing it again
//!   changes nothing.
//! - [`Store::copy_to`] copies all of it into another database of either kind.
//! - The other methods are the questions of the pages: matches, leaderboards, players, and who owns a name.
//!
//! A person is a name and a [`Kind`], because a name without proof may be anybody's.

// What tests share names this crate as those outside of it do.
#[cfg(test)]
extern crate self as store;

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
#[cfg(test)]
mod probe;
mod rating;
mod record;
mod search;
mod season;
#[cfg(test)]
mod tests;

pub use copy::Copied;
pub use database::{READERS, Store};
pub use devices::{MAX_KEYS, NameChanges, Redeemed, Replaced};
pub use error::{StoreError, Trouble};
pub use inspect::Totals;
pub use journals::{EARLIER, JournalNote, Known, Seated, unix_now};
pub use leaders::{Board, Leader, Order, Score};
pub use matches::{MAX_PAGE, Match, MatchPlayer};
pub use names::{Claim, KEY_HASH_LENGTH, MAX_NAMES};
pub use rating::LADDER;
pub use record::{DAILY, MAX_MEETINGS_A_DAY, RANKED_AFTER};
pub use search::{MAX_MEETINGS, MatchFilter, Ties};
pub use season::{ALL_TIME, day_of, is_season, season_of};

/// How far a name is to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Anybody may have used the name.
    #[default]
    Unproven,
    /// The player has the key of the name's owner.
    Proven,
    /// A bot of the host.
    Bot,
}

impl Kind {
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
