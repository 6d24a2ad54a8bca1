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
}

/// A row of a leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LeaderView {
    pub(crate) rank: u32,
    pub(crate) name: String,
    /// In games that are played alone, the mean score.
    pub(crate) rating: f64,
    pub(crate) matches: u64,
    pub(crate) wins: u64,
    pub(crate) proven: bool,
    pub(crate) bot: bool,
}

/// What the lobby shows of results.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Boards {
    pub(crate) recent: Vec<MatchView>,
    pub(crate) leaders: BTreeMap<&'static str, Vec<LeaderView>>,
}

/// What is known of a player in one game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ScoreView {
    pub(crate) rating: f64,
    pub(crate) matches: u64,
    pub(crate) wins: u64,
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
            players: found.players.into_iter().map(PlayerView::from).collect(),
        }
    }
}

impl From<MatchPlayer> for PlayerView {
    fn from(player: MatchPlayer) -> Self {
        let MatchPlayer { rank, name, kind, seat, score, rating } = player;
        Self { rank, name, seat, score, proven: kind == Kind::Proven, bot: kind == Kind::Bot, rating }
    }
}

impl LeaderView {
    pub(crate) fn new(leader: Leader, order: Order) -> Self {
        let Leader { rank, name, kind, score } = leader;
        let rating = rating(&score, order);
        let (matches, wins) = (score.matches, score.wins);
        Self { rank, name, rating, matches, wins, proven: kind == Kind::Proven, bot: kind == Kind::Bot }
    }
}

impl ScoreView {
    pub(crate) fn new(score: Score, order: Order) -> Self {
        let rating = rating(&score, order);
        let history = score.history.into_iter().map(|(at, rating)| (date(at), rating)).collect();
        Self { rating, matches: score.matches, wins: score.wins, history }
    }
}

fn rating(score: &Score, order: Order) -> f64 {
    match order {
        #[expect(clippy::cast_precision_loss, reason = "ratings stay within some thousands")]
        Order::Rating => score.rating as f64,
        Order::LowestScore => (score.mean_score * 100.0).round() / 100.0,
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
