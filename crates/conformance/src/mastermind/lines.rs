//! Messages that end with a line feed.

use std::time::Instant;

use bytes::{Buf as _, BytesMut};

use crate::net::Connection;

/// The result of reading from a connection.
pub(super) enum Received {
    /// A line without its line feed.
    Line(BytesMut),
    /// More bytes than a line may have, without a line feed.
    TooLong(BytesMut),
    /// The connection was closed within a line.
    Truncated(BytesMut),
    /// The connection was closed.
    Closed,
    /// No complete line arrived in time.
    Timeout,
}

/// The next line of at most `max` bytes.
pub(super) fn read_line(connection: &mut Connection, max: usize, by: Instant) -> Received {
    loop {
        if let Some(end) = connection.buffer.iter().take(max + 1).position(|&byte| byte == b'\n') {
            let line = connection.buffer.split_to(end);
            connection.buffer.advance(1);
            connection.took(1);
            return Received::Line(line);
        }
        if connection.buffer.len() > max {
            return Received::TooLong(connection.buffer.split_to(max));
        }
        if !connection.more(by) {
            return match (connection.closed, connection.buffer.is_empty()) {
                (true, true) => Received::Closed,
                (true, false) => Received::Truncated(connection.rest()),
                (false, _) => Received::Timeout,
            };
        }
    }
}

/// A line with single spaces only, and without spaces at its ends.
pub(super) fn normalized(line: &[u8]) -> Vec<u8> {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(&b' ')
}

/// Bytes of a program, for the text of a breach.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    format!("'{}'", bytes.get(..80).unwrap_or(bytes).escape_ascii())
}
