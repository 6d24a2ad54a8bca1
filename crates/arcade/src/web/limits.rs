//! Bounds the time and memory of requests and responses, charged to the caller's host until they are processed or sent.
//! A client that does not read its response is disconnected.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::Response,
};
use hyper::body::{Frame, SizeHint};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    caller, page,
    response::{error, in_time, refused},
};
use crate::{
    hub::{resources::Resources, shares::Share},
    message::message,
};

/// In bytes. Shorter responses are not counted: every connection may have one.
const SMALL: usize = 4 << 10;
/// In bytes.
const MAX_ANSWER: usize = 8 << 20;
/// Responses are copied in pieces, so that the buffer of a connection does not keep all of a response in memory.
const CHUNK: usize = 16 << 10;

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
    // Files are in memory once; small responses are bounded by the number of connections.
    let length = usize::try_from(response.body().size_hint().lower()).unwrap_or(usize::MAX);
    if is_file || length <= SMALL {
        return response;
    }
    if length > MAX_ANSWER {
        return too_long();
    }
    match resources.answers.take(host, length) {
        Ok(share) => {
            response.map(|inner| Body::new(CountedBody { inner, left: Bytes::new(), progress, _share: share }))
        }
        Err(refusal) => refused(refusal),
    }
}

fn too_long() -> Response {
    error(StatusCode::SERVICE_UNAVAILABLE, &message!("too_long", "the response is too long; request less"))
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    length.is_some_and(|length| length.as_bytes() != b"0") || headers.contains_key(header::TRANSFER_ENCODING)
}

struct CountedBody {
    inner: Body,
    // Taken from `inner` and not sent yet.
    left: Bytes,
    progress: Option<Progress>,
    _share: Share,
}

impl HttpBody for CountedBody {
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

impl Drop for CountedBody {
    fn drop(&mut self) {
        if let Some(progress) = &self.progress {
            progress.rest();
        }
    }
}

/// Timeout for the next piece of a response.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The deadline for the next piece of a response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Arc<watch::Sender<Option<Instant>>>);

impl Progress {
    /// A piece is being sent, and more follows.
    pub(crate) fn expect_progress(&self) {
        self.0.send_replace(Some(Instant::now() + PATIENCE));
    }

    /// The response is complete.
    pub(crate) fn rest(&self) {
        self.0.send_replace(None);
    }

    pub(crate) async fn deadline_missed(&self) {
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
                // Never fails, because `self` holds the sender.
                _ = due.changed() => {}
            }
        }
    }
}
