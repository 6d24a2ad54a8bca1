//! Errors of the API, and extractors that return them.

use axum::{
    Json,
    extract::{
        FromRequest, FromRequestParts, Query, Request,
        rejection::{JsonRejection, QueryRejection},
    },
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
};
use serde::de::DeserializeOwned;
use store::StoreError;
use tracing::warn;

use crate::{
    hub::shares::{Refusal, RefusalKind},
    message::{Message, message},
    replays::ReplayError,
    web::response::{counted, error, invalid, later, refused},
};

/// `Retry-After` while the database does not answer, in seconds.
const AWAY: u64 = 10;
/// `Retry-After` at a daily limit, in seconds.
const HOUR: u64 = 3_600;

#[derive(Debug)]
pub(crate) enum ApiError {
    Wrong(StatusCode, Message),
    Refused(Refusal),
    /// A temporary limit of the caller's host.
    TooMany(RefusalKind, Message),
    /// The request is valid and may succeed later.
    Later(Message),
}

impl ApiError {
    /// No page sends such a request.
    pub(crate) fn bad(text: impl Into<String>) -> Self {
        Self::Wrong(StatusCode::BAD_REQUEST, invalid(text))
    }

    pub(crate) const fn missing(message: Message) -> Self {
        Self::Wrong(StatusCode::NOT_FOUND, message)
    }

    pub(crate) const fn conflict(message: Message) -> Self {
        Self::Wrong(StatusCode::CONFLICT, message)
    }

    pub(crate) fn no_results() -> Self {
        Self::Later(message!(
            "no_results",
            "the results are not available at the moment; games continue, and no result is lost"
        ))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        match self {
            Self::Wrong(status, text) => error(status, &text),
            Self::Refused(refusal) => refused(refusal),
            Self::TooMany(kind, text) => later(counted(kind, error(StatusCode::TOO_MANY_REQUESTS, &text)), HOUR),
            Self::Later(text) => later(error(StatusCode::SERVICE_UNAVAILABLE, &text), AWAY),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad(rejection.body_text())
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        Self::Wrong(rejection.status(), invalid(rejection.body_text()))
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let error = format!("{:#}", anyhow::Error::from(error));
        warn!(error, "a query of results failed");
        Self::no_results()
    }
}

impl From<ReplayError> for ApiError {
    fn from(error: ReplayError) -> Self {
        let status = match error {
            ReplayError::Today => StatusCode::FORBIDDEN,
            ReplayError::Gone | ReplayError::NoSeat(_) => StatusCode::NOT_FOUND,
            ReplayError::Damaged(_) | ReplayError::Unfinished => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let code = match error {
            ReplayError::Today => "replay_today",
            ReplayError::Gone => "replay_gone",
            ReplayError::NoSeat(_) => "replay_no_seat",
            ReplayError::Damaged(_) => "replay_damaged",
            ReplayError::Unfinished => "replay_unfinished",
        };
        Self::Wrong(status, Message::new(code, error.to_string()))
    }
}

pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let Json(body) = Json::from_request(request, state).await?;
        Ok(Self(body))
    }
}

pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Query(params) = Query::from_request_parts(parts, state).await?;
        Ok(Self(params))
    }
}
