//! The end of a game, another one at the same dealer, and the end of the program.

use std::{mem, time::Duration};

use anyhow::anyhow;
use clientkit::Place;
use cmdkit::{Backoff, FOLLOW};
use tokio::time::{Instant, sleep};
use tracing::warn;

use super::{Over, Person, Reached, State, ending, inbox::Inbox, lines};
use crate::{link::Link, summary::Summary, view::sentence};

impl Person {
    pub(super) fn join(&mut self) {
        self.join_after(Duration::ZERO);
    }

    fn join_after(&mut self, pause: Duration) {
        let Some(place) = self.again.clone() else { return };
        if let State::Over(over) = mem::replace(&mut self.state, State::Playing) {
            self.state = State::Joining(over, Box::pin(reach(place, pause)));
        }
    }

    /// Looks for a dealer that was lost where the directory says, if there is one.
    pub(super) fn look_for_dealer(&mut self) {
        if !self.again.as_ref().is_some_and(Place::follows) {
            return;
        }
        let (since, backoff) = self.search.get_or_insert_with(|| (Instant::now(), Backoff::default()));
        if since.elapsed() >= FOLLOW {
            return;
        }
        let pause = backoff.next_wait();
        if let State::Over(Over { reason: Some(reason), .. }) = &self.state {
            warn!("{reason}; looks for the room");
        }
        self.leaving = false;
        self.join_after(pause);
    }

    pub(super) fn joined(&mut self, (place, connected): Reached) {
        self.stage.change();
        let State::Joining(over, _) = mem::replace(&mut self.state, State::Playing) else { return };
        self.again = Some(place);
        match connected {
            Ok(wire) => {
                self.link = Link::Wire(wire);
                self.count();
                self.game.join_again();
                let now = Instant::now();
                self.clock.stop(now);
                (self.inbox, self.hold, self.rushed) = (Inbox::new(now), None, None);
                (self.advised, self.answered, self.joined) = (false, None, now);
            }
            Err(error) => {
                self.state = State::Over(Over { reason: Some(format!("{error:#}")), ranked: true, ..over });
                if self.search.is_some() {
                    self.leaving = self.view.is_none();
                    self.look_for_dealer();
                }
            }
        }
    }

    // Adds the game to those that are over.
    fn count(&mut self) {
        let session = &self.game.session;
        self.played.add(session.score, session.forfeits);
    }

    // Gives the terminal back, and says in lines what the screen has shown.
    pub(super) fn finish(mut self) -> anyhow::Result<(Summary, anyhow::Result<()>)> {
        let drawn = self.view.take().is_some();
        let told = self.conclude(drawn);
        self.count();
        let Self { stage, state, played, .. } = self;
        drop(stage);
        for line in told {
            lines::say(&line)?;
        }
        let ended = match state {
            State::Over(Over { reason: Some(reason), failed: true, .. })
            | State::Joining(Over { reason: Some(reason), failed: true, .. }, _) => Err(anyhow!(reason)),
            _ => Ok(()),
        };
        Ok((played, ended))
    }

    fn conclude(&mut self, drawn: bool) -> Vec<String> {
        let mut told = vec![];
        match &self.state {
            State::Playing => {
                // Messages that arrived while a result was shown count too.
                while let Some(byte) = self.inbox.next_byte()
                    && self.game.session.receive(&[byte]).is_ok()
                {
                    while self.game.poll_event().is_some() {}
                }
                let practices = matches!(self.link, Link::Practice(_));
                if !practices && self.game.has_open_hand() {
                    self.game.forfeit();
                    told.push(ending::LEFT_A_HAND.to_owned());
                }
            }
            State::Over(over) | State::Joining(over, _) => {
                told.extend(self.game.outcome().filter(|_| drawn));
                told.extend(over.reason.as_deref().filter(|_| !over.failed).map(sentence));
            }
        }
        told.extend(self.game.coach.summary().map(|judgement| format!("{judgement}.")));
        told
    }
}

// Connects to the dealer after a pause.
async fn reach(mut place: Place, pause: Duration) -> Reached {
    sleep(pause).await;
    let connected = place.reconnect().await;
    (place, connected)
}
