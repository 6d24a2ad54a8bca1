//! The end of a game, another one at the same dealer, and the end of the program.

use std::{io::ErrorKind, mem, net::SocketAddr, time::Duration};

use anyhow::anyhow;
use cmdkit::{FOLLOW, Pace};
use tokio::{
    net::TcpStream,
    task::spawn_blocking,
    time::{Instant, sleep},
};
use tracing::warn;

use super::{Over, Person, Reached, State, ending, inbox::Inbox, lines};
use crate::{connection::Way, link::Link, summary::Summary, view::sentence};

impl Person {
    pub(super) fn join(&mut self) {
        self.join_after(Duration::ZERO);
    }

    fn join_after(&mut self, pause: Duration) {
        let Some((addresses, way)) = self.again.clone() else { return };
        if let State::Over(over) = mem::replace(&mut self.state, State::Playing) {
            self.state = State::Joining(over, Box::pin(reach(addresses, way, pause)));
        }
    }

    /// Looks for a dealer that was lost where the directory says, if there is one.
    pub(super) fn look_for_dealer(&mut self) {
        if !self.again.as_ref().is_some_and(|(_, way)| way.follows()) {
            return;
        }
        let (since, pace) = self.search.get_or_insert_with(|| (Instant::now(), Pace::default()));
        if since.elapsed() >= FOLLOW {
            return;
        }
        let pause = pace.pause();
        if let State::Over(Over { reason: Some(reason), .. }) = &self.state {
            warn!("{reason}; looks for the room");
        }
        self.leaving = false;
        self.join_after(pause);
    }

    pub(super) fn joined(&mut self, (way, connected): Reached) {
        self.stage.change();
        let State::Joining(over, _) = mem::replace(&mut self.state, State::Playing) else { return };
        if let (Some((_, known)), Some(way)) = (&mut self.again, way) {
            *known = way;
        }
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
            Err(reason) => {
                self.state = State::Over(Over { reason: Some(reason), ranked: true, ..over });
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

// Connects to the dealer, where it is now if there is a directory.
async fn reach(addresses: Vec<SocketAddr>, mut way: Way, pause: Duration) -> Reached {
    if way.follows() {
        sleep(pause).await;
        // Hubs are waited for.
        let reached = spawn_blocking(move || {
            let reached = way.again();
            (way, reached)
        });
        let Ok((way, reached)) = reached.await else { return (None, Err("the search for the room broke".into())) };
        let stream = reached.and_then(|stream| {
            stream.set_nonblocking(true)?;
            Ok(TcpStream::from_std(stream)?)
        });
        return (Some(way), stream.map_err(|error| format!("{error:#}")));
    }
    let stream = TcpStream::connect(&addresses[..]).await.map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => format!("nobody listens at {} any more", way.in_words()),
        _ => format!("cannot reach {}: {error}", way.in_words()),
    });
    (None, stream)
}
