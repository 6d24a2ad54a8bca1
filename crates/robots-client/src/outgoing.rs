//! The queue of messages to the server.

use std::io::{self, ErrorKind};

use bytes::{Buf, Bytes, BytesMut};

/// The most bytes that wait for a server that does not read. Beyond that only the newest message is kept, since only the
/// last action of a turn counts.
const MAX_WAITING: usize = 64 << 10;

/// Messages on their way to the server.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    bytes: BytesMut,
    newest: Option<Bytes>,
    // Writing has failed. The stream is still read, since the server's last messages may be there.
    broken: bool,
}

impl Outgoing {
    /// Adds a message.
    pub(crate) fn push(&mut self, message: Bytes) {
        if self.broken {
            return;
        }
        if self.bytes.len() < MAX_WAITING {
            self.bytes.extend_from_slice(&message);
        } else {
            self.newest = Some(message);
        }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Passes as much to `write` as it takes. After an error nothing is written any more; reading then reports the state of the
    /// connection.
    pub(crate) fn flush(&mut self, mut write: impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<()> {
        while !self.bytes.is_empty() {
            match write(&self.bytes) {
                Ok(written) => self.bytes.advance(written),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => {
                    *self = Self { broken: true, ..Self::default() };
                    return Err(error);
                }
            }
            if self.bytes.len() < MAX_WAITING
                && let Some(message) = self.newest.take()
            {
                self.bytes.extend_from_slice(&message);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_read_costs_bounded_memory_and_gets_the_newest_message_at_last() {
        let mut outgoing = Outgoing::default();
        let messages = [&[1][..], &[3, 3]].map(Bytes::from_static);
        for message in messages.iter().cycle().take(1_000_000) {
            outgoing.push(message.clone());
            outgoing.flush(|_| Err(ErrorKind::WouldBlock.into())).unwrap();
        }
        assert!(outgoing.bytes.len() < MAX_WAITING + 300, "{}", outgoing.bytes.len());
        outgoing.push(Bytes::from_static(&[2]));
        let mut heard = vec![];
        let read = |bytes: &[u8]| {
            heard.extend_from_slice(&bytes[..bytes.len().min(1_000)]);
            Ok(bytes.len().min(1_000))
        };
        outgoing.flush(read).unwrap();
        assert_eq!((&heard[..4], heard.last()), (&[1, 3, 3, 1][..], Some(&2)));
        assert!(outgoing.is_empty());
    }

    #[test]
    fn nothing_waits_for_a_server_that_takes_nothing_any_more() {
        let mut outgoing = Outgoing::default();
        outgoing.push(Bytes::from_static(&[1]));
        assert!(outgoing.flush(|_| Err(ErrorKind::BrokenPipe.into())).is_err());
        outgoing.push(Bytes::from_static(&[1]));
        assert!(outgoing.is_empty());
    }
}
