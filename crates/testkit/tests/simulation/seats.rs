//! Stream clients that reconnect under a new number.

use std::time::Duration;

use netcore::Time;

/// The client at each seat, and when it reconnects.
pub(super) struct Seats {
    away: Duration,
    clients: Vec<(u8, Option<Time>)>,
    next: u8,
}

pub(super) struct Reconnect {
    pub(super) seat: u8,
    pub(super) before: u8,
    pub(super) number: u8,
}

impl Seats {
    /// Clients reconnect after `away`, and are numbered from 1.
    pub(super) fn new(count: u8, away: Duration) -> Self {
        Self { away, clients: (1..=count).map(|number| (number, None)).collect(), next: count + 1 }
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u8> {
        self.clients.iter().map(|&(number, _)| number)
    }

    pub(super) fn number(&self, seat: u8) -> u8 {
        self.clients[usize::from(seat)].0
    }

    /// Records lost connections, and returns the clients that reconnect now.
    pub(super) fn reconnecting(&mut self, now: Time, is_gone: impl Fn(u8) -> bool) -> Vec<Reconnect> {
        let mut reconnecting = vec![];
        for seat in 0..self.clients.len() {
            let (before, back_at) = self.clients[seat];
            if !is_gone(before) {
                continue;
            }
            match back_at {
                None => self.clients[seat].1 = Some(now.plus(self.away)),
                Some(at) if at <= now => {
                    let number = self.free_number();
                    self.clients[seat] = (number, None);
                    reconnecting.push(Reconnect { seat: u8::try_from(seat).unwrap(), before, number });
                }
                Some(_) => {}
            }
        }
        reconnecting
    }

    pub(super) fn times(&self) -> impl Iterator<Item = Time> {
        self.clients.iter().filter_map(|&(_, back_at)| back_at)
    }

    fn free_number(&mut self) -> u8 {
        loop {
            let number = self.next;
            self.next = self.next.checked_add(1).unwrap_or(1);
            if self.numbers().all(|taken| taken != number) {
                return number;
            }
        }
    }
}
