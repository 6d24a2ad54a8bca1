//! What a dealer knows of one client, and what that client is to be told.

use alloc::{collections::VecDeque, string::String};
use core::mem;
use netcore::Time;

use super::{ClientEvent, Event};
use crate::{
    protocol::{DealerMessage, Dialect, Name},
    round::View,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    // Has not joined.
    Stranger,
    Waiting,
    Seated { table: u32, seat: usize },
    // Is sent what is queued for it, the last of which is QUIT.
    Leaving,
}

// What a seat was told of its round.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    pub(super) begun: bool,
    pub(super) cards: usize,
    // With how many cards it was asked last.
    pub(super) asked: usize,
    pub(super) verdict: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) address: String,
    pub(super) name: Option<Name>,
    // Chosen by its first message.
    pub(super) dialect: Dialect,
    pub(super) place: Place,
    pub(super) told: Told,
    // At most the messages from a result to the next question, and QUIT: more is not known before an answer came.
    pub(super) queue: VecDeque<DealerMessage>,
    // The question has left and is not answered.
    pub(super) asked: bool,
    // It has closed its sending half, so it cannot answer any more.
    pub(super) mute: bool,
    // When the next message may leave.
    pub(super) free_at: Time,
    // Until when it has to say something.
    pub(super) due: Option<Time>,
    pub(super) alarm: Option<Time>,
}

impl Client {
    // Somebody who has just come and has until `due` to join.
    pub(super) fn new(address: &str, now: Time, due: Time) -> Self {
        Self {
            address: address.into(),
            name: None,
            dialect: Dialect::Text,
            place: Place::Stranger,
            told: Told::default(),
            queue: VecDeque::new(),
            asked: false,
            mute: false,
            free_at: now,
            due: Some(due),
            alarm: None,
        }
    }

    pub(super) fn event(&self, what: ClientEvent) -> Event {
        Event::Client { address: self.address.clone(), name: self.name.clone(), what }
    }

    // Queues what a seat may know and was not told.
    pub(super) fn tell(&mut self, view: View<'_>) {
        if self.place == Place::Leaving {
            return;
        }
        if !mem::replace(&mut self.told.begun, true) {
            self.queue.push_back(DealerMessage::Begin);
        }
        for &card in view.cards.get(self.told.cards..).unwrap_or_default() {
            self.queue.push_back(DealerMessage::Card(card));
            self.told.cards += 1;
            if self.told.cards == 2 {
                self.queue.push_back(DealerMessage::Upcard(view.upcard));
            }
        }
        if view.asked && self.told.asked != view.cards.len() {
            self.told.asked = view.cards.len();
            self.queue.push_back(DealerMessage::Decision);
        }
        if let Some(verdict) = view.verdict
            && !mem::replace(&mut self.told.verdict, true)
        {
            self.queue.push_back(DealerMessage::Result(verdict));
        }
    }

    // Takes leave once what is queued is out.
    pub(super) fn leave(&mut self) {
        self.place = Place::Leaving;
        self.asked = false;
        self.due = None;
        self.queue.push_back(DealerMessage::Quit);
    }
}
