//! Engines whose matches can be written down, replayed and gone on with.

use alloc::borrow::Cow;
use core::fmt::Debug;
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::{Engine, Protocol};

/// An engine whose matches are kept: what it was set up with and its state can be written as plain data and read again.
///
/// An engine is deterministic, so a match is its [`Setup`](Recorded::Setup) and its inputs in their order. A
/// [`State`](Recorded::State) in between only saves time: whoever goes on from it need not replay what came before.
///
/// Both come out of files, which may be damaged or made by somebody who means harm. So [`from_setup`](Recorded::from_setup)
/// and [`restore`](Recorded::restore) check them as they would a message from a peer: no bytes make them panic, now or in
/// later inputs.
pub trait Recorded: Engine<Protocol: Protocol<Decoder: Serialize + DeserializeOwned + Send + 'static>> + Sized {
    /// The game's name in lower case, as in `nuggets`.
    const GAME: &'static str;

    /// The version of the rules. It counts up with every change by which the same set-up and inputs give other outputs or
    /// another digest, or by which a set-up or a state is written in another way: older recordings cannot be replayed then.
    const RULES: u32;

    /// All that it is made from, seed and map included.
    type Setup: Serialize + DeserializeOwned + Clone + Debug;

    /// Its state as plain data, without what can be computed from the rest.
    type State: Serialize + DeserializeOwned + Send + 'static;

    /// What it was made from.
    fn setup(&self) -> Self::Setup;

    /// An engine before its first input.
    ///
    /// # Errors
    /// [`StateError`] when no engine can be set up so.
    fn from_setup(setup: Self::Setup) -> Result<Self, StateError>;

    /// Its state. Cheap enough to be asked for in the middle of a game: large parts are shared, not copied.
    fn state(&self) -> Self::State;

    /// The engine that had this state. Its digest and all that it does from now on are the same.
    ///
    /// # Errors
    /// [`StateError`] when no engine with this set-up can be in that state.
    fn restore(setup: Self::Setup, state: Self::State) -> Result<Self, StateError>;
}

/// A recorded set-up or state that no engine can have.
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
