//! Classes for the page: joining, the state for members and teachers, and the commands of teachers. The header
//! `Authorization` has the key of the browser or the token of a teacher, and `Class-Code` the code, which proxies would
//! log in an address.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Query, State},
    http::{Extensions, HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::block_in_place;

use super::{
    api::{ApiError, JsonBody},
    caller::{self, Caller, bearer, class_code},
    names::KeyHash,
    response::{impossible, missing, too_many},
    room_api::not_opened,
};
use crate::{
    games::{Game, Options},
    hub::{
        self, Hub,
        classes::{Class, ClassRole, System, csv, scores},
        codes::AttemptResult,
    },
    message::message,
    player_name::check_label,
};

pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/api/class", get(state))
        .route("/api/class/join", post(join))
        .route("/api/class/command", post(command))
        .route("/api/class/results.csv", get(results))
        .route("/api/class/qr", get(picture))
}

#[expect(clippy::result_large_err, reason = "it is sent at once")]
fn found(attempt: AttemptResult<Arc<Class>>) -> Result<Arc<Class>, Response> {
    match attempt {
        AttemptResult::Right(class) => Ok(class),
        AttemptResult::Wrong => {
            Err(ApiError::missing(message!("no_class", "no class has this code, or it has ended")).into_response())
        }
        AttemptResult::TooMany(wait) => Err(too_many(wait)),
    }
}

#[expect(clippy::result_large_err, reason = "it is sent at once")]
fn code(headers: &HeaderMap) -> Result<&str, Response> {
    class_code(headers)
        .ok_or_else(|| ApiError::bad("the header 'Class-Code' must contain the code of the class").into_response())
}

async fn enter(hub: &Hub, caller: Caller, headers: &HeaderMap) -> Result<(Arc<Class>, ClassRole), Response> {
    let token = bearer(headers).unwrap_or_default();
    let key = KeyHash::of(token).map(|key| key.0);
    let role = |class: &Class| class.role(token, key.as_ref());
    let class = found(hub.class_by_code(caller.host(), code(headers)?, |class| role(class).is_some()).await)?;
    let role = role(&class).ok_or_else(|| {
        let outside = message!("class_outside", "join the class first");
        ApiError::Wrong(StatusCode::FORBIDDEN, outside).into_response()
    })?;
    Ok((class, role))
}

fn over() -> Response {
    ApiError::missing(message!("no_class", "no class has this code, or it has ended")).into_response()
}

#[derive(Debug, Deserialize)]
struct StateQuery {
    /// The room that a projector shows.
    follow: Option<String>,
}

async fn state(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Query(StateQuery { follow }): Query<StateQuery>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let (class, role) = enter(&hub, caller, &headers).await?;
    let is_teacher = role == ClassRole::Teacher;
    let room = |room: &Arc<crate::room::Room>| {
        let mut shown = serde_json::to_value(&*room.info.borrow()).unwrap_or_default();
        if is_teacher {
            shown["owner_token"] = hub.secret().class_owner(&room.file().id).into();
        }
        shown
    };
    let rooms: Vec<Value> = hub.rooms_of_class(&class.code).iter().map(room).collect();
    let follow = hub.followed_room(&class, follow.as_deref());
    let state = class.read(|file| {
        let tournament = file.tournament.as_ref().map(|tournament| {
            json!({
                "game": tournament.game,
                "system": tournament.system,
                "rounds": tournament.rounds,
                "round": tournament.played.len(),
                "over": tournament.is_over(),
                "running": tournament.is_running(),
                "pairings": tournament.played.last(),
                "table": tournament.table(),
            })
        });
        let names = || file.members.iter().map(|member| &*member.name);
        let mut state = json!({
            "code": class.code,
            "name": file.name,
            "players": file.players,
            "members": names().collect::<Vec<_>>(),
            "rooms": rooms,
            "scores": scores(names(), &file.results),
            "tournament": tournament,
            "follow": follow,
        });
        match &role {
            ClassRole::Teacher => state["list"] = json!(file.list),
            ClassRole::Member(name) => state["you"] = json!(name),
        }
        state
    });
    Ok(Json(state.ok_or_else(over)?).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Join {
    /// The key of the browser.
    key: String,
    name: Option<String>,
}

/// Without a name, a browser that is not a member receives the names that it may choose from.
async fn join(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    headers: HeaderMap,
    JsonBody(Join { key, name }): JsonBody<Join>,
) -> Result<Response, Response> {
    let Some(KeyHash(key)) = KeyHash::of(&key) else {
        return Err(ApiError::bad("'key' is 32 random bytes in base64url without padding").into_response());
    };
    let class = found(hub.class_by_code(caller.host(), code(&headers)?, |class| class.member(&key).is_some()).await)?;
    let named = match name {
        None => class.member(&key).map(|(name, _)| name),
        // Writes to the disk.
        Some(name) => Some(block_in_place(|| class.join(key, &name)).map_err(|why| impossible(&why))?),
    };
    let answer = class.read(|file| {
        let free = if named.is_some() { vec![] } else { file.free_names() };
        json!({ "class": file.name, "name": named, "names": free, "listed": !file.list.is_empty() })
    });
    Ok(Json(answer.ok_or_else(over)?).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum TeacherCommand {
    /// The options of the room have the name of the game.
    Open {
        options: Map<String, Value>,
        #[serde(default)]
        name: Option<String>,
    },
    /// Sets the names that pupils choose from.
    Names {
        names: Vec<String>,
    },
    Remove {
        name: String,
    },
    /// Returns the token of another teacher.
    Invite,
    /// Starts a tournament of all members.
    Tournament {
        system: System,
        game: Game,
    },
    NextRound {
        /// The round that ends, counted from 1.
        round: usize,
    },
    /// Ends the class and removes its data.
    End,
}

async fn command(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    headers: HeaderMap,
    JsonBody(command): JsonBody<TeacherCommand>,
) -> Result<Response, Response> {
    let (class, role) = enter(&hub, caller, &headers).await?;
    if role != ClassRole::Teacher {
        let forbidden = message!("class_teacher", "only the teachers of a class may do this");
        return Err(ApiError::Wrong(StatusCode::FORBIDDEN, forbidden).into_response());
    }
    let failed = |why: anyhow::Error| impossible(&why);
    Ok(match command {
        TeacherCommand::Open { options, name } => {
            let options: Options =
                serde_json::from_value(options.into()).map_err(|why| ApiError::bad(why.to_string()).into_response())?;
            if let Some(Err(why)) = name.as_deref().map(check_label) {
                return Err(ApiError::Wrong(StatusCode::UNPROCESSABLE_ENTITY, why).into_response());
            }
            match block_in_place(|| hub.open_class_room(&class, &options, name)) {
                Ok(room) => Json(json!({ "room": room.file().id })).into_response(),
                Err(why) => not_opened(&why),
            }
        }
        TeacherCommand::Names { names } => {
            block_in_place(|| class.set_list(&names)).map_err(failed)?;
            StatusCode::NO_CONTENT.into_response()
        }
        TeacherCommand::Remove { name } => {
            block_in_place(|| hub.remove_member(&class, &name)).map_err(failed)?;
            StatusCode::NO_CONTENT.into_response()
        }
        TeacherCommand::Invite => {
            let token = block_in_place(|| class.add_teacher()).map_err(failed)?;
            Json(json!({ "token": token })).into_response()
        }
        TeacherCommand::Tournament { system, game } => {
            match block_in_place(|| hub.start_tournament(&class, system, game)) {
                Ok(()) => StatusCode::NO_CONTENT.into_response(),
                Err(why) => not_opened(&why),
            }
        }
        TeacherCommand::NextRound { round } => match block_in_place(|| hub.next_round(&class, round)) {
            Ok(()) => StatusCode::NO_CONTENT.into_response(),
            Err(why) => not_opened(&why),
        },
        TeacherCommand::End => {
            hub.end_class(&class).await.map_err(failed)?;
            StatusCode::NO_CONTENT.into_response()
        }
    })
}

async fn results(State(hub): State<Arc<Hub>>, caller: Caller, headers: HeaderMap) -> Result<Response, Response> {
    let (class, _) = enter(&hub, caller, &headers).await?;
    let text = class.read(|file| csv(&file.results)).ok_or_else(over)?;
    let headers = [(header::CONTENT_TYPE, "text/csv; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, text).into_response())
}

/// The join link for phones.
async fn picture(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    extensions: Extensions,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let (class, _) = enter(&hub, caller, &headers).await?;
    let path = format!("j/{}", class.code);
    let url = caller::public_url(&hub, &extensions, &headers, &path);
    let svg = url.and_then(|url| hub::address::picture(&url)).ok_or_else(missing)?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "no-store")], svg).into_response())
}
