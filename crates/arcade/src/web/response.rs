use std::{io, time::Duration};

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::time::timeout;
use tracing::warn;

use crate::{
    hub::shares::{Refusal, RefusalKind},
    message::{Message, message},
};

/// `Retry-After` of a hub that is ending, or has no space or ports left, in seconds.
pub(super) const LATER: u64 = 60;

pub(crate) fn error(status: StatusCode, message: &Message) -> Response {
    (status, Json(message.to_json())).into_response()
}

/// No page sends such a request.
pub(crate) fn invalid(text: impl Into<String>) -> Message {
    Message::new("invalid_request", text)
}

pub(crate) fn missing() -> Response {
    (StatusCode::NOT_FOUND, "There is no such page.\n").into_response()
}

/// The response if the share of the host is used up, or the hub is at its limit.
pub(crate) fn refused(refusal: Refusal) -> Response {
    // A limit that is soon free again is not the caller's fault.
    let is_passing = matches!(
        refusal.kind,
        RefusalKind::Answers
            | RefusalKind::Queries
            | RefusalKind::Replays
            | RefusalKind::Learners
            | RefusalKind::Slices
    );
    let status = if refusal.is_of_host() && !is_passing {
        StatusCode::TOO_MANY_REQUESTS
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    later(counted(refusal.kind, error(status, &refusal.message())), refusal.after().as_secs())
}

/// The response if the room does not exist, or is hidden from this caller.
pub(crate) fn no_such_room() -> Response {
    error(StatusCode::NOT_FOUND, &message!("no_room", "no room has this address"))
}

/// The response if the state of a room does not allow a command, or a limit is reached.
pub(crate) fn impossible(why: &anyhow::Error) -> Response {
    match why.downcast_ref::<Refusal>() {
        Some(refusal) => refused(*refusal),
        None => rejected(StatusCode::CONFLICT, why, "impossible"),
    }
}

/// The response with this status, or a 503 if the system caused the error, for example by a full disk: its text may
/// contain paths, so it is only logged.
pub(crate) fn rejected(status: StatusCode, why: &anyhow::Error, code: &'static str) -> Response {
    if why.chain().all(|cause| !cause.is::<io::Error>()) {
        return error(status, &message_of(why, code));
    }
    warn!(error = format!("{why:#}"), "the system does not allow a request");
    let unable = message!("unable", "the hub has no space or ports left for this; try again in a minute");
    later(error(StatusCode::SERVICE_UNAVAILABLE, &unable), LATER)
}

/// The message in the error, or its text with this code.
fn message_of(why: &anyhow::Error, code: &'static str) -> Message {
    why.downcast_ref::<Message>().cloned().unwrap_or_else(|| Message::new(code, format!("{why:#}")))
}

pub(crate) fn later(mut response: Response, seconds: u64) -> Response {
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Marks a refusal for the metrics.
pub(crate) fn counted(kind: RefusalKind, mut response: Response) -> Response {
    response.extensions_mut().insert(kind);
    response
}

/// From the head of a request to the head of its response.
const ANSWER: Duration = Duration::from_mins(1);
/// Also bounds the wait for the body of the request.
pub(super) async fn in_time(response: impl Future<Output = Response>) -> Response {
    timeout(ANSWER, response).await.unwrap_or_else(|_| {
        let slow = message!("too_slow", "the request took too long; try again");
        later(error(StatusCode::REQUEST_TIMEOUT, &slow), 1)
    })
}

/// The response to too many wrong codes, passwords or keys.
pub(super) fn too_many(wait: Duration) -> Response {
    let refused = error(StatusCode::TOO_MANY_REQUESTS, &RefusalKind::Tries.message());
    later(counted(RefusalKind::Tries, refused), wait.as_secs().saturating_add(1))
}
