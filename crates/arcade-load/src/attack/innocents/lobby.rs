//! An innocent that looks at the lobby: how long after a match has begun is that told?

use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::Message;

use super::{super::page, RETRY, Seat};

/// The change of a room that the lobby has to tell.
#[derive(Debug, Default)]
pub(super) struct Change(Cell<State>);

#[derive(Debug, Clone, Copy, Default)]
enum State {
    /// No match has begun that was not told.
    #[default]
    None,
    /// A match has begun.
    Begun(Instant),
    /// The lobby was faster than the player.
    Told,
}

impl Change {
    /// A player has noticed that a match has begun.
    pub(super) fn begun(&self) {
        self.0.set(match self.0.get() {
            State::Told => State::None,
            State::None | State::Begun(_) => State::Begun(Instant::now()),
        });
    }

    // The lobby has told it; gives how late.
    fn told(&self) -> Duration {
        match self.0.replace(State::None) {
            State::Begun(since) => since.elapsed(),
            State::None | State::Told => {
                self.0.set(State::Told);
                Duration::ZERO
            }
        }
    }
}

/// Looks at the lobby, and for the beginnings of matches in this room.
pub(super) async fn watch(seat: Seat, room: String, change: Rc<Change>) {
    loop {
        let mut lobby = match page::lobby(seat.from, seat.hub, None).await {
            Ok(lobby) => lobby,
            Err(why) => {
                seat.recorder.failed(format!("no socket: {why}"));
                sleep(RETRY).await;
                continue;
            }
        };
        // What the first message says has not just changed.
        let mut played = true;
        loop {
            let message = lobby.next().await;
            if let Some(why) = page::end(message.as_ref()) {
                seat.recorder.lost(why);
                break;
            }
            let Some(Ok(Message::Text(text))) = message else { continue };
            let Some(plays) = page::is_playing(&text, &room) else { continue };
            if plays && !std::mem::replace(&mut played, plays) {
                seat.recorder.answered(change.told());
            }
            played = plays;
        }
        sleep(RETRY).await;
    }
}
