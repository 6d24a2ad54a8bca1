//! Recordings of matches.

use alloc::borrow::Cow;
use core::fmt::Debug;
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::{Engine, Protocol};

/// An engine whose matches can be recorded, replayed and resumed.
///
/// A [`Setup`](Recorded::Setup) and the inputs in order determine a match. A [`State`](Recorded::State) only saves
/// time: a replay from it skips earlier inputs.
///
/// Both are read from files. [`from_setup`](Recorded::from_setup) validates a setup like a message from a peer. A state
/// is not validated: the caller has compared its digest with the recorded one, so this program wrote it.
pub trait Recorded: Engine<Protocol: Protocol<Decoder: Serialize + DeserializeOwned + Send + 'static>> + Sized {
    /// The game's name in lower case, as in `nuggets`.
    const GAME: &'static str;

    /// The version of the rules. Raise it whenever the same setup and inputs lead to other outputs or another state, or
    /// the encoding changes. Only the version that recorded a match can resume it.
    const RULES: u32;

    /// The oldest version whose recordings replay with the same outputs. The digests of its states may differ.
    const OLDEST_RULES: u32 = Self::RULES;

    /// The encoded defaults of setup fields added by later versions, for older recordings.
    const SETUP_DEFAULTS: &'static [u8] = &[];

    /// The arguments of an engine, including seed and map.
    type Setup: Serialize + DeserializeOwned + Clone + Debug;

    /// The state as plain data, without derived data.
    type State: Serialize + DeserializeOwned + Send + 'static;

    /// The setup of this engine.
    fn setup(&self) -> Self::Setup;

    /// A new engine that has processed no input.
    fn from_setup(setup: Self::Setup) -> Result<Self, StateError>;

    /// The current state. Cheap during a game: large parts are shared.
    fn state(&self) -> Self::State;

    /// Restores an engine from its state, which is not validated.
    ///
    /// # Errors
    /// [`StateError`] if the setup is invalid, or the state does not fit it.
    fn restore(setup: Self::Setup, state: Self::State) -> Result<Self, StateError>;
}

/// The error for an invalid setup or state.
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
