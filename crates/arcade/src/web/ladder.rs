//! The ladder: its ranking, the registration of programs, and their sockets.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{
        Path, State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use netcore::HostId;
use serde::Deserialize;
use serde_json::{Value, json};
use servekit::Wire;
use store::{ALL_TIME, Claim, LADDER, Order, Store, unix_now};
use tokio::sync::mpsc;

use super::{
    api::{Answer, ApiError, JsonBody, game_of, query_store},
    caller::{Caller, SocketPermit},
    connections,
    devices::{self, not_owner},
    keepalive::{Beat, Beats, Pulse, send},
    names::{CLAIMS, Claims, resembles, too_many_claims},
    response::too_many,
};
use crate::{
    games::Game,
    hub::{
        Hub,
        codes::Purpose,
        ladders::{
            board::{Board, Ladders},
            program::{self, MARK},
        },
        shares::RefusalKind,
    },
    message::{self, message},
    results::views::LeaderView,
};

const ROWS: u32 = 100;

pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/ladder/{game}/socket", get(socket))
        .route("/api/ladder", get(all))
        .route("/api/ladder/{game}", get(one))
        .route("/api/ladder/join", post(join).layer(Extension(Arc::new(Claims::new(CLAIMS)))))
        .route("/api/ladder/leave", post(leave))
}

fn ladders(hub: &Hub) -> Answer<&Ladders> {
    hub.ladders().ok_or_else(|| {
        ApiError::missing(message!("no_ladder", "this hub has no ladder; its operator can open one with --ladder"))
    })
}

fn games(ladders: &Ladders) -> Vec<Value> {
    let one = |board: &Arc<Board>| {
        let transport = if matches!(board.game.wire(), Wire::Udp) { "udp" } else { "tcp" };
        let view = board.view();
        json!({
            "game": board.game.name(),
            "port": board.port,
            "transport": transport,
            "waiting": view.waiting(),
            "playing": view.playing(),
            "played": view.played(),
        })
    };
    ladders.all().map(one).collect()
}

async fn all(State(hub): State<Arc<Hub>>) -> Answer {
    Ok(Json(json!({ "games": games(ladders(&hub)?) })).into_response())
}

async fn one(State(hub): State<Arc<Hub>>, caller: Caller, Path(game): Path<String>) -> Answer {
    let game = game_of(&game)?;
    let none = || ApiError::missing(message!("no_ladder_of_game", "this hub has no ladder for this game"));
    let board = Arc::clone(ladders(&hub)?.get(game).ok_or_else(none)?);
    let operation = async move |store: Store| {
        let of = store::Board { game: game.name(), class: LADDER, season: ALL_TIME };
        let mut all = vec![];
        for ranked in [true, false] {
            let found = store.leaders(of, (Order::Rating, ranked), ROWS, unix_now()).await?;
            all.push(found.into_iter().map(|leader| LeaderView::new(leader, Order::Rating)).collect::<Vec<_>>());
        }
        Ok(all)
    };
    let mut rankings = query_store(&hub, caller, operation).await?;
    let (provisional, players) = (rankings.pop().unwrap_or_default(), rankings.pop().unwrap_or_default());
    let mut answer = serde_json::to_value(&*board.view()).unwrap_or_default();
    answer["game"] = game.name().into();
    answer["port"] = board.port.into();
    answer["players"] = json!(players);
    answer["provisional"] = json!(provisional);
    Ok(Json(answer).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JoinRequest {
    name: String,
}

async fn join(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Extension(claims): Extension<Arc<Claims>>,
    headers: HeaderMap,
    JsonBody(JoinRequest { name }): JsonBody<JoinRequest>,
) -> Answer {
    let games = games(ladders(&hub)?);
    program::check(&name)
        .map_err(|why| ApiError::Wrong(StatusCode::BAD_REQUEST, message::Message::new("invalid_name", why)))?;
    let key = program::draw().map_err(|error| {
        ApiError::Later(message::Message::new("no_random", format!("no key can be drawn: {error:#}")))
    })?;
    let (host, now, of, hash) = (caller.host(), unix_now(), name.clone(), program::hash(&key));
    let operation = async move |store: Store| {
        if !claims.take(host, now) {
            return Err(ApiError::TooMany(RefusalKind::Claims, too_many_claims()));
        }
        let mut claimed = store.claim(&of, &hash, now).await;
        if matches!(claimed, Ok(Claim::Own)) {
            // The first match may be much later, so the name must not be released as unused.
            claimed = store.mark_name_used(&of).await.map(|()| Claim::Own);
        }
        if !matches!(claimed, Ok(Claim::Own)) {
            claims.release(host);
        }
        Ok(claimed?)
    };
    match query_store(&hub, caller, operation).await? {
        Claim::Own => {
            let login = format!("{name}{MARK}{key}");
            let answer = json!({ "name": name, "key": key, "login": login, "host": host_of(&headers), "games": games });
            Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
        }
        Claim::Resembles(Some(other)) => Err(ApiError::conflict(resembles(Some(&other)))),
        Claim::Taken | Claim::Resembles(None) | Claim::TooMany => Err(ApiError::conflict(resembles(None))),
    }
}

// Programs connect to the host at which the caller has reached the hub.
fn host_of(headers: &HeaderMap) -> Option<String> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let end = host.rfind(':').filter(|colon| !host[*colon..].contains(']'));
    Some(host[..end.unwrap_or(host.len())].to_owned())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeaveRequest {
    name: String,
    key: String,
}

// The results of the name remain.
async fn leave(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    JsonBody(LeaveRequest { name, key }): JsonBody<LeaveRequest>,
) -> Answer<Response> {
    ladders(&hub)?;
    let wrong = || not_owner();
    // Also bounds the keys of `hub.tries`.
    if program::check(&name).is_err() {
        return Err(wrong());
    }
    let (host, purpose) = (caller.host(), Purpose::Key(name.clone()));
    if let Some(wait) = hub.tries.wait(host, &purpose) {
        return Ok(too_many(wait));
    }
    let hash = program::hash(&key);
    let of = name.clone();
    let operation = async move |store: Store| Ok(store.release_name(&of, &hash, unix_now()).await?);
    if query_store(&hub, caller, operation).await? {
        devices::revoke_proofs(&hub, name);
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    hub.tries.charge(host, &purpose);
    Err(wrong())
}

/// In bytes.
const MAX_FRAME: usize = 4 << 10;
/// In frames, per direction.
const QUEUE: usize = 64;

async fn socket(
    State(hub): State<Arc<Hub>>,
    Path(game): Path<String>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: WebSocketUpgrade,
) -> Response {
    let board = Game::named(&game).and_then(|game| hub.ladders()?.get(game).cloned());
    let Some(board) = board else {
        return ApiError::missing(message!("no_ladder_of_game", "this hub has no ladder for this game"))
            .into_response();
    };
    connections::bounded(upgrade, MAX_FRAME).on_upgrade(async move |socket| {
        tunnel(socket, &board, caller.host()).await;
        drop(place);
    })
}

// Returns when the ladder or the socket has ended the connection.
async fn tunnel(socket: WebSocket, board: &Board, host: HostId) {
    let (sender, inbox) = mpsc::channel(QUEUE);
    let (outbox, mut outgoing) = mpsc::channel::<Bytes>(QUEUE);
    let (mut sink, mut stream) = socket.split();
    let pulse = Pulse::default();
    let mut beats = Beats::new(&pulse);
    let reading = async {
        while let Some(Ok(message)) = pulse.read(stream.next()).await {
            let bytes = match message {
                Message::Binary(bytes) => bytes,
                Message::Text(text) => text.into(),
                Message::Close(_) => break,
                Message::Ping(_) | Message::Pong(_) => continue,
            };
            if sender.send(bytes).await.is_err() {
                break;
            }
        }
        // Ends the connection for the ladder.
        drop(sender);
        std::future::pending::<()>().await;
    };
    let writing = async {
        loop {
            let message = tokio::select! {
                bytes = outgoing.recv() => match bytes {
                    Some(bytes) => Message::Binary(bytes),
                    None => break,
                },
                // The protocols of games have no idle messages.
                due = beats.due() => match due {
                    Beat::Idle => continue,
                    Beat::Ping => Message::Ping(Bytes::new()),
                    Beat::Gone => return,
                },
            };
            if !send(&mut sink, message).await {
                return;
            }
        }
        let _ = sink.close().await;
    };
    board.attend(host, inbox, outbox).await;
    tokio::select! {
        () = writing => {}
        () = reading => {}
    }
}
