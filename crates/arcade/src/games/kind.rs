//! The interface of a game to the hub. Each native game implements [`Kind`] in a file beside this one; the rest of the
//! hub is the same for all games.

use std::{net::SocketAddr, ops::RangeInclusive};

use bytes::Bytes;
use clientkit::{Ended, Wire};
use netcore::{Framing, Level};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use store::Order;

use super::{
    counts::Casual,
    page_state::{PageState, Painter},
    replayable::Replayable,
};

use crate::message::message;

/// The form of messages in WebSocket frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Text frames that contain the message.
    Text,
    /// Text frames that contain the message without its final zero byte.
    ZeroEndedText,
    /// Binary frames that contain the message.
    Binary,
}

/// The board of a game that has only one.
const STANDARD: &str = "standard";

/// The options of a game's rooms, and all other properties of the game for the hub. The default is the usual room.
pub(crate) trait Kind: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    /// The engine that plays the game.
    type Engine: Replayable + PageState;
    /// Draws small pictures of its rooms.
    type Painter: Painter + Default + 'static;

    /// Its name in addresses, on the page and in journals.
    const NAME: &str;
    /// The name that users see.
    const TITLE: &str;
    /// Its colour in pictures: red, green, blue.
    const COLOUR: [u8; 3] = [214, 214, 214];
    /// The transport for native clients.
    const WIRE: servekit::Wire;
    /// The form of its messages in WebSocket frames.
    const FRAMES: Frames = Frames::Text;
    /// Whether only hubs started with `--examples` offer it.
    const IS_EXAMPLE: bool = false;
    /// Whether its turns are timed, independent of the players' actions.
    const IS_TIMED: bool = false;
    /// Whether a seat that a player has left is not assigned again in the same match.
    const SPENDS_SEATS: bool = false;
    /// Whether its players see less than its spectators.
    const HIDES: bool = false;

    /// The title of the room in the lobby.
    fn title(&self) -> String;

    /// Creates the engine of a new room. When a game is over, the engine starts another one.
    ///
    /// # Errors
    /// If these options do not permit a game; the message names the possible values.
    fn engine(&self) -> anyhow::Result<Self::Engine>;

    /// The options, without their defaults.
    fn fields() -> Vec<Field> {
        vec![]
    }

    /// The rooms that each hub has.
    fn permanent() -> Vec<Self> {
        vec![Self::default()]
    }

    /// The board that its matches count for.
    fn class(&self) -> String {
        STANDARD.to_owned()
    }

    /// Why its matches do not count.
    fn casual(&self) -> Option<Casual> {
        (*self != Self::default()).then_some(Casual::Options)
    }

    /// All boards of the game, first that of usual rooms.
    fn classes() -> Vec<String> {
        vec![STANDARD.to_owned()]
    }

    /// The order of the board of a class.
    fn order(_class: &str) -> Order {
        Order::Rating
    }

    /// The options with a key of the hub, which determines the daily puzzles.
    #[must_use]
    fn keyed(self, _key: [u8; 32]) -> Self {
        self
    }

    /// The public part of the options. The seed is omitted because it determines the whole match.
    #[must_use]
    fn without_seed(self) -> Self {
        self
    }

    /// Whether a game starts with the first player, and other players join while it runs. Otherwise it waits until
    /// its seats are taken.
    fn starts_at_once(&self) -> bool {
        false
    }

    /// Whether the room has the daily puzzle.
    fn is_daily(&self) -> bool {
        false
    }

    /// Whether the user who opened the room has drawn its map. Such a match is never rated.
    fn has_own_map(&self) -> bool {
        false
    }

    /// The number of players up to which bots fill a room with this number of seats on request.
    fn party(&self, seats: u32) -> u32 {
        seats
    }

    /// The message with the reason why a player is removed, if the wire has one that any client understands.
    fn farewell(_why: &str, _framing: Framing) -> Option<Bytes> {
        None
    }

    /// The reply that requests a player to repeat a message later, if processing this message takes much processor
    /// time.
    fn postponement(_message: &[u8], _framing: Framing) -> Option<Bytes> {
        None
    }

    /// Formats a score of a result as on the page.
    fn score(score: i64) -> String {
        if score == 1 { "1 point".to_owned() } else { format!("{score} points") }
    }

    /// Whether this score means a loss, even for a single player.
    fn is_lost(_score: i64) -> bool {
        false
    }

    fn bot_name(name: &str) -> String {
        format!("Bot {name}")
    }

    /// Runs a bot until its match is over or it has to leave.
    fn play<'a>(
        bot: Bot,
        connect: impl Connect<'a>,
        left: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = anyhow::Result<Ended>> + Send;
}

/// A bot that is about to play.
#[derive(Debug, Clone)]
pub(crate) struct Bot {
    pub(crate) name: String,
    pub(crate) level: Level,
    /// The seed of its random choices.
    pub(crate) seed: u64,
    /// Whether it plays against programs, so that it does not pause as it does for people.
    pub(crate) brisk: bool,
}

/// Connects a bot to its room when it is first polled, and returns the connection and the bot's own address.
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
    /// A description in one sentence.
    text: &'static str,
}

/// The largest integer that JavaScript represents exactly.
pub(crate) const MAX_EXACT: u64 = (1 << 53) - 1;

impl Field {
    const fn new(name: &'static str, kind: &'static str, text: &'static str) -> Self {
        Self { name, kind, default: Value::Null, least: None, most: None, choices: vec![], text }
    }

    /// An integer within these bounds.
    pub(crate) fn whole<T: Copy + Into<u64>>(
        name: &'static str,
        range: &RangeInclusive<T>,
        text: &'static str,
    ) -> Self {
        let (least, most) = (Some((*range.start()).into()), Some((*range.end()).into()));
        Self { least, most, ..Self::new(name, "integer", text) }
    }

    pub(crate) fn seed(most: u64) -> Self {
        Self::whole("seed", &(0..=most), "The same number gives the same match; without one it is drawn.")
    }

    pub(crate) fn choice(name: &'static str, choices: impl Into<Vec<&'static str>>, text: &'static str) -> Self {
        Self { choices: choices.into(), ..Self::new(name, "choice", text) }
    }

    pub(crate) const fn boolean(name: &'static str, text: &'static str) -> Self {
        Self::new(name, "boolean", text)
    }

    /// Sets the default to the value in these options.
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
