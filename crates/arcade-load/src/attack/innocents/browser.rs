//! Innocents at the page of a room.

use std::time::Duration;

use bytes::Bytes;
use clientkit::{Pilot, robots_bot};
use futures_util::{SinkExt as _, StreamExt as _};
use netcore::{Client, Gone, Level, Link, Time, wire::ShortText};
use netshell::Clock;
use nuggets::{Participant, Typist};
use tokio::time::{sleep, sleep_until, timeout};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::{
    super::page::{self, Browser, Entry},
    KEY_PAUSE, RETRY, Seat,
    watched::{Keys, Steered, Turns, Watch, Watched},
};

/// How often a pilot is asked at least.
const LOOK: Duration = Duration::from_millis(100);
/// How long the hub may take nothing.
const STALL: Duration = Duration::from_secs(10);

// Plays over a socket until it ends; why, unless the client is over. `token` is set once the hub tells that of the seat.
async fn play<C, W, P>(
    browser: &mut Browser,
    is_binary: bool,
    client: &mut Watched<C, W>,
    pilot: P,
    token: &mut Option<String>,
) -> Result<(), String>
where
    C: Client<Error: std::fmt::Display>,
    W: Watch<C>,
    P: Pilot<C>,
{
    let clock = Clock::start();
    let mut pilot = Steered(pilot);
    // Why nothing more can be sent. What the hub said last is read nevertheless.
    let mut broken = None;
    loop {
        pilot.act(client, clock.now());
        while let Some(message) = client.take_outgoing() {
            if broken.is_some() {
                continue;
            }
            let frame = if is_binary { Message::Binary(message) } else { Message::Text(text(&message)) };
            match timeout(STALL, browser.send(frame)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => broken = Some(page::failure(&error)),
                Err(_) => return Err("takes nothing".into()),
            }
        }
        if client.is_over() {
            return Ok(());
        }
        let now = clock.now();
        let due = client.deadline(now).into_iter().chain(pilot.due(client)).chain([now.plus(LOOK)]).min();
        let message = tokio::select! {
            message = browser.next() => message,
            () = sleep_until(clock.instant(due.unwrap_or(now))) => {
                if client.deadline(now).is_some_and(|deadline| deadline <= clock.now()) {
                    client.elapsed(clock.now());
                }
                continue;
            }
        };
        if let Some(why) = page::end(message.as_ref()) {
            let over = client.is_over();
            client.disconnected(clock.now(), Gone::Broken);
            return if over { Ok(()) } else { Err(broken.unwrap_or(why)) };
        }
        let bytes = match message {
            Some(Ok(Message::Text(text))) if page::is_from_hub(&text) => {
                *token = page::token(&text).or(token.take());
                continue;
            }
            Some(Ok(Message::Text(text))) => Bytes::from(text),
            Some(Ok(Message::Binary(bytes))) => bytes,
            _ => continue,
        };
        if let Err(error) = client.receive(clock.now(), &bytes) {
            return Err(format!("malformed: {error}"));
        }
    }
}

fn text(message: &Bytes) -> Utf8Bytes {
    Utf8Bytes::from(String::from_utf8_lossy(message).into_owned())
}

impl Seat {
    // A socket of the room, as soon as it can be had: back at the seat of the token, if there is one.
    async fn socket(&self, room: &str, token: &mut Option<String>) -> Browser {
        loop {
            let entry = Entry { seat: token.clone(), ..Entry::default() };
            match page::enter(self.from, self.hub, room, &entry).await {
                Ok(browser) => return browser,
                Err(why) => {
                    self.recorder.failed(format!("no socket: {why}"));
                    *token = None;
                }
            }
            sleep(RETRY).await;
        }
    }
}

/// A player of nuggets in a browser.
pub(super) async fn nuggets(seat: Seat, room: String) {
    let Ok(name) = nuggets::Name::new(seat.name.as_bytes()) else { return };
    let mut token = None;
    for number in 0.. {
        let mut browser = seat.socket(&room, &mut token).await;
        let client = nuggets::Client::with_link(Link::Message, Participant::Player(name.clone()), Time::ZERO);
        let mut client = Watched::new(client, Keys::new(seat.recorder.clone()));
        let typist = Typist::new(Level::Hard, Some(KEY_PAUSE), number);
        let played = play(&mut browser, false, &mut client, typist, &mut token).await;
        match (played, client.client.end()) {
            (_, Some(end)) if end.is_game_over() => {
                seat.recorder.ended();
                token = None;
            }
            (Ok(()), end) => {
                token = None;
                seat.lost(end.map_or_else(|| "left".into(), |end| format!("{end:?}"))).await;
            }
            (Err(why), _) => seat.lost(why).await,
        }
    }
}

/// A player of robots in a browser.
pub(super) async fn robots(seat: Seat, room: String) {
    let Ok(name) = ShortText::try_from(seat.name) else { return };
    let mut token = None;
    for number in 0.. {
        let mut browser = seat.socket(&room, &mut token).await;
        let (client, pilot) = robots_bot(name.clone(), None, Level::Normal, number);
        let mut client = Watched::new(client, Turns::new(seat.recorder.clone()));
        if let Err(why) = play(&mut browser, true, &mut client, pilot, &mut token).await {
            seat.recorder.lost(why);
        }
        sleep(RETRY).await;
    }
}
