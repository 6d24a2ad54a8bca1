//! Rooms, matches and leaders as the lobby lists them: what a page shows in a line, and not all that is known.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Match;

use crate::{
    games::Game,
    results::views::{Boards, LeaderView, date, player_json},
    room::info::Info,
};

/// Players of a room, and winners of a match, that are named.
const NAMED: usize = 8;
/// Leaders of a game.
const LEADERS: usize = 3;

/// The order of rooms: by game, then by age.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    game: Game,
    number: u64,
    id: String,
}

impl Key {
    pub(super) fn new(game: Game, id: &str) -> Self {
        let number = id.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or_default();
        Self { game, number, id: id.to_owned() }
    }
}

/// A room in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(super) id: String,
    pub(super) game: Game,
    pub(super) json: String,
    // In small letters, to be searched.
    words: String,
}

#[derive(Serialize)]
struct Row<'a, P> {
    id: &'a str,
    game: Game,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "is_public")]
    visibility: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    locked: bool,
    phase: &'a str,
    taken: u32,
    seats: u32,
    port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    players: &'a [P],
    /// Of all players, when not all are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    options: Mode,
    rated: bool,
}

/// The one option that says how a room is shown.
#[derive(Serialize)]
struct Mode {
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Value>,
}

// What is usual is not told.
fn is_public(visibility: &&str) -> bool {
    *visibility == "public"
}

/// What another node shows of a room, as far as lists show it.
#[derive(Deserialize)]
struct Far {
    id: String,
    title: String,
    name: Option<String>,
    visibility: String,
    locked: bool,
    phase: String,
    taken: u32,
    seats: u32,
    port: u16,
    host: Option<String>,
    players: Vec<Value>,
    options: Value,
    rated: bool,
}

impl Listed {
    /// The row of a room.
    pub(super) fn of(info: &Info) -> serde_json::Result<Self> {
        let info = &info.for_everybody();
        let row = Row {
            id: &info.id,
            game: info.game,
            title: &info.title,
            name: info.name.as_deref(),
            visibility: info.visibility,
            locked: info.locked,
            phase: info.phase,
            taken: info.taken,
            seats: info.seats,
            port: info.port,
            host: info.site.as_ref().map(|site| &*site.host),
            players: &info.players,
            count: None,
            options: Mode { mode: serde_json::to_value(&info.options)?.get("mode").cloned() },
            rated: info.counts.rated,
        };
        Self::shown(row, |player| player.name.as_str())
    }

    /// The row of a room of another node.
    pub(super) fn of_far(game: Game, info: &str) -> serde_json::Result<Self> {
        let info: Far = serde_json::from_str(info)?;
        let row = Row {
            id: &info.id,
            game,
            title: &info.title,
            name: info.name.as_deref(),
            visibility: &info.visibility,
            locked: info.locked,
            phase: &info.phase,
            taken: info.taken,
            seats: info.seats,
            port: info.port,
            host: info.host.as_deref(),
            players: &info.players,
            count: None,
            options: Mode { mode: info.options.get("mode").cloned() },
            rated: info.rated,
        };
        Self::shown(row, |player| player["name"].as_str().unwrap_or_default())
    }

    // `name` gives the name of a player.
    fn shown<P: Serialize>(mut row: Row<'_, P>, name: impl Fn(&P) -> &str) -> serde_json::Result<Self> {
        let mut words = format!("{}\n{}\n{}", row.id, row.title, row.name.unwrap_or_default()).to_lowercase();
        for player in row.players {
            words.push('\n');
            words += &name(player).to_lowercase();
        }
        if row.players.len() > NAMED {
            row.count = Some(row.players.len());
            row.players = &row.players[..NAMED];
        }
        Ok(Self { id: row.id.to_owned(), game: row.game, json: serde_json::to_string(&row)?, words })
    }

    /// Whether the id, the title or a name has `text` in it, which is in small letters.
    pub(super) fn has(&self, text: &str) -> bool {
        self.words.contains(text)
    }
}

/// The newest matches and the leaders, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(super) recent: Arc<str>,
    pub(super) leaders: Arc<str>,
    /// Whether the rooms of other hubs may be others by now.
    pub(super) unsure: bool,
}

impl Told {
    /// What is told of these; `hides` says of which rooms nothing is told.
    pub(super) fn of(Boards { recent, leaders }: &Boards, hides: impl Fn(&str) -> bool) -> serde_json::Result<Self> {
        let recent: Vec<Value> = recent.iter().filter(|ended| !hides(&ended.room)).map(ended_json).collect();
        let leaders: BTreeMap<&str, &[LeaderView]> =
            leaders.iter().map(|(game, rows)| (*game, &rows[..rows.len().min(LEADERS)])).collect();
        let (recent, leaders) = (serde_json::to_string(&recent)?.into(), serde_json::to_string(&leaders)?.into());
        Ok(Self { recent, leaders, unsure: false })
    }
}

// A match in the list of the newest: with the players who share the first place, and the number of all.
fn ended_json(ended: &Match) -> Value {
    let first = ended.players.iter().filter(|player| player.rank == 1).take(NAMED);
    json!({
        "id": ended.id,
        "game": ended.game,
        "title": ended.title,
        "started": date(ended.started),
        "players": first.map(player_json).collect::<Vec<_>>(),
        "count": ended.players.len(),
    })
}
