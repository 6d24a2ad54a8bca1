//! The games of the hub. They are taken from the list of the crate `games`; each native game has a file here that
//! implements [`kind::Kind`], and all turn-based games share one.

pub(crate) mod blackjack;
mod counts;
mod kind;
pub(crate) mod ladder;
mod marked;
pub(crate) mod mastermind;
pub(crate) mod nuggets;
pub(crate) mod page_state;
pub(crate) mod robots;
pub(crate) mod turn_based;

pub(crate) use self::nuggets::maps::offer as offer_maps;

use bytes::Bytes;
use netcore::Framing;
use serde::{Deserialize, Serialize};
use servekit::Wire;
use store::{LADDER, Order};

use self::kind::Field;
pub(crate) use self::{
    counts::{Casual, Counts},
    kind::{Bot, Frames, Kind},
    marked::{Lasts, Marked},
    page_state::{PageState, Painter, Picture},
};

/// Defines [`Game`], [`Options`] and the macros that reach the [`Kind`] of a game.
macro_rules! define {
    ($d:tt native { $($module:ident $name:ident $engine:ty;)* } turn_based { $($table:ident $rules:ty;)* }) => {
        /// A game of the hub.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum Game {
            $($name,)*
            $($table,)*
        }

        /// The options of a room. All have a default.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "game", rename_all = "kebab-case")]
        pub(crate) enum Options {
            $($name($module::Options),)*
            $($table(turn_based::Options<$rules>),)*
        }

        $(impl From<$module::Options> for Options {
            fn from(options: $module::Options) -> Self {
                Self::$name(options)
            }
        })*

        $(impl From<turn_based::Options<$rules>> for Options {
            fn from(options: turn_based::Options<$rules>) -> Self {
                Self::$table(options)
            }
        })*

        impl Game {
            /// All games, in display order.
            pub(crate) const ALL: [Self; [$(stringify!($name),)* $(stringify!($table),)*].len()] =
                [$(Self::$name,)* $(Self::$table,)*];
        }

        impl Options {
            /// The game of the room.
            pub(crate) const fn game(&self) -> Game {
                match self {
                    $(Self::$name(_) => Game::$name,)*
                    $(Self::$table(_) => Game::$table,)*
                }
            }
        }

        /// Evaluates an expression with the [`Kind`] of a game as a type.
        macro_rules! with_kind {
            ($d game:expr, $d kind:ident => $d value:expr) => {
                match $d game {
                    $($crate::games::Game::$name => {
                        type $d kind = $crate::games::$module::Options;
                        $d value
                    })*
                    $($crate::games::Game::$table => {
                        type $d kind = $crate::games::turn_based::Options<$rules>;
                        $d value
                    })*
                }
            };
        }
        pub(crate) use with_kind;

        /// Evaluates an expression with the options of a room, whose type is the [`Kind`] of its game.
        macro_rules! with_options {
            ($d options:expr, $d kind:ident => $d value:expr) => {
                match $d options {
                    $($crate::games::Options::$name($d kind) => $d value,)*
                    $($crate::games::Options::$table($d kind) => $d value,)*
                }
            };
        }
        pub(crate) use with_options;
    };
}
::games::list!(define $);

impl Game {
    /// The game with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|game| game.name() == name)
    }

    /// The games that are offered to users, with or without examples.
    pub(crate) fn offered(examples: bool) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |game| examples || !game.is_example())
    }

    /// The names of these games as a list for an error message.
    pub(crate) fn names(games: impl Iterator<Item = Self>) -> String {
        games.map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// Whether only hubs started with `--examples` offer it.
    pub(crate) const fn is_example(self) -> bool {
        with_kind!(self, K => K::IS_EXAMPLE)
    }

    /// Its name in addresses, on the page and in journals.
    pub(crate) const fn name(self) -> &'static str {
        with_kind!(self, K => K::NAME)
    }

    /// The version of its rules, as in `nuggets-3`. A hub must support it to resume a match of another hub.
    pub(crate) fn rules(self) -> String {
        format!("{}-{}", self.name(), with_kind!(self, K => <<K as Kind>::Engine as netcore::Recorded>::RULES))
    }

    /// Whether a watcher who receives the second message does not need the first.
    pub(crate) fn supersedes(self, before: &Bytes, after: &Bytes) -> bool {
        with_kind!(self, K => <<K as Kind>::Engine as PageState>::supersedes(before, after))
    }

    /// Its name for users.
    pub(crate) const fn title(self) -> &'static str {
        with_kind!(self, K => K::TITLE)
    }

    /// Its colour in pictures: red, green, blue.
    pub(crate) const fn colour(self) -> [u8; 3] {
        with_kind!(self, K => K::COLOUR)
    }

    /// The reply that requests a player to repeat a message later, if processing this message takes much processor
    /// time.
    pub(crate) fn postponement(self, message: &[u8], framing: Framing) -> Option<Bytes> {
        with_kind!(self, K => K::postponement(message, framing))
    }

    /// Formats a score of a result as on the page.
    pub(crate) fn score(self, score: i64) -> String {
        with_kind!(self, K => K::score(score))
    }

    /// Its boards, first that of usual rooms.
    pub(crate) fn classes(self) -> Vec<String> {
        let mut classes = with_kind!(self, K => K::classes());
        classes.push(LADDER.to_owned());
        classes
    }

    /// The order of the board of a class.
    pub(crate) fn order(self, class: &str) -> Order {
        with_kind!(self, K => K::order(class))
    }

    /// Whether its players see less than its spectators.
    pub(crate) const fn hides(self) -> bool {
        with_kind!(self, K => K::HIDES)
    }

    /// Whether its turns are timed, independent of the players' actions.
    pub(crate) const fn is_timed(self) -> bool {
        with_kind!(self, K => K::IS_TIMED)
    }

    /// Whether a seat that a player has left is not assigned again in the same match.
    pub(crate) const fn spends_seats(self) -> bool {
        with_kind!(self, K => K::SPENDS_SEATS)
    }

    /// The form of its messages in WebSocket frames.
    pub(crate) const fn frames(self) -> Frames {
        with_kind!(self, K => K::FRAMES)
    }

    /// The transport for native clients.
    pub(crate) const fn wire(self) -> Wire {
        with_kind!(self, K => K::WIRE)
    }

    /// The message with the reason why a player is removed, if the wire has one that any client understands.
    pub(crate) fn farewell(self, why: &str, framing: Framing) -> Option<Bytes> {
        with_kind!(self, K => K::farewell(why, framing))
    }

    /// Draws small pictures of a room.
    pub(crate) fn painter(self) -> Box<dyn Painter> {
        with_kind!(self, K => Box::new(<K as Kind>::Painter::default()))
    }

    /// Whether this score means a loss, even for a single player.
    pub(crate) fn is_lost(self, score: i64) -> bool {
        with_kind!(self, K => K::is_lost(score))
    }

    /// The name of a bot.
    pub(crate) fn bot_name(self, name: &str) -> String {
        with_kind!(self, K => K::bot_name(name))
    }
}

impl Options {
    /// A room of this game with all defaults.
    pub(crate) fn usual(game: Game) -> Self {
        with_kind!(game, K => K::default().into())
    }

    /// The rooms that each hub has.
    pub(crate) fn permanent(examples: bool) -> impl Iterator<Item = Self> {
        let rooms = |game| -> Vec<Self> { with_kind!(game, K => K::permanent().into_iter().map(Self::from).collect()) };
        Game::offered(examples).flat_map(rooms)
    }

    /// The title of the room in the lobby.
    pub(crate) fn title(&self) -> String {
        with_options!(self, kind => kind.title())
    }

    /// The board that matches of the room count for.
    fn class(&self) -> String {
        with_options!(self, kind => kind.class())
    }

    /// Why its matches do not count.
    fn casual(&self) -> Option<Casual> {
        with_options!(self, kind => kind.casual())
    }

    /// The same options with a key of the hub, which determines the daily puzzles.
    pub(crate) fn keyed(self, key: [u8; 32]) -> Self {
        with_options!(self, kind => kind.keyed(key).into())
    }

    /// Whether the room has the daily puzzle.
    pub(crate) fn is_daily(&self) -> bool {
        with_options!(self, kind => kind.is_daily())
    }

    /// Whether a game starts with the first player, and other players join while it runs.
    pub(crate) fn starts_at_once(&self) -> bool {
        with_options!(self, kind => kind.starts_at_once())
    }

    /// Whether the user who opened the room has drawn its map. Such a match is never rated.
    pub(crate) fn has_own_map(&self) -> bool {
        with_options!(self, kind => kind.has_own_map())
    }

    /// The number of players up to which bots fill a room with this number of seats on request.
    pub(crate) fn party(&self, seats: u32) -> u32 {
        with_options!(self, kind => kind.party(seats))
    }

    /// The options without secrets.
    pub(crate) fn shown(&self) -> Self {
        with_options!(self.clone(), kind => kind.without_seed().into())
    }
}

/// A game and the options of its rooms.
#[derive(Debug, Serialize)]
pub(crate) struct Description {
    game: Game,
    options: Vec<Field>,
}

/// The options of all offered games.
pub(crate) fn describe(examples: bool) -> Vec<Description> {
    Game::offered(examples).map(|game| Description { game, options: fields(game) }).collect()
}

fn fields(game: Game) -> Vec<Field> {
    let usual = serde_json::to_value(Options::usual(game)).unwrap_or_default();
    let fields = with_kind!(game, K => K::fields());
    fields.into_iter().map(|field| field.with_default_of(&usual)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::{Value, json};

    use super::*;

    fn engine(options: &Options) -> anyhow::Result<()> {
        with_options!(options, kind => kind.engine().map(drop))
    }

    #[test]
    fn every_option_has_a_default_and_unknown_ones_are_rejected() {
        for game in Game::ALL {
            let read = |text: &str| serde_json::from_str::<Options>(&text.replace('$', game.name()));
            assert_eq!(read(r#"{"game": "$"}"#).unwrap(), Options::usual(game));
            assert!(read(r#"{"game": "$", "gold": 1}"#).unwrap_err().to_string().contains("unknown field `gold`"));
            engine(&Options::usual(game)).unwrap();
        }
        let map = serde_json::from_str::<Options>(r#"{"game": "nuggets", "map": "../x"}"#).unwrap();
        let Err(error) = engine(&map) else { panic!("there is no such map") };
        assert!(error.to_string().starts_with("there is no map '../x': choose one of main, "), "{error}");
    }

    #[test]
    fn every_option_is_described_with_its_default_and_no_other() {
        for game in Game::ALL {
            let usual = serde_json::to_value(Options::usual(game)).unwrap();
            let names: BTreeSet<&str> = fields(game).iter().map(|field| field.name).chain(["game"]).collect();
            let real: BTreeSet<&str> = usual.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(names, real, "{}", game.name());
        }
    }

    #[test]
    fn scores_are_said_in_the_words_of_the_page() {
        let text = include_str!("../web/test/vectors/scores.json");
        let mut all: BTreeMap<String, Vec<(i64, String)>> = serde_json::from_str(text).unwrap();
        for game in Game::offered(false) {
            for (score, words) in all.remove(game.name()).unwrap() {
                assert_eq!(game.score(score), words, "{}", game.name());
            }
        }
        assert!(all.is_empty(), "{all:?}");
    }

    #[test]
    fn the_bounds_are_those_of_rooms() {
        for game in Game::ALL {
            for field in fields(game).iter().filter(|field| field.name != "seed") {
                let with = |value: Value| {
                    let options = json!({ "game": game.name(), (field.name): value });
                    engine(&serde_json::from_value::<Options>(options)?)
                };
                for number in field.least.into_iter().chain(field.most) {
                    with(number.into()).unwrap_or_else(|error| panic!("{} = {number}: {error}", field.name));
                }
                for number in field
                    .least
                    .and_then(|least| least.checked_sub(1))
                    .into_iter()
                    .chain(field.most.map(|most| most + 1))
                {
                    assert!(with(number.into()).is_err(), "{} = {number}", field.name);
                }
                for choice in &field.choices {
                    with((*choice).into()).unwrap();
                }
            }
        }
    }
}
