//! Parses texts leniently, including texts without a NUL.

use std::time::{Duration, Instant};

use bytes::{Buf as _, BytesMut};

use super::{Front, front};
use crate::{
    net::{Connection, MAX_TEXT},
    words::{Form, prefix},
};

/// If no further bytes arrive for this time, a complete message has no NUL.
const QUIET: Duration = Duration::from_millis(500);
/// If no further bytes arrive for this time, the received bytes are not a message.
const SILENCE: Duration = Duration::from_secs(1);

/// A received text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// A text without the NUL that terminated it.
    Ended(BytesMut),
    /// A text that had no NUL.
    Unended(BytesMut),
}

/// Reads the texts of one peer.
pub(crate) struct Reader {
    forms: &'static [Form],
    // The number of bytes when the last ones arrived, and the time of that arrival.
    length: usize,
    arrived: Instant,
    // The peer has sent a text without its NUL, so the reader no longer waits for one.
    is_unended: bool,
}

impl Reader {
    pub(super) fn new(forms: &'static [Form]) -> Self {
        Self { forms, length: 0, arrived: Instant::now(), is_unended: false }
    }

    /// The next text, if one arrives in time.
    pub(crate) fn next(&mut self, connection: &mut Connection, by: Instant) -> Option<Text> {
        loop {
            // A NUL in a separate segment belongs to a text that was returned without it.
            while self.is_unended && connection.buffer.first() == Some(&0) {
                connection.buffer.advance(1);
            }
            let buffer = &mut connection.buffer;
            if buffer.len() != self.length {
                (self.length, self.arrived) = (buffer.len(), Instant::now());
            }
            match front(self.forms, buffer) {
                Front::Ended(end) => {
                    let text = buffer.split_to(end);
                    buffer.advance(1);
                    return Some(Text::Ended(self.took(connection, text)));
                }
                Front::Unended(length) => {
                    self.is_unended = true;
                    let text = buffer.split_to(length);
                    return Some(Text::Unended(self.took(connection, text)));
                }
                Front::Endless => {
                    let text = buffer.split_to(MAX_TEXT);
                    return Some(Text::Unended(self.took(connection, text)));
                }
                Front::Part => {}
            }
            let text = buffer.trim_ascii();
            let is_message = prefix(self.forms, text) == Some(text.len());
            let wait = match (is_message, self.is_unended) {
                (true, true) => Duration::ZERO,
                (true, false) => QUIET,
                (false, _) => SILENCE,
            };
            let quiet_at = self.arrived + wait;
            if !buffer.is_empty() && (Instant::now() >= quiet_at || connection.closed && is_message) {
                self.is_unended |= is_message;
                let text = buffer.split();
                return Some(Text::Unended(self.took(connection, text)));
            }
            let until = if buffer.is_empty() { by } else { by.min(quiet_at) };
            let has_come = connection.more(until);
            if !has_come && (connection.closed && !is_message || Instant::now() >= by) {
                return None;
            }
        }
    }

    fn took(&mut self, connection: &Connection, text: BytesMut) -> BytesMut {
        connection.took(1);
        (self.length, self.arrived) = (connection.buffer.len(), Instant::now());
        text
    }
}
