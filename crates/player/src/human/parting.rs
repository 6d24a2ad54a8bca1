//! The end of a game, another one at the same dealer, and the end of the program.

use std::{
    io::{self, ErrorKind},
    mem,
};

use anyhow::anyhow;
use tokio::{net::TcpStream, time::Instant};

use super::{Connecting, Over, Person, State, ending, inbox::Inbox, lines};
use crate::{link::Link, summary::Summary, view::sentence};

impl Person {
    pub(super) fn join(&mut self) {
        let Some((addresses, _)) = &self.again else { return };
        let addresses = addresses.clone();
        let connecting: Connecting = Box::pin(async move { TcpStream::connect(&addresses[..]).await });
        if let State::Over(over) = mem::replace(&mut self.state, State::Playing) {
            self.state = State::Joining(over, connecting);
        }
    }

    pub(super) fn joined(&mut self, connected: io::Result<TcpStream>) {
        self.stage.change();
        let (State::Joining(over, _), Some((_, name))) = (mem::replace(&mut self.state, State::Playing), &self.again)
        else {
            return;
        };
        match connected {
            Ok(stream) => {
                netshell::tune_stream(&stream);
                self.link.close();
                self.link = Link::Wire(stream);
                self.count();
                self.game.join_again();
                let now = Instant::now();
                self.clock.stop(now);
                (self.inbox, self.hold, self.rushed) = (Inbox::new(now), None, None);
                (self.advised, self.answered, self.joined) = (false, None, now);
            }
            Err(error) => {
                let reason = if error.kind() == ErrorKind::ConnectionRefused {
                    format!("nobody listens at {name} any more")
                } else {
                    format!("cannot reach {name}: {error}")
                };
                self.state = State::Over(Over { reason: Some(reason), ranked: true, ..over });
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
        self.link.close();
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
