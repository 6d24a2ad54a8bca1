use std::time::Instant;

use bytes::{Buf as _, BytesMut};

use crate::net::Connection;

pub(super) enum Received {
    Line(BytesMut),
    TooLong(BytesMut),
    /// The connection was closed within a line.
    Truncated(BytesMut),
    Closed,
    Timeout,
}

pub(super) fn read_line(connection: &mut Connection, max: usize, by: Instant) -> Received {
    loop {
        if let Some(end) = connection.buffer.iter().take(max + 1).position(|&byte| byte == b'\n') {
            let line = connection.buffer.split_to(end);
            connection.buffer.advance(1);
            connection.mark_read(1);
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

/// Removes repeated spaces, and spaces at the ends.
pub(super) fn normalized(line: &[u8]) -> Vec<u8> {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(&b' ')
}

pub(super) fn excerpt(bytes: &[u8]) -> String {
    format!("'{}'", bytes.get(..80).unwrap_or(bytes).escape_ascii())
}
