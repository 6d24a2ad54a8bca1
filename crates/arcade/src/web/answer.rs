//! Answers that say what is wrong.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::hub::refusal::{Kind, Refusal};

/// An answer that says what is wrong.
pub(crate) fn error(status: StatusCode, text: &str) -> Response {
    (status, Json(json!({ "error": text }))).into_response()
}

/// There is nothing at this address.
pub(crate) fn missing() -> Response {
    (StatusCode::NOT_FOUND, "There is no such page.\n").into_response()
}

/// The caller's host has its share, or the hub has no more.
pub(crate) fn refused(refusal: Refusal) -> Response {
    // What comes back within moments is no fault of the caller, who has only to wait.
    let is_passing =
        matches!(refusal.kind, Kind::Answers | Kind::Queries | Kind::Replays | Kind::Learners | Kind::Slices);
    let status = if refusal.is_of_host() && !is_passing {
        StatusCode::TOO_MANY_REQUESTS
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    later(counted(refusal.kind, error(status, &refusal.to_string())), refusal.after().as_secs())
}

/// The answer for a room that does not exist, or that no list shows to this caller.
pub(crate) fn no_such_room() -> Response {
    error(StatusCode::NOT_FOUND, "there is no such room")
}

/// The state of a room does not allow what the caller wants, or too much is taken.
pub(crate) fn impossible(why: &anyhow::Error) -> Response {
    match why.downcast_ref::<Refusal>() {
        Some(refusal) => refused(*refusal),
        None => error(StatusCode::CONFLICT, &format!("{why:#}")),
    }
}

/// Says when to try again.
pub(crate) fn later(mut response: Response, seconds: u64) -> Response {
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Marks a response as a refusal of this kind, for the numbers.
pub(crate) fn counted(kind: Kind, mut response: Response) -> Response {
    response.extensions_mut().insert(kind);
    response
}
