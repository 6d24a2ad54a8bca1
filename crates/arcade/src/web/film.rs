//! Serves the replays of one journal without a hub.

use std::{fmt::Write as _, future::Future, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::header,
    middleware,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};
use serde_json::json;
use store::Match;
use tokio::task::block_in_place;

use super::{
    api::{Answer, ApiError, FramesQuery, Params, download, first_line},
    asset, caller, headers, limits, page,
    response::missing,
    share::escape,
};
use crate::{
    games::Game,
    hub::{resources::Resources, shares::Share},
    message::message,
    replays::{MAX_STRETCH, ReplayError, Replays},
    results::views::{date, match_json},
};

/// A day after every puzzle: the owner of the journal may see everything.
const NEVER: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Film {
    pub(crate) journal: String,
    /// In the order of their start.
    pub(crate) matches: Vec<Match>,
    pub(crate) replays: Replays,
    pub(crate) resources: Arc<Resources>,
}

impl Film {
    fn find(&self, id: &str) -> Answer<&Match> {
        let found = self.matches.iter().find(|found| found.id == id);
        found.ok_or_else(|| ApiError::missing(message!("no_match", "this journal has no such match")))
    }
}

pub(crate) fn router(film: Arc<Film>) -> Router {
    let resources = Arc::clone(&film.resources);
    Router::new()
        .route("/", get(list))
        .route("/matches/{id}", get(page))
        .route("/api/matches", get(matches))
        .route("/api/matches/{id}", get(one_match))
        .route("/api/matches/{id}/timeline", get(timeline))
        .route("/api/matches/{id}/frames", get(frames))
        .route("/api/matches/{id}/lines", get(lines))
        .route("/js/{*path}", get(asset))
        .route("/style/{*path}", get(asset))
        .route("/icon.svg", get(asset))
        .route("/icon-180.png", get(asset))
        .route("/icon-512.png", get(asset))
        .route("/manifest.webmanifest", get(asset))
        .fallback(async || missing())
        .layer(middleware::from_fn_with_state(Arc::clone(&resources), limits::account))
        .layer(middleware::from_fn_with_state(resources, caller::named))
        .layer(middleware::map_response(headers))
        .with_state(film)
}

fn html(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-store")], text).into_response()
}

/// A single match is shown immediately.
async fn list(State(film): State<Arc<Film>>) -> Response {
    if let [only] = film.matches.as_slice() {
        return Redirect::temporary(&format!("/matches/{}", only.id)).into_response();
    }
    let mut rows = String::new();
    for found in &film.matches {
        let title = Game::named(&found.game).map_or("A match", Game::title);
        let players: Vec<String> =
            found.players.iter().map(|player| format!("<bdi>{}</bdi>", escape(&player.name))).collect();
        let players = if found.complete || !players.is_empty() { players.join(", ") } else { "not over".to_owned() };
        let _ = write!(
            rows,
            r#"<li><a href="/matches/{}">{title} {}, {}</a> <span class="soft">{players}</span></li>"#,
            escape(&found.id),
            found.number,
            escape(&date(found.started)),
        );
    }
    let journal = escape(&film.journal);
    html(format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\" /><meta name=\"viewport\" content=\"width=device-width\" />\
         <title>{journal}</title><link rel=\"icon\" href=\"/icon.svg\" /><link rel=\"stylesheet\" href=\"/style/base.css\" /></head>\
         <body><main><h1>Matches of {journal}</h1><ol>{rows}</ol></main></body></html>"
    ))
}

async fn lines(State(film): State<Arc<Film>>, Path(id): Path<String>) -> Answer {
    let found = film.find(&id)?;
    let lines = replay(&film, |turn| film.replays.lines(found, first_line(found), NEVER, turn)).await?;
    Ok(download(found, lines))
}

async fn page(State(film): State<Arc<Film>>) -> Response {
    let is_example = |found: &Match| Game::named(&found.game).is_some_and(Game::is_example);
    let settings = page::Settings { examples: film.matches.iter().any(is_example), ..page::Settings::default() };
    // The navigation needs a hub.
    let whole = page::page(r#"{"rooms":[]}"#, &settings).map(|page| without(&page, "<nav", "</nav>"));
    whole.map_or_else(missing, html)
}

fn without(text: &str, front: &str, back: &str) -> String {
    let cut = text.split_once(front).and_then(|(before, rest)| Some((before, rest.split_once(back)?.1)));
    cut.map_or_else(|| text.to_owned(), |(before, after)| format!("{before}{after}"))
}

async fn matches(State(film): State<Arc<Film>>) -> Response {
    let views: Vec<_> = film.matches.iter().map(match_json).collect();
    Json(json!({ "matches": views })).into_response()
}

async fn one_match(State(film): State<Arc<Film>>, Path(id): Path<String>) -> Answer {
    let found = film.find(&id)?;
    let mut view = match_json(found);
    view["replay"] = film.replays.has(found).into();
    Ok(Json(view).into_response())
}

// There is only one caller.
async fn replay<T, F>(film: &Film, replay: impl FnOnce(Share) -> F) -> Answer<T>
where
    F: Future<Output = Result<T, ReplayError>>,
{
    let turn = film.resources.replays.wait(netcore::HostId::Other).await?;
    Ok(replay(turn).await?)
}

async fn timeline(State(film): State<Arc<Film>>, Path(id): Path<String>) -> Answer {
    let found = film.find(&id)?;
    let timeline = replay(&film, |turn| film.replays.timeline(found, NEVER, turn)).await?;
    Ok(Json(timeline).into_response())
}

async fn frames(
    State(film): State<Arc<Film>>,
    Path(id): Path<String>,
    Params(FramesQuery { seat, from, to }): Params<FramesQuery>,
) -> Answer {
    if to < from || to - from > MAX_STRETCH {
        return Err(ApiError::bad(format!("'to' must be at or after 'from', by at most {MAX_STRETCH} ms")));
    }
    let found = film.find(&id)?;
    let frames = replay(&film, |turn| film.replays.frames(found, seat, (from, to), NEVER, turn)).await?;
    Ok(block_in_place(|| Json(frames).into_response()))
}
