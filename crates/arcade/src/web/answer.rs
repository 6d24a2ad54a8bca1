//! Answers that say what is wrong.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

/// An answer that says what is wrong.
pub(crate) fn error(status: StatusCode, text: &str) -> Response {
    (status, Json(json!({ "error": text }))).into_response()
}

/// There is nothing at this address.
pub(crate) fn missing() -> Response {
    (StatusCode::NOT_FOUND, "There is no such page.\n").into_response()
}
