//! A seat at a table, seen from the player's side: what has come, what it means, and how it went so far.

use anyhow::bail;
use blackjack::{
    DealerMessage, Dialect, Player, StateSpace,
    client::{Event, Heard},
    learn::Score,
};
use tracing::{trace, warn};

use crate::Incoming;

/// Strange things that are told; a dealer that does nothing else must not fill a disk.
const TOLD: u32 = 20;

/// The dealer's stream and what follows from it.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) dialect: Dialect,
    pub(crate) incoming: Incoming,
    pub(crate) player: Player,
    pub(crate) score: Score,
    oddities: u32,
}

impl Seat {
    pub(crate) fn new(dialect: Dialect, space: StateSpace) -> Self {
        let (incoming, player) = (Incoming::new(dialect), Player::new(space));
        Self { dialect, incoming, player, score: Score::default(), oddities: 0 }
    }

    /// What the next message means; none when more bytes are needed.
    ///
    /// # Errors
    /// When the bytes are no message, or one that makes no sense there.
    pub(crate) fn next_event(&mut self) -> anyhow::Result<Option<Event>> {
        match self.incoming.next_message()? {
            Some(message) => self.hear(message).map(Some),
            None => Ok(None),
        }
    }

    /// Takes in a message.
    ///
    /// # Errors
    /// When it makes no sense there.
    pub(crate) fn hear(&mut self, message: DealerMessage) -> anyhow::Result<Event> {
        trace!("< {message}");
        let Heard { event, oddity } = self.player.hear(message)?;
        if let Some(oddity) = oddity {
            self.oddities = self.oddities.saturating_add(1);
            if self.oddities <= TOLD {
                warn!("{oddity}");
            }
            if self.oddities == TOLD {
                warn!("what else is strange about this dealer is not told any more");
            }
        }
        if let Event::Ended { verdict, .. } = event {
            self.score.add(verdict);
        }
        Ok(event)
    }

    /// What it means that nothing more comes, and QUIT has not come.
    ///
    /// # Errors
    /// Always, with the place where the stream ended.
    pub(crate) fn ended(&self) -> anyhow::Result<()> {
        let rounds = self.score.rounds();
        if self.incoming.is_within_message() {
            bail!("the dealer is gone in the middle of the message at byte {}", self.incoming.start());
        }
        bail!("the dealer is gone without QUIT, after {rounds} rounds");
    }
}
