//! The way into rooms that are not for everybody: links, words, and pictures of links.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    extract::{Path, State, rejection::JsonRejection},
    http::{Extensions, HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;

use super::{
    address,
    answer::{counted, error, later, missing},
    caller::Caller,
    page::Page,
    room_api::no_such_room,
};
use crate::{
    hub::{self, Hub, codes::Proof, refusal::Kind, tries::Tried},
    room::Room,
};

/// The routes.
pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/j/{code}", get(follow))
        .route("/api/join", post(join))
        .route("/api/rooms/{id}/qr", get(picture))
}

/// Leads to the page of the room. The code is in the fragment, which browsers do not send.
async fn follow(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(code): Path<String>,
    Extension(page): Extension<Arc<Page>>,
    headers: HeaderMap,
) -> Response {
    match hub.by_code(caller.host(), &code) {
        Tried::Right(room) => {
            let (id, code) = (room.file().id.clone(), room.access.code().unwrap_or_default().to_owned());
            let headers =
                [(header::LOCATION, format!("/rooms/{id}#{code}")), (header::CACHE_CONTROL, "no-store".into())];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Tried::Wrong => (StatusCode::NOT_FOUND, page.answer(&headers).unwrap_or_else(missing)).into_response(),
        Tried::TooMany(wait) => too_many(wait),
    }
}

/// Whoever wants to know where a room is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Join {
    /// The code of a link, which says which room it is.
    code: Option<String>,
    /// The room of a word.
    room: Option<String>,
    word: Option<String>,
}

async fn join(State(hub): State<Arc<Hub>>, caller: Caller, body: Result<Json<Join>, JsonRejection>) -> Response {
    let found = match body {
        Ok(Json(Join { code: Some(code), room: None, word: None })) => hub.by_code(caller.host(), &code),
        Ok(Json(Join { code: None, room: Some(id), word: Some(word) })) => {
            let Some(room) = hub.rooms.get(&id).filter(|room| room.access.is_listed()) else { return no_such_room() };
            let proof = Proof { word: Some(word), ..Proof::default() };
            match hub.admits(caller.host(), &room, &proof) {
                Tried::Right(()) => Tried::Right(room),
                Tried::Wrong => return error(StatusCode::FORBIDDEN, "this is not the word of this room"),
                Tried::TooMany(wait) => Tried::TooMany(wait),
            }
        }
        Ok(_) => return error(StatusCode::BAD_REQUEST, "give the 'code' of a link, or a 'room' and its 'word'"),
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    match found {
        Tried::Right(room) => Json(room.info.borrow().clone()).into_response(),
        Tried::Wrong => error(StatusCode::NOT_FOUND, "no room has this code; it may be closed"),
        Tried::TooMany(wait) => too_many(wait),
    }
}

/// The address of a room for a phone. That of a room with a link is for those who show its code, or a token of the room.
async fn picture(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(id): Path<String>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Response {
    let Some(room) = hub.rooms.get(&id) else { return no_such_room() };
    let path = match room.access.code() {
        None => format!("rooms/{id}"),
        Some(code) => match hub.admits(caller.host(), &room, &shown(&headers)) {
            Tried::Right(()) => format!("j/{code}"),
            Tried::Wrong => return no_such_room(),
            Tried::TooMany(wait) => return too_many(wait),
        },
    };
    let Some(svg) = address::shown(&hub, &extensions, &headers, &path).and_then(|url| hub::address::picture(&url))
    else {
        return missing();
    };
    ([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "no-store")], svg).into_response()
}

// What a request shows in its head: a code or a token.
fn shown(headers: &HeaderMap) -> Proof {
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer ")).map(|shown| shown.trim().to_owned());
    // A seat's token has a point, an owner's is longer than a code: none is taken for another.
    Proof { code: shown.clone().filter(|shown| shown.len() < 16), word: None, owner: shown.clone(), seat: shown }
}

/// Whoever enters a room, as far as it is not for everybody.
pub(super) fn may_enter(hub: &Hub, caller: Caller, room: &Room, proof: &Proof) -> bool {
    hub.admits(caller.host(), room, proof) == Tried::Right(())
}

pub(super) fn too_many(wait: Duration) -> Response {
    let refused = error(StatusCode::TOO_MANY_REQUESTS, Kind::Tries.sentence());
    later(counted(Kind::Tries, refused), wait.as_secs().saturating_add(1))
}
