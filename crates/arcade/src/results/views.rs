use std::{
    collections::BTreeMap,
    time::{Duration, UNIX_EPOCH},
};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use store::{Leader, Match, MatchPlayer, Order, PlayerKind, Score};

pub(crate) fn match_json(found: &Match) -> Value {
    let mut json = json!({
        "id": found.id,
        "game": found.game,
        "title": found.title,
        "room": found.room,
        "started": date(found.started),
        "seconds": seconds(found.ends.saturating_sub(found.begins)),
        "complete": found.complete,
        "class": found.class,
        "rated": found.casual.is_empty(),
        "players": found.players.iter().map(player_json).collect::<Vec<_>>(),
    });
    if !found.casual.is_empty() {
        json["casual"] = found.casual.as_str().into();
    }
    json
}

pub(crate) fn player_json(player: &MatchPlayer) -> Value {
    let mut json = json!({
        "rank": player.rank,
        "name": player.name,
        "seat": player.seat,
        "score": player.score,
        "proven": player.kind == PlayerKind::Proven,
        "bot": player.kind == PlayerKind::Bot,
        "rating": player.rating,
    });
    if player.quit {
        json["left"] = true.into();
    }
    json
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LeaderView {
    pub(crate) rank: u32,
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) standing: StandingView,
    pub(crate) proven: bool,
    pub(crate) bot: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct StandingView {
    /// In games with several players.
    pub(crate) rating: Option<i64>,
    pub(crate) uncertainty: Option<i64>,
    /// In single-player games.
    pub(crate) mean: Option<f64>,
    /// Too few counted matches to be ranked.
    pub(crate) provisional: bool,
    pub(crate) matches: u64,
    pub(crate) wins: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct BoardView {
    pub(crate) game: &'static str,
    pub(crate) class: String,
    pub(crate) players: Vec<LeaderView>,
    pub(crate) provisional: Vec<LeaderView>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Boards {
    #[serde(serialize_with = "as_json")]
    pub(crate) recent: Vec<Match>,
    pub(crate) leaders: BTreeMap<&'static str, Vec<LeaderView>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ScoreView {
    pub(crate) class: String,
    #[serde(flatten)]
    pub(crate) standing: StandingView,
    pub(crate) history: Vec<(String, i64)>,
}

fn as_json<S: Serializer>(recent: &[Match], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(recent.iter().map(match_json))
}

impl StandingView {
    fn new(score: &Score, order: Order) -> Self {
        let (rating, mean) = match order {
            Order::Rating => (Some((score.rating, score.uncertainty)), None),
            Order::LowestScore => (None, Some((score.mean_score * 100.0).round() / 100.0)),
        };
        let (rating, uncertainty) = rating.unzip();
        Self { rating, uncertainty, mean, provisional: !score.ranked, matches: score.matches, wins: score.wins }
    }
}

impl LeaderView {
    pub(crate) fn new(leader: Leader, order: Order) -> Self {
        let Leader { rank, name, kind, score } = leader;
        let standing = StandingView::new(&score, order);
        Self { rank, name, standing, proven: kind == PlayerKind::Proven, bot: kind == PlayerKind::Bot }
    }
}

impl ScoreView {
    pub(crate) fn new(class: String, score: Score, order: Order) -> Self {
        let standing = StandingView::new(&score, order);
        let history = score.history.into_iter().map(|(at, rating)| (date(at), rating)).collect();
        Self { class, standing, history }
    }
}

/// Converts milliseconds since the Unix epoch to RFC 3339.
pub(crate) fn date(unix_millis: u64) -> String {
    // RFC 3339 has no dates after the year 9999.
    let last = 253_402_300_799_000;
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(unix_millis.min(last))).to_string()
}

fn seconds(micros: u64) -> f64 {
    (Duration::from_micros(micros).as_secs_f64() * 1_000.0).round() / 1_000.0
}
