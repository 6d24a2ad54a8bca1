//! The daily challenges: the distribution of the scores, and the room of an attempt.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
    routing::get,
};
use serde::Deserialize;
use serde_json::json;
use store::{Attempt, Challenge, unix_now};
use tracing::warn;

use super::{
    api::{Answer, ApiError, JsonBody, game_of, query_store},
    caller::{self, Caller},
    names::{Claims, KeyHash},
    room_api::not_opened,
};
use crate::{
    games::{Game, Options},
    hub::{
        Hub,
        challenges::{ChallengeError, MAX_ATTEMPTS_A_DAY},
        shares::RefusalKind,
    },
    message::message,
    results::views::date,
    room::file,
    today::{DAY, today},
};

pub(crate) fn routes() -> Router<Arc<Hub>> {
    let attempts = Extension(Arc::new(Claims::new(MAX_ATTEMPTS_A_DAY)));
    Router::new().route("/api/daily/{game}", get(show).post(start).layer(attempts))
}

fn challenge_of(name: &str) -> Answer<Game> {
    let game = game_of(name)?;
    if game.has_challenge() {
        return Ok(game);
    }
    Err(ApiError::missing(message!("no_challenge", "this game has no daily challenge")))
}

fn wrong_key() -> ApiError {
    ApiError::bad("the key is 32 bytes in the URL-safe base64 without padding")
}

/// Today's challenge. With the key of a browser, `own` is its attempt.
async fn show(State(hub): State<Arc<Hub>>, caller: Caller, Path(name): Path<String>, headers: HeaderMap) -> Answer {
    let game = challenge_of(&name)?;
    let key = match caller::bearer(&headers) {
        Some(key) => Some(KeyHash::of(key).ok_or_else(wrong_key)?),
        None => None,
    };
    let day = today();
    let found = query_store(&hub, caller, async move |store| {
        let challenge = Challenge { game: game.name(), day };
        let own = match key {
            Some(key) => store.attempt(challenge, &key.0).await?,
            None => None,
        };
        Ok((store.challenge_scores(challenge).await?, own))
    });
    let (scores, own) = found.await?;
    let own = own.map(|Attempt { room, score, match_id }| {
        let is_open = match_id.is_none() && hub.may_enter(&room);
        json!({ "score": score, "match": match_id, "room": is_open.then_some(room) })
    });
    let title = Options::challenge(game, day).map(|options| options.title());
    let challenge = json!({ "game": game.name(), "date": date(u64::from(day) * DAY)[..10], "title": title, "scores": scores, "own": own });
    Ok(Json(challenge).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    key: String,
}

/// Opens the room of the first attempt, or returns it while it is open.
async fn start(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(name): Path<String>,
    attempts: Extension<Arc<Claims>>,
    JsonBody(Start { key }): JsonBody<Start>,
) -> Answer {
    let game = challenge_of(&name)?;
    let key = KeyHash::of(&key).ok_or_else(wrong_key)?.0;
    let day = today();
    let challenge = Challenge { game: game.name(), day };
    if let Some(before) =
        query_store(&hub, caller, async move |store| Ok(store.attempt(challenge, &key).await?)).await?
    {
        return resume(&hub, before);
    }
    if !attempts.take(caller.host(), unix_now()) {
        let many = message!(
            "too_many_attempts",
            "your address has started {count} challenges today",
            count = MAX_ATTEMPTS_A_DAY
        );
        return Err(ApiError::TooMany(RefusalKind::Claims, many));
    }
    let starting = {
        let hub = Arc::clone(&hub);
        // A caller who disconnects must not lose the attempt.
        tokio::spawn(async move { hub.start_challenge(game, file::Challenge { day, key }, caller.host()).await })
    };
    let started = starting.await.map_err(|why| {
        warn!(%why, "a challenge cannot start");
        ApiError::no_results()
    })?;
    if started.is_err() {
        attempts.release(caller.host());
    }
    match started {
        Ok(room) => Ok((StatusCode::CREATED, Json(json!({ "id": room.file().id }))).into_response()),
        Err(ChallengeError::Again(before)) => resume(&hub, before),
        Err(ChallengeError::NotOpened(why)) => Ok(not_opened(&why)),
        Err(ChallengeError::Store(error)) => Err(error.into()),
    }
}

fn resume(hub: &Hub, Attempt { room, match_id, .. }: Attempt) -> Answer<Response> {
    if match_id.is_none() && hub.may_enter(&room) {
        return Ok(Json(json!({ "id": room })).into_response());
    }
    Err(ApiError::conflict(message!(
        "challenge_played",
        "you have played today's challenge; the next one starts at midnight UTC"
    )))
}
