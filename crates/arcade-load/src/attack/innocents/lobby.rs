//! An innocent that looks at the lobby, and sits down in a room now and then: how long after that is it told?

use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use super::{
    super::page::{self, Browser, Entry},
    RETRY, Seat,
};

/// A change that takes longer counts as not told.
const LOST: Duration = Duration::from_secs(5);

/// Looks at the lobby, and takes and leaves a seat in this room of mastermind.
pub(super) async fn watch(seat: Seat, room: String) {
    loop {
        match page::lobby(seat.from, seat.hub, &room, None).await {
            // After a loss it opens another socket, which gets the whole view again.
            Ok(mut lobby) => {
                if let Err(why) = follow(&seat, &mut lobby, &room).await {
                    seat.recorder.lost(why);
                }
            }
            Err(why) => seat.recorder.failed(format!("no socket: {why}")),
        }
        sleep(RETRY).await;
    }
}

// Sits down and leaves until something goes wrong. It ends well when the socket of the lobby has ended, which is counted.
async fn follow(seat: &Seat, lobby: &mut Browser, room: &str) -> Result<(), String> {
    loop {
        let mut browser = page::enter(seat.from, seat.hub, room, &Entry::default()).await?;
        let play = Message::text(format!("PLAY {}", seat.name));
        browser.send(play).await.map_err(|error| page::failure(&error))?;
        timeout(LOST, seated(&mut browser)).await.map_err(|_| "no seat in time".to_owned())??;
        let since = Instant::now();
        let is_told = told(seat, lobby, room, true).await;
        let took = since.elapsed();
        // In any case, since the hub keeps a seat that nobody has left for good.
        page::leave(browser).await;
        if !is_told? {
            return Ok(());
        }
        seat.recorder.answered(took);
        if !told(seat, lobby, room, false).await? {
            return Ok(());
        }
        sleep(RETRY).await;
    }
}

async fn seated(browser: &mut Browser) -> Result<(), String> {
    loop {
        let message = browser.next().await;
        if let Some(why) = page::end(message.as_ref()) {
            return Err(why);
        }
        if matches!(&message, Some(Ok(Message::Text(text))) if text.starts_with("SEAT")) {
            return Ok(());
        }
    }
}

// Waits until the lobby tells that this innocent sits in the room, or that it does not. Returns whether the lobby is still there.
async fn told(seat: &Seat, lobby: &mut Browser, room: &str, sits: bool) -> Result<bool, String> {
    let wanted = async {
        loop {
            let message = lobby.next().await;
            if let Some(why) = page::end(message.as_ref()) {
                seat.recorder.lost(why);
                return false;
            }
            if matches!(&message, Some(Ok(Message::Text(text))) if page::has_player(text, room, seat.name) == Some(sits))
            {
                return true;
            }
        }
    };
    timeout(LOST, wanted).await.map_err(|_| "the lobby did not tell a change".to_owned())
}
