//! Which states a seat can be in.

use netcore::StateError;

use super::{Seat, Told};
use crate::{protocol::DealerMessage, view::View};

/// The most messages that wait in the pauses of a text client: a round with all cards that a hand can have, told again from
/// BEGIN, its result, the next round to its question, and QUIT come to 21.
const MAX_UNSENT: usize = 32;

impl Seat {
    /// Fails with [`StateError`] when no seat with this view, of the round that is played if there is one, can be in this state.
    pub(in crate::server::table) fn check(&self, view: Option<View<'_>>) -> Result<(), StateError> {
        if self.queue.len() > MAX_UNSENT {
            return Err("a seat with more messages on their way than there can be".into());
        }
        if self.is_sound(view) { Ok(()) } else { Err("a seat that was told what it cannot have been told".into()) }
    }

    fn is_sound(&self, view: Option<View<'_>>) -> bool {
        let count = |wanted| self.queue.iter().filter(|&&message| message == wanted).count();
        let (quits, questions) = (count(DealerMessage::Quit), count(DealerMessage::Decision));
        let idle = !self.asked && self.due.is_none() && questions == 0;
        let results = self.queue.iter().any(|message| matches!(message, DealerMessage::Result(_)));
        // A last round was dealt two cards, and a result that was not told must be in the queue.
        if self.last.is_some_and(|last| last.hand.cards().len() < 2 || !last.told && !results) {
            return false;
        }
        if self.leaving {
            // Otherwise it would never be let go.
            return idle
                && self.last.is_none()
                && self.told == Told::default()
                && quits == 1
                && self.queue.back() == Some(&DealerMessage::Quit);
        }
        let Some(view) = view else {
            return idle && self.told == Told::default() && quits == 0 && !self.mute;
        };
        let cards = view.cards.len();
        let told = self.told.begun && self.told.cards == cards && !self.told.verdict;
        let turn = if view.asked {
            // The question is out, or it will be: otherwise nobody would ever answer it.
            let out = self.asked && self.due.is_some() && self.queue.is_empty();
            let waits = !self.asked && questions == 1 && self.queue.back() == Some(&DealerMessage::Decision);
            self.told.asked == cards && (out || waits)
        } else {
            idle
        };
        told && turn && quits == 0
    }
}
