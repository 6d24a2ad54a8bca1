use std::{
    io,
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::{History, Progress, Time};
use tracing::debug;

use super::{Key, Listen, QUANTUM, Streams};
use crate::{Answer, BytesTicket, ConnectionEvent, ConnectionId, Delivery, Transport, address::canonical};

impl<L: Listen> Transport for Streams<L> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.current.is_some() || !self.gone.is_empty() || !self.fair.is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.ready.poll(context).map(Ok)
    }

    fn wake_at(&self) -> Option<Time> {
        self.tick_at
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        self.began = now;
        if let Some((id, _)) = self.current {
            return Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.buffer }));
        }
        if let Some((id, why)) = self.gone.pop_front() {
            return Ok(Some(ConnectionEvent::Closed { id, why }));
        }
        if self.tick_at.is_some_and(|at| at <= now) {
            self.tick(now);
            return Ok(Some(ConnectionEvent::Internal));
        }
        let id = match self.ready.next() {
            Some(Key::Listener(index)) => {
                return Ok(Some(self.accept(index, now).unwrap_or(ConnectionEvent::Internal)));
            }
            Some(Key::Connection(id)) if self.fair.is_light(now, id) => id,
            Some(Key::Connection(id)) => {
                // Only its input is queued; its output is written immediately.
                self.write_to(now, id);
                self.fair.wait(id);
                return Ok(Some(ConnectionEvent::Internal));
            }
            None => match self.fair.next() {
                Some(id) => id,
                None => return Ok(None),
            },
        };
        if self.service(id, now) {
            self.current = Some((id, now));
            return Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.buffer }));
        }
        Ok(Some(ConnectionEvent::Internal))
    }

    fn answer(&mut self, now: Time, answer: Answer) {
        match answer {
            Answer::Processed(ticket, progress) => self.processed(now, ticket.id(), &progress),
            Answer::Paused(ticket, until) => self.pause(now, ticket.id(), until),
            Answer::UnknownPeer(..) => {}
        }
    }

    fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        match delivery {
            Delivery::Frame(to, frame) => self.send(to, frame),
            Delivery::Everyone(frame) => self.send_everyone(now, frame),
            Delivery::History(to, history) => self.replay(now, to, history),
            Delivery::Close(id) => self.close(now, id),
        }
    }

    fn flush(&mut self, now: Time) {
        if !self.unwritten.is_empty() {
            self.write_unwritten(now);
        }
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        while self.ready.next().is_some() {}
        self.buffer.clear();
        let Self { connections, shared, buffer, .. } = self;
        let mut all = true;
        for connection in connections.values_mut() {
            all &= connection.finish(now, shared, buffer);
        }
        if all {
            return Poll::Ready(());
        }
        if self.ready.poll(context).is_ready() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl<L: Listen> Streams<L> {
    fn processed(&mut self, now: Time, id: ConnectionId, progress: &Progress) {
        let Some((current, since)) = self.current.filter(|&(current, _)| current == id) else { return };
        self.fair.charge(now, id, now.since(self.began));
        let goes_on = if let Some(connection) = self.connections.get_mut(&current) {
            let goes_on = connection.processed(progress, &mut self.buffer, now.since(since) >= QUANTUM);
            if connection.left_unfinished(now, *progress == Progress::Incomplete) {
                self.watch_time(now);
            }
            goes_on
        } else {
            self.buffer.clear();
            false
        };
        if !goes_on {
            self.current = None;
        }
    }

    fn pause(&mut self, now: Time, id: ConnectionId, until: Time) {
        if self.current.take_if(|(current, _)| *current == id).is_none() {
            return;
        }
        self.fair.charge(now, id, now.since(self.began));
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.pause(until, &mut self.buffer);
            self.watch_time(now);
        } else {
            self.buffer.clear();
        }
    }

    fn send(&mut self, to: ConnectionId, frame: Bytes) {
        let Some(connection) = self.connections.get_mut(&to) else { return };
        let before = connection.queue().own_cost;
        connection.send(&self.shared, frame);
        self.own_cost += connection.queue().own_cost - before;
        if self.unwritten.last() != Some(&to) {
            self.unwritten.push(to);
        }
    }

    fn send_everyone(&mut self, now: Time, frame: &Bytes) {
        if frame.is_empty() {
            return;
        }
        self.shared.push(frame.clone());
        let mut needed = self.shared.end();
        let mut lost = vec![];
        for (&id, connection) in &mut self.connections {
            if let Err(why) = connection.broadcast(now, &self.shared, frame) {
                lost.push((id, why));
            } else if !connection.queue().is_empty(&self.shared) {
                needed = needed.min(connection.queue().place);
            }
        }
        self.shared.drop_before(needed);
        for (id, why) in lost {
            self.lose(now, id, why);
        }
    }

    fn replay(&mut self, now: Time, to: ConnectionId, history: &History) {
        if let Some(connection) = self.connections.get_mut(&to) {
            connection.replay(now, &self.shared, history);
            self.watch_time(now);
        }
    }

    fn close(&mut self, now: Time, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            if let Some(held_back) = self.ended_log.admit(now) {
                debug!(%id, address = %canonical(connection.address), held_back, "closed");
            }
            connection.close(now, &self.shared);
            self.watch_time(now);
        }
    }
}
