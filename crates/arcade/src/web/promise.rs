//! Another node asks for how long its rooms are left alone.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{Query, State},
    http::StatusCode,
    response::{IntoResponse as _, Response},
    routing::post,
};

use super::answer::error;
use crate::{
    fleet::{
        plea::{Answered, Asked, PATH},
        seal::Relayed,
    },
    hub::Hub,
};

/// The route for other nodes.
pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new().route(PATH, post(promise))
}

async fn promise(
    State(hub): State<Arc<Hub>>,
    proven: Option<Extension<Relayed>>,
    Query(asked): Query<Asked>,
) -> Response {
    let Some(elsewhere) = hub.elsewhere().filter(|_| proven.is_some()) else {
        return error(StatusCode::FORBIDDEN, "this is for the other hubs of the arcade");
    };
    match elsewhere.fleet.promise(asked.into()).await {
        Some(promise) => Json(Answered::from(promise)).into_response(),
        None => error(StatusCode::SERVICE_UNAVAILABLE, "the hub is busy"),
    }
}
