//! How well a bot plays.

use serde::{Deserialize, Serialize};

/// How well a bot plays, in the same terms for all games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For beginners.
    Easy,
    /// About as well as a person.
    #[default]
    Normal,
    /// As well as it can.
    Hard,
}
