//! The client side of a game.

use bytes::Bytes;

use crate::{DisconnectReason, Time};

/// A game client as a state machine without a socket, a clock or a screen.
///
/// The view for the user differs between games.
pub trait Client {
    /// An action of the user.
    type Action;
    /// The error for bytes that are not a message.
    type Error;

    /// Processes received bytes: any part of a stream, or one whole message.
    ///
    /// # Errors
    /// If the bytes are not a message. The rest of a stream cannot be decoded.
    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Performs an action of the user. An impossible action has no effect.
    fn act(&mut self, now: Time, action: Self::Action);

    /// Takes the next message for the server: exactly one, in wire format.
    fn take_outgoing(&mut self) -> Option<Bytes>;

    /// When to call [`Client::elapsed`], which changes this deadline.
    fn deadline(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }

    /// Reports that the deadline has passed.
    fn elapsed(&mut self, now: Time) {
        let _ = now;
    }

    /// Reports that the connection ended.
    fn disconnected(&mut self, now: Time, why: DisconnectReason);

    /// Whether the client neither sends nor expects further messages.
    fn is_over(&self) -> bool;
}
