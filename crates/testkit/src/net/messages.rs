//! Whole messages in order, one per frame, over connections that can be resumed, like a WebSocket.

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    task::{Context, Poll, Waker},
};

use bytes::{Bytes, BytesMut};
use netcore::{Gone, Link, Log, Progress, Role, Time};
use netshell::{ConnectionEvent, ConnectionId, Transport};

use super::world::{Arrived, Chance, End, Shared};

/// Bytes that may be queued for one client, not counting histories.
pub const MAX_QUEUE: usize = 1 << 20;

/// All connections so far, and what arrived from them.
#[derive(Debug, Default)]
pub(super) struct Lines {
    all: Vec<Line>,
    inbox: VecDeque<(usize, Up)>,
    // The server has ended.
    closed: bool,
    waker: Option<Waker>,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one of the two ends")]
struct Line {
    address: SocketAddr,
    role: Role,
    up: Lane<Up>,
    down: Lane<Down>,
    // The host was told of it.
    known: bool,
    // The client reconnected, and the host has not noticed. What is sent meanwhile is lost.
    away: bool,
    // Bytes in flight to the client, or unread there.
    queued: usize,
    // The client reads what arrives.
    reading: bool,
    // The client knows that the connection ended.
    end_known: bool,
    // The server neither receives nor sends on it any more.
    closed: bool,
}

/// One direction of a connection.
#[derive(Debug)]
struct Lane<T> {
    flight: VecDeque<(Time, T)>,
    latest: Time,
}

#[derive(Debug)]
enum Up {
    Opened,
    Message(Bytes),
    Refreshed,
    Gone(Gone),
}

#[derive(Debug)]
enum Down {
    Message { bytes: Bytes, history: bool },
    End(End),
}

impl<T> Default for Lane<T> {
    fn default() -> Self {
        Self { flight: VecDeque::new(), latest: Time::ZERO }
    }
}

impl<T> Lane<T> {
    fn push(&mut self, chance: &mut Chance, what: T) {
        let delay = chance.rough.draw_delay(&mut chance.rng);
        self.latest = self.latest.max(chance.now).plus(delay);
        self.flight.push_back((self.latest, what));
    }

    fn next_due(&self) -> Option<Time> {
        self.flight.front().map(|&(due, _)| due)
    }

    fn arrive(&mut self, now: Time) -> Option<T> {
        self.next_due().filter(|&due| due <= now)?;
        self.flight.pop_front().map(|(_, what)| what)
    }
}

impl Line {
    // Sends something to the client. Above the bound the connection breaks.
    fn push(&mut self, chance: &mut Chance, bytes: Bytes, history: bool) -> Result<(), Gone> {
        if self.closed || self.away || !self.known {
            return Ok(());
        }
        if !history {
            self.queued += bytes.len();
            if self.queued > MAX_QUEUE {
                self.end(chance, End::Broken);
                return Err(Gone::Lagging);
            }
        }
        chance.traffic.messages += 1;
        self.down.push(chance, Down::Message { bytes, history });
        Ok(())
    }

    fn end(&mut self, chance: &mut Chance, end: End) {
        if !self.closed {
            self.closed = true;
            self.down.push(chance, Down::End(end));
        }
    }
}

impl Lines {
    pub(super) fn connect(&mut self, chance: &mut Chance, address: SocketAddr, role: Role) -> usize {
        let mut line = Line {
            address,
            role,
            up: Lane::default(),
            down: Lane::default(),
            known: false,
            away: false,
            queued: 0,
            reading: true,
            end_known: false,
            closed: self.closed,
        };
        line.up.push(chance, Up::Opened);
        if self.closed {
            line.down.push(chance, Down::End(End::Broken));
        }
        self.all.push(line);
        self.all.len() - 1
    }

    /// Sends one message of a client.
    pub(super) fn send(&mut self, chance: &mut Chance, line: usize, message: Bytes) {
        chance.traffic.messages += 1;
        self.all[line].up.push(chance, Up::Message(message));
    }

    /// Closes the client's side in an orderly way.
    pub(super) fn close(&mut self, chance: &mut Chance, line: usize) {
        self.all[line].up.push(chance, Up::Gone(Gone::Left));
    }

    /// Resets the connection; both ends notice.
    pub(super) fn reset(&mut self, chance: &mut Chance, line: usize) {
        chance.traffic.resets += 1;
        let broken = &mut self.all[line];
        if !broken.closed {
            self.inbox.push_back((line, Up::Gone(Gone::Broken)));
            broken.down.flight.clear();
            broken.end(chance, End::Broken);
            self.waker.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Reconnects a client. Everything in flight is lost.
    pub(super) fn reconnect(&mut self, chance: &mut Chance, line: usize) {
        let line = &mut self.all[line];
        line.up.flight.clear();
        line.down.flight.retain(|(_, down)| matches!(down, Down::End(_)));
        line.queued = 0;
        line.reading = true;
        line.away = true;
        line.up.push(chance, Up::Refreshed);
    }

    pub(super) fn set_reading(&mut self, line: usize, reading: bool) {
        self.all[line].reading = reading;
    }

    pub(super) fn next_due(&self, now: Time) -> Option<Time> {
        let lines = self.all.iter();
        let downs = lines.clone().filter(|line| line.reading).filter_map(|line| line.down.next_due());
        // Messages that waited for the client to read arrive now.
        lines.filter_map(|line| line.up.next_due()).chain(downs).min().map(|due| due.max(now))
    }

    pub(super) fn arrive(&mut self, chance: &mut Chance, arrived: &mut Vec<(SocketAddr, Arrived)>) {
        let Self { all, inbox, closed, waker } = self;
        for (index, line) in all.iter_mut().enumerate() {
            while let Some(up) = line.up.arrive(chance.now) {
                if !*closed && !line.closed {
                    inbox.push_back((index, up));
                    waker.take().into_iter().for_each(Waker::wake);
                }
            }
            while line.reading
                && !line.end_known
                && let Some(down) = line.down.arrive(chance.now)
            {
                arrived.push((
                    line.address,
                    match down {
                        Down::Message { bytes, history } => {
                            line.queued -= if history { 0 } else { bytes.len() };
                            Arrived::Bytes(bytes)
                        }
                        Down::End(end) => {
                            line.end_known = true;
                            Arrived::End(end)
                        }
                    },
                ));
            }
        }
    }
}

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
