use alloc::{format, string::String, vec, vec::Vec};

use netcore::Time;

use super::{
    Client, Participant,
    scores::{End, Scores},
    timers::Phase,
};
use crate::{
    game::PILE,
    grid::{PASSAGE, ROCK, ROOM},
    protocol::{ServerMessage, printable},
    view::SELF,
};

/// Length of the excerpt of a malformed message, so that the status line fits 80 columns.
const SHOWN: usize = 14;
impl Client {
    pub(super) fn message(&mut self, now: Time, message: &[u8]) {
        if self.timers.phase() == Phase::Over {
            return;
        }
        let probing = self.timers.record_message(now);
        match ServerMessage::parse(message) {
            Ok(ServerMessage::Ok(letter)) => {
                self.letter = Some(letter);
                self.timers.seated(now);
            }
            Ok(ServerMessage::Grid { rows, cols }) => {
                if self.size.replace((rows, cols)) != Some((rows, cols)) {
                    self.fit_display();
                }
            }
            Ok(ServerMessage::Gold { collected, purse, remaining }) => {
                if self.gold_known {
                    self.purses.left(self.remaining, remaining);
                }
                (self.purse, self.remaining, self.gold_known) = (purse, remaining, true);
                self.note = (collected > 0).then(|| format!("GOLD received: {collected}"));
            }
            Ok(ServerMessage::Display(text)) => self.take_display(text),
            Ok(ServerMessage::Quit(text)) => self.quit(printable(text, b"\n\t")),
            // Answers a probe, not a key of the user.
            Ok(ServerMessage::Error(_)) if probing => {}
            Ok(ServerMessage::Error(text)) => self.note = Some(printable(text, b"")),
            Err(_) => self.note = Some(format!("malformed: '{}'", excerpt(message))),
        }
        if matches!(self.timers.phase(), Phase::Joining { .. }) && self.is_welcomed() {
            self.timers.joined();
        }
    }

    fn is_welcomed(&self) -> bool {
        // Servers that send the map accept keys, even if OK or GOLD is omitted or lost.
        self.size.is_some() && !self.display.is_empty()
    }

    fn take_display(&mut self, text: &[u8]) {
        let Some((rows, cols)) = self.size else {
            self.display = tidy(text);
            self.displays += 1;
            if self.timers.phase() == Phase::Playing {
                self.guess_size();
            }
            return;
        };
        let exact = is_exact(text, rows, cols);
        let fitted = if exact { None } else { fit(text, rows, cols) };
        if !exact && fitted.is_none() {
            self.note = Some("malformed display from the server".into());
            return;
        }
        self.adjusted |= !exact;
        let display = fitted.as_deref().unwrap_or(text);
        if self.participant == Participant::Spectator {
            self.purses.compare(&self.display, display, usize::from(cols) + 1);
        }
        self.display.clear();
        self.display.extend_from_slice(display);
        self.displays += 1;
    }

    // The table is more reliable than the last GOLD.
    fn quit(&mut self, text: String) {
        if let Some(own) = self.letter.and_then(|letter| Scores::read(&text)?.of(letter).map(|row| row.purse)) {
            self.purse = own;
        }
        self.finish(End::Quit(text));
    }

    /// Without a GRID, a DISPLAY whose rows have equal length determines the size.
    pub(super) fn guess_size(&mut self) {
        let width = self.display.iter().position(|&byte| byte == b'\n').unwrap_or(0);
        let even = width > 0
            && self.display.chunks(width + 1).all(|row| row.iter().position(|&byte| byte == b'\n') == Some(width));
        if self.size.is_none()
            && even
            && let (Ok(rows), Ok(cols)) = (u16::try_from(self.display.len() / (width + 1)), u16::try_from(width))
        {
            self.size = Some((rows, cols));
        }
    }

    // Drops a DISPLAY that arrived before its GRID and does not fit.
    fn fit_display(&mut self) {
        let Some((rows, cols)) = self.size else { return };
        if is_exact(&self.display, rows, cols) {
            return;
        }
        if let Some(display) = fit(&self.display, rows, cols) {
            (self.display, self.adjusted) = (display, true);
            return;
        }
        self.display.clear();
        if self.timers.phase() == Phase::Playing {
            let blank = [vec![ROCK; usize::from(cols)], vec![b'\n']].concat();
            self.display = blank.repeat(usize::from(rows));
        }
    }
}

fn excerpt(message: &[u8]) -> String {
    let mut shown = printable(&message[..message.len().min(SHOWN)], b"");
    let cut = message.len() > SHOWN || shown.len() > SHOWN;
    if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
        shown.truncate(end);
    }
    if cut { shown + "..." } else { shown }
}

// Decoding of DISPLAY texts.

/// The map character at a cell that a DISPLAY shows as `shown` and that was `known` before, [`ROCK`] if unseen. `None`
/// if a player covers an unseen cell.
pub const fn map_below(known: u8, shown: u8) -> Option<u8> {
    match shown {
        PILE => Some(ROOM),
        SELF | b'A'..=b'Z' => match known {
            ROOM | PASSAGE => Some(known),
            _ => None,
        },
        // Some servers hide cells that they have shown before.
        ROCK => Some(known),
        _ => Some(shown),
    }
}

fn is_shown(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

fn is_exact(text: &[u8], rows: u16, cols: u16) -> bool {
    let width = usize::from(cols) + 1;
    let row = |row: &[u8]| row.ends_with(b"\n") && row[..width - 1].iter().all(|&byte| is_shown(byte));
    text.len() == usize::from(rows) * width && text.chunks_exact(width).all(row)
}

/// A DISPLAY may exceed the GRID by up to this many rows or columns, and lack as many rows.
const SLIP: usize = 2;

/// The rows of a display of unknown size, without known deviations.
fn tidy(text: &[u8]) -> Vec<u8> {
    let text = trim_end(text, b"\0\n");
    let mut display: Vec<u8> = text.split(|&byte| byte == b'\n').flat_map(|row| clean(row).chain([b'\n'])).collect();
    if text.is_empty() {
        display.clear();
    }
    display
}

/// Pads or cuts a display to the size of the grid; `None` if it differs by more than [`SLIP`]. Some servers end rows
/// with CRLF, omit trailing blanks or the last newline, append NULs, or miscount a row or column.
pub(super) fn fit(text: &[u8], rows: u16, cols: u16) -> Option<Vec<u8>> {
    let (rows, cols) = (usize::from(rows), usize::from(cols));
    let text = trim_end(text, b"\0");
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let width = lines.iter().map(|line| line.len()).max().unwrap_or(0);
    if used == 0 || used > rows + SLIP || lines.len() + SLIP < rows || width > cols + SLIP {
        return None;
    }
    let mut display = Vec::with_capacity(rows * (cols + 1));
    for row in 1..=rows {
        display.extend(clean(lines.get(row - 1).copied().unwrap_or_default()).take(cols));
        display.resize(row * (cols + 1) - 1, ROCK);
        display.push(b'\n');
    }
    Some(display)
}

// A row without its carriage return and with `?` for bytes that are unsafe for a terminal.
fn clean(row: &[u8]) -> impl Iterator<Item = u8> {
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    row.iter().map(|&byte| if is_shown(byte) { byte } else { b'?' })
}

fn trim_end<'a>(text: &'a [u8], bytes: &[u8]) -> &'a [u8] {
    let end = text.iter().rposition(|byte| !bytes.contains(byte)).map_or(0, |last| last + 1);
    &text[..end]
}
