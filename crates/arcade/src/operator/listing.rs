//! The operator's view of rooms: the public state, and the addresses of players.

use serde_json::{Value, json};

use crate::{
    hub::Hub,
    room::{Room, bans::host_text, info::Player},
};

/// Formats JSON for a terminal, so that names of players cannot control the terminal.
pub(super) fn pretty(value: &Value) -> String {
    cmdkit::printable_json(&serde_json::to_string_pretty(value).unwrap_or_default()).into_owned() + "\n"
}

/// The lobby with the address of each player in the form for bans; null while the address is unknown.
pub(crate) fn rooms(hub: &Hub) -> serde_json::Result<Value> {
    let mut lobby = serde_json::to_value(hub.snapshot(true))?;
    for listed in lobby["rooms"].as_array_mut().into_iter().flatten() {
        if let Some(room) = listed["id"].as_str().and_then(|id| hub.rooms.get(id)) {
            *listed = of(&room)?;
        }
    }
    Ok(lobby)
}

fn of(room: &Room) -> serde_json::Result<Value> {
    let info = room.info.borrow().clone();
    let mut value = serde_json::to_value(&info)?;
    let address = |player: &Player| room.roster.host_of(player.peer, player.address.as_deref()).map(host_text);
    let addresses = info.players.iter().filter(|player| !player.bot).map(|player| json!(address(player)));
    let shown =
        value["players"].as_array_mut().into_iter().flatten().filter(|player| player["bot"] == Value::Bool(false));
    for (player, address) in shown.zip(addresses) {
        player["address"] = address;
    }
    Ok(value)
}
