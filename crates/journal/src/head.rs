//! What a journal says of its match before anything arrives.

use std::net::SocketAddr;

use netcore::{Recorded, StateError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Snapshot, codec, spool};

/// The first record of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Head {
    /// A number that no other journal has.
    pub id: u64,
    /// The game, as in `nuggets`.
    pub game: String,
    /// The version of the game's rules; see [`Recorded::RULES`].
    pub rules: u32,
    /// The version of the program that began it.
    pub program: String,
    /// When it was begun, in seconds since 1970 began (UTC).
    pub begun: u64,
    /// Where the server listened.
    pub listen: Vec<SocketAddr>,
    /// The state that it begins with, if it is a part of a longer journal.
    pub base: Option<Snapshot>,
    /// What the game was set up with.
    setup: Vec<u8>,
}

/// A journal that this program cannot go on with, or replay.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HeadError {
    /// It is of another game.
    #[error("it is a journal of {found}, not of {expected}; the server of {found} goes on with it")]
    Game {
        /// The game.
        found: String,
        /// The game that it should be.
        expected: &'static str,
    },
    /// It is of other rules.
    #[error(
        "it was written by version {program} with rules {found} of {game}, and this program plays by rules {expected}; use the \
         version that wrote it"
    )]
    Rules {
        /// The game.
        game: &'static str,
        /// The program that wrote it.
        program: String,
        /// Its rules.
        found: u32,
        /// The rules that they should be.
        expected: u32,
    },
    /// No game can be set up so.
    #[error("no game can be set up with what it says: {0}")]
    Setup(String),
}

impl From<StateError> for HeadError {
    fn from(error: StateError) -> Self {
        Self::Setup(error.to_string())
    }
}

impl Head {
    /// The head of a match that begins now.
    pub fn new<E: Recorded>(engine: &E, program: &str, listen: Vec<SocketAddr>, begun: u64) -> Self {
        let mut setup = vec![];
        codec::encode(&engine.setup(), &mut setup);
        Self {
            id: spool::new_id(),
            game: E::GAME.to_owned(),
            rules: E::RULES,
            program: program.to_owned(),
            begun,
            listen,
            base: None,
            setup,
        }
    }

    /// The head of a match of a game that there is not.
    #[cfg(test)]
    pub(crate) fn test(listen: Vec<SocketAddr>, setup: Vec<u8>) -> Self {
        let (game, program) = ("chess".to_owned(), "1.2.3".to_owned());
        Self { id: 9, game, rules: 7, program, begun: 1_763_793_471, listen, base: None, setup }
    }

    /// What the game was set up with.
    ///
    /// # Errors
    /// [`HeadError`] when it is another game, or the same with other rules.
    pub fn setup<E: Recorded>(&self) -> Result<E::Setup, HeadError> {
        if self.game != E::GAME {
            return Err(HeadError::Game { found: self.game.escape_debug().to_string(), expected: E::GAME });
        }
        if self.rules != E::RULES {
            let program = self.program.escape_debug().to_string();
            return Err(HeadError::Rules { game: E::GAME, program, found: self.rules, expected: E::RULES });
        }
        codec::decode_all(&self.setup).map_err(HeadError::Setup)
    }
}
