//! Datagrams that the system could not take yet.

use std::collections::VecDeque;

use bytes::Bytes;

/// Datagrams that wait at most.
pub(crate) const MAX_UNSENT: usize = 256;
/// Their bytes at most. The longest datagram of a client, a PLAY, is a seventieth of it.
pub(crate) const MAX_UNSENT_BYTES: usize = 4 << 10;

/// What waits to be sent, oldest first, within [`MAX_UNSENT`] and [`MAX_UNSENT_BYTES`].
///
/// When there is no room, the oldest KEY is dropped: it is the one that has least to do with what the player sees now,
/// while the last may be the Q that gives the seat back. PLAY and SPECTATE, without which no KEY counts, are dropped only
/// when no KEY waits, and then the oldest too: each says what the next says.
#[derive(Debug, Default)]
pub(crate) struct Unsent {
    datagrams: VecDeque<Bytes>,
    bytes: usize,
}

impl Unsent {
    /// Puts a datagram behind the others, and answers how many it displaced.
    pub(crate) fn push(&mut self, datagram: Bytes) -> usize {
        let mut dropped = 0;
        while !self.datagrams.is_empty() && !self.has_room(datagram.len()) {
            let oldest_key = self.datagrams.iter().position(|waiting| waiting.starts_with(b"KEY "));
            self.remove(oldest_key.unwrap_or(0));
            dropped += 1;
        }
        self.bytes += datagram.len();
        self.datagrams.push_back(datagram);
        dropped
    }

    /// The oldest.
    pub(crate) fn first(&self) -> Option<&Bytes> {
        self.datagrams.front()
    }

    /// Forgets the oldest, which is sent or lost.
    pub(crate) fn remove_first(&mut self) {
        self.remove(0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.datagrams.len() < MAX_UNSENT && self.bytes + bytes <= MAX_UNSENT_BYTES
    }

    fn remove(&mut self, index: usize) {
        if let Some(datagram) = self.datagrams.remove(index) {
            self.bytes -= datagram.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nuggets::{ClientMessage, Name};

    fn play(name: &str) -> Bytes {
        ClientMessage::Play(Some(Name::new(name.as_bytes()).unwrap())).to_bytes()
    }

    fn key(key: u8) -> Bytes {
        ClientMessage::Key(key).to_bytes()
    }

    fn waiting(mut unsent: Unsent) -> Vec<Bytes> {
        let mut waiting = vec![];
        while let Some(datagram) = unsent.first() {
            waiting.push(datagram.clone());
            unsent.remove_first();
        }
        assert!(unsent.is_empty() && unsent.bytes == 0);
        waiting
    }

    #[test]
    fn the_oldest_keys_make_room_and_the_order_stays() {
        let mut unsent = Unsent::default();
        unsent.push(key(b'y'));
        unsent.push(play("Ann"));
        let dropped: usize = (0..10_000).map(|number| unsent.push(key(b"hjkl"[number % 4]))).sum();
        unsent.push(key(b'Q'));
        assert_eq!(dropped, 10_002 - MAX_UNSENT);
        let waiting = waiting(unsent);
        assert_eq!(waiting.len(), MAX_UNSENT);
        assert_eq!(waiting[..1], [play("Ann")]);
        assert_eq!(waiting[MAX_UNSENT - 3..], [key(b'k'), key(b'l'), key(b'Q')]);
    }

    #[test]
    fn bytes_are_bounded_and_a_new_key_is_not_lost_to_old_first_messages() {
        let mut unsent = Unsent::default();
        let longest = play(&"x".repeat(nuggets::protocol::MAX_NAME));
        for _ in 0..1_000 {
            unsent.push(longest.clone());
            assert!(unsent.bytes <= MAX_UNSENT_BYTES);
        }
        assert_eq!(unsent.push(key(b'Q')), usize::from(MAX_UNSENT_BYTES % longest.len() < key(b'Q').len()));
        assert_eq!(waiting(unsent).last(), Some(&key(b'Q')));
    }
}
