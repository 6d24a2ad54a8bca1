use std::{future, io, time::Duration};

use blackjack::{Config, ConfigError, Hand, Seed, Server, game::MAX_ROUNDS};
use bytes::BytesMut;
use clientkit::Wire;
use netcore::{Client as _, EngineRoom, Input, Link as Kind, Outbox, Output, PeerId, Progress, Role, Room, Time};

use crate::session::Session;

const PERSON: PeerId = PeerId(1);

#[derive(Debug)]
pub(crate) enum Link {
    Wire(Wire),
    Practice(Box<Practice>),
}

impl Link {
    pub(crate) fn send_answers(&mut self, session: &mut Session) {
        match self {
            Self::Wire(wire) => {
                session.send_answers(wire);
            }
            Self::Practice(practice) => {
                while let Some(message) = session.client.take_outgoing() {
                    practice.receive(&message);
                }
            }
        }
    }

    /// Returns 0 at the end of the stream. Cancellation safe.
    pub(crate) async fn read(&mut self, bytes: &mut BytesMut) -> io::Result<usize> {
        match self {
            Self::Wire(wire) => wire.read(bytes).await,
            Self::Practice(practice) if practice.unread.is_empty() => future::pending().await,
            Self::Practice(practice) => {
                bytes.extend_from_slice(&practice.unread);
                Ok(std::mem::take(&mut practice.unread).len())
            }
        }
    }

    /// Not in the protocol.
    pub(crate) fn revealed(&self) -> Option<Hand> {
        match self {
            Self::Wire(_) => None,
            Self::Practice(practice) => practice.dealer.engine().tables().next()?.game().revealed().copied(),
        }
    }
}

/// A dealer with one table for one player. Its clock does not advance, so it waits without limit.
#[derive(Debug)]
pub(crate) struct Practice {
    dealer: EngineRoom<Server>,
    heard: BytesMut,
    unread: BytesMut,
}

impl Practice {
    /// Never fails, unless the rules reject a table for one player.
    pub(crate) fn new(seed: Seed) -> Result<Self, ConfigError> {
        let config = Config { delay: Duration::ZERO, ..Config::new(MAX_ROUNDS, seed) };
        let mut practice =
            Self { dealer: EngineRoom::new(Server::new(config)?), heard: BytesMut::new(), unread: BytesMut::new() };
        let address = "practice";
        let connected =
            Input::Connected { peer: PERSON, role: Role::Player, link: Kind::Stream, address: address.into() };
        let mut out = Outbox::new();
        practice.dealer.input(Time::ZERO, connected, &mut out);
        practice.queue_frames(out);
        Ok(practice)
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.heard.extend_from_slice(bytes);
        let mut out = Outbox::new();
        while !self.heard.is_empty()
            && self.dealer.receive(Time::ZERO, PERSON, &mut self.heard, &mut out) == Progress::Decoded
        {}
        self.queue_frames(out);
    }

    fn queue_frames(&mut self, mut out: Outbox) {
        for output in out.drain() {
            if let Output::Send { frame, .. } = output {
                self.unread.extend_from_slice(&frame);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replies(practice: &mut Practice, message: &[u8]) -> String {
        practice.receive(message);
        String::from_utf8(std::mem::take(&mut practice.unread).to_vec()).unwrap()
    }

    #[test]
    fn practice_table_deals_the_cards_of_a_dealer_with_its_seed() {
        // The round that docs/blackjack.md shows byte by byte.
        let mut practice = Practice::new(Seed::from_number(17)).unwrap();
        let deal = "BEGIN\0CARD Four of Clubs\0CARD Eight of Spades\0DEALER Five of Hearts\0DECISION\0";
        assert_eq!(replies(&mut practice, b"JOIN A"), "");
        assert_eq!(replies(&mut practice, b"nn\0"), deal);
        let next = replies(&mut practice, b"STAND\0");
        assert!(next.starts_with("RESULT WIN\0BEGIN\0CARD "), "{next}");
        let revealed = Link::Practice(Box::new(practice)).revealed().unwrap();
        assert_eq!(revealed.cards()[1].name(), "Five of Hearts");
        assert!(revealed.total() > 21, "the hand of twelve has won");
    }
}
