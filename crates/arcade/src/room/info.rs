//! What the lobby and the page of a room show of it.

use netcore::{PeerId, Phase, Standing};
use serde::{Deserialize, Serialize};

use crate::games::{Counts, Game, Options, shown::Show};

/// What the lobby and the page of a room show of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Info {
    pub(crate) id: String,
    pub(crate) game: Game,
    pub(crate) title: String,
    /// `lobby`, `playing` or `over`.
    pub(crate) phase: &'static str,
    pub(crate) taken: u32,
    pub(crate) seats: u32,
    /// The port for native clients.
    pub(crate) port: u16,
    /// Who is in the game, in the order of joining.
    pub(crate) players: Vec<Player>,
    /// How many watch: connections without a seat, without the watcher that the hub uses for pictures.
    pub(crate) watchers: usize,
    /// The result of the last game.
    pub(crate) result: Option<Vec<Row>>,
    /// The id of the match that is played or was played last.
    pub(crate) r#match: Option<String>,
    /// Whether it stays open though nobody is in it.
    pub(crate) permanent: bool,
    /// What its owner calls it.
    pub(crate) name: Option<String>,
    /// Who may enter: `public`, `link` or `word`.
    pub(crate) visibility: &'static str,
    /// The code of its link. Whoever is told of a room with a link is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    /// Whether somebody owns it.
    pub(crate) owned: bool,
    /// Whether it takes no new players.
    pub(crate) locked: bool,
    pub(crate) options: Options,
    /// What its matches count for.
    #[serde(flatten)]
    pub(crate) counts: Counts,
    /// Why it is being closed.
    pub(crate) closing: Option<String>,
    /// In how many seconds bots come, as of when that was decided.
    pub(crate) bots_in: Option<u64>,
    /// How the game goes.
    #[serde(flatten)]
    pub(crate) show: Show,
    /// Where it is, if there are several hubs.
    #[serde(flatten)]
    pub(crate) site: Option<Site>,
    /// How many are connected, without bots and the hub.
    #[serde(skip)]
    pub(crate) people: usize,
    /// How many of them look on at other nodes, which are told of the room.
    #[serde(skip)]
    pub(crate) elsewhere: usize,
}

/// Where a room is in an arcade of several hubs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Site {
    /// The name of its hub.
    pub(crate) node: String,
    /// The host at which native clients reach it.
    pub(crate) host: String,
}

impl Info {
    /// What everybody may know: the port of a room that is not for everybody is told to those who may enter. It is 0 then.
    pub(crate) fn for_everybody(&self) -> Self {
        let port = if self.visibility == "public" { self.port } else { 0 };
        Self { port, code: None, ..self.clone() }
    }
}

#[cfg(test)]
impl Info {
    /// A usual room in which a match is played by nobody yet.
    pub(crate) fn usual(game: Game) -> Self {
        let options = Options::usual(game);
        Self {
            id: format!("{}-1", game.name()),
            game,
            title: options.title(),
            phase: "playing",
            taken: 0,
            seats: 26,
            port: 2_100,
            players: vec![],
            watchers: 0,
            result: None,
            r#match: None,
            permanent: false,
            name: None,
            visibility: "public",
            code: None,
            owned: false,
            locked: false,
            counts: Counts::of(&options),
            options,
            closing: None,
            bots_in: None,
            show: Show::default(),
            site: None,
            people: 0,
            elsewhere: 0,
        }
    }
}

/// A player as the page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Player {
    #[serde(skip)]
    pub(crate) peer: PeerId,
    #[serde(skip)]
    pub(crate) address: Option<String>,
    pub(crate) name: String,
    /// The seat in the game's own terms; empty for somebody who waits for one.
    pub(crate) seat: String,
    /// Whether it is a bot of the hub.
    pub(crate) bot: bool,
    /// Whether the name is proven to be its own.
    pub(crate) proven: bool,
    /// Whether it owns the room, and has its page open.
    pub(crate) owner: bool,
}

/// A row of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) rank: u32,
    pub(crate) name: String,
    pub(crate) seat: String,
    pub(crate) score: i64,
    /// Whether the player left before the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) left: bool,
}

/// The rank of a player in a result. Some games number their players through; equal scores are a tie all the same. `before` is the rank
/// and the score of the player before this one.
pub(crate) fn rank(before: Option<(u32, i64)>, standing: &Standing) -> u32 {
    before.filter(|&(_, score)| score == standing.score).map_or(standing.rank, |(rank, _)| rank)
}

/// A phase as pages know it.
pub(crate) const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Lobby => "lobby",
        Phase::Playing => "playing",
        Phase::Over => "over",
    }
}
