use std::{
    collections::VecDeque,
    task::{Context, Waker},
};

use bytes::{Buf, Bytes, BytesMut};
use netcore::Time;
use rand::RngExt;

use crate::net::{arrival::End, conditions::Chance};

/// One direction of a stream: ordered pieces, bounded by a window.
#[derive(Debug, Default)]
pub(in crate::net) struct Pipe {
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
pub(in crate::net) enum Segments {
    /// As given by the conditions.
    Small,
    /// One write in two pieces at most.
    Large,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum PieceKind {
    Bytes,
    End,
    Break,
}

impl Pipe {
    pub(in crate::net) fn room(&self, chance: &Chance) -> usize {
        chance.stream_conditions.window.saturating_sub(self.flying + self.arrived.len())
    }

    /// Writes as many bytes as the window permits. Returns their number.
    pub(in crate::net) fn write(&mut self, chance: &mut Chance, bytes: &[u8], segments: Segments) -> usize {
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

    pub(in crate::net) fn finish(&mut self, chance: &mut Chance, end: End) {
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
    pub(in crate::net) fn break_off(&mut self) {
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

    pub(in crate::net) fn next_due(&self) -> Option<Time> {
        self.flight.front().map(|&(due, _)| due)
    }

    pub(in crate::net) fn arrive(&mut self, now: Time) -> Option<PieceKind> {
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

    pub(in crate::net) fn read(&mut self, most: usize) -> BytesMut {
        let taken = self.arrived.split_to(most.min(self.arrived.len()));
        if taken.has_remaining() {
            self.unread_since = None;
            self.wake_writer();
        }
        taken
    }

    pub(in crate::net) fn has_unread(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Since when the unread bytes have waited for a read.
    pub(in crate::net) fn unread_since(&self) -> Option<Time> {
        self.unread_since.filter(|_| self.has_unread())
    }

    /// How the stream ended, once the reader has read all data before the end.
    pub(in crate::net) fn ended(&self) -> Option<End> {
        self.ended.filter(|_| self.arrived.is_empty())
    }

    pub(in crate::net) fn is_flying(&self) -> bool {
        !self.flight.is_empty()
    }

    pub(in crate::net) fn await_bytes(&mut self, context: &Context<'_>) {
        self.reader = Some(context.waker().clone());
    }

    pub(in crate::net) fn await_room(&mut self, context: &Context<'_>) {
        self.writer = Some(context.waker().clone());
    }

    fn wake_reader(&mut self) {
        self.reader.take().into_iter().for_each(Waker::wake);
    }

    fn wake_writer(&mut self) {
        self.writer.take().into_iter().for_each(Waker::wake);
    }
}
