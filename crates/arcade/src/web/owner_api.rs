//! What the owner of a room does with it: one request, with the token that came with the room.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State, rejection::JsonRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use netcore::{HostId, Level};
use serde::Deserialize;
use tokio::task::block_in_place;

use super::{
    answer::{error, impossible, no_such_room},
    caller::Caller,
    names::check_name,
};
use crate::{hub::Hub, room::Room};

/// What players are told whose room its owner closes.
const CLOSED: &str = "the owner of this room has closed it";

/// The routes.
pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/api/rooms/{id}/owner", post(command))
}

/// What the owner wants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    /// The token of the owner.
    token: String,
    r#do: Deed,
    /// Of whom, for those that are about a player.
    #[serde(default)]
    seat: String,
    /// What the room is to be called; empty for no name.
    #[serde(default)]
    name: String,
    /// How many bots there are to be.
    #[serde(default)]
    number: u8,
    /// How well bots play that come.
    #[serde(default)]
    level: Level,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Deed {
    Start,
    Close,
    Rename,
    Remove,
    Bots,
    Lock,
    Unlock,
    HandOn,
}

async fn command(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    Path(id): Path<String>,
    command: Result<Json<Command>, JsonRejection>,
) -> Response {
    let Json(command) = match command {
        Ok(command) => command,
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    let Some(room) = hub.rooms.get(&id) else { return no_such_room() };
    if !room.has_owner(&command.token) {
        if !room.access.is_listed() {
            return no_such_room();
        }
        return error(StatusCode::FORBIDDEN, "this is not the token of the owner of this room");
    }
    room.set_owner_active(caller.host());
    // What changes is written down.
    match block_in_place(|| done(&hub, &room, &command, caller.host())) {
        Ok(()) => Json(room.info.borrow().clone()).into_response(),
        Err(why) => impossible(&why),
    }
}

fn done(hub: &Hub, room: &Arc<Room>, command: &Command, host: HostId) -> anyhow::Result<()> {
    let Command { seat, name, number, level, .. } = command;
    match command.r#do {
        Deed::Close => {
            hub.rooms.close(room, CLOSED);
            return Ok(());
        }
        Deed::Start => return hub.rooms.start_now(room, *level, Some(host)),
        Deed::Bots => return hub.rooms.set_bots(room, usize::from(*number), *level, Some(host)),
        Deed::Remove => room.remove_by_owner(seat)?,
        Deed::HandOn => room.hand_on_to(seat)?,
        Deed::Lock => room.lock(true),
        Deed::Unlock => room.lock(false),
        Deed::Rename if name.is_empty() => room.rename(None),
        Deed::Rename => {
            check_name(name).map_err(anyhow::Error::msg)?;
            room.rename(Some(name.clone()));
        }
    }
    hub.rooms.save(room);
    Ok(())
}
