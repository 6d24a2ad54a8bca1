//! Responses: errors and refusals, and what requests and responses may hold in memory.
//!
//! Every request with a body, and the bytes of every response, count for the host of their caller until they are processed or sent. A client
//! that does not take its response loses the connection.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Json,
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use hyper::body::{Frame, SizeHint};
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout},
};

use super::{caller, page};
use crate::hub::{
    resources::Resources,
    shares::{Kind, Refusal, Share},
};

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

/// How long a request may take from its head to the head of the answer, including what the client sends after the head.
const ANSWER: Duration = Duration::from_mins(1);
/// Answers up to this length are not counted: every connection may have one.
const SMALL: usize = 4 << 10;
/// The longest answer, in bytes.
const MAX_ANSWER: usize = 8 << 20;
/// What the connection gets of an answer at once. It is a copy, so that the end of an answer in the buffer of a connection does not keep
/// all of it.
const CHUNK: usize = 16 << 10;

/// Answers in time, also if the rest of a request does not arrive.
pub(super) async fn in_time(response: impl Future<Output = Response>) -> Response {
    match timeout(ANSWER, response).await {
        Ok(response) => response,
        Err(_) => later(error(StatusCode::REQUEST_TIMEOUT, "this request took too long; try again"), 1),
    }
}

/// Bounds the time and the memory of a request and its response.
pub(crate) async fn account(State(resources): State<Arc<Resources>>, request: Request, next: Next) -> Response {
    let host = caller::of(request.extensions(), request.headers(), &resources.callers).host();
    let progress = request.extensions().get::<Progress>().cloned();
    let is_file = page::is_file(request.uri().path());
    let body = if has_body(request.headers()) { Some(resources.bodies.take(host, 1)) } else { None };
    let body = match body.transpose() {
        Ok(body) => body,
        Err(refusal) => return refused(refusal),
    };
    let response = in_time(next.run(request)).await;
    drop(body);
    // Files are in memory once, and small answers are bounded by the connections.
    let length = usize::try_from(response.body().size_hint().lower()).unwrap_or(usize::MAX);
    if is_file || length <= SMALL {
        return response;
    }
    if length > MAX_ANSWER {
        return too_long();
    }
    match resources.answers.take(host, length) {
        Ok(share) => response.map(|inner| Body::new(Held { inner, left: Bytes::new(), progress, _share: share })),
        Err(refusal) => refused(refusal),
    }
}

fn too_long() -> Response {
    error(StatusCode::SERVICE_UNAVAILABLE, "this answer is too long; ask for less").into_response()
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    length.is_some_and(|length| length.as_bytes() != b"0") || headers.contains_key(header::TRANSFER_ENCODING)
}

/// The body of an answer, with its share of the bytes of all answers.
struct Held {
    inner: Body,
    // What was taken from it and not sent.
    left: Bytes,
    progress: Option<Progress>,
    _share: Share,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        while self.left.is_empty() {
            match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.left = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                end => return Poll::Ready(end),
            }
        }
        let length = self.left.len().min(CHUNK);
        let chunk = self.left.split_to(length);
        if let Some(progress) = &self.progress {
            progress.expect_progress();
        }
        Poll::Ready(Some(Ok(Frame::data(Bytes::copy_from_slice(&chunk)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.left.len() as u64;
        let inner = self.inner.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + left);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + left);
        }
        hint
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(progress) = &self.progress {
            progress.rest();
        }
    }
}

/// How long a client may take for the next piece of an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// By when a connection has to have room for the next piece of an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Arc<watch::Sender<Option<Instant>>>);

impl Progress {
    /// A piece of an answer is on its way, and more follows.
    pub(crate) fn expect_progress(&self) {
        self.0.send_replace(Some(Instant::now() + PATIENCE));
    }

    /// Nothing more follows.
    pub(crate) fn rest(&self) {
        self.0.send_replace(None);
    }

    /// Waits until the client is too late.
    pub(crate) async fn missed(&self) {
        let mut due = self.0.subscribe();
        loop {
            let until = *due.borrow_and_update();
            let late = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = late => return,
                // The sender is here.
                _ = due.changed() => {}
            }
        }
    }
}
