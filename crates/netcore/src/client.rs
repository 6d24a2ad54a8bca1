//! The client side of a game: a state machine without a socket, a clock or a screen.

use bytes::Bytes;

use crate::{Gone, Time};

/// A client of any game, as its driver sees it: a terminal, a bot, a browser or a simulation.
///
/// Input: [`receive`](Client::receive), [`act`](Client::act), [`elapsed`](Client::elapsed) and
/// [`disconnected`](Client::disconnected). Output: [`take_outgoing`](Client::take_outgoing) yields the messages for the
/// server. The view for the user differs from game to game, so each client has its own methods for that.
pub trait Client {
    /// An action of the user.
    type Action;
    /// The error for bytes that are not a message.
    type Error;

    /// Processes received bytes: one whole message on datagram and message links, any part of the stream on a stream.
    ///
    /// # Errors
    /// When the bytes are not a message. The rest of a stream cannot be read after that.
    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Performs an action of the user. An action that is not possible now has no effect.
    fn act(&mut self, now: Time, action: Self::Action);

    /// The next message for the server: exactly one, in wire format.
    fn take_outgoing(&mut self) -> Option<Bytes>;

    /// When [`Client::elapsed`] is due. After that call the deadline is later, or there is none. The default is none, for a
    /// client without timers.
    fn deadline(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }

    /// Reports that the deadline has passed.
    fn elapsed(&mut self, now: Time) {
        let _ = now;
    }

    /// Reports that the connection is gone.
    fn disconnected(&mut self, now: Time, why: Gone);

    /// Whether the client has finished: it sends no messages and expects none.
    fn is_over(&self) -> bool;
}
