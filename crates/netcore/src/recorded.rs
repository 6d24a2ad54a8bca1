//! Recordings of matches.

use alloc::borrow::Cow;
use core::fmt::Debug;
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::{Engine, Protocol};

/// An engine whose matches can be recorded, replayed and resumed.
///
/// Its [`Setup`](Recorded::Setup) and its inputs in order determine a match. A [`State`](Recorded::State) only saves
/// time: a replay that starts from it skips the inputs before it.
///
/// Both are read from files. [`from_setup`](Recorded::from_setup) validates a setup like a message from a peer. A state
/// is not validated: the caller has compared its digest with the recorded one, so this program wrote it.
pub trait Recorded: Engine<Protocol: Protocol<Decoder: Serialize + DeserializeOwned + Send + 'static>> + Sized {
    /// The game's name in lower case, as in `nuggets`.
    const GAME: &'static str;

    /// The version of the rules. Raise it whenever the same setup and inputs lead to other outputs or another state, or
    /// the encoding changes. A match can be resumed only under the version that recorded it.
    const RULES: u32;

    /// The oldest version whose recordings can be replayed with the same outputs. The digests of its states may differ.
    const OLDEST_RULES: u32 = Self::RULES;

    /// The encoded defaults of the fields that later versions added at the end of the setup, for recordings without
    /// these fields.
    const SETUP_DEFAULTS: &'static [u8] = &[];

    /// What an engine is made from, including seed and map.
    type Setup: Serialize + DeserializeOwned + Clone + Debug;

    /// The state as plain data, without what can be computed from the rest.
    type State: Serialize + DeserializeOwned + Send + 'static;

    /// The setup of this engine.
    fn setup(&self) -> Self::Setup;

    /// A new engine that has processed no input.
    fn from_setup(setup: Self::Setup) -> Result<Self, StateError>;

    /// The current state. Cheap enough to call in the middle of a game: large parts are shared, not copied.
    fn state(&self) -> Self::State;

    /// Restores the engine that had this state, which is not validated.
    ///
    /// # Errors
    /// [`StateError`] when the setup is not valid, or the state does not fit the setup.
    fn restore(setup: Self::Setup, state: Self::State) -> Result<Self, StateError>;
}

/// The error for a recorded setup or state that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct StateError(pub Cow<'static, str>);

impl From<&'static str> for StateError {
    fn from(what: &'static str) -> Self {
        Self(Cow::Borrowed(what))
    }
}

impl From<alloc::string::String> for StateError {
    fn from(what: alloc::string::String) -> Self {
        Self(Cow::Owned(what))
    }
}
