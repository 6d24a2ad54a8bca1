//! Rooms: the list, new rooms, *Play now*, bots, commands of owners, and access to private rooms.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Extension, Json, Router,
    body::Bytes,
    extract::{Path, Query, State},
    http::{Extensions, HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use netcore::{HostId, Level};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{ALL_TIME, PlayerKind, Store, unix_now};
use tokio::task::block_in_place;

use super::{
    api::{JsonBody, query_store},
    caller::{self, Caller},
    names::KeyHash,
    page::Page,
    relay::{self, ForwardableRequest},
    response::{LATER, error, impossible, invalid, later, missing, no_such_room, refused, rejected, too_many},
};
use crate::{
    games::{self, Game, Options},
    hub::{
        self, Hub, OpenError,
        codes::{AttemptResult, Coded, Proof},
        matchmaking::{FoundRoom, MAX_RESERVATION, Seeker, browser_number},
        opening,
    },
    message::{Message, message},
    player_name::check_label,
    room::Room,
};

/// `Retry-After` while the hub cannot reach the directory, in seconds.
const SOON: u64 = 5;

pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/api/rooms", get(list).post(open))
        .route("/api/rooms/{id}", get(one))
        .route("/api/games", get(games))
        .route("/api/play/{game}", post(play))
        .route("/api/rooms/{id}/bots", post(add_bot).delete(remove_bots))
        .route("/api/rooms/{id}/owner", post(command))
        .route("/j/{code}", get(follow))
        .route("/j/{code}/", get(follow))
        .route("/api/join", post(join))
        .route("/api/rooms/{id}/qr", get(room_picture))
        .route("/api/address", get(address))
        .route("/qr.svg", get(picture))
}

async fn list(State(hub): State<Arc<Hub>>) -> Response {
    Json(hub.snapshot(false)).into_response()
}

/// The room of a challenge requires the key of its browser.
async fn one(State(hub): State<Arc<Hub>>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let key = caller::bearer(&headers).and_then(KeyHash::of);
    let is_player = |room: &Room| key.is_some_and(|key| room.access.challenge().is_some_and(|of| of.key == key.0));
    match hub.rooms.get(&id).filter(|room| room.access.is_listed() || is_player(room)) {
        Some(room) => Json(room.info.borrow().for_everybody()).into_response(),
        None => no_such_room(),
    }
}

async fn games(State(hub): State<Arc<Hub>>) -> Response {
    Json(json!({ "games": games::describe(hub.examples) })).into_response()
}

async fn open(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    JsonBody(mut body): JsonBody<Map<String, Value>>,
) -> Response {
    let properties = body.remove("room").map_or_else(|| Ok(opening::RoomProperties::default()), serde_json::from_value);
    let (options, properties) = match (serde_json::from_value::<Options>(body.into()), properties) {
        (Ok(options), Ok(properties)) => (options, properties),
        (Err(why), _) | (_, Err(why)) => return error(StatusCode::UNPROCESSABLE_ENTITY, &invalid(why.to_string())),
    };
    if let Some(Err(why)) = properties.name.as_deref().map(check_label) {
        return error(StatusCode::UNPROCESSABLE_ENTITY, &why);
    }
    // Writes to the disk.
    match block_in_place(|| hub.open_owned(&options, caller.host(), properties)) {
        Ok((room, token)) => {
            let mut opened = serde_json::to_value(&*room.info.borrow()).unwrap_or_default();
            opened["owner_token"] = token.into();
            (StatusCode::CREATED, Json(opened)).into_response()
        }
        Err(error) => not_opened(&error),
    }
}

#[derive(Debug, Deserialize)]
struct PlayQuery {
    /// Bots join if no other players do.
    #[serde(default)]
    fill: bool,
    #[serde(default)]
    level: Level,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PlayerIdentity {
    /// Owns the player's names. It also distinguishes browsers on one host.
    key: Option<String>,
}

async fn play(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(game): Path<String>,
    Query(PlayQuery { fill, level }): Query<PlayQuery>,
    request: ForwardableRequest,
    body: Bytes,
) -> Response {
    let Some(game) = Game::named(&game) else {
        return error(StatusCode::NOT_FOUND, &message!("no_game", "there is no such game"));
    };
    let who =
        if body.is_empty() { Ok(PlayerIdentity::default()) } else { serde_json::from_slice::<PlayerIdentity>(&body) };
    let Ok(PlayerIdentity { key }) = who else {
        return error(
            StatusCode::UNPROCESSABLE_ENTITY,
            &invalid("the body is empty, or an object with the 'key' of the browser"),
        );
    };
    let key = key.as_deref().and_then(KeyHash::of);
    let (rating, ratings) = match key {
        Some(key) => ratings(&hub, caller, game, key).await,
        None => (None, BTreeMap::new()),
    };
    let browser = key.map_or(0, |key| browser_number(&key.0));
    let seeker = Seeker { browser, company: fill.then_some(level), rating, ratings };
    if let Some(node) = hub.preferred_node(game, caller.host(), &seeker).filter(|_| !request.is_relayed()) {
        let answer = relay::pass(&hub, &node, request.with(body)).await;
        // If that node does not answer, the caller can play here.
        if !answer.status().is_server_error() {
            return answer;
        }
    }
    match block_in_place(|| hub.play(game, caller.host(), &seeker)) {
        Ok(FoundRoom { room, kept, wait }) => {
            let mut found = serde_json::to_value(&*room.info.borrow()).unwrap_or_default();
            found["reserved"] = if kept { MAX_RESERVATION.as_secs().into() } else { Value::Null };
            found["wait"] = wait.into();
            Json(found).into_response()
        }
        Err(error) => not_opened(&error),
    }
}

// The best rating of the key's owner, and the ratings of its possible opponents. Both are empty if the database fails.
async fn ratings(hub: &Hub, caller: Caller, game: Game, key: KeyHash) -> (Option<i64>, BTreeMap<String, i64>) {
    let waiting = hub.waiting(game, caller.host());
    let lookup = async move |store: Store| {
        let own = store.names_of(&key.0).await?;
        let mut ratings = BTreeMap::new();
        for name in own.iter().chain(&waiting) {
            let scores = store.scores((name, PlayerKind::Proven), ALL_TIME, unix_now()).await?;
            let of_game = scores.into_iter().filter(|(of, _, _)| of == game.name()).map(|(_, _, score)| score);
            // Of the class with the most matches.
            let score = of_game.max_by_key(|score| score.matches);
            ratings.extend(score.map(|score| (name.clone(), score.rating)));
        }
        Ok((own.iter().filter_map(|name| ratings.get(name).copied()).max(), ratings))
    };
    query_store(hub, caller, lookup).await.unwrap_or_default()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BotRequest {
    #[serde(default)]
    level: Level,
    #[serde(default)]
    fill: bool,
    owner: Option<String>,
    seat: Option<String>,
}

/// The owner's token, or in a room without an owner the token of a seat.
#[derive(Debug, Deserialize)]
struct Authorization {
    owner: Option<String>,
    seat: Option<String>,
}

impl Authorization {
    fn is_valid(&self, hub: &Hub, id: &str, room: &Room) -> bool {
        // All players of a challenge have the same bots.
        if room.access.challenge().is_some() {
            return false;
        }
        if room.is_owned() {
            return self.owner.as_deref().is_some_and(|token| room.has_owner(token));
        }
        let ticket = self.seat.as_deref().and_then(|token| hub.secret().verify(id, token));
        ticket.is_some_and(|ticket| ticket.journal == room.number && room.plays(ticket.seat))
    }
}

// Without a token, an unlisted room is reported as missing.
fn forbidden_or_missing(hub: &Hub, id: &str, room: &Room, Authorization { owner, seat }: Authorization) -> Response {
    if !room.access.is_listed() && !hub.has_token(id, room, &Proof { owner, seat, ..Proof::default() }) {
        return no_such_room();
    }
    let forbidden = if room.is_owned() {
        message!("not_room_owner", "only the owner of this room adds and removes bots; 'owner' is the owner's token")
    } else {
        message!("not_player", "only players of this room add and remove bots; 'seat' is the token of a seat")
    };
    error(StatusCode::FORBIDDEN, &forbidden)
}

async fn add_bot(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonBody(BotRequest { level, fill, owner, seat }): JsonBody<BotRequest>,
) -> Response {
    let Some(room) = hub.rooms.get(&id) else { return no_such_room() };
    let authorization = Authorization { owner, seat };
    if !authorization.is_valid(&hub, &id, &room) {
        return forbidden_or_missing(&hub, &id, &room, authorization);
    }
    let host = Some(caller.host());
    let seat = || if fill { hub.rooms.fill(&room, host) } else { hub.rooms.seat_bot(&room, level, host) };
    match block_in_place(seat) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(why) => impossible(&why),
    }
}

async fn remove_bots(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    JsonBody(authorization): JsonBody<Authorization>,
) -> Response {
    let Some(room) = hub.rooms.get(&id) else { return no_such_room() };
    if !authorization.is_valid(&hub, &id, &room) {
        return forbidden_or_missing(&hub, &id, &room, authorization);
    }
    block_in_place(|| hub.rooms.dismiss_bots(&room));
    StatusCode::NO_CONTENT.into_response()
}

pub(super) fn not_opened(why: &OpenError) -> Response {
    match why {
        OpenError::TooMany(refusal) => refused(*refusal),
        OpenError::Draining => {
            let draining = message!("draining", "the hub is shutting down and opens no rooms; try again in a minute");
            later(error(StatusCode::SERVICE_UNAVAILABLE, &draining), LATER)
        }
        OpenError::Unclaimed(why) => {
            later(error(StatusCode::SERVICE_UNAVAILABLE, &Message::new("no_lease", why.to_string())), SOON)
        }
        OpenError::Impossible(why) => rejected(StatusCode::UNPROCESSABLE_ENTITY, why, "invalid_options"),
    }
}

/// The reason that players receive.
const CLOSED: &str = "the owner of this room has closed it";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnerCommand {
    token: String,
    r#do: OwnerAction,
    /// For commands about a player.
    #[serde(default)]
    seat: String,
    #[serde(default)]
    name: String,
    /// Of bots, or of the other people that a block affects.
    #[serde(default)]
    number: u16,
    #[serde(default)]
    level: Level,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OwnerAction {
    Start,
    Close,
    Rename,
    Remove,
    Block,
    Bots,
    Lock,
    Unlock,
    HandOn,
}

async fn command(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonBody(command): JsonBody<OwnerCommand>,
) -> Response {
    let Some(room) = hub.rooms.get(&id) else { return no_such_room() };
    if !room.has_owner(&command.token) {
        if !room.access.is_listed() {
            return no_such_room();
        }
        return error(StatusCode::FORBIDDEN, &message!("not_room_owner", "this room has another owner"));
    }
    room.set_owner_active(caller.host());
    // Writes to the disk.
    match block_in_place(|| done(&hub, &room, &command, caller.host())) {
        Ok(()) => Json(room.info.borrow().clone()).into_response(),
        Err(why) => impossible(&why),
    }
}

fn done(hub: &Hub, room: &Arc<Room>, command: &OwnerCommand, host: HostId) -> anyhow::Result<()> {
    let OwnerCommand { seat, name, number, level, .. } = command;
    if room.access.class().is_some() && matches!(command.r#do, OwnerAction::HandOn) {
        anyhow::bail!(message!("class_owner", "the teachers of a class own its rooms"));
    }
    match command.r#do {
        OwnerAction::Close => {
            hub.rooms.close(room, CLOSED);
            return Ok(());
        }
        OwnerAction::Start => return hub.rooms.start_now(room, *level, Some(host)),
        OwnerAction::Bots => return hub.rooms.set_bots(room, usize::from(*number), *level, Some(host)),
        OwnerAction::Remove => room.remove_by_owner(seat)?,
        OwnerAction::Block => room.block_by_owner(seat, usize::from(*number))?,
        OwnerAction::HandOn => room.hand_on_to(seat, &command.token)?,
        OwnerAction::Lock => room.lock(true),
        OwnerAction::Unlock => room.lock(false),
        OwnerAction::Rename if name.is_empty() => room.rename(None),
        OwnerAction::Rename => {
            check_label(name)?;
            room.rename(Some(name.clone()));
        }
    }
    hub.rooms.save(room);
    Ok(())
}

/// Redirects to the room, with the code in the fragment, which browsers do not send.
async fn follow(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(code): Path<String>,
    Extension(page): Extension<Arc<Page>>,
    headers: HeaderMap,
) -> Response {
    // Images on other sites must not use up the tries of their visitors, so the code is not checked here. The page
    // tries it by `/api/join`, which other sites cannot call.
    if is_of_another_site(&headers) {
        return page.answer(&headers).unwrap_or_else(missing);
    }
    match hub.by_code(caller.host(), &code).await {
        AttemptResult::Right(coded) => {
            let path = match coded {
                Coded::Here(room) => {
                    let id = room.file().id.clone();
                    format!("rooms/{id}#{}", room.access.code().unwrap_or_default())
                }
                Coded::Class(code) => format!("class#{code}"),
                Coded::Remote { id, code } => format!("rooms/{id}#{code}"),
            };
            let base = hub.resources().callers.names.base();
            let headers = [(header::LOCATION, format!("{base}/{path}")), (header::CACHE_CONTROL, "no-store".into())];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        AttemptResult::Wrong => (StatusCode::NOT_FOUND, page.answer(&headers).unwrap_or_else(missing)).into_response(),
        AttemptResult::TooMany(wait) => too_many(wait),
    }
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Join {
    code: Option<String>,
    /// The room with the password `word`.
    room: Option<String>,
    word: Option<String>,
}

async fn join(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    request: ForwardableRequest,
    JsonBody(join): JsonBody<Join>,
) -> Response {
    let found = match &join {
        Join { code: Some(code), room: None, word: None } => match hub.by_code(caller.host(), code).await {
            AttemptResult::Right(Coded::Here(room)) => AttemptResult::Right(room),
            AttemptResult::Right(Coded::Class(code)) => return Json(json!({ "class": code })).into_response(),
            AttemptResult::Right(Coded::Remote { id, .. }) => {
                return pass_to_owner(&hub, &id, &request, &join).await;
            }
            AttemptResult::Wrong => AttemptResult::Wrong,
            AttemptResult::TooMany(wait) => AttemptResult::TooMany(wait),
        },
        Join { code: None, room: Some(id), word: Some(word) } => {
            if hub.hides(id) {
                return no_such_room();
            }
            let Some(room) = hub.rooms.get(id) else { return pass_to_owner(&hub, id, &request, &join).await };
            let proof = Proof { word: Some(word.clone()), ..Proof::default() };
            match hub.admits(caller.host(), (id, Some(&room)), &proof).await {
                AttemptResult::Right(()) => AttemptResult::Right(room),
                AttemptResult::Wrong => {
                    return error(
                        StatusCode::FORBIDDEN,
                        &message!("wrong_word", "this is not the password of this room"),
                    );
                }
                AttemptResult::TooMany(wait) => AttemptResult::TooMany(wait),
            }
        }
        _ => {
            return error(
                StatusCode::BAD_REQUEST,
                &invalid("expected the 'code' of a link, or a 'room' and its 'word'"),
            );
        }
    };
    match found {
        AttemptResult::Right(room) => Json(room.info.borrow().clone()).into_response(),
        AttemptResult::Wrong => error(StatusCode::NOT_FOUND, &message!("unknown_code", "no open room has this code")),
        AttemptResult::TooMany(wait) => too_many(wait),
    }
}

async fn pass_to_owner(hub: &Hub, id: &str, request: &ForwardableRequest, join: &Join) -> Response {
    let owner = || hub.cluster()?.fleet.owner_of(id).filter(|_| !request.is_relayed());
    match (owner(), serde_json::to_vec(join)) {
        (Some(node), Ok(body)) => relay::pass(hub, &node, request.with(body)).await,
        _ => no_such_room(),
    }
}

/// The address of a room as a QR code. An unlisted room requires its code or a token.
async fn room_picture(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(id): Path<String>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Response {
    let room = hub.rooms.get(&id);
    let path = match &room {
        Some(room) if room.access.is_listed() => format!("rooms/{id}"),
        _ => match hub.admits(caller.host(), (&id, room.as_deref()), &proof_of(&headers)).await {
            AttemptResult::Right(()) => {
                let code = room.as_ref().and_then(|room| room.access.code());
                format!("j/{}", code.unwrap_or_default())
            }
            AttemptResult::Wrong => return no_such_room(),
            AttemptResult::TooMany(wait) => return too_many(wait),
        },
    };
    let Some(svg) = caller::public_url(&hub, &extensions, &headers, &path).and_then(|url| hub::address::picture(&url))
    else {
        return missing();
    };
    ([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "no-store")], svg).into_response()
}

fn proof_of(headers: &HeaderMap) -> Proof {
    let shown = caller::bearer(headers).map(str::to_owned);
    // The token of a seat contains a period, and an owner's is longer than a code, so they cannot be confused.
    let code = shown.clone().filter(|shown| shown.len() < 16);
    Proof { code, owner: shown.clone(), seat: shown, ..Proof::default() }
}

/// As the browser states. A forged header gives no access.
fn is_of_another_site(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none")
}

#[derive(Debug, Deserialize)]
struct AddressQuery {
    #[serde(default)]
    path: String,
}

async fn address(
    State(hub): State<Arc<Hub>>,
    Query(AddressQuery { path }): Query<AddressQuery>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Response {
    let open = hub.address().is_some_and(|address| address.friends.is_some());
    Json(json!({ "url": caller::public_url(&hub, &extensions, &headers, &path), "friends": open })).into_response()
}

async fn picture(State(hub): State<Arc<Hub>>, extensions: Extensions, headers: HeaderMap) -> Response {
    match caller::public_url(&hub, &extensions, &headers, "").and_then(|address| hub::address::picture(&address)) {
        Some(svg) => {
            ([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "no-cache")], svg).into_response()
        }
        None => missing(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, net::Ipv4Addr};

    use journal_core::{MAX_SIZE, Scribe, SyncPolicy, SystemDisk, Writing};
    use servekit::Wire;
    use testkit::TempDir;

    use super::*;
    use crate::hub::{ports::Ports, tests::hub_with};

    #[tokio::test(flavor = "multi_thread")]
    async fn errors_of_the_system_are_503_without_paths() {
        let data = TempDir::new();
        let (disk, sync) = (Arc::new(SystemDisk), SyncPolicy::Interval);
        let writing = Writing { disk, scribe: Scribe::by_hand(), sync, max: MAX_SIZE, copy: None };
        let (hub, [room, _]) = hub_with(&data, writing);
        let open = || block_in_place(|| hub.open(&Options::usual(Game::Robots), None, false)).err().unwrap();
        let mut responses = vec![];
        // A file in place of a directory fails at the same steps as a full disk.
        for directory in ["journals", "rooms"] {
            let (path, away) = (data.path().join(directory), data.path().join("away"));
            fs::rename(&path, &away).unwrap();
            fs::write(&path, "").unwrap();
            responses.push(not_opened(&open()));
            fs::remove_file(&path).unwrap();
            fs::rename(&away, &path).unwrap();
        }
        let ports = Ports::new(vec![Ipv4Addr::LOCALHOST.into()], Some(room.address.port()..=room.address.port()));
        responses.push(not_opened(&OpenError::from(ports.open(Wire::Udp, 0).unwrap_err())));
        responses.push(impossible(&ports.open(Wire::Udp, 0).unwrap_err()));
        for response in responses {
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(response.headers().contains_key(header::RETRY_AFTER));
            let body = axum::body::to_bytes(response.into_body(), 1 << 10).await.unwrap();
            let body = str::from_utf8(&body).unwrap();
            assert!(body.contains("\"unable\"") && !body.contains('/') && !body.contains("--ports"), "{body}");
        }
    }
}
