use std::{
    hash::{BuildHasher, Hasher, RandomState},
    net::SocketAddr,
};

use netcore::{Recorded, StateError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Fact, Facts, Snapshot, codec};

/// The first record of a journal, which describes the match.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Head {
    pub id: u64,
    pub game: String,
    /// See [`Recorded::RULES`].
    pub rules: u32,
    // The version of the program, then the key and the value of each fact, each after a zero byte. Versions without
    // facts treat it all as the version.
    program: String,
    /// Seconds since the Unix epoch.
    pub begun: u64,
    pub listen: Vec<SocketAddr>,
    /// The initial state of an excerpt, a copy, or a segment after the first.
    pub base: Option<Snapshot>,
    setup: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HeadError {
    #[error("it is a journal of {found}, not of {expected}; resume it with the server of {found}")]
    Game { found: String, expected: &'static str },
    #[error(
        "it was written by version {program} with rules {found} of {game}, but this program has rules {expected}; use the \
         version that wrote it"
    )]
    Rules { game: &'static str, program: String, found: u32, expected: u32 },
    #[error("its setup is not valid: {0}")]
    Setup(String),
}

impl From<StateError> for HeadError {
    fn from(error: StateError) -> Self {
        Self::Setup(error.to_string())
    }
}

impl Head {
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

    #[must_use]
    pub fn with_base(mut self, base: Option<Snapshot>) -> Self {
        self.base = base;
        self
    }

    #[cfg(test)]
    pub(crate) fn test(listen: Vec<SocketAddr>, setup: Vec<u8>) -> Self {
        let (game, program) = ("chess".to_owned(), "1.2.3".to_owned());
        Self { id: 9, game, rules: 7, program, begun: 1_763_793_471, listen, base: None, setup }
    }

    #[must_use]
    pub fn with_facts(mut self, facts: &Facts) -> Self {
        self.program.truncate(self.program().len());
        for text in facts.iter().flat_map(|(key, value)| [key, value]) {
            self.program.push('\0');
            self.program.push_str(text);
        }
        self
    }

    pub fn program(&self) -> &str {
        self.program.split('\0').next().unwrap_or_default()
    }

    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        let mut texts = self.program.split('\0').skip(1);
        while let (Some(key), Some(value)) = (texts.next(), texts.next()) {
            Fact { key: key.to_owned(), value: value.to_owned() }.apply_to(&mut facts);
        }
        facts
    }

    /// # Errors
    /// [`HeadError`] if it is of another game, or its rules cannot be replayed.
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

    /// Whether the rules are current, so that the match can be resumed and its digests can be compared.
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

    /// The fields in versions without facts.
    type Before = (u64, String, u32, String, u64, Vec<SocketAddr>, Option<Snapshot>, Vec<u8>);

    #[test]
    fn versions_without_facts_can_read_a_head_with_facts() {
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
