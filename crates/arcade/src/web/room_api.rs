//! Rooms for programs and the page: what is open, what can be opened, where one can play, and bots.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, Query, State, rejection::JsonRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use netcore::Level;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::{ALL_TIME, Kind, Store, unix_now};

use super::{
    answer::{error, impossible, later, no_such_room, refused},
    api::ask,
    caller::Caller,
    names::{KeyHash, check_name},
    relay::{self, Asked},
};
use crate::{
    games::{self, Game, Options},
    hub::{
        Hub, OpenError,
        arrivals::MAX_RESERVATION,
        codes::Proof,
        owned,
        play::{Led, Seeker},
    },
    room::Room,
};

/// `Retry-After` of a hub that is about to end, in seconds.
const LATER: u64 = 60;
/// That of a hub that does not reach the directory of all hubs.
const SOON: u64 = 5;

/// The routes.
pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/api/rooms", get(list).post(open))
        .route("/api/rooms/{id}", get(one))
        .route("/api/games", get(games))
        .route("/api/play/{game}", post(play))
        .route("/api/rooms/{id}/bots", post(add_bot).delete(remove_bots))
}

async fn list(State(hub): State<Arc<Hub>>) -> Response {
    Json(hub.snapshot(false)).into_response()
}

async fn one(State(hub): State<Arc<Hub>>, Path(id): Path<String>) -> Response {
    match hub.rooms.get(&id).filter(|room| room.access.is_listed()) {
        Some(room) => Json(room.info.borrow().for_everybody()).into_response(),
        None => no_such_room(),
    }
}

async fn games() -> Response {
    Json(json!({ "games": games::describe() })).into_response()
}

async fn open(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    body: Result<Json<Map<String, Value>>, JsonRejection>,
) -> Response {
    let Json(mut body) = match body {
        Ok(body) => body,
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    let wish = body.remove("room").map_or_else(|| Ok(owned::Wish::default()), serde_json::from_value);
    let (options, wish) = match (serde_json::from_value::<Options>(body.into()), wish) {
        (Ok(options), Ok(wish)) => (options, wish),
        (Err(why), _) | (_, Err(why)) => return error(StatusCode::UNPROCESSABLE_ENTITY, &why.to_string()),
    };
    if let Some(Err(why)) = wish.name.as_deref().map(check_name) {
        return error(StatusCode::UNPROCESSABLE_ENTITY, &why);
    }
    // Opening a room writes to the disk.
    match tokio::task::block_in_place(|| hub.open_owned(&options, caller.host(), wish)) {
        Ok((room, token)) => {
            let mut opened = serde_json::to_value(&*room.info.borrow()).unwrap_or_default();
            opened["owner_token"] = token.into();
            (StatusCode::CREATED, Json(opened)).into_response()
        }
        Err(error) => not_opened(&error),
    }
}

/// How somebody wants to play.
#[derive(Debug, Deserialize)]
struct Wish {
    /// Whether bots come if nobody else does.
    #[serde(default)]
    fill: bool,
    /// How well they play.
    #[serde(default)]
    level: Level,
}

/// Who wants to play.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Who {
    /// The key of the owner of its names, which also tells the browsers of a host apart.
    key: Option<String>,
}

async fn play(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(game): Path<String>,
    Query(wish): Query<Wish>,
    asked: Asked,
    body: Bytes,
) -> Response {
    let Some(game) = Game::named(&game) else {
        return error(StatusCode::NOT_FOUND, "there is no such game");
    };
    let who = if body.is_empty() { Ok(Who::default()) } else { serde_json::from_slice::<Who>(&body) };
    let Ok(Who { key }) = who else {
        return error(
            StatusCode::UNPROCESSABLE_ENTITY,
            "the body is empty, or an object with the 'key' of the browser",
        );
    };
    let key = key.as_deref().and_then(KeyHash::of);
    let (rating, ratings) = match key {
        Some(key) => ratings(&hub, caller, game, key).await,
        None => (None, BTreeMap::new()),
    };
    let browser = key.map_or(0, |key| key.0.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte)));
    let seeker = Seeker { browser, company: wish.fill.then_some(wish.level), rating, ratings };
    if let Some(node) = hub.leads(game, caller.host(), &seeker).filter(|_| !asked.is_relayed()) {
        let answer = relay::pass(&hub, &node, asked.with(body)).await;
        // If that node does not answer, one can play here.
        if !answer.status().is_server_error() {
            return answer;
        }
    }
    match tokio::task::block_in_place(|| hub.play(game, caller.host(), &seeker)) {
        Ok(Led { room, kept, wait }) => {
            let mut found = serde_json::to_value(&*room.info.borrow()).unwrap_or_default();
            found["reserved"] = if kept { MAX_RESERVATION.as_secs().into() } else { Value::Null };
            found["wait"] = wait.into();
            Json(found).into_response()
        }
        Err(error) => not_opened(&error),
    }
}

// The rating of whoever has this key, and of those it may be led to. Whoever wants to play is not kept waiting by a database that is away.
async fn ratings(hub: &Hub, caller: Caller, game: Game, key: KeyHash) -> (Option<i64>, BTreeMap<String, i64>) {
    let waiting = hub.waiting(game, caller.host());
    let asked = async move |store: Store| {
        let own = store.names_of(&key.0).await?;
        let mut ratings = BTreeMap::new();
        for name in own.iter().chain(&waiting) {
            let scores = store.scores((name, Kind::Proven), ALL_TIME, unix_now()).await?;
            let of_game = scores.into_iter().filter(|(of, _, _)| of == game.name()).map(|(_, _, score)| score);
            // The one that is known best.
            let score = of_game.max_by_key(|score| score.matches);
            ratings.extend(score.map(|score| (name.clone(), score.rating)));
        }
        Ok((own.iter().filter_map(|name| ratings.get(name).copied()).max(), ratings))
    };
    ask(hub, caller, asked).await.unwrap_or_default()
}

/// A bot that is wanted, and by whose word.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    level: Level,
    /// Whether as many are wanted as fill the room.
    #[serde(default)]
    fill: bool,
    owner: Option<String>,
    seat: Option<String>,
}

/// Whose word it is: that of the owner, or in a room without one that of somebody who plays there.
#[derive(Debug, Deserialize)]
struct Word {
    /// The token of the owner.
    owner: Option<String>,
    /// The token of a seat.
    seat: Option<String>,
}

impl Word {
    fn counts(&self, hub: &Hub, id: &str, room: &Room) -> bool {
        if room.is_owned() {
            return self.owner.as_deref().is_some_and(|token| room.has_owner(token));
        }
        let ticket = self.seat.as_deref().and_then(|token| hub.secret().verify(id, token));
        ticket.is_some_and(|ticket| ticket.journal == room.number && room.plays(ticket.seat))
    }
}

// A room that no list shows is missing to a client without a token of it.
fn not_your_word(hub: &Hub, id: &str, room: &Room, Word { owner, seat }: Word) -> Response {
    if !room.access.is_listed() && !hub.has_token(id, room, &Proof { owner, seat, ..Proof::default() }) {
        return no_such_room();
    }
    let text = if room.is_owned() {
        "bots of this room come and go by the word of its owner, whose token is 'owner'"
    } else {
        "bots come and go by the word of those who play in the room, whose seat token is 'seat'"
    };
    error(StatusCode::FORBIDDEN, text)
}

async fn add_bot(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(id): Path<String>,
    wanted: Result<Json<Wanted>, JsonRejection>,
) -> Response {
    let Json(Wanted { level, fill, owner, seat }) = match wanted {
        Ok(wanted) => wanted,
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    let Some(room) = hub.rooms.get(&id) else { return no_such_room() };
    let word = Word { owner, seat };
    if !word.counts(&hub, &id, &room) {
        return not_your_word(&hub, &id, &room, word);
    }
    let host = Some(caller.host());
    let seat = || if fill { hub.rooms.fill(&room, host) } else { hub.rooms.seat_bot(&room, level, host) };
    match tokio::task::block_in_place(seat) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(why) => impossible(&why),
    }
}

async fn remove_bots(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    word: Result<Json<Word>, JsonRejection>,
) -> Response {
    let Json(word) = match word {
        Ok(word) => word,
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    let Some(room) = hub.rooms.get(&id) else { return no_such_room() };
    if !word.counts(&hub, &id, &room) {
        return not_your_word(&hub, &id, &room, word);
    }
    tokio::task::block_in_place(|| hub.rooms.dismiss_bots(&room));
    StatusCode::NO_CONTENT.into_response()
}

fn not_opened(why: &OpenError) -> Response {
    match why {
        OpenError::TooMany(refusal) => refused(*refusal),
        OpenError::Draining => {
            let text = "the hub is about to end and opens no rooms; try again in a minute";
            later(error(StatusCode::SERVICE_UNAVAILABLE, text), LATER)
        }
        OpenError::Unclaimed(why) => later(error(StatusCode::SERVICE_UNAVAILABLE, &why.to_string()), SOON),
        OpenError::Impossible(why) => error(StatusCode::UNPROCESSABLE_ENTITY, &format!("{why:#}")),
    }
}
