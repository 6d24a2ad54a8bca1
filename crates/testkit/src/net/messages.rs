//! The server's transport for whole messages, one per frame.

use std::{
    io,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use netcore::{Link, Log, Progress, Time};
use netshell::{ConnectionEvent, ConnectionId, Transport};

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
}

impl Messages {
    pub(super) fn new(shared: Shared) -> Self {
        Self { shared, buffer: BytesMut::new() }
    }

    // Sends a message to a client, unless it is gone.
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
        None
    }

    fn next(&mut self, _: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        let mut world = self.shared.lock();
        let Some((index, up)) = world.lines.inbox.pop_front() else { return Ok(None) };
        let id = ConnectionId(index as u64);
        let line = &mut world.lines.all[index];
        line.known = true;
        line.away &= !matches!(up, Up::Refreshed);
        let (role, address) = (line.role, line.address);
        drop(world);
        Ok(Some(match up {
            Up::Opened => ConnectionEvent::Opened { id, role, link: Link::Message, address },
            Up::Message(message) => {
                self.buffer.clear();
                self.buffer.extend_from_slice(&message);
                ConnectionEvent::Bytes { id, bytes: &mut self.buffer }
            }
            Up::Refreshed => ConnectionEvent::Refreshed { id },
            Up::Gone(why) => ConnectionEvent::Closed { id, why },
        }))
    }

    fn processed(&mut self, _: Time, _: ConnectionId, _: Progress) {}

    fn send(&mut self, _: Time, to: ConnectionId, frame: Bytes) {
        self.push(to, frame, false);
    }

    fn send_everyone(&mut self, _: Time, frame: &Bytes) {
        let lines = self.shared.lock().lines.all.len();
        (0..lines).for_each(|line| self.push(ConnectionId(line as u64), frame.clone(), false));
    }

    fn replay(&mut self, _: Time, to: ConnectionId, log: &Log) {
        log.frames().for_each(|frame| self.push(to, frame, true));
    }

    fn close(&mut self, _: Time, id: ConnectionId) {
        let world = &mut *self.shared.lock();
        if let Some((_, line)) = line(&mut world.lines.all, id) {
            line.end(&mut world.chance, End::Closed);
        }
    }

    fn delivered(&mut self, _: Time) {}

    // Queued messages are in flight already, so they arrive even after the server has ended.
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
