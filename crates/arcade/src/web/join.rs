//! The way into rooms that are not for everybody: links, words, and pictures of links.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    extract::{Path, State, rejection::JsonRejection},
    http::{Extensions, HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, Serialize};

use super::{
    address,
    answer::{counted, error, later, missing, no_such_room},
    caller::Caller,
    page::Page,
    relay::{self, Asked},
};
use crate::hub::{
    self, Hub,
    codes::{Coded, Proof},
    refusal::Kind,
    tries::Tried,
};

/// The routes.
pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/j/{code}", get(follow))
        .route("/api/join", post(join))
        .route("/api/rooms/{id}/qr", get(picture))
}

/// Redirects to the page of the room. The code is in the fragment, which browsers do not send.
async fn follow(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(code): Path<String>,
    Extension(page): Extension<Arc<Page>>,
    headers: HeaderMap,
) -> Response {
    // A link on a page of another site must work, and images of such pages must not use up the tries of their visitors. So the code is not
    // looked at: the page is the same for all codes, and tries its own by `/api/join`, which other sites cannot call.
    if is_of_another_site(&headers) {
        return page.answer(&headers).unwrap_or_else(missing);
    }
    match hub.by_code(caller.host(), &code).await {
        Tried::Right(coded) => {
            let (id, code) = match coded {
                Coded::Here(room) => (room.file().id.clone(), room.access.code().unwrap_or_default().to_owned()),
                Coded::Elsewhere { id, code } => (id, code),
            };
            let headers =
                [(header::LOCATION, format!("/rooms/{id}#{code}")), (header::CACHE_CONTROL, "no-store".into())];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Tried::Wrong => (StatusCode::NOT_FOUND, page.answer(&headers).unwrap_or_else(missing)).into_response(),
        Tried::TooMany(wait) => too_many(wait),
    }
}

/// Whoever wants to know where a room is.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Join {
    /// The code of a link, which says which room it is.
    code: Option<String>,
    /// The room of a word.
    room: Option<String>,
    word: Option<String>,
}

async fn join(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    asked: Asked,
    body: Result<Json<Join>, JsonRejection>,
) -> Response {
    let join = match body {
        Ok(Json(join)) => join,
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    let found = match &join {
        Join { code: Some(code), room: None, word: None } => match hub.by_code(caller.host(), code).await {
            Tried::Right(Coded::Here(room)) => Tried::Right(room),
            Tried::Right(Coded::Elsewhere { id, .. }) => return ask_owner(&hub, &id, &asked, &join).await,
            Tried::Wrong => Tried::Wrong,
            Tried::TooMany(wait) => Tried::TooMany(wait),
        },
        Join { code: None, room: Some(id), word: Some(word) } => {
            if hub.hides(id) {
                return no_such_room();
            }
            let Some(room) = hub.rooms.get(id) else { return ask_owner(&hub, id, &asked, &join).await };
            let proof = Proof { word: Some(word.clone()), ..Proof::default() };
            match hub.admits(caller.host(), (id, Some(&room)), &proof).await {
                Tried::Right(()) => Tried::Right(room),
                Tried::Wrong => return error(StatusCode::FORBIDDEN, "this is not the word of this room"),
                Tried::TooMany(wait) => Tried::TooMany(wait),
            }
        }
        _ => return error(StatusCode::BAD_REQUEST, "give the 'code' of a link, or a 'room' and its 'word'"),
    };
    match found {
        Tried::Right(room) => Json(room.info.borrow().clone()).into_response(),
        Tried::Wrong => error(StatusCode::NOT_FOUND, "no room has this code; it may be closed"),
        Tried::TooMany(wait) => too_many(wait),
    }
}

// The node that has the room answers.
async fn ask_owner(hub: &Hub, id: &str, asked: &Asked, join: &Join) -> Response {
    let owner = || hub.elsewhere()?.fleet.owner_of(id).filter(|_| !asked.is_relayed());
    match (owner(), serde_json::to_vec(join)) {
        (Some(node), Ok(body)) => relay::pass(hub, &node, asked.with(body)).await,
        _ => no_such_room(),
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
    let room = hub.rooms.get(&id);
    let path = match &room {
        Some(room) if room.access.is_listed() => format!("rooms/{id}"),
        _ => match hub.admits(caller.host(), (&id, room.as_deref()), &shown(&headers)).await {
            Tried::Right(()) => {
                let code = room.as_ref().and_then(|room| room.access.code());
                format!("j/{}", code.unwrap_or_default())
            }
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

/// Whether a page of another site has caused a request, as the browser states. A program can state that too, and gains nothing by it.
fn is_of_another_site(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none")
}

pub(super) fn too_many(wait: Duration) -> Response {
    let refused = error(StatusCode::TOO_MANY_REQUESTS, Kind::Tries.sentence());
    later(counted(Kind::Tries, refused), wait.as_secs().saturating_add(1))
}
