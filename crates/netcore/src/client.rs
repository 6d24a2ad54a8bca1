//! The client side of a game.

use bytes::Bytes;

use crate::{DisconnectReason, Time};

/// A client of any game: a state machine without a socket, a clock or a screen.
///
/// The view for the user differs from game to game, so each client has its own methods for that.
pub trait Client {
    /// An action of the user.
    type Action;
    /// The error for bytes that are not a message.
    type Error;

    /// Processes received bytes: on a stream any part of it, otherwise one whole message.
    ///
    /// # Errors
    /// When the bytes are not a message. The rest of a stream cannot be read after that.
    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Performs an action of the user. An action that is not possible now has no effect.
    fn act(&mut self, now: Time, action: Self::Action);

    /// The next message for the server: exactly one, in wire format.
    fn take_outgoing(&mut self) -> Option<Bytes>;

    /// When to call [`Client::elapsed`], which moves or removes this deadline. The default is none.
    fn deadline(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }

    /// Reports that the deadline has passed.
    fn elapsed(&mut self, now: Time) {
        let _ = now;
    }

    /// Reports that the connection is gone.
    fn disconnected(&mut self, now: Time, why: DisconnectReason);

    /// Whether the client neither sends nor expects messages any more.
    fn is_over(&self) -> bool;
}
