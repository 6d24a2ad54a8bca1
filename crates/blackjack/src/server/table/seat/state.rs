//! A seat as plain data.

use alloc::collections::VecDeque;
use netcore::{PeerId, StateError, Time};
use serde::{Deserialize, Serialize};

use super::{Last, Seat, Told};
use crate::{
    name::Name,
    protocol::{DealerMessage, Dialect},
    view::View,
};

/// The most messages that wait in the pauses of a text client: a round with all cards that a hand can have, told again from
/// BEGIN, its result, the next round to its question, and QUIT come to 21.
const MAX_UNSENT: usize = 32;

/// Who sits there, and what is on its way to it. Its name is in the game.
#[derive(Serialize, Deserialize)]
pub(in crate::server::table) struct SeatState {
    peer: PeerId,
    dialect: Dialect,
    told: Told,
    last: Option<Last>,
    queue: VecDeque<DealerMessage>,
    asked: bool,
    mute: bool,
    leaving: bool,
    free_at: Time,
    due: Option<Time>,
}

impl Seat {
    pub(in crate::server::table) fn state(&self) -> SeatState {
        let Self { peer, name: _, dialect, told, last, queue, asked, mute, leaving, free_at, due } = self;
        SeatState {
            peer: *peer,
            dialect: *dialect,
            told: *told,
            last: *last,
            queue: queue.clone(),
            asked: *asked,
            mute: *mute,
            leaving: *leaving,
            free_at: *free_at,
            due: *due,
        }
    }

    /// The seat that had this state. `view` is what it may know of the round that is played, if there is one.
    /// Fails with [`StateError`] when no seat with this view can be in it.
    pub(in crate::server::table) fn restore(
        name: Name,
        state: SeatState,
        view: Option<View<'_>>,
    ) -> Result<Self, StateError> {
        let SeatState { peer, dialect, told, last, queue, asked, mute, leaving, free_at, due } = state;
        if queue.len() > MAX_UNSENT {
            return Err("a seat with more messages on their way than there can be".into());
        }
        let seat = Self { peer, name, dialect, told, last, queue, asked, mute, leaving, free_at, due };
        if seat.is_sound(view) { Ok(seat) } else { Err("a seat that was told what it cannot have been told".into()) }
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
