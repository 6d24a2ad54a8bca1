//! Sockets of pages that come, go, or are not read.

use std::{cell::RefCell, rc::Rc, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use super::{
    super::{
        net::PATIENCE,
        page::{self, Browser, Entry},
    },
    Attacker,
    names::key,
};

/// Attempts of one host that wait for an answer.
const PENDING: usize = 16;
/// Whoever has a seat for that long is let in.
const SEATED: Duration = Duration::from_secs(2);
/// Lobbies of one host that are not read, and how long.
const LOBBIES: usize = 8;
const UNREAD: Duration = Duration::from_secs(60);

// Enters the room of nuggets; a refusal is counted.
async fn enter(attacker: &Attacker, entry: &Entry) -> Option<Browser> {
    match page::enter(attacker.from, attacker.target.hub, &attacker.target.nuggets.id, entry).await {
        Ok(browser) => Some(browser),
        Err(why) => {
            attacker.count(why);
            None
        }
    }
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

/// Takes seats and drops the sockets without a word, so that the seats are kept.
pub(super) async fn drop_seats(attacker: Rc<Attacker>) {
    attacker
        .repeat(PENDING, async |attacker: Rc<Attacker>| {
            let Some(mut browser) = enter(&attacker, &Entry::default()).await else { return };
            let play = format!("PLAY {}", attacker.name());
            let answer = match browser.send(Message::text(play)).await {
                Ok(()) => first(&mut browser).await,
                Err(error) => page::failure(&error),
            };
            attacker.count(answer);
        })
        .await;
}

/// Comes back with tokens of seats that it gave up, and with made up ones.
pub(super) async fn reuse_tokens(attacker: Rc<Attacker>) {
    let old = Rc::new(RefCell::new(None::<String>));
    attacker
        .repeat(PENDING, move |attacker: Rc<Attacker>| {
            let old = Rc::clone(&old);
            async move {
                let known = old.borrow().clone().filter(|_| attacker.below(2) == 0);
                let made_up = known.is_none() && old.borrow().is_some();
                let seat = if made_up { Some(key(&attacker)) } else { known };
                let what = if made_up { "made up" } else { "old" };
                let is_first = seat.is_none();
                let Some(mut browser) = enter(&attacker, &Entry { seat, ..Entry::default() }).await else { return };
                let message = timeout(PATIENCE, browser.next()).await;
                match message {
                    Ok(Some(Ok(Message::Text(text)))) if is_first => {
                        *old.borrow_mut() = page::token(&text);
                        return page::leave(browser).await;
                    }
                    Ok(message) => {
                        if let Some(end) = page::end(message.as_ref()) {
                            return attacker.count(format!("{what}: {end}"));
                        }
                    }
                    Err(_) => return attacker.count("no answer"),
                }
                // The hub tells of the room first, and then whether the seat is still there.
                let end = async {
                    loop {
                        let message = browser.next().await;
                        if let Some(end) = page::end(message.as_ref()) {
                            return end;
                        }
                    }
                };
                let end = timeout(SEATED, end).await.unwrap_or_else(|_| "let in".into());
                attacker.count(format!("{what}: {end}"));
            }
        })
        .await;
}

/// Looks on for a moment.
pub(super) async fn look_in(attacker: Rc<Attacker>) {
    attacker
        .repeat(PENDING, async |attacker: Rc<Attacker>| {
            let entry = Entry { watch: true, ..Entry::default() };
            let Some(mut browser) = enter(&attacker, &entry).await else { return };
            let answer = first(&mut browser).await;
            attacker.count(answer);
        })
        .await;
}

/// Opens lobbies and reads nothing.
pub(super) async fn ignore_lobby(attacker: Rc<Attacker>) {
    attacker
        .repeat(LOBBIES, async |attacker: Rc<Attacker>| {
            match page::lobby(attacker.from, attacker.target.hub, "", None).await {
                Ok(lobby) => {
                    attacker.count("let in");
                    sleep(UNREAD).await;
                    drop(lobby);
                }
                Err(why) => attacker.count(why),
            }
        })
        .await;
}
