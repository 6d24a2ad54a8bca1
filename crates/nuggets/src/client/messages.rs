use alloc::{format, string::String, vec};
use netcore::Time;

use super::{
    Client, Participant,
    display::{fit, is_exact, tidy},
    end::End,
    scores::Scores,
    timers::Phase,
};
use crate::{
    grid::ROCK,
    protocol::{ServerMessage, printable},
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
