//! Results as they are told.

use std::{
    collections::BTreeMap,
    time::{Duration, UNIX_EPOCH},
};

use serde::Serialize;
use store::{Kind, Leader, Match, MatchPlayer, Order, Score};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct MatchView {
    pub(crate) id: String,
    pub(crate) game: String,
    pub(crate) title: String,
    pub(crate) room: String,
    /// RFC 3339.
    pub(crate) started: String,
    pub(crate) seconds: f64,
    /// Whether it was played to its end.
    pub(crate) complete: bool,
    /// The board that it is for, of its game.
    pub(crate) class: String,
    /// Whether it counts there.
    pub(crate) rated: bool,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) casual: Option<String>,
    pub(crate) players: Vec<PlayerView>,
}

/// A player in the result of a match.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PlayerView {
    pub(crate) rank: u32,
    pub(crate) name: String,
    pub(crate) seat: String,
    pub(crate) score: i64,
    pub(crate) proven: bool,
    pub(crate) bot: bool,
    /// After the match, if it was rated.
    pub(crate) rating: Option<i64>,
    /// Whether the player left before the end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) left: bool,
}

/// A row of a leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LeaderView {
    pub(crate) rank: u32,
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) standing: StandingView,
    pub(crate) proven: bool,
    pub(crate) bot: bool,
}

/// What is known of a player on a board.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct StandingView {
    /// In games in which players meet.
    pub(crate) rating: Option<i64>,
    /// How far the strength may be from the rating.
    pub(crate) uncertainty: Option<i64>,
    /// In games that are played alone, the mean score.
    pub(crate) mean: Option<f64>,
    /// Whether too few matches have counted to be ranked.
    pub(crate) provisional: bool,
    pub(crate) matches: u64,
    pub(crate) wins: u64,
}

/// A leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct BoardView {
    pub(crate) game: &'static str,
    pub(crate) class: String,
    pub(crate) players: Vec<LeaderView>,
    /// Those that are not ranked yet.
    pub(crate) provisional: Vec<LeaderView>,
}

/// What the lobby shows of results.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Boards {
    pub(crate) recent: Vec<MatchView>,
    pub(crate) leaders: BTreeMap<&'static str, Vec<LeaderView>>,
}

/// What is known of a player on a board, and how it came to that.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ScoreView {
    pub(crate) class: String,
    #[serde(flatten)]
    pub(crate) standing: StandingView,
    pub(crate) history: Vec<(String, i64)>,
}

impl From<Match> for MatchView {
    fn from(found: Match) -> Self {
        Self {
            id: found.id,
            game: found.game,
            title: found.title,
            room: found.room,
            started: date(found.started),
            seconds: seconds(found.ends.saturating_sub(found.begins)),
            complete: found.complete,
            class: found.class,
            rated: found.casual.is_empty(),
            casual: (!found.casual.is_empty()).then_some(found.casual),
            players: found.players.into_iter().map(PlayerView::from).collect(),
        }
    }
}

impl From<MatchPlayer> for PlayerView {
    fn from(player: MatchPlayer) -> Self {
        let MatchPlayer { rank, name, kind, seat, score, rating, quit } = player;
        Self { rank, name, seat, score, proven: kind == Kind::Proven, bot: kind == Kind::Bot, rating, left: quit }
    }
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
        Self { rank, name, standing, proven: kind == Kind::Proven, bot: kind == Kind::Bot }
    }
}

impl ScoreView {
    pub(crate) fn new(class: String, score: Score, order: Order) -> Self {
        let standing = StandingView::new(&score, order);
        let history = score.history.into_iter().map(|(at, rating)| (date(at), rating)).collect();
        Self { class, standing, history }
    }
}

fn date(unix_millis: u64) -> String {
    // Later than the year 9999 there is no date in this form.
    let last = 253_402_300_799_000;
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(unix_millis.min(last))).to_string()
}

fn seconds(micros: u64) -> f64 {
    (Duration::from_micros(micros).as_secs_f64() * 1_000.0).round() / 1_000.0
}
