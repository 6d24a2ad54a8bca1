//! Streams that are split, delayed, stalled, full and reset.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    task::{Context, Waker},
};

use bytes::{Buf, Bytes, BytesMut};
use netcore::{DisconnectReason, Role, Time};
use rand::RngExt;

use super::conditions::Chance;
use crate::machine::draw;

#[derive(Debug, Default)]
pub(super) struct Connections {
    all: Vec<Connection>,
    connecting: BTreeMap<(Time, usize), Role>,
    // One for players, one for watchers.
    listeners: BTreeMap<Role, Listener>,
    // Connections that may have data in flight.
    active: Vec<usize>,
}

#[derive(Debug, Default)]
struct Listener {
    backlog: VecDeque<usize>,
    closed: bool,
    waker: Option<Waker>,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) address: SocketAddr,
    pub(super) to_server: Pipe,
    pub(super) to_client: Pipe,
    // Output of the client beyond the window, or held back.
    unsent: BytesMut,
    // Until when the client holds its output back.
    corked: Option<Time>,
    closing: bool,
    end_known: bool,
    left: bool,
}

impl Connection {
    fn new(address: SocketAddr) -> Self {
        Self {
            address,
            to_server: Pipe::default(),
            to_client: Pipe::default(),
            unsent: BytesMut::new(),
            corked: None,
            closing: false,
            end_known: false,
            left: false,
        }
    }

    pub(super) fn send_unsent(&mut self, chance: &mut Chance) {
        self.send_as(chance, Segments::Small);
    }

    fn send_as(&mut self, chance: &mut Chance, segments: Segments) {
        if self.corked.is_some() {
            return;
        }
        let taken = self.to_server.write(chance, &self.unsent, segments);
        let _ = self.unsent.split_to(taken);
        if self.closing && self.unsent.is_empty() {
            self.to_server.finish(chance, End::Closed);
        }
    }

    // Closes the server's end, with a reset if there is unread input.
    pub(super) fn leave(&mut self, chance: &mut Chance) {
        self.left = true;
        let end = if self.to_server.has_unread() { End::Broken } else { End::Closed };
        self.to_client.finish(chance, end);
    }

    fn break_off(&mut self) {
        self.to_server.break_off();
        self.to_client.break_off();
        self.unsent.clear();
        self.corked = None;
    }

    fn arrive(&mut self, chance: &mut Chance, arrived: &mut Vec<(SocketAddr, Arrived)>) {
        if self.corked.is_some_and(|until| until <= chance.now) {
            self.corked = None;
            chance.traffic.corked += 1;
            self.send_as(chance, Segments::Large);
        }
        while let Some(piece) = self.to_server.arrive(chance.now) {
            match piece {
                PieceKind::Break => return self.reset(chance),
                // The server has closed its end.
                PieceKind::Bytes if self.left => {
                    self.to_server.break_off();
                    self.to_client.finish(chance, End::Broken);
                }
                PieceKind::Bytes | PieceKind::End => {}
            }
        }
        while let Some(piece) = self.to_client.arrive(chance.now) {
            match piece {
                PieceKind::Break => return self.reset(chance),
                PieceKind::Bytes => {
                    let bytes = self.to_client.read(usize::MAX);
                    arrived.push((self.address, Arrived::Bytes(bytes.freeze())));
                }
                PieceKind::End => {}
            }
        }
        if let Some(end) = self.unknown_end() {
            self.end_known = true;
            arrived.push((self.address, Arrived::End(end)));
        }
    }

    fn refuse(&mut self, chance: &mut Chance) {
        self.left = true;
        self.reset(chance);
    }

    pub(super) fn reset(&mut self, chance: &mut Chance) {
        chance.traffic.resets += 1;
        self.break_off();
    }

    // The end of the connection, if the client does not know it yet.
    fn unknown_end(&self) -> Option<End> {
        self.to_client.ended().filter(|_| !self.end_known)
    }

    fn next_due(&self, now: Time) -> Option<Time> {
        let ended = self.unknown_end().map(|_| now);
        [self.to_server.next_due(), self.to_client.next_due(), ended, self.corked].into_iter().flatten().min()
    }
}

impl Connections {
    pub(super) fn connection(&mut self, connection: usize) -> &mut Connection {
        &mut self.all[connection]
    }

    pub(super) fn connect(&mut self, chance: &mut Chance, address: SocketAddr, listener: Role) -> usize {
        let delay = draw(&mut chance.rng, &chance.stream_conditions.delay);
        let connection = self.all.len();
        self.all.push(Connection::new(address));
        self.active.push(connection);
        self.connecting.insert((chance.now.plus(delay), connection), listener);
        connection
    }

    pub(super) fn send(&mut self, chance: &mut Chance, connection: usize, bytes: &[u8]) {
        let connection = self.connection(connection);
        if connection.closing {
            return;
        }
        connection.unsent.extend_from_slice(bytes);
        if connection.corked.is_none() && chance.rng.random_range(0..100) < chance.stream_conditions.cork_percent {
            connection.corked = Some(chance.now.plus(draw(&mut chance.rng, &chance.stream_conditions.cork)));
        }
        if chance.rng.random_range(0..1_000) < chance.stream_conditions.half_close_permille {
            chance.traffic.half_closed += 1;
            connection.closing = true;
        }
        connection.send_unsent(chance);
    }

    pub(super) fn close(&mut self, chance: &mut Chance, connection: usize) {
        let connection = self.connection(connection);
        if !connection.closing {
            connection.closing = true;
            connection.send_unsent(chance);
        }
    }

    pub(super) fn accept(&mut self, listener: Role) -> Option<(usize, SocketAddr)> {
        let connection = self.listeners.entry(listener).or_default().backlog.pop_front()?;
        Some((connection, self.all[connection].address))
    }

    pub(super) fn await_connection(&mut self, listener: Role, context: &Context<'_>) {
        self.listeners.entry(listener).or_default().waker = Some(context.waker().clone());
    }

    pub(super) fn listen(&mut self, listener: Role) {
        self.listeners.entry(listener).or_default().closed = false;
    }

    /// Resets the connections that the server had closed, because its machine has lost power.
    pub(super) fn break_all(&mut self, chance: &mut Chance) {
        for &connection in &self.active {
            let connection = &mut self.all[connection];
            // Connections on their way to a listener are not affected.
            if connection.left && !connection.end_known {
                connection.reset(chance);
            }
        }
    }

    pub(super) fn stop_listening(&mut self, chance: &mut Chance, listener: Role) {
        let listener = self.listeners.entry(listener).or_default();
        listener.closed = true;
        for connection in std::mem::take(&mut listener.backlog) {
            self.all[connection].refuse(chance);
        }
    }

    pub(super) fn unread_since(&self) -> Option<Time> {
        let connections =
            self.active.iter().map(|&connection| &self.all[connection]).filter(|connection| !connection.left);
        connections.filter_map(|connection| connection.to_server.unread_since()).min()
    }

    pub(super) fn next_due(&self, now: Time) -> Option<Time> {
        let connecting = self.connecting.keys().next().map(|&(due, _)| due);
        self.active.iter().filter_map(|&connection| self.all[connection].next_due(now)).chain(connecting).min()
    }

    pub(super) fn arrive(&mut self, chance: &mut Chance, arrived: &mut Vec<(SocketAddr, Arrived)>) {
        while let Some(next) = self.connecting.first_entry().filter(|next| next.key().0 <= chance.now) {
            let ((_, connection), listener) = next.remove_entry();
            let listener = self.listeners.entry(listener).or_default();
            if listener.closed {
                self.all[connection].refuse(chance);
                continue;
            }
            listener.backlog.push_back(connection);
            listener.waker.take().into_iter().for_each(Waker::wake);
        }
        let Self { all, active, .. } = self;
        active.retain(|&connection| {
            let connection = &mut all[connection];
            connection.arrive(chance, arrived);
            !(connection.end_known && connection.left && !connection.to_server.is_flying())
        });
    }
}

#[derive(Debug)]
pub(super) enum Arrived {
    Bytes(Bytes),
    End(End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Closed,
    Broken,
}

impl End {
    pub(super) const fn reason(self) -> DisconnectReason {
        match self {
            Self::Closed => DisconnectReason::Left,
            Self::Broken => DisconnectReason::Broken,
        }
    }
}

/// One direction of a stream: ordered pieces, bounded by a window.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    // Pieces with arrival times, and the latest of these.
    flight: VecDeque<(Time, Piece)>,
    latest: Time,
    flying: usize,
    // Bytes that have arrived and are unread.
    arrived: BytesMut,
    unread_since: Option<Time>,
    ended: Option<End>,
    finished: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Debug)]
enum Piece {
    Bytes(Bytes),
    End(End),
    Break,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Segments {
    /// As given by the conditions.
    Small,
    /// One write in two pieces at most.
    Large,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    Bytes,
    End,
    Break,
}

impl Pipe {
    pub(super) fn room(&self, chance: &Chance) -> usize {
        chance.stream_conditions.window.saturating_sub(self.flying + self.arrived.len())
    }

    /// Writes as many bytes as the window permits. Returns their number.
    pub(super) fn write(&mut self, chance: &mut Chance, bytes: &[u8], segments: Segments) -> usize {
        if self.finished {
            // The reset happens before this data arrives, and the writer does not know it yet.
            return bytes.len();
        }
        let taken = bytes.len().min(self.room(chance));
        let mut rest = Bytes::copy_from_slice(&bytes[..taken]);
        let cut = if chance.rng.random_range(0..2) == 0 { chance.rng.random_range(0..=taken) } else { 0 };
        while !rest.is_empty() {
            let length = match segments {
                Segments::Small => chance.rng.random_range(chance.stream_conditions.piece.clone()).clamp(1, rest.len()),
                Segments::Large if rest.len() == taken && cut > 0 => cut,
                Segments::Large => rest.len(),
            };
            let piece = rest.split_to(length);
            if chance.rng.random_range(0..1_000) < chance.stream_conditions.reset_permille {
                self.push(chance, Piece::Break);
                self.finished = true;
                break;
            }
            self.flying += length;
            self.push(chance, Piece::Bytes(piece));
        }
        taken
    }

    pub(super) fn finish(&mut self, chance: &mut Chance, end: End) {
        if !self.finished {
            self.finished = true;
            self.push(chance, Piece::End(end));
        }
    }

    fn push(&mut self, chance: &mut Chance, piece: Piece) {
        let delay = chance.stream_conditions.draw_delay(&mut chance.rng);
        self.latest = self.latest.max(chance.now.plus(delay));
        self.flight.push_back((self.latest, piece));
    }

    /// Discards all data in flight or unread.
    fn break_off(&mut self) {
        *self = Self {
            finished: true,
            ended: Some(End::Broken),
            reader: self.reader.take(),
            writer: self.writer.take(),
            ..Self::default()
        };
        self.wake_reader();
        self.wake_writer();
    }

    pub(super) fn next_due(&self) -> Option<Time> {
        self.flight.front().map(|&(due, _)| due)
    }

    pub(super) fn arrive(&mut self, now: Time) -> Option<PieceKind> {
        self.next_due().filter(|&due| due <= now)?;
        let (_, piece) = self.flight.pop_front()?;
        self.wake_reader();
        Some(match piece {
            Piece::Bytes(bytes) => {
                self.flying -= bytes.len();
                self.arrived.extend_from_slice(&bytes);
                self.unread_since.get_or_insert(now);
                PieceKind::Bytes
            }
            Piece::End(end) => {
                // A reset discards unread bytes.
                if end == End::Broken {
                    self.arrived.clear();
                }
                self.ended = Some(end);
                PieceKind::End
            }
            Piece::Break => PieceKind::Break,
        })
    }

    pub(super) fn read(&mut self, most: usize) -> BytesMut {
        let taken = self.arrived.split_to(most.min(self.arrived.len()));
        if taken.has_remaining() {
            self.unread_since = None;
            self.wake_writer();
        }
        taken
    }

    pub(super) fn has_unread(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Since when the unread bytes have waited for a read.
    pub(super) fn unread_since(&self) -> Option<Time> {
        self.unread_since.filter(|_| self.has_unread())
    }

    /// How the stream ended, once the reader has read all data before the end.
    pub(super) fn ended(&self) -> Option<End> {
        self.ended.filter(|_| self.arrived.is_empty())
    }

    fn is_flying(&self) -> bool {
        !self.flight.is_empty()
    }

    pub(super) fn await_bytes(&mut self, context: &Context<'_>) {
        self.reader = Some(context.waker().clone());
    }

    pub(super) fn await_room(&mut self, context: &Context<'_>) {
        self.writer = Some(context.waker().clone());
    }

    fn wake_reader(&mut self) {
        self.reader.take().into_iter().for_each(Waker::wake);
    }

    fn wake_writer(&mut self) {
        self.writer.take().into_iter().for_each(Waker::wake);
    }
}
