//! The description of a match at the beginning of its journal.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    net::SocketAddr,
};

use netcore::{Recorded, StateError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Fact, Facts, Snapshot, codec};

/// The first record of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Head {
    /// A random number that identifies the journal.
    pub id: u64,
    /// The name of the game, such as `nuggets`.
    pub game: String,
    /// The version of the rules; see [`Recorded::RULES`].
    pub rules: u32,
    // The version of the program that created it, and then the key and the value of each fact, with a zero byte before
    // each. Versions without facts treat the whole text as the version, which they only print, and write again into
    // later segments and copies.
    program: String,
    /// When it was created, in seconds since the Unix epoch.
    pub begun: u64,
    /// The addresses on which the server listened.
    pub listen: Vec<SocketAddr>,
    /// The initial state, if it is a part of a longer journal: an excerpt, a copy, or a segment after the first.
    pub base: Option<Snapshot>,
    /// The setup of the game.
    setup: Vec<u8>,
}

/// Why this program cannot replay or resume a journal.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HeadError {
    /// It is a journal of another game.
    #[error("it is a journal of {found}, not of {expected}; resume it with the server of {found}")]
    Game {
        /// The game of the journal.
        found: String,
        /// The game of this program.
        expected: &'static str,
    },
    /// It has another version of the rules.
    #[error(
        "it was written by version {program} with rules {found} of {game}, but this program has rules {expected}; use the \
         version that wrote it"
    )]
    Rules {
        /// The game.
        game: &'static str,
        /// The version of the program that wrote it.
        program: String,
        /// Its version of the rules.
        found: u32,
        /// The version of this program's rules.
        expected: u32,
    },
    /// Its setup is not valid.
    #[error("its setup is not valid: {0}")]
    Setup(String),
}

impl From<StateError> for HeadError {
    fn from(error: StateError) -> Self {
        Self::Setup(error.to_string())
    }
}

impl Head {
    /// The head of a match that starts now.
    pub fn new<E: Recorded>(engine: &E, program: &str, listen: Vec<SocketAddr>, begun: u64) -> Self {
        let mut setup = vec![];
        codec::encode(&engine.setup(), &mut setup);
        Self {
            id: RandomState::new().build_hasher().finish(),
            game: E::GAME.to_owned(),
            rules: E::RULES,
            program: program.to_owned(),
            begun,
            listen,
            base: None,
            setup,
        }
    }

    /// The head of a segment or an excerpt that begins with this state.
    #[must_use]
    pub fn with_base(mut self, base: Option<Snapshot>) -> Self {
        self.base = base;
        self
    }

    /// The head of a match of a fictional game.
    #[cfg(test)]
    pub(crate) fn test(listen: Vec<SocketAddr>, setup: Vec<u8>) -> Self {
        let (game, program) = ("chess".to_owned(), "1.2.3".to_owned());
        Self { id: 9, game, rules: 7, program, begun: 1_763_793_471, listen, base: None, setup }
    }

    /// Replaces the facts that hold at the beginning of the journal.
    #[must_use]
    pub fn with_facts(mut self, facts: &Facts) -> Self {
        self.program.truncate(self.program().len());
        for text in facts.iter().flat_map(|(key, value)| [key, value]) {
            self.program.push('\0');
            self.program.push_str(text);
        }
        self
    }

    /// The version of the program that created it.
    pub fn program(&self) -> &str {
        self.program.split('\0').next().unwrap_or_default()
    }

    /// The facts that hold at the beginning of the journal.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        let mut texts = self.program.split('\0').skip(1);
        while let (Some(key), Some(value)) = (texts.next(), texts.next()) {
            Fact { key: key.to_owned(), value: value.to_owned() }.apply_to(&mut facts);
        }
        facts
    }

    /// The setup of the game.
    ///
    /// # Errors
    /// [`HeadError`] when it is of another game, or its rules cannot be replayed.
    pub fn setup<E: Recorded>(&self) -> Result<E::Setup, HeadError> {
        if self.game != E::GAME {
            return Err(HeadError::Game { found: self.game.escape_debug().to_string(), expected: E::GAME });
        }
        if !(E::OLDEST_RULES..=E::RULES).contains(&self.rules) {
            return Err(self.other_rules::<E>());
        }
        let whole = codec::decode_all(&self.setup).map_err(HeadError::Setup);
        whole.or_else(|error| codec::decode_all(&[&self.setup, E::SETUP_DEFAULTS].concat()).map_err(|_| error))
    }

    /// Whether the match was played under the present rules of its game, so that it can be resumed and its digests can
    /// be compared.
    pub fn has_rules_of<E: Recorded>(&self) -> bool {
        self.game == E::GAME && self.rules == E::RULES
    }

    pub(crate) fn other_rules<E: Recorded>(&self) -> HeadError {
        let program = self.program().escape_debug().to_string();
        HeadError::Rules { game: E::GAME, program, found: self.rules, expected: E::RULES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a head in versions without facts.
    type Before = (u64, String, u32, String, u64, Vec<SocketAddr>, Option<Snapshot>, Vec<u8>);

    #[test]
    fn a_head_with_facts_has_the_fields_of_one_without() {
        let facts = Facts::from([("room".into(), "chess-1".into()), ("seat A".into(), "Ann".into())]);
        let head = Head::test(vec![], vec![1]).with_facts(&Facts::from([("x".into(), "y".into())])).with_facts(&facts);
        assert_eq!((head.program(), head.facts()), ("1.2.3", facts));
        let mut bytes = vec![];
        codec::encode(&head, &mut bytes);
        let before: Before = codec::decode_all(&bytes).unwrap();
        assert_eq!((before.3.as_str(), before.7), ("1.2.3\0room\0chess-1\0seat A\0Ann", vec![1]));
        assert_eq!(Head::test(vec![], vec![]).facts(), Facts::new());
    }
}
