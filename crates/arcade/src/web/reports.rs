//! Reports about players, sent from the result of a match.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::IntoResponse as _,
    routing::post,
};
use serde::Deserialize;
use store::unix_now;
use tokio::task::block_in_place;
use tracing::warn;

use super::{
    api::{Answer, ApiError, JsonBody, find},
    caller::Caller,
};
use crate::{
    hub::{
        Hub,
        reports::{MAX_REPORT_TEXT, Reason, Report, ReportError},
        shares::RefusalKind,
    },
    message::message,
};

pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/api/matches/{id}/report", post(report))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewReport {
    seat: String,
    reason: Reason,
    #[serde(default)]
    text: String,
}

async fn report(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonBody(NewReport { seat, reason, text }): JsonBody<NewReport>,
) -> Answer {
    if text.len() > MAX_REPORT_TEXT {
        return Err(ApiError::bad(format!("'text' has at most {MAX_REPORT_TEXT} bytes")));
    }
    let found = find(&hub, caller, id).await?;
    let player = found.players.into_iter().find(|player| player.seat == seat);
    let player = player.ok_or_else(|| ApiError::missing(message!("no_seat", "this match has no such seat")))?;
    let report = Report {
        id: 0,
        at: unix_now(),
        r#match: found.id,
        room: found.room,
        seat,
        name: player.name,
        reason,
        text,
        host: caller.host(),
    };
    match block_in_place(|| hub.reports.add(report)) {
        Ok(()) => Ok(StatusCode::NO_CONTENT.into_response()),
        Err(ReportError::TooMany) => Err(ApiError::TooMany(RefusalKind::Reports, RefusalKind::Reports.message())),
        Err(ReportError::Failed(why)) => {
            warn!("cannot store a report: {why:#}");
            Err(ApiError::Later(message!("no_reports", "the report cannot be stored at the moment; try again later")))
        }
    }
}
