use std::time::Duration;

use bytes::Bytes;
use netcore::{Client, DisconnectReason, Time};

pub(super) trait Strategy<C: Client> {
    fn next_action(&mut self, client: &C) -> Option<C::Action>;
}

/// Acts after each pause if it plays; otherwise observes.
#[derive(Debug)]
pub(super) struct Bot<C, S> {
    pub(super) client: C,
    plays: bool,
    pub(super) strategy: S,
    pause: Duration,
    next: Time,
    pub(super) gone: bool,
}

impl<C, S> Bot<C, S> {
    pub(super) fn new(client: C, plays: bool, strategy: S, now: Time, pause: Duration) -> Self {
        Self { client, plays, strategy, pause, next: now.plus(pause), gone: false }
    }
}

impl<C: Client, S: Strategy<C>> Client for Bot<C, S> {
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
            if let Some(action) = self.strategy.next_action(&self.client) {
                self.client.act(now, action);
            }
        }
    }

    fn disconnected(&mut self, now: Time, why: DisconnectReason) {
        self.gone = true;
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}
