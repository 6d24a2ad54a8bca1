//! Error responses of the interface for programs.

use axum::{
    extract::rejection::{JsonRejection, QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use store::StoreError;
use tracing::warn;

use crate::{
    hub::shares::{Kind, Refusal},
    replays::ReplayError,
    web::response::{counted, error, later, refused},
};

/// `Retry-After` while the database does not answer, in seconds.
const AWAY: u64 = 10;
/// `Retry-After` when a host has reached its limit for a day, in seconds.
const HOUR: u64 = 3_600;

/// An error response.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// The status, and a message for the user.
    Wrong(StatusCode, String),
    /// A limit has refused the request.
    Refused(Refusal),
    /// The caller's host has reached a limit and has to wait for some time.
    TooMany(Kind, String),
    /// The request is valid and may succeed a moment later.
    Later(String),
}

impl ApiError {
    pub(crate) fn bad(text: impl Into<String>) -> Self {
        Self::Wrong(StatusCode::BAD_REQUEST, text.into())
    }

    pub(crate) fn missing(text: &str) -> Self {
        Self::Wrong(StatusCode::NOT_FOUND, text.into())
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
        Self::Wrong(rejection.status(), rejection.body_text())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let error = format!("{:#}", anyhow::Error::from(error));
        warn!(error, "a query of results failed");
        let text = "the results cannot be read just now; the games go on, and nothing is lost";
        Self::Later(text.into())
    }
}

impl From<ReplayError> for ApiError {
    fn from(error: ReplayError) -> Self {
        let status = match error {
            ReplayError::Today => StatusCode::FORBIDDEN,
            ReplayError::Gone | ReplayError::NoSeat(_) => StatusCode::NOT_FOUND,
            ReplayError::Damaged(_) | ReplayError::Unfinished => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::Wrong(status, error.to_string())
    }
}
