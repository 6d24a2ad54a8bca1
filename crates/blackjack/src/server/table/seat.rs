use alloc::{collections::VecDeque, format, string::String, vec, vec::Vec};
use core::mem;
use netcore::{Outbox, PeerId, Time};
use serde::{Deserialize, Serialize};

use crate::{
    cards::Card,
    config::Config,
    hand::Hand,
    protocol::{DealerMessage, Dialect},
    verdict::Verdict,
    view::View,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct SentParts {
    begun: bool,
    cards: usize,
    // The number of cards at the last question.
    asked: usize,
    verdict: bool,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Last {
    hand: Hand,
    upcard: Card,
    verdict: Verdict,
    told: bool,
}

/// A seat at a table. The name of its player is part of the game.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Seat {
    pub(super) peer: PeerId,
    dialect: Dialect,
    sent: SentParts,
    // Sent again to a client that has lost its state.
    last: Option<Last>,
    // At most the messages from a result to the next question, and QUIT.
    queue: VecDeque<DealerMessage>,
    // The question has been sent but not answered.
    pub(super) asked: bool,
    // The client has closed its sending half.
    pub(super) mute: bool,
    // Only the queued messages up to QUIT remain.
    pub(super) leaving: bool,
    free_at: Time,
    due: Option<Time>,
}

impl Seat {
    pub(super) fn new(now: Time, peer: PeerId, dialect: Dialect) -> Self {
        Self {
            peer,
            dialect,
            sent: SentParts::default(),
            last: None,
            queue: VecDeque::new(),
            asked: false,
            mute: false,
            leaving: false,
            free_at: now,
            due: None,
        }
    }

    pub(super) fn queue_view(&mut self, view: View<'_>) {
        if self.leaving {
            return;
        }
        if !mem::replace(&mut self.sent.begun, true) {
            self.queue.push_back(DealerMessage::Begin);
        }
        for &card in view.cards.get(self.sent.cards..).unwrap_or_default() {
            self.queue.push_back(DealerMessage::Card(card));
            self.sent.cards += 1;
            if self.sent.cards == 2 {
                self.queue.push_back(DealerMessage::Upcard(view.upcard));
            }
        }
        if view.asked && self.sent.asked != view.cards.len() {
            self.sent.asked = view.cards.len();
            self.queue.push_back(DealerMessage::Decision);
        }
        if let Some(verdict) = view.verdict
            && !mem::replace(&mut self.sent.verdict, true)
        {
            self.queue.push_back(DealerMessage::Result(verdict));
            self.last = Hand::of(view.cards).map(|hand| Last { hand, upcard: view.upcard, verdict, told: false });
        }
    }

    pub(super) fn reset_round(&mut self) {
        self.sent = SentParts::default();
    }

    /// Sends the last round again, without pauses: only links with message boundaries need it.
    pub(super) fn resend_last_round(&mut self, out: &mut Outbox) -> Vec<DealerMessage> {
        let Some(Last { hand, upcard, verdict, told }) = self.last.as_mut().filter(|_| !self.leaving) else {
            return vec![];
        };
        *told = true;
        let (first, others) = hand.cards().split_at(hand.cards().len().min(2));
        let mut messages = vec![DealerMessage::Begin];
        messages.extend(first.iter().copied().map(DealerMessage::Card));
        messages.push(DealerMessage::Upcard(*upcard));
        messages.extend(others.iter().copied().map(DealerMessage::Card));
        messages.push(DealerMessage::Result(*verdict));
        for message in &messages {
            out.send(self.peer, message.to_bytes(self.dialect));
        }
        messages
    }

    /// Sends the current round again. An open question keeps its deadline: otherwise a client that repeatedly loses its
    /// state would never have to answer.
    pub(super) fn resend_round(&mut self, now: Time, view: Option<View<'_>>, config: &Config) {
        if self.leaving {
            return;
        }
        self.queue.clear();
        self.sent = SentParts::default();
        self.asked = false;
        if view.is_some_and(|view| view.asked) {
            self.due.get_or_insert(now.plus(config.timeout));
        }
        self.free_at = self.free_at.max(now);
        if let Some(view) = view {
            self.queue_view(view);
        }
    }

    pub(super) const fn answered(&mut self, now: Time) {
        self.asked = false;
        self.due = None;
        self.free_at = now;
    }

    /// Cancels the round. A queued result belongs to the previous round and stays queued.
    pub(super) fn call_off(&mut self) {
        let results = self.queue.iter().rposition(|message| matches!(message, DealerMessage::Result(_)));
        self.queue.truncate(results.map_or(0, |last| last + 1));
        self.sent = SentParts::default();
        self.asked = false;
        self.due = None;
    }

    /// The unsent result, at most one, since the player must answer before the next.
    pub(super) fn unsent_verdict(&self) -> Option<Verdict> {
        self.last.filter(|last| !last.told).map(|last| last.verdict)
    }

    pub(super) fn leave(&mut self) {
        self.leaving = true;
        self.sent = SentParts::default();
        self.last = None;
        self.asked = false;
        self.due = None;
        self.queue.push_back(DealerMessage::Quit);
    }

    pub(super) fn leave_now(&mut self, now: Time) {
        self.queue.clear();
        self.leave();
        self.free_at = now;
    }

    fn is_paced(&self, config: &Config) -> bool {
        self.dialect == Dialect::Text && !config.delay.is_zero()
    }

    pub(super) fn flush(&mut self, now: Time, config: &Config, out: &mut Outbox) -> Option<DealerMessage> {
        let paced = self.is_paced(config);
        if paced && self.free_at > now {
            return None;
        }
        let message = self.queue.pop_front()?;
        if paced {
            self.free_at = now.plus(config.delay);
        }
        if message == DealerMessage::Decision {
            self.asked = true;
            self.due.get_or_insert(now.plus(config.timeout));
        }
        if let (DealerMessage::Result(_), Some(last)) = (message, &mut self.last) {
            last.told = true;
        }
        out.send(self.peer, message.to_bytes(self.dialect));
        Some(message)
    }

    pub(super) fn is_late(&self, now: Time) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        let free = (!self.queue.is_empty()).then_some(self.free_at);
        free.into_iter().chain(self.due).min()
    }
}

pub(super) fn label(table: u32, seat: usize) -> String {
    seat_label(table, seat + 1)
}

/// The label of a seat in [`GameEvent`](netcore::GameEvent)s. Table and seat are counted from 1.
pub fn seat_label(table: u32, seat: usize) -> String {
    format!("table {table}, seat {seat}")
}
