//! Rooms for programs and the page: what is open, what can be opened, where one can play, and bots.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, Query, State, rejection::JsonRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use netcore::Level;
use serde::Deserialize;
use serde_json::json;

use super::{
    answer::{error, later, refused},
    caller::Caller,
};
use crate::{
    games::{self, Game, Options},
    hub::{Hub, OpenError},
};

/// `Retry-After` of a hub that is about to end, in seconds.
const LATER: u64 = 60;

/// The routes.
pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/api/rooms", get(list).post(open))
        .route("/api/rooms/{id}", get(one))
        .route("/api/games", get(games))
        .route("/api/play/{game}", post(play))
        .route("/api/rooms/{id}/bots", post(add_bot).delete(remove_bots))
}

async fn list(State(hub): State<Arc<Hub>>) -> Response {
    Json(hub.snapshot()).into_response()
}

async fn one(State(hub): State<Arc<Hub>>, Path(id): Path<String>) -> Response {
    match hub.rooms.get(&id) {
        Some(room) => Json(room.info.borrow().clone()).into_response(),
        None => no_such_room(),
    }
}

async fn games() -> Response {
    Json(json!({ "games": games::describe() })).into_response()
}

async fn open(State(hub): State<Arc<Hub>>, caller: Caller, options: Result<Json<Options>, JsonRejection>) -> Response {
    let Json(options) = match options {
        Ok(options) => options,
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    // Opening a room writes to the disk.
    match tokio::task::block_in_place(|| hub.open(&options, Some(caller.host()), false)) {
        Ok(room) => (StatusCode::CREATED, Json(room.info.borrow().clone())).into_response(),
        Err(error) => not_opened(&error),
    }
}

/// How somebody wants to play.
#[derive(Debug, Deserialize)]
struct Wish {
    /// Whether bots come if nobody else does.
    #[serde(default)]
    fill: bool,
    /// How well they play.
    #[serde(default)]
    level: Level,
}

async fn play(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(game): Path<String>,
    Query(wish): Query<Wish>,
) -> Response {
    let Some(game) = Game::named(&game) else {
        return error(StatusCode::NOT_FOUND, "there is no such game");
    };
    match tokio::task::block_in_place(|| hub.play(game, caller.host())) {
        Ok(room) => {
            if wish.fill {
                room.ask_for_company(wish.level);
            }
            Json(room.info.borrow().clone()).into_response()
        }
        Err(error) => not_opened(&error),
    }
}

/// A bot that is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    level: Level,
    /// Whether as many are wanted as fill the room.
    #[serde(default)]
    fill: bool,
}

async fn add_bot(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    wanted: Result<Json<Wanted>, JsonRejection>,
) -> Response {
    let Some(room) = hub.rooms.get(&id) else { return no_such_room() };
    let Json(Wanted { level, fill }) = match wanted {
        Ok(wanted) => wanted,
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    let seat = || if fill { hub.rooms.fill(&room) } else { hub.rooms.seat_bot(&room, level) };
    match tokio::task::block_in_place(seat) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(why) => error(StatusCode::CONFLICT, &format!("{why:#}")),
    }
}

async fn remove_bots(State(hub): State<Arc<Hub>>, Path(id): Path<String>) -> Response {
    let Some(room) = hub.rooms.get(&id) else { return no_such_room() };
    tokio::task::block_in_place(|| hub.rooms.dismiss_bots(&room));
    StatusCode::NO_CONTENT.into_response()
}

fn no_such_room() -> Response {
    error(StatusCode::NOT_FOUND, "there is no such room")
}

fn not_opened(why: &OpenError) -> Response {
    match why {
        OpenError::TooMany(refusal) => refused(*refusal),
        OpenError::Draining => {
            let text = "the hub is about to end and opens no rooms; try again in a minute";
            later(error(StatusCode::SERVICE_UNAVAILABLE, text), LATER)
        }
        OpenError::Impossible(why) => error(StatusCode::UNPROCESSABLE_ENTITY, &format!("{why:#}")),
    }
}
