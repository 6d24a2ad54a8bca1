//! An automatic client of any game.

use std::time::Duration;

use bytes::Bytes;
use netcore::{Client, Gone, Time};

/// The decisions of a client.
pub(crate) trait Mind<C: Client> {
    /// The next action, if any.
    fn think(&mut self, client: &C) -> Option<C::Action>;
}

/// A client that acts after each pause if it plays, and otherwise observes.
#[derive(Debug)]
pub(crate) struct Bot<C, M> {
    pub(crate) client: C,
    plays: bool,
    pub(crate) mind: M,
    pause: Duration,
    next: Time,
    /// Its connection has ended.
    pub(crate) gone: bool,
}

impl<C, M> Bot<C, M> {
    pub(crate) fn over(client: C, plays: bool, mind: M, now: Time, pause: Duration) -> Self {
        Self { client, plays, mind, pause, next: now.plus(pause), gone: false }
    }
}

impl<C: Client, M: Mind<C>> Client for Bot<C, M> {
    type Action = C::Action;
    type Error = C::Error;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), C::Error> {
        self.client.receive(now, bytes)
    }

    fn act(&mut self, now: Time, action: C::Action) {
        self.client.act(now, action);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.client.take_outgoing()
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        let own = (self.plays && !self.is_over()).then_some(self.next);
        self.client.deadline(now).into_iter().chain(own).min()
    }

    fn elapsed(&mut self, now: Time) {
        if self.client.deadline(now).is_some_and(|due| due <= now) {
            self.client.elapsed(now);
        }
        if self.plays && now >= self.next {
            self.next = now.plus(self.pause);
            if let Some(action) = self.mind.think(&self.client) {
                self.client.act(now, action);
            }
        }
    }

    fn disconnected(&mut self, now: Time, why: Gone) {
        self.gone = true;
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}
