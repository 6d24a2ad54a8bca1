//! The shape of a client: a state machine without a socket, a clock or a screen.

use bytes::Bytes;

use crate::{Gone, Time};

/// What a client of any game is to whoever drives it: a terminal, a bot, a browser or a simulation.
///
/// Bytes and time go in by [`receive`](Client::receive), [`elapsed`](Client::elapsed) and [`disconnected`](Client::disconnected),
/// the user's wishes by [`act`](Client::act). Messages for the server come out of [`take_outgoing`](Client::take_outgoing); what there is to
/// see comes from methods of the client's own, since it differs from game to game.
pub trait Client {
    /// What a user can ask for.
    type Action;
    /// Why the server cannot be understood.
    type Error;

    /// Takes in what arrived: one whole message on datagrams and messages, any piece of a stream.
    ///
    /// # Errors
    /// When the bytes make no sense. On a stream nothing behind them can be read.
    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Takes in what the user wants. What has no meaning now changes nothing.
    fn act(&mut self, now: Time, action: Self::Action);

    /// The next message for the server, one whole message as it goes over the wire.
    fn take_outgoing(&mut self) -> Option<Bytes>;

    /// When [`Client::elapsed`] is wanted; after that call it is later, or none.
    fn deadline(&self, now: Time) -> Option<Time>;

    /// Takes in that the deadline has come.
    fn elapsed(&mut self, now: Time);

    /// Takes in that the connection is gone.
    fn disconnected(&mut self, now: Time, why: Gone);

    /// Whether nothing more is to be said or heard.
    fn is_over(&self) -> bool;
}
