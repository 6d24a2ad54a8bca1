//! "Watch it learn": the blackjack learner trains while a page watches.
//!
//! A page opens a socket and says how to learn. The hub plays rounds and tells a few times a second what the table is by then, with
//! its exact value beside the optimum. Rounds are played in slices by a few threads in turn, so that the matches of the hub go on;
//! when the socket is gone, nothing more is played.

mod best;
mod session;

use std::{
    sync::{Arc, OnceLock},
    thread,
};

use axum::{
    Router,
    extract::{
        WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;
use tokio::{
    sync::Semaphore,
    task::spawn_blocking,
    time::{Instant, MissedTickBehavior, interval},
};

use self::{
    best::Best,
    session::{Session, TICK, Wish},
};
use super::{
    beats::{beat, beats, send},
    caller::SocketPermit,
    connections::bounded,
};
use crate::hub::Hub;

/// Learners at the same time.
const MAX_LEARNERS: usize = 16;
/// The longest message of a page.
const MAX_MESSAGE: usize = 1024;

/// The routes.
pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/learn/socket", get(learn)).route("/api/blackjack/table", get(table))
}

// Exact values take a moment to compute, and are the same for ever.
fn best() -> &'static Best {
    static BEST: OnceLock<Best> = OnceLock::new();
    BEST.get_or_init(Best::new)
}

/// The best table with what each action is worth.
async fn table() -> Response {
    let Ok(table) = spawn_blocking(|| best().table().to_string()).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "public, max-age=86400")];
    (headers, table).into_response()
}

/// Places for learners, and for threads that play.
struct Pool {
    learners: Arc<Semaphore>,
    slices: Arc<Semaphore>,
}

fn pool() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        // Half of the processors are for the matches.
        let threads = thread::available_parallelism().map_or(1, usize::from) / 2;
        Pool { learners: Arc::new(Semaphore::new(MAX_LEARNERS)), slices: Arc::new(Semaphore::new(threads.max(1))) }
    })
}

async fn learn(SocketPermit { place, .. }: SocketPermit, upgrade: WebSocketUpgrade) -> Response {
    let Ok(learner) = Arc::clone(&pool().learners).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "Others watch it learn just now. Try again later.\n").into_response();
    };
    bounded(upgrade, MAX_MESSAGE).on_upgrade(async move |socket| {
        run(socket).await;
        drop((place, learner));
    })
}

// Learns until the page is gone.
async fn run(mut socket: WebSocket) {
    let Ok(mut session) = spawn_blocking(|| Session::new(best())).await else { return };
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut beats = beats();
    let mut last = Instant::now();
    let mut news = true;
    loop {
        if news && !tell(&mut socket, &session.report().to_string()).await {
            return;
        }
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    let wish = serde_json::from_str::<Wish>(&text).map_err(|error| error.to_string());
                    let done = wish.and_then(|wish| session.wish(wish).map_err(str::to_owned));
                    news = done.is_ok();
                    if let Err(error) = done
                        && !tell(&mut socket, &json!({ "error": error }).to_string()).await
                    {
                        return;
                    }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => news = false,
            },
            _ = beats.tick() => {
                news = false;
                if !beat(&mut socket).await {
                    return;
                }
            }
            _ = tick.tick() => {
                let passed = last.elapsed();
                last = Instant::now();
                let Some(slice) = session.due(passed) else {
                    news = false;
                    continue;
                };
                let Ok(permit) = Arc::clone(&pool().slices).acquire_owned().await else { return };
                let played = spawn_blocking(move || {
                    session.play(slice);
                    session
                })
                .await;
                drop(permit);
                let Ok(back) = played else { return };
                session = back;
                news = true;
            }
        }
    }
}

async fn tell(socket: &mut WebSocket, text: &str) -> bool {
    send(socket, Message::Text(text.into())).await
}
