//! "Watch it learn": the blackjack learner trains while a page watches.
//!
//! A page opens a socket and says how to learn. The hub plays rounds and tells a few times a second what the table is by then, with
//! its exact value beside the optimum. Rounds are played in slices by a few threads in turn, so that the matches of the hub go on;
//! when the socket is gone, nothing more is played.

mod best;
mod session;

use std::sync::{Arc, OnceLock};

use axum::{
    Router,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use netcore::{HostId, Rate, Time, TokenBucket};
use serde_json::json;
use tokio::{
    task::spawn_blocking,
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

use self::{
    best::Best,
    session::{Session, TICK, Wish},
};
use super::{
    answer::refused,
    beats::{Beats, Pulse, beat, send},
    caller::SocketPermit,
    connections::bounded,
    pump,
};
use crate::{hub::Hub, room::mailbox::Ending};

/// The longest message of a page.
const MAX_MESSAGE: usize = 1024;
/// Messages that are read from one page.
const MESSAGES: Rate = Rate { per_second: 10, burst: 20 };
/// How often one page may begin anew, which costs as much as hundreds of rounds.
const STARTS: Rate = Rate { per_second: 2, burst: 5 };
/// What a page is told that begins anew more often.
const TOO_OFTEN: &str = "it begins anew at most twice a second; wait a moment";

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

async fn learn(
    State(hub): State<Arc<Hub>>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: WebSocketUpgrade,
) -> Response {
    let host = caller.host();
    let learner = match hub.resources().learners.take(host, 1) {
        Ok(learner) => learner,
        Err(refusal) => return refused(refusal),
    };
    bounded(upgrade, MAX_MESSAGE).on_upgrade(async move |socket| {
        run(socket, &Study { hub, host }).await;
        drop((place, learner));
    })
}

/// Where sessions work: on threads for that, host by host in turn.
struct Study {
    hub: Arc<Hub>,
    host: HostId,
}

impl Study {
    /// Has a session do something, and makes the report of it. `None` if that failed or took too long to begin.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> (Session, T) + Send + 'static,
    ) -> Option<(Session, T, String)> {
        let turn = self.hub.resources().slices.wait(self.host).await.ok()?;
        let worked = spawn_blocking(move || {
            let _turn = turn;
            let (session, done) = work();
            let report = session.report().to_string();
            (session, done, report)
        });
        worked.await.ok()
    }
}

// Learns until the page is gone, or its host is banned.
async fn run(mut socket: WebSocket, study: &Study) {
    let Some((mut session, (), mut report)) = study.work(|| (Session::new(best()), ())).await else { return };
    let start = Instant::now();
    let now = || Time::ZERO.plus(start.elapsed());
    let (mut messages, mut starts) = (TokenBucket::new(MESSAGES, now()), TokenBucket::new(STARTS, now()));
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let pulse = Pulse::default();
    let mut beats = Beats::new(&pulse);
    let mut last = Instant::now();
    let mut news = true;
    loop {
        if news {
            if !tell(&mut socket, &report).await {
                return;
            }
            beats.spoke();
        }
        tokio::select! {
            message = pulse.read(socket.recv()) => {
                let Some(Ok(message)) = message else { return };
                // Nothing more is read of a page that says too much.
                if let Some(ready) = messages.ready_at(now(), 1) {
                    sleep_until(start + ready.since(Time::ZERO)).await;
                }
                messages.take(now(), 1);
                news = false;
                let text = match message {
                    Message::Text(text) => text,
                    Message::Close(_) => return,
                    _ => continue,
                };
                let wish = serde_json::from_str::<Wish>(&text).map_err(|error| error.to_string());
                let done = match wish {
                    Ok(Wish::Start { .. }) if !starts.take(now(), 1) => Err(TOO_OFTEN.to_owned()),
                    Ok(wish) => {
                        let worked = study.work(move || {
                            let done = session.wish(wish).map_err(str::to_owned);
                            (session, done)
                        });
                        let Some((back, done, text)) = worked.await else { return };
                        (session, report) = (back, text);
                        news = done.is_ok();
                        done
                    }
                    Err(error) => Err(error),
                };
                if let Err(error) = done
                    && !tell(&mut socket, &json!({ "error": error }).to_string()).await
                {
                    return;
                }
            }
            due = beats.due() => {
                news = false;
                if !beat(&mut socket, due).await {
                    return;
                }
            }
            _ = tick.tick() => {
                if study.hub.bans().has(study.host) {
                    return pump::end(socket, Ending::Banned).await;
                }
                let passed = last.elapsed();
                last = Instant::now();
                let Some(slice) = session.due(passed) else {
                    news = false;
                    continue;
                };
                let played = study.work(move || {
                    session.play(slice);
                    (session, ())
                });
                let Some((back, (), text)) = played.await else { return };
                (session, report, news) = (back, text, true);
            }
        }
    }
}

async fn tell(socket: &mut WebSocket, text: &str) -> bool {
    send(socket, Message::Text(text.into())).await
}
