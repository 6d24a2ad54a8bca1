//! Results, players, replays and names as JSON, for programs and the page. Tests compare responses with `openapi.json`.

pub(super) mod failure;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    body::Body,
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{ALL_TIME, Claim, MAX_PAGE, Match, MatchFilter, PlayerKind, Store, Ties, is_season, unix_now};
use tokio::{task::block_in_place, time::sleep};
use tracing::warn;

pub(super) use self::failure::{ApiError, JsonBody, Params};
use super::{
    caller::Caller,
    names::{CLAIMS, Claims, KeyHash, resembles, too_many_claims, too_many_names},
    relay::{self, ForwardableRequest},
};
use crate::{
    fleet::NodeStatus,
    games::Game,
    hub::{
        Hub,
        shares::{RefusalKind, Share},
    },
    message::message,
    player_name::check_name,
    replays::{MAX_STRETCH, ReplayError},
    results::views::{ScoreView, match_json},
    today::today,
};

/// The default of `limit`.
const PAGE: u32 = 20;
/// The longest text in a query, in bytes: a name of robots.
const MAX_TEXT: usize = 255;
/// How often a journal is read until it contains the end of a match.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(150);

const OPENAPI: &str = include_str!("../../openapi.json");

pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/api/openapi.json", get(openapi))
        .route("/api/matches", get(matches))
        .route("/api/matches/{id}", get(one_match))
        .route("/api/matches/{id}/timeline", get(timeline))
        .route("/api/matches/{id}/frames", get(frames))
        .route("/api/matches/{id}/lines", get(lines))
        .route("/api/players/{name}", get(player))
        .route("/api/players/{name}/against/{other}", get(against))
        .route("/api/names", post(claim).layer(Extension(Arc::new(Claims::new(CLAIMS)))))
}

pub(super) type Answer<T = Response> = Result<T, ApiError>;

/// Queries the database in the turn of the caller's host, to the end even if the caller disconnects.
pub(super) async fn query_store<T, F>(hub: &Hub, caller: Caller, query: impl FnOnce(Store) -> F) -> Answer<T>
where
    T: Send + 'static,
    F: Future<Output = Answer<T>> + Send + 'static,
{
    let turn = hub.resources().queries.wait(caller.host()).await?;
    let query = query(hub.results().store.clone());
    let operation = async move {
        let found = query.await;
        drop(turn);
        found
    };
    tokio::spawn(operation).await.unwrap_or_else(|why| {
        warn!(%why, "a query of results failed");
        Err(ApiError::no_results())
    })
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

pub(super) fn text(what: &str, text: Option<String>) -> Answer<String> {
    let text = text.unwrap_or_default();
    // PostgreSQL has no zero bytes in texts.
    if text.len() > MAX_TEXT || text.contains('\0') {
        return Err(ApiError::bad(format!("'{what}' is not valid: it is up to {MAX_TEXT} bytes without a zero byte")));
    }
    Ok(text)
}

pub(super) fn game_of(name: &str) -> Answer<Game> {
    Game::named(name).ok_or_else(|| {
        let known = Game::names(Game::offered(false));
        ApiError::missing(message!("no_game", "there is no such game; there are {known}", known = known))
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchesQuery {
    game: Option<String>,
    player: Option<String>,
    kind: Option<PlayerKind>,
    before: Option<String>,
    limit: Option<u32>,
}

async fn matches(State(hub): State<Arc<Hub>>, caller: Caller, Params(query): Params<MatchesQuery>) -> Answer {
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
    let found = query_store(&hub, caller, async move |store| Ok(store.matches(&filter).await?)).await?;
    Ok(Json(json!({ "matches": views(&hub, &found) })).into_response())
}

// Omits matches of open unlisted rooms.
fn views(hub: &Hub, found: &[Match]) -> Vec<Value> {
    found.iter().filter(|found| !hub.hides(&found.room)).map(match_json).collect()
}

pub(super) async fn find(hub: &Hub, caller: Caller, id: String) -> Answer<Match> {
    let id = text("id", Some(id))?;
    let found = query_store(hub, caller, async move |store| Ok(store.find(&id).await?)).await?;
    found.ok_or_else(|| ApiError::missing(message!("no_match", "there is no such match, or it is not over yet")))
}

async fn one_match(State(hub): State<Arc<Hub>>, caller: Caller, Path(id): Path<String>) -> Answer {
    let found = find(&hub, caller, id).await?;
    let replay = hub.replays().has(&found) || replay_node(&hub, &found).is_some();
    let mut view = match_json(&found);
    view["replay"] = replay.into();
    Ok(Json(view).into_response())
}

fn replay_node(hub: &Hub, found: &Match) -> Option<NodeStatus> {
    hub.cluster()?.replay_node(&found.game, &found.journal)
}

// `None` if this node has a journal of the match.
async fn replayed_elsewhere(hub: &Hub, request: &ForwardableRequest, found: &Match) -> Option<Response> {
    let node = replay_node(hub, found).filter(|_| !request.is_relayed() && !hub.replays().has(found))?;
    Some(relay::pass(hub, &node, request.with(Body::empty())).await)
}

/// Replays a match in the turn of the caller's host. A journal contains the end of a match a moment late, so an
/// unfinished match is read again, in a new turn.
async fn replay<T, F>(hub: &Hub, caller: Caller, replay: impl Fn(Share) -> F) -> Answer<T>
where
    F: Future<Output = Result<T, ReplayError>>,
{
    let mut attempts = 0;
    loop {
        let turn = hub.resources().replays.wait(caller.host()).await?;
        match replay(turn).await {
            Err(ReplayError::Unfinished) if attempts < ATTEMPTS => attempts += 1,
            replayed => return Ok(replayed?),
        }
        sleep(PAUSE).await;
    }
}

async fn timeline(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    request: ForwardableRequest,
    Path(id): Path<String>,
) -> Answer {
    let found = find(&hub, caller, id).await?;
    if let Some(answer) = replayed_elsewhere(&hub, &request, &found).await {
        return Ok(answer);
    }
    let timeline = replay(&hub, caller, |turn| hub.replays().timeline(&found, today(), turn)).await?;
    Ok(Json(timeline).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FramesQuery {
    pub(super) seat: Option<String>,
    pub(super) from: u64,
    pub(super) to: u64,
}

async fn frames(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    request: ForwardableRequest,
    Path(id): Path<String>,
    Params(query): Params<FramesQuery>,
) -> Answer {
    if query.to < query.from || query.to - query.from > MAX_STRETCH {
        return Err(ApiError::bad(format!("'to' must be at or after 'from', by at most {MAX_STRETCH} ms")));
    }
    let seat = match query.seat {
        Some(seat) => Some(text("seat", Some(seat))?),
        None => None,
    };
    let found = find(&hub, caller, id).await?;
    if let Some(answer) = replayed_elsewhere(&hub, &request, &found).await {
        return Ok(answer);
    }
    let stretch = (query.from, query.to);
    let frames =
        replay(&hub, caller, |turn| hub.replays().frames(&found, seat.clone(), stretch, today(), turn)).await?;
    // Serializing a megabyte of JSON would delay the inputs of players.
    Ok(block_in_place(|| Json(frames).into_response()))
}

pub(super) fn first_line(found: &Match) -> String {
    let mut line = match_json(found);
    line["kind"] = "match".into();
    format!("{line}\n")
}

pub(super) fn download(found: &Match, lines: String) -> Response {
    let name = format!("attachment; filename=\"{}.jsonl\"", found.id);
    ([(header::CONTENT_TYPE, "application/jsonl"), (header::CONTENT_DISPOSITION, &name)], lines).into_response()
}

async fn lines(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    request: ForwardableRequest,
    Path(id): Path<String>,
) -> Answer {
    let found = find(&hub, caller, id).await?;
    if let Some(answer) = replayed_elsewhere(&hub, &request, &found).await {
        return Ok(answer);
    }
    let lines = replay(&hub, caller, |turn| hub.replays().lines(&found, first_line(&found), today(), turn)).await?;
    Ok(download(&found, lines))
}

pub(super) fn season(season: Option<String>) -> Answer<String> {
    let season = season.unwrap_or_default();
    if season != ALL_TIME && !is_season(&season) {
        return Err(ApiError::bad("'season' is a quarter such as 2026-4, or empty for all time"));
    }
    Ok(season)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayerQuery {
    /// By default the most trusted kind that has played.
    kind: Option<PlayerKind>,
    season: Option<String>,
}

async fn person(store: &Store, name: String, kind: Option<PlayerKind>) -> Answer<(String, PlayerKind)> {
    let kinds = store.kinds(&name).await?;
    let wanted = match kind {
        Some(kind) => kinds.contains(&kind).then_some(kind),
        None => kinds.first().copied(),
    };
    let kind = wanted
        .ok_or_else(|| ApiError::missing(message!("no_player", "no player of this name has finished a match")))?;
    Ok((name, kind))
}

async fn player(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(name): Path<String>,
    Params(query): Params<PlayerQuery>,
) -> Answer {
    let (name, season) = (text("name", Some(name))?, season(query.season)?);
    let operation = async move |store: Store| {
        let (name, kind) = person(&store, name, query.kind).await?;
        let scores = store.scores((&name, kind), &season, unix_now()).await?;
        let filter = MatchFilter { player: name.clone(), kind: Some(kind), limit: PAGE, ..MatchFilter::default() };
        Ok((name, kind, scores, store.matches(&filter).await?))
    };
    let (name, kind, scores, found) = query_store(&hub, caller, operation).await?;
    let mut games: BTreeMap<&str, Vec<ScoreView>> = BTreeMap::new();
    for (game, class, score) in scores {
        // Earlier versions may have had other games.
        let Some(game) = Game::named(&game) else { continue };
        let order = game.order(&class);
        games.entry(game.name()).or_default().push(ScoreView::new(class, score, order));
    }
    let matches = views(&hub, &found);
    let (proven, bot) = (kind == PlayerKind::Proven, kind == PlayerKind::Bot);
    Ok(Json(json!({ "name": name, "proven": proven, "bot": bot, "games": games, "matches": matches })).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgainstQuery {
    kind: Option<PlayerKind>,
    other_kind: Option<PlayerKind>,
}

async fn against(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path((name, other)): Path<(String, String)>,
    Params(query): Params<AgainstQuery>,
) -> Answer {
    let (name, other) = (text("name", Some(name))?, text("name", Some(other))?);
    let operation = async move |store: Store| {
        let (name, kind) = person(&store, name, query.kind).await?;
        let (other, other_kind) = person(&store, other, query.other_kind).await?;
        let games: BTreeMap<String, Ties> =
            store.against((&name, kind), (&other, other_kind)).await?.into_iter().collect();
        let filter = MatchFilter {
            player: name,
            kind: Some(kind),
            against: other,
            against_kind: Some(other_kind),
            limit: PAGE,
            ..MatchFilter::default()
        };
        Ok((games, store.matches(&filter).await?))
    };
    let (games, found) = query_store(&hub, caller, operation).await?;
    Ok(Json(json!({ "games": games, "matches": views(&hub, &found) })).into_response())
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
    JsonBody(NewName { name, key }): JsonBody<NewName>,
) -> Answer {
    let Some(hash) = KeyHash::of(&key) else {
        return Err(ApiError::bad("'key' is 32 random bytes in base64url without padding"));
    };
    let (host, now) = (caller.host(), unix_now());
    let operation = async move |store: Store| {
        // A browser claims its own name again at each visit. Earlier versions may have accepted it by other rules.
        if store.names_of(&hash.0).await?.contains(&name) {
            return Ok(Claim::Own);
        }
        check_name(&name).map_err(|why| ApiError::Wrong(StatusCode::BAD_REQUEST, why))?;
        if !claims.take(host, now) {
            return Err(ApiError::TooMany(RefusalKind::Claims, too_many_claims()));
        }
        let claimed = store.claim(&name, &hash.0, now).await;
        if !matches!(claimed, Ok(Claim::Own)) {
            claims.release(host);
        }
        Ok(claimed?)
    };
    match query_store(&hub, caller, operation).await? {
        Claim::Own => Ok(StatusCode::NO_CONTENT.into_response()),
        Claim::Taken => {
            Err(ApiError::conflict(message!("name_taken", "another browser owns this name; choose another")))
        }
        Claim::Resembles(other) => Err(ApiError::conflict(resembles(other.as_deref()))),
        Claim::TooMany => Err(ApiError::conflict(too_many_names())),
    }
}
