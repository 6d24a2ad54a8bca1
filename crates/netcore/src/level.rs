//! Levels of bots.

use serde::{Deserialize, Serialize};

/// The strength of a bot, in the same terms for all games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For beginners.
    Easy,
    /// About as strong as a person.
    #[default]
    Normal,
    /// As strong as possible.
    Hard,
}
