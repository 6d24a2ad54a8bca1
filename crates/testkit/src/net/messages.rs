//! The server's transport for whole messages, one per frame.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netcore::{Link, Time};
use netshell::{Answer, BytesTicket, ConnectionEvent, ConnectionId, Delivery, Transport};

use super::{
    arrived::End,
    lines::{Line, Up},
    world::Shared,
};

/// The server's side of all these connections.
#[derive(Debug)]
pub(super) struct Messages {
    shared: Shared,
    // The message that is passed to the host.
    buffer: BytesMut,
    // Input from connections that the host has paused.
    paused: BTreeMap<ConnectionId, Paused>,
}

#[derive(Debug)]
struct Paused {
    until: Time,
    waiting: VecDeque<Up>,
}

impl Messages {
    pub(super) fn new(shared: Shared) -> Self {
        Self { shared, buffer: BytesMut::new(), paused: BTreeMap::new() }
    }

    // The next event, from connections that are not paused.
    fn take(&mut self, now: Time) -> Option<(ConnectionId, Up)> {
        if let Some((&id, paused)) = self.paused.iter_mut().find(|(_, paused)| paused.until <= now) {
            if let Some(up) = paused.waiting.pop_front() {
                return Some((id, up));
            }
            self.paused.remove(&id);
            return self.take(now);
        }
        loop {
            let mut world = self.shared.lock();
            world.land();
            let (index, up) = world.lines.inbox.pop_front()?;
            drop(world);
            let id = ConnectionId(index as u64);
            match self.paused.get_mut(&id) {
                Some(paused) => paused.waiting.push_back(up),
                None => return Some((id, up)),
            }
        }
    }

    // Sends a message to a client, unless it has disconnected.
    fn push(&self, to: ConnectionId, frame: Bytes, history: bool) {
        let world = &mut *self.shared.lock();
        let Some((index, line)) = line(&mut world.lines.all, to) else { return };
        if let Err(why) = line.push(&mut world.chance, frame, history) {
            world.lines.inbox.push_back((index, Up::Gone(why)));
        }
    }
}

fn line(lines: &mut [Line], id: ConnectionId) -> Option<(usize, &mut Line)> {
    let index = usize::try_from(id.0).ok()?;
    Some((index, lines.get_mut(index)?))
}

impl Transport for Messages {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut world = self.shared.lock();
        if !world.lines.inbox.is_empty() {
            return Poll::Ready(Ok(()));
        }
        world.lines.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn wake_at(&self) -> Option<Time> {
        self.paused.values().map(|paused| paused.until).min()
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        let Some((id, up)) = self.take(now) else { return Ok(None) };
        let mut world = self.shared.lock();
        let Some((_, line)) = line(&mut world.lines.all, id) else { return Ok(None) };
        line.known = true;
        line.away &= !matches!(up, Up::Refreshed);
        let (role, address) = (line.role, line.address);
        drop(world);
        Ok(Some(match up {
            Up::Opened => ConnectionEvent::Opened { id, role, link: Link::Message, address },
            Up::Message(message) => {
                self.buffer.clear();
                self.buffer.extend_from_slice(&message);
                ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.buffer }
            }
            Up::Refreshed => ConnectionEvent::Refreshed { id },
            Up::Gone(why) => ConnectionEvent::Closed { id, why },
        }))
    }

    fn answer(&mut self, _: Time, answer: Answer) {
        let Answer::Paused(ticket, until) = answer else { return };
        let message = Up::Message(self.buffer.split().freeze());
        let paused = self.paused.entry(ticket.id()).or_insert_with(|| Paused { until, waiting: VecDeque::new() });
        paused.until = until;
        paused.waiting.push_front(message);
    }

    fn deliver(&mut self, _: Time, delivery: Delivery<'_>) {
        match delivery {
            Delivery::Frame(to, frame) => self.push(to, frame, false),
            Delivery::Everyone(frame) => {
                let lines = self.shared.lock().lines.all.len();
                (0..lines).for_each(|line| self.push(ConnectionId(line as u64), frame.clone(), false));
            }
            Delivery::History(to, log) => log.frames().for_each(|frame| self.push(to, frame, true)),
            Delivery::Close(id) => {
                let world = &mut *self.shared.lock();
                if let Some((_, line)) = line(&mut world.lines.all, id) {
                    line.end(&mut world.chance, End::Closed);
                }
            }
        }
    }

    fn flush(&mut self, _: Time) {}

    // Queued messages are already in flight, so they arrive even after the server has ended.
    fn poll_flush(&mut self, _: Time, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        let world = &mut *self.shared.lock();
        world.lines.closed = true;
        world.lines.inbox.clear();
        for line in &mut world.lines.all {
            line.end(&mut world.chance, End::Closed);
        }
    }
}
