//! The interface of a game to the hub. Each native game implements [`GameKind`] in a file beside this one.

use std::{net::SocketAddr, ops::RangeInclusive};

use bytes::Bytes;
use clientkit::{Ended, Wire};
use netcore::{Framing, Level};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use store::Order;

use super::{
    challenge::{ResultScore, Tally},
    counts::Casual,
    page_state::{PageState, Painter},
    replayable::Replayable,
};

use crate::message::message;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    Text,
    /// The message without its final zero byte.
    ZeroEndedText,
    Binary,
}

/// The class of games with a single board.
pub(super) const STANDARD: &str = "standard";

/// The options of a game's rooms, and all other properties of the game. The default is the usual room.
pub(crate) trait GameKind: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    type Engine: Replayable + PageState;
    type Painter: Painter + Default + 'static;

    /// In URLs, on the page and in journals.
    const NAME: &str;
    const TITLE: &str;
    /// In pictures: red, green, blue.
    const COLOUR: [u8; 3] = [214, 214, 214];
    /// For native clients.
    const WIRE: servekit::Wire;
    const FRAMES: Frames = Frames::Text;
    /// The start of the join message, before the name. `None` if names need not be ASCII.
    const JOIN: Option<&str> = None;
    /// Whether only hubs with `--examples` offer it.
    const IS_EXAMPLE: bool = false;
    /// Whether turns end by time, independent of the players' actions.
    const IS_TIMED: bool = false;
    /// Whether the seat of a player who has left stays empty until the match ends.
    const SPENDS_SEATS: bool = false;
    /// Whether players see less than spectators.
    const HIDES: bool = false;

    fn title(&self) -> String;

    /// When a game is over, the engine starts another one. Errors name the possible values of options.
    fn engine(&self) -> anyhow::Result<Self::Engine>;

    fn fields() -> Vec<Field> {
        vec![]
    }

    /// The rooms that each hub has.
    fn permanent() -> Vec<Self> {
        vec![Self::default()]
    }

    /// A match of two people in a tournament of a class.
    fn duel() -> Self {
        Self::default()
    }

    fn class(&self) -> String {
        STANDARD.to_owned()
    }

    fn casual(&self) -> Option<Casual> {
        (*self != Self::default()).then_some(Casual::Options)
    }

    /// The classes of the game's boards, that of the default room first.
    fn classes() -> Vec<String> {
        vec![STANDARD.to_owned()]
    }

    fn order(_class: &str) -> Order {
        Order::Rating
    }

    /// Adds the key of the daily puzzles.
    #[must_use]
    fn keyed(self, _key: [u8; 32]) -> Self {
        self
    }

    /// The options of the daily challenge, in days since 1970. `None` if the game has no challenge.
    fn challenge(_day: u32) -> Option<Self> {
        None
    }

    /// Adds the seed of a daily challenge, whose match starts with one person and its bots.
    #[must_use]
    fn seeded(self, _seed: [u8; 32]) -> Self {
        self
    }

    /// Computes the score of the daily challenge.
    fn tally() -> Box<dyn Tally> {
        Box::new(ResultScore)
    }

    /// The seed determines the whole match.
    #[must_use]
    fn without_seed(self) -> Self {
        self
    }

    /// Whether the game starts with its first player, and more join while it runs. Otherwise it waits until its seats
    /// are taken.
    fn starts_at_once(&self) -> bool {
        false
    }

    fn is_daily(&self) -> bool {
        false
    }

    /// Whether the user who opened the room has drawn the map. Such a match is never rated.
    fn has_own_map(&self) -> bool {
        false
    }

    /// The number of players up to which bots fill a room on request.
    fn party(&self, seats: u32) -> u32 {
        seats
    }

    /// The message with which a player is removed, if the wire has one that any client understands.
    fn farewell(_why: &str, _framing: Framing) -> Option<Bytes> {
        None
    }

    /// Requests the player to repeat a message later, if processing it takes much processor time.
    fn postponement(_message: &[u8], _framing: Framing) -> Option<Bytes> {
        None
    }

    fn score(score: i64) -> String {
        if score == 1 { "1 point".to_owned() } else { format!("{score} points") }
    }

    /// Whether a player with this score has lost, even without opponents.
    fn is_lost(_score: i64) -> bool {
        false
    }

    fn bot_name(name: &str) -> String {
        format!("Bot {name}")
    }

    /// Plays a match. Ends with the match, or when the bot has to leave.
    fn play<'a>(
        bot: Bot,
        connect: impl Connect<'a>,
        left: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = anyhow::Result<Ended>> + Send;
}

#[derive(Debug, Clone)]
pub(crate) struct Bot {
    pub(crate) name: String,
    pub(crate) level: Level,
    pub(crate) seed: u64,
    /// Plays against programs, without the pauses for people.
    pub(crate) brisk: bool,
}

/// Connects a bot when first polled. Returns the connection and the bot's own address.
pub(crate) trait Connect<'a>: Future<Output = anyhow::Result<(&'a mut Wire, SocketAddr)>> + Send {}

impl<'a, F: Future<Output = anyhow::Result<(&'a mut Wire, SocketAddr)>> + Send> Connect<'a> for F {}

#[derive(Debug, Serialize)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    /// `null` if the hub chooses the value.
    default: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) least: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) most: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) choices: Vec<&'static str>,
    /// In one sentence.
    text: &'static str,
}

/// The largest integer that JavaScript represents exactly.
pub(crate) const MAX_EXACT: u64 = (1 << 53) - 1;

impl Field {
    const fn new(name: &'static str, kind: &'static str, text: &'static str) -> Self {
        Self { name, kind, default: Value::Null, least: None, most: None, choices: vec![], text }
    }

    pub(crate) fn integer<T: Copy + Into<u64>>(
        name: &'static str,
        range: &RangeInclusive<T>,
        text: &'static str,
    ) -> Self {
        let (least, most) = (Some((*range.start()).into()), Some((*range.end()).into()));
        Self { least, most, ..Self::new(name, "integer", text) }
    }

    pub(crate) fn seed(most: u64) -> Self {
        Self::integer("seed", &(0..=most), "The same number gives the same match; without one it is drawn.")
    }

    pub(crate) fn choice(name: &'static str, choices: impl Into<Vec<&'static str>>, text: &'static str) -> Self {
        Self { choices: choices.into(), ..Self::new(name, "choice", text) }
    }

    pub(crate) const fn boolean(name: &'static str, text: &'static str) -> Self {
        Self::new(name, "boolean", text)
    }

    pub(crate) fn with_default_of(self, options: &Value) -> Self {
        let default = options.get(self.name).cloned().unwrap_or_default();
        Self { default, ..self }
    }
}

pub(crate) fn within<T>(name: &str, number: T, range: &RangeInclusive<T>) -> anyhow::Result<()>
where
    T: Copy + PartialOrd + std::fmt::Display,
{
    if range.contains(&number) {
        return Ok(());
    }
    anyhow::bail!(message!(
        "out_of_range",
        "invalid {name} {number}: expected a number from {least} to {most}",
        name = name,
        number = number.to_string(),
        least = range.start().to_string(),
        most = range.end().to_string()
    ))
}
