//! What a person types, and asks for by it.

use std::{io, mem};

use blackjack::Action;
use termkit::{Key, StageEvent};
use tokio::time::Instant;
use tracing::{debug, trace};

use super::{Person, State, lines};
use crate::view::Hold;

/// The longest line that is read; nothing that can be said is longer.
const LINE: usize = 64;

/// What a person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Do(Action),
    Advice,
    Leave,
}

impl Wish {
    fn of_key(key: u8) -> Option<Self> {
        Some(match key.to_ascii_lowercase() {
            b'h' => Self::Do(Action::Hit),
            b's' => Self::Do(Action::Stand),
            b'a' => Self::Advice,
            b'q' => Self::Leave,
            _ => return None,
        })
    }

    fn of_line(line: &[u8]) -> Option<Self> {
        let word = line.trim_ascii().to_ascii_lowercase();
        let whole = [&b"hit"[..], b"stand", b"advice", b"quit"].contains(&&*word);
        if whole || word.len() == 1 { Self::of_key(word[0]) } else { None }
    }
}

impl Person {
    pub(super) fn happen(&mut self, event: StageEvent) -> io::Result<()> {
        match event {
            StageEvent::Key(typed) => self.key(typed),
            StageEvent::Byte(b'\n') => {
                let line = mem::take(&mut self.line);
                match Wish::of_line(&line) {
                    Some(wish) => self.fulfil(wish)?,
                    None => lines::say("Type hit, stand, advice or quit.")?,
                }
            }
            StageEvent::Byte(byte) => {
                if self.line.len() <= LINE {
                    self.line.push(byte);
                }
            }
            // The last line may have no end.
            StageEvent::End => {
                match Wish::of_line(&self.line) {
                    Some(wish) => self.fulfil(wish)?,
                    None => self.leaving = true,
                }
                self.line.clear();
            }
            StageEvent::Leave => self.leaving = true,
            StageEvent::Gone(error) => {
                debug!(%error, "the terminal is gone");
                self.leaving = true;
            }
            StageEvent::Frame | StageEvent::Mouse(_) => {}
        }
        Ok(())
    }

    fn key(&mut self, typed: Key) {
        self.stage.change();
        let Some(view) = &mut self.view else { return };
        match typed {
            Key::Interrupt | Key::EndOfInput => self.leaving = true,
            Key::Redraw => self.stage.forget(),
            Key::Suspend => self.stage.suspend(),
            _ if view.help => view.help = false,
            Key::Byte(b'?') | Key::Function(1) => view.help = true,
            Key::Byte(b'q' | b'Q') => self.leaving = true,
            Key::Byte(key) => match &mut self.state {
                State::Over(_) if key == b'\n' => self.join(),
                State::Over(over) | State::Joining(over, _) => over.ranked ^= key == b'\t',
                State::Playing => match self.hold {
                    Some(Hold::Key) if key != b'\n' && key != b' ' => {}
                    Some(_) => self.hold = None,
                    None => {
                        // Nobody decides about a hand that cannot be seen.
                        if let Some(wish) = Wish::of_key(key).filter(|_| self.seen) {
                            // Nothing is written where there is a screen.
                            let _ = self.fulfil(wish);
                        }
                    }
                },
            },
            Key::Pad { .. } | Key::Function(_) => {}
        }
    }

    fn fulfil(&mut self, wish: Wish) -> io::Result<()> {
        match wish {
            Wish::Leave => self.leaving = true,
            Wish::Advice => {
                self.advised = true;
                if let Some(advice) = self.game.advice().filter(|_| self.view.is_none()) {
                    lines::advise(advice)?;
                }
            }
            Wish::Do(action) => {
                if let Some(message) = self.game.decide(action) {
                    trace!("> {message}");
                    self.answered = Some(self.clock.stop(Instant::now()));
                    if let Some(grade) = self.game.grade.filter(|_| self.view.is_none()) {
                        lines::say(&grade.in_words())?;
                    }
                }
            }
        }
        Ok(())
    }
}
