//! The interface for programs and for the page: results, players, replays and names as JSON.
//!
//! `openapi.json` describes it, and a test compares the two.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Extension, Json, Router,
    extract::{
        Path, Query, State,
        rejection::{JsonRejection, QueryRejection},
    },
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::json;
use store::{Claim, Kind, MAX_NAMES, MAX_PAGE, Match, MatchFilter, StoreError, Ties};
use tracing::warn;

use super::{
    caller::Caller,
    names::{CLAIMS, Claims, KeyHash, check_name},
};
use crate::{
    games::Game,
    hub::Hub,
    replays::{MAX_STRETCH, ReplayError},
    results::{
        clock::unix_now,
        views::{LeaderView, MatchView, ScoreView},
    },
};

/// Matches of one answer, unless another number is asked for.
const PAGE: u32 = 20;
/// Rows of a leaderboard.
const LEADERS: u32 = 100;
/// The longest text in a query: a name of robots.
const MAX_TEXT: usize = 255;

/// The description of all routes under `/api`.
const OPENAPI: &str = include_str!("../../openapi.json");

/// The routes.
pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/api/openapi.json", get(openapi))
        .route("/api/matches", get(matches))
        .route("/api/matches/{id}", get(one_match))
        .route("/api/matches/{id}/timeline", get(timeline))
        .route("/api/matches/{id}/frames", get(frames))
        .route("/api/leaderboard/{game}", get(leaderboard))
        .route("/api/players/{name}", get(player))
        .route("/api/players/{name}/against/{other}", get(against))
        .route("/api/names", post(claim).layer(Extension(Arc::<Claims>::default())))
}

/// An error response: its status, and a message for the user.
#[derive(Debug)]
pub(crate) struct ApiError(StatusCode, String);

impl ApiError {
    fn bad(text: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, text.into())
    }

    fn missing(text: &str) -> Self {
        Self(StatusCode::NOT_FOUND, text.into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad(rejection.body_text())
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        Self(rejection.status(), rejection.body_text())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let error = format!("{:#}", anyhow::Error::from(error));
        warn!(error, "a query of results failed");
        let text = "the results cannot be read just now; the games go on, and nothing is lost";
        Self(StatusCode::SERVICE_UNAVAILABLE, text.into())
    }
}

impl From<ReplayError> for ApiError {
    fn from(error: ReplayError) -> Self {
        let status = match error {
            ReplayError::Today => StatusCode::FORBIDDEN,
            ReplayError::Gone | ReplayError::NoSeat(_) => StatusCode::NOT_FOUND,
            ReplayError::Damaged(_) | ReplayError::Unfinished => StatusCode::UNPROCESSABLE_ENTITY,
            ReplayError::Busy => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self(status, error.to_string())
    }
}

type Answer<T = Response> = Result<T, ApiError>;

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

/// A text from a query or an address.
fn text(what: &str, text: Option<String>) -> Answer<String> {
    let text = text.unwrap_or_default();
    // PostgreSQL has no zero bytes in texts.
    if text.len() > MAX_TEXT || text.contains('\0') {
        return Err(ApiError::bad(format!("'{what}' is not valid: it is up to {MAX_TEXT} bytes without a zero byte")));
    }
    Ok(text)
}

fn game_of(name: &str) -> Answer<Game> {
    Game::named(name).ok_or_else(|| {
        let known = Game::ALL.map(Game::name).join(", ");
        ApiError::missing(&format!("there is no such game; there are {known}"))
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchesQuery {
    game: Option<String>,
    player: Option<String>,
    kind: Option<Kind>,
    before: Option<String>,
    limit: Option<u32>,
}

async fn matches(State(hub): State<Arc<Hub>>, query: Result<Query<MatchesQuery>, QueryRejection>) -> Answer {
    let Query(query) = query?;
    let limit = query.limit.unwrap_or(PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(ApiError::bad(format!("'limit' is a number from 1 to {MAX_PAGE}")));
    }
    let game = match &query.game {
        Some(name) => game_of(name)?.name().to_owned(),
        None => String::new(),
    };
    let filter = MatchFilter {
        game,
        player: text("player", query.player)?,
        kind: query.kind,
        before: text("before", query.before)?,
        limit,
        ..MatchFilter::default()
    };
    let found = hub.results().store.matches(&filter).await?;
    Ok(Json(json!({ "matches": views(found) })).into_response())
}

fn views(found: Vec<Match>) -> Vec<MatchView> {
    found.into_iter().map(MatchView::from).collect()
}

async fn find(hub: &Hub, id: String) -> Answer<Match> {
    let id = text("id", Some(id))?;
    let found = hub.results().store.find(&id).await?;
    found.ok_or_else(|| ApiError::missing("there is no such match; it may not be over yet"))
}

async fn one_match(State(hub): State<Arc<Hub>>, Path(id): Path<String>) -> Answer {
    let found = find(&hub, id).await?;
    let replay = hub.replays().has(&found);
    let mut view = serde_json::to_value(MatchView::from(found)).unwrap_or_default();
    view["replay"] = replay.into();
    Ok(Json(view).into_response())
}

/// The day in Greenwich, in days since 1970.
fn today() -> u32 {
    const DAY: u64 = 86_400_000;
    u32::try_from(unix_now() / DAY).unwrap_or(u32::MAX)
}

async fn timeline(State(hub): State<Arc<Hub>>, Path(id): Path<String>) -> Answer {
    let found = find(&hub, id).await?;
    Ok(Json(hub.replays().timeline(&found, today()).await?).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FramesQuery {
    seat: Option<String>,
    from: u64,
    to: u64,
}

async fn frames(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    query: Result<Query<FramesQuery>, QueryRejection>,
) -> Answer {
    let Query(query) = query?;
    if query.to < query.from || query.to - query.from > MAX_STRETCH {
        return Err(ApiError::bad(format!("'to' is not before 'from', and at most {MAX_STRETCH} ms later")));
    }
    let seat = match query.seat {
        Some(seat) => Some(text("seat", Some(seat))?),
        None => None,
    };
    let found = find(&hub, id).await?;
    Ok(Json(hub.replays().frames(&found, seat, (query.from, query.to), today()).await?).into_response())
}

async fn leaderboard(State(hub): State<Arc<Hub>>, Path(game): Path<String>) -> Answer {
    let game = game_of(&game)?;
    let leaders = hub.results().store.leaders(game.name(), game.order(), LEADERS).await?;
    let players: Vec<LeaderView> = leaders.into_iter().map(|leader| LeaderView::new(leader, game.order())).collect();
    Ok(Json(json!({ "players": players })).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayerQuery {
    /// Without it, the best known kind.
    kind: Option<Kind>,
}

// The person of this name.
async fn person(hub: &Hub, name: String, kind: Option<Kind>) -> Answer<(String, Kind)> {
    let name = text("name", Some(name))?;
    let kinds = hub.results().store.kinds(&name).await?;
    let wanted = match kind {
        Some(kind) => kinds.contains(&kind).then_some(kind),
        None => kinds.first().copied(),
    };
    let kind = wanted.ok_or_else(|| ApiError::missing("nobody of this name has played to the end of a match"))?;
    Ok((name, kind))
}

async fn player(
    State(hub): State<Arc<Hub>>,
    Path(name): Path<String>,
    query: Result<Query<PlayerQuery>, QueryRejection>,
) -> Answer {
    let Query(query) = query?;
    let (name, kind) = person(&hub, name, query.kind).await?;
    let store = &hub.results().store;
    let mut games = BTreeMap::new();
    for (game, score) in store.scores(&name, kind).await? {
        // The hub of an earlier version may have had other games.
        let Ok(known) = game_of(&game) else { continue };
        games.insert(game, ScoreView::new(score, known.order()));
    }
    let filter = MatchFilter { player: name.clone(), kind: Some(kind), limit: PAGE, ..MatchFilter::default() };
    let matches = views(store.matches(&filter).await?);
    let (proven, bot) = (kind == Kind::Proven, kind == Kind::Bot);
    Ok(Json(json!({ "name": name, "proven": proven, "bot": bot, "games": games, "matches": matches })).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgainstQuery {
    kind: Option<Kind>,
    other_kind: Option<Kind>,
}

async fn against(
    State(hub): State<Arc<Hub>>,
    Path((name, other)): Path<(String, String)>,
    query: Result<Query<AgainstQuery>, QueryRejection>,
) -> Answer {
    let Query(query) = query?;
    let (name, kind) = person(&hub, name, query.kind).await?;
    let (other, other_kind) = person(&hub, other, query.other_kind).await?;
    let store = &hub.results().store;
    let games: BTreeMap<String, Ties> = store.against((&name, kind), (&other, other_kind)).await?.into_iter().collect();
    let filter = MatchFilter {
        player: name,
        kind: Some(kind),
        against: other,
        against_kind: Some(other_kind),
        limit: PAGE,
        ..MatchFilter::default()
    };
    let matches = views(store.matches(&filter).await?);
    Ok(Json(json!({ "games": games, "matches": matches })).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewName {
    name: String,
    key: String,
}

async fn claim(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Extension(claims): Extension<Arc<Claims>>,
    body: Result<Json<NewName>, JsonRejection>,
) -> Answer {
    let Json(NewName { name, key }) = body?;
    check_name(&name).map_err(ApiError::bad)?;
    let Some(hash) = KeyHash::of(&key) else {
        return Err(ApiError::bad("'key' is 32 random bytes in base64url without padding"));
    };
    let conflict = |text: String| Err(ApiError(StatusCode::CONFLICT, text));
    let store = &hub.results().store;
    // A browser says at each visit which name is its own.
    if store.names_of(&hash.0).await?.contains(&name) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let (host, now) = (caller.host(), unix_now());
    if !claims.take(host, now) {
        let text = format!(
            "{CLAIMS} names were taken from your address today; play without a name of your own, or come back tomorrow"
        );
        return Err(ApiError(StatusCode::TOO_MANY_REQUESTS, text));
    }
    let claimed = store.claim(&name, &hash.0, now).await;
    if !matches!(claimed, Ok(Claim::Own)) {
        claims.give_back(host);
    }
    match claimed? {
        Claim::Own => Ok(StatusCode::NO_CONTENT.into_response()),
        Claim::Taken => conflict("this name belongs to another browser; choose another".into()),
        Claim::TooMany => conflict(format!("you have {MAX_NAMES} names already; use one of them")),
    }
}
