//! Opens a WebSocket or an [event stream](super::event_stream) for a page, and receives the POSTs of the latter.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{
        FromRequestParts, WebSocketUpgrade,
        ws::{CloseFrame, Message},
    },
    http::{HeaderMap, Method, StatusCode, request::Parts},
    response::{IntoResponse, Response, sse::Sse},
    routing::post,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::json;

use super::{
    api::JsonBody,
    caller::Caller,
    connections::bounded,
    event_stream::{EventStreams, PATH, PageSocket, opens_stream},
    response::{error, invalid},
};
use crate::hub::Hub;

pub(crate) enum PageUpgrade {
    Web(WebSocketUpgrade),
    Events(Arc<EventStreams>, Caller),
}

impl FromRequestParts<Arc<Hub>> for PageUpgrade {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Response> {
        if !opens_stream(&parts.headers) {
            let upgrade = WebSocketUpgrade::from_request_parts(parts, hub).await;
            return upgrade.map(Self::Web).map_err(IntoResponse::into_response);
        }
        let Ok(caller) = Caller::from_request_parts(parts, hub).await;
        match parts.extensions.get::<Arc<EventStreams>>() {
            Some(streams) if parts.method == Method::GET => Ok(Self::Events(Arc::clone(streams), caller)),
            _ => Err(StatusCode::METHOD_NOT_ALLOWED.into_response()),
        }
    }
}

impl PageUpgrade {
    /// `max_message` limits the bytes of a frame.
    pub(crate) fn on_upgrade<F>(
        self,
        max_message: usize,
        serve: impl FnOnce(PageSocket) -> F + Send + 'static,
    ) -> Response
    where
        F: Future<Output = ()> + Send + 'static,
    {
        match self {
            Self::Web(upgrade) => {
                bounded(upgrade, max_message).on_upgrade(|socket| serve(PageSocket::Web(Box::new(socket))))
            }
            Self::Events(streams, caller) => {
                let Some((socket, events)) = streams.open(caller.host(), max_message) else {
                    return StatusCode::INTERNAL_SERVER_ERROR.into_response();
                };
                tokio::spawn(serve(PageSocket::Events(socket)));
                // Otherwise nginx would buffer events.
                ([("x-accel-buffering", "no")], Sse::new(events)).into_response()
            }
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Frames {
    first: u64,
    frames: Vec<Frame>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Frame {
    Text(String),
    Binary { binary: String },
    Close { close: u16 },
}

impl TryFrom<Frame> for Message {
    type Error = base64::DecodeError;

    fn try_from(frame: Frame) -> Result<Self, base64::DecodeError> {
        Ok(match frame {
            Frame::Text(text) => Self::text(text),
            Frame::Binary { binary } => Self::binary(STANDARD.decode(binary)?),
            Frame::Close { close } => Self::Close(Some(CloseFrame { code: close, reason: "".into() })),
        })
    }
}

pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new().route(PATH, post(frames))
}

async fn frames(
    caller: Caller,
    Extension(streams): Extension<Arc<EventStreams>>,
    headers: HeaderMap,
    JsonBody(Frames { first, frames }): JsonBody<Frames>,
) -> Response {
    let frames: Vec<Message> = match frames.into_iter().map(Message::try_from).collect() {
        Ok(frames) => frames,
        Err(why) => return error(StatusCode::BAD_REQUEST, &invalid(format!("'binary' is not base64: {why}"))),
    };
    match streams.take(&headers, caller.host(), first, frames) {
        Some(next) => Json(json!({ "next": next })).into_response(),
        None => error(StatusCode::NOT_FOUND, &invalid("the event stream has ended")),
    }
}
