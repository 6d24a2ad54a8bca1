use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
    vec::Vec,
};
use netcore::Time;

use super::{Client, Participant, timers::Phase};

impl Client {
    /// The status line in the wording of the requirements, with its note.
    pub fn status(&self, now: Time) -> String {
        self.status_at("the server", now, usize::MAX)
    }

    /// The status line for a window of `columns` columns. `server` names the server until it responds. A shorter
    /// wording replaces the required one if it does not fit; the window may still have to cut it.
    pub fn status_at(&self, server: &str, now: Time, columns: usize) -> String {
        let note = self.note(now);
        let lines = self.lines(server);
        let fits = |line: &&String| line.chars().count() <= columns;
        let line = lines.iter().find(fits).or(lines.last()).cloned().unwrap_or_default();
        match note {
            Some(note) => format!("{line}  {note}"),
            None => line,
        }
    }

    // Without a note, longest first.
    fn lines(&self, server: &str) -> Vec<String> {
        let Self { purse, remaining, .. } = self;
        match (self.timers.phase(), &self.participant) {
            (Phase::Joining { attempt, .. }, _) => {
                let waiting = |whom| format!("Waiting for {whom} to answer (attempt {attempt}).");
                [waiting(server), waiting("the server"), "No answer so far.".into()].into()
            }
            (Phase::Leaving { .. }, _) => {
                ["Leaving: waiting for the server's goodbye.".into(), "Leaving.".to_string()].into()
            }
            (_, Participant::Spectator) => [
                format!("Spectator: {remaining} nuggets unclaimed."),
                format!("{remaining} unclaimed"),
                format!("{remaining} left"),
            ]
            .into(),
            (_, Participant::Player(_)) => {
                let letter = self.letter.map_or('?', |letter| char::from(letter.byte()));
                [
                    format!("Player {letter} has {purse} nuggets ({remaining} nuggets unclaimed)."),
                    format!("{letter} {purse} gold, {remaining} left"),
                    format!("{letter} {purse}, {remaining} left"),
                ]
                .into()
            }
        }
    }

    // Short enough to follow the line in a terminal of 80 columns.
    fn note(&self, now: Time) -> Option<Cow<'_, str>> {
        let is_closed = self.closed_for(now).is_some();
        match self.timers.phase() {
            Phase::Joining { .. } if is_closed => return Some("Its port is closed.".into()),
            Phase::Leaving { .. } => return None,
            Phase::Playing => {
                let silence = self.timers.silent_for(now).map(|silence| silence.as_secs());
                if is_closed {
                    return Some(match silence {
                        _ if !self.timers.has_reopened(now) => "Server gone: port closed".into(),
                        Some(seconds) => format!("Port open, no answer for {seconds} s").into(),
                        None => "Port open again, no answer".into(),
                    });
                }
                if let Some(seconds) = silence {
                    return Some(format!("No answer for {seconds} s").into());
                }
            }
            Phase::Joining { .. } | Phase::Over => {}
        }
        self.note.as_deref().map(Cow::Borrowed)
    }
}
