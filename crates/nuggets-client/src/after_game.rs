//! The time after a game: its result stays on the screen until the next game begins or the user leaves.

use std::{future, time::Duration};

use nuggets::{Client, End};
use tokio::time::{Instant, sleep_until};
use tracing::warn;

use crate::{link::Link, options::Options, result::Verdict, session::Session};

/// How long a result is shown before the next game is joined by itself, where that is wanted.
const PAUSE: Duration = Duration::from_secs(6);
const SECOND: Duration = Duration::from_secs(1);

pub(crate) struct AfterGame {
    options: Options,
    next: Option<Session>,
    // Why there is no next game.
    trouble: Option<String>,
    // The server has ended, so Enter is not offered.
    ended: bool,
    // When the next game is joined by itself.
    joins_at: Option<Instant>,
    // The server is gone: Enter asks for a seat in a new match, not for the next game.
    gone: bool,
}

impl AfterGame {
    /// The time after the game of `client`, which was told the result or whose server is gone.
    pub(crate) fn new(options: Options, client: &Client) -> Self {
        let gone = client.end().is_none();
        let joins_at = (options.rematch && client.end().is_some_and(End::is_game_over)).then(|| Instant::now() + PAUSE);
        Self { options, next: None, trouble: None, ended: false, joins_at, gone }
    }

    /// What the result says now; keys are named once they are no longer ignored.
    pub(crate) fn verdict(&self, client: &Client, ignores_keys: bool) -> Verdict {
        let mut verdict = Verdict::of(client);
        verdict.keys = self.keys();
        if let Some(line) = verdict.keys.last_mut().filter(|_| ignores_keys) {
            // As wide as before, so that the box stays as it is.
            *line = " ".repeat(line.len());
        } else {
            verdict.bar = self.choices("table");
        }
        verdict
    }

    fn keys(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.trouble.iter().cloned().collect();
        if self.next.is_some() {
            lines.push("Asking for a place in the next game.".into());
        }
        if let Some(joins_at) = self.joins_at {
            let left = joins_at.saturating_duration_since(Instant::now()).as_secs() + 1;
            lines.push(format!("The next game is joined in {left} s."));
        }
        lines.push(self.choices("board"));
        lines
    }

    // The keys that do something now. Tab shows `other`.
    fn choices(&self, other: &str) -> String {
        let again = match self.next {
            Some(_) => None,
            None if self.ended => None,
            None if self.gone => Some("Enter join anew"),
            None => Some("Enter next game"),
        };
        let (tab, leave) = (format!("Tab {other}"), "Q leave");
        match again {
            // The first key is the one that leads away from what is shown.
            Some(again) if other == "table" => [&*tab, again, leave].join("   "),
            Some(again) => [again, &*tab, leave].join("   "),
            None => [&*tab, leave].join("   "),
        }
    }

    /// Asks for a place in the next game, at a socket of its own: what still comes for the last one is not heard there.
    pub(crate) fn join(&mut self) {
        if self.next.is_some() {
            return;
        }
        (self.joins_at, self.trouble, self.ended) = (None, None, false);
        match Link::open(self.options.addresses.clone()) {
            Ok(link) => {
                self.next = Some(Session::start(self.options.part.clone(), link, self.options.directory.clone()));
            }
            Err(error) => {
                warn!(%error, "no way to the next game");
                self.trouble = Some("There is no way to the server any more.".into());
            }
        }
    }

    pub(crate) const fn is_joining(&self) -> bool {
        self.next.is_some()
    }

    pub(crate) fn has_joined(&self) -> bool {
        self.next.as_ref().is_some_and(|next| next.client().is_joined())
    }

    pub(crate) fn into_session(self) -> Option<Session> {
        self.next
    }

    /// Joins the next game when the pause is over, and checks whether joining has failed. Returns whether the screen changed.
    pub(crate) fn go_on(&mut self) -> bool {
        if self.joins_at.is_some_and(|joins_at| joins_at <= Instant::now()) {
            self.join();
        }
        let Some(next) = &self.next else { return false };
        let trouble = match next.end() {
            Some(End::Quit(text)) => text.lines().next().unwrap_or_default().to_owned(),
            Some(_) => "The server does not answer any more.".to_owned(),
            None if next.client().closed_for(next.now()).is_some() => {
                self.ended = true;
                "There is no further game: the server has ended.".to_owned()
            }
            None => return false,
        };
        (self.next, self.trouble) = (None, Some(trouble));
        true
    }

    /// Gives back a place that may have been given just now.
    pub(crate) fn leave(&mut self) {
        if let Some(next) = &mut self.next {
            next.leave();
        }
    }

    /// Waits until there is something new.
    pub(crate) async fn turn(&mut self) {
        match (&mut self.next, self.joins_at) {
            (Some(next), _) => next.turn().await,
            // The seconds are counted down on the screen.
            (None, Some(joins_at)) => sleep_until(joins_at.min(Instant::now() + SECOND)).await,
            (None, None) => future::pending().await,
        }
    }
}
