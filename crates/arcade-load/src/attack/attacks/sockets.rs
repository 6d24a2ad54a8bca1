//! Sockets of pages that come, go, or are not read.

use std::{rc::Rc, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use super::{
    super::{
        net::PATIENCE,
        page::{self, Browser, Entry},
    },
    Act, Attacker, Failed,
    names::key,
};

/// Attempts of one host that wait for an answer.
pub(super) const PENDING: usize = 16;
/// Whoever has a seat for that long is let in.
const SEATED: Duration = Duration::from_secs(2);
/// Lobbies of one host that are not read, and how long.
pub(super) const LOBBIES: usize = 8;
const UNREAD: Duration = Duration::from_secs(60);

// Enters the room of nuggets.
async fn enter(attacker: &Attacker, entry: &Entry) -> Result<Browser, Failed> {
    Ok(page::enter(attacker.from, attacker.target.hub, &attacker.target.nuggets.id, entry).await?)
}

// The first message of a game, or how the socket ended before.
async fn first(browser: &mut Browser) -> String {
    let message = async {
        loop {
            let message = browser.next().await;
            if let Some(end) = page::end(message.as_ref()) {
                return end;
            }
            match message {
                Some(Ok(Message::Text(text))) if page::is_from_hub(&text) => {}
                Some(Ok(Message::Text(text))) => return text.split(' ').next().unwrap_or_default().to_owned(),
                _ => return "let in".into(),
            }
        }
    };
    timeout(PATIENCE, message).await.unwrap_or_else(|_| "no answer".into())
}

/// Takes a seat and drops the socket without a word, so that the seat is kept.
pub(super) async fn drop_seat(attacker: Rc<Attacker>) -> Act {
    let mut browser = enter(&attacker, &Entry::default()).await?;
    browser.send(Message::text(format!("PLAY {}", attacker.name()))).await?;
    attacker.count(first(&mut browser).await);
    Ok(())
}

/// Comes back with the token of a seat that it gave up, or with a made up one.
pub(super) async fn reuse_token(attacker: Rc<Attacker>) -> Act {
    let old = attacker.token.borrow().clone();
    let known = old.clone().filter(|_| attacker.below(2) == 0);
    let made_up = known.is_none() && old.is_some();
    let seat = if made_up { Some(key(&attacker)) } else { known };
    let what = if made_up { "made up" } else { "old" };
    let is_first = seat.is_none();
    let mut browser = enter(&attacker, &Entry { seat, ..Entry::default() }).await?;
    let message = timeout(PATIENCE, browser.next()).await.map_err(|_| "no answer".to_owned())?;
    match message {
        Some(Ok(Message::Text(text))) if is_first => {
            attacker.token.replace(page::token(&text));
            page::leave(browser).await;
        }
        message => {
            // The hub tells of the room first, and then whether the seat is still there.
            let end = match page::end(message.as_ref()) {
                Some(end) => end,
                None => timeout(SEATED, page::ended(&mut browser)).await.unwrap_or_else(|_| "let in".into()),
            };
            attacker.count(format!("{what}: {end}"));
        }
    }
    Ok(())
}

/// Looks on for a moment.
pub(super) async fn look_in(attacker: Rc<Attacker>) -> Act {
    let mut browser = enter(&attacker, &Entry { watch: true, ..Entry::default() }).await?;
    attacker.count(first(&mut browser).await);
    Ok(())
}

/// Opens a lobby and reads nothing.
pub(super) async fn ignore_lobby(attacker: Rc<Attacker>) -> Act {
    let _lobby = page::lobby(attacker.from, attacker.target.hub, "", None).await?;
    attacker.count("let in");
    sleep(UNREAD).await;
    Ok(())
}
