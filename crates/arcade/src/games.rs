//! The games of the hub, from the list of the crate `games`. Each native game implements [`kind::GameKind`] in a file
//! here; all turn-based games share one.

pub(crate) mod blackjack;
pub(crate) mod challenge;
mod counts;
mod kind;
pub(crate) mod ladder;
pub(crate) mod mastermind;
pub(crate) mod nuggets;
pub(crate) mod page_state;
mod replayable;
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
    kind::{Bot, Frames, GameKind},
    page_state::{PageState, Painter, Picture},
    replayable::{Change, Relevance, Replayable},
};

/// Defines [`Game`], [`Options`] and the macros that reach the [`GameKind`] of a game.
macro_rules! define {
    ($d:tt native { $($module:ident $name:ident $engine:ty;)* } turn_based { $($table:ident $rules:ty;)* }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum Game {
            $($name,)*
            $($table,)*
        }

        /// Each option has a default.
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
            /// In display order.
            pub(crate) const ALL: [Self; [$(stringify!($name),)* $(stringify!($table),)*].len()] =
                [$(Self::$name,)* $(Self::$table,)*];
        }

        impl Options {
            pub(crate) const fn game(&self) -> Game {
                match self {
                    $(Self::$name(_) => Game::$name,)*
                    $(Self::$table(_) => Game::$table,)*
                }
            }
        }

        /// Evaluates an expression with the [`GameKind`] of a game as a type.
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

        /// Evaluates an expression with the options of a room, whose type is the [`GameKind`] of its game.
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
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|game| game.name() == name)
    }

    pub(crate) fn offered(examples: bool) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |game| examples || !game.is_example())
    }

    pub(crate) fn names(games: impl Iterator<Item = Self>) -> String {
        games.map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// The version of the rules, as in `nuggets-3`. A hub must support it to resume a match of another hub.
    pub(crate) fn rules(self) -> String {
        format!("{}-{}", self.name(), with_kind!(self, K => <<K as GameKind>::Engine as netcore::Recorded>::RULES))
    }

    pub(crate) fn classes(self) -> Vec<String> {
        let mut classes = with_kind!(self, K => K::classes());
        classes.push(LADDER.to_owned());
        classes
    }
}

/// Defines methods of [`Game`] that evaluate an expression with its [`GameKind`], which documents the items of the same
/// names.
macro_rules! by_kind {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $kind:ident => $value:expr;)+) => {
        impl Game {
            $(pub(crate) fn $name(self, $($argument: $type),*) -> $result {
                with_kind!(self, $kind => $value)
            })+
        }
    };
}
use by_kind;

by_kind! {
    name() -> &'static str = K => K::NAME;
    title() -> &'static str = K => K::TITLE;
    colour() -> [u8; 3] = K => K::COLOUR;
    wire() -> Wire = K => K::WIRE;
    frames() -> Frames = K => K::FRAMES;
    join_prefix() -> Option<&'static str> = K => K::JOIN;
    is_example() -> bool = K => K::IS_EXAMPLE;
    is_timed() -> bool = K => K::IS_TIMED;
    spends_seats() -> bool = K => K::SPENDS_SEATS;
    hides() -> bool = K => K::HIDES;
    order(class: &str) -> Order = K => K::order(class);
    farewell(why: &str, framing: Framing) -> Option<Bytes> = K => K::farewell(why, framing);
    postponement(message: &[u8], framing: Framing) -> Option<Bytes> = K => K::postponement(message, framing);
    score(score: i64) -> String = K => K::score(score);
    is_lost(score: i64) -> bool = K => K::is_lost(score);
    bot_name(name: &str) -> String = K => K::bot_name(name);
    has_challenge() -> bool = K => K::challenge(0).is_some();
    tally() -> Box<dyn challenge::Tally> = K => K::tally();
    painter() -> Box<dyn Painter> = K => Box::new(<K as GameKind>::Painter::default());
    supersedes(before: &Bytes, after: &Bytes) -> bool = K => <K as GameKind>::Engine::supersedes(before, after);
}

/// Defines methods of [`Options`] that call the same method of [`GameKind`].
macro_rules! by_options {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        impl Options {
            $(pub(crate) fn $name(&self, $($argument: $type),*) -> $result {
                with_options!(self, kind => kind.$name($($argument),*))
            })+
        }
    };
}

by_options! {
    title() -> String;
    class() -> String;
    casual() -> Option<Casual>;
    is_daily() -> bool;
    starts_at_once() -> bool;
    has_own_map() -> bool;
    party(seats: u32) -> u32;
}

impl Options {
    pub(crate) fn usual(game: Game) -> Self {
        with_kind!(game, K => K::default().into())
    }

    pub(crate) fn duel(game: Game) -> Self {
        with_kind!(game, K => K::duel().into())
    }

    pub(crate) fn permanent(examples: bool) -> impl Iterator<Item = Self> {
        let rooms = |game| -> Vec<Self> { with_kind!(game, K => K::permanent().into_iter().map(Self::from).collect()) };
        Game::offered(examples).flat_map(rooms)
    }

    pub(crate) fn challenge(game: Game, day: u32) -> Option<Self> {
        with_kind!(game, K => K::challenge(day).map(Self::from))
    }

    pub(crate) fn seeded(self, seed: [u8; 32]) -> Self {
        with_options!(self, kind => kind.seeded(seed).into())
    }

    pub(crate) fn keyed(self, key: [u8; 32]) -> Self {
        with_options!(self, kind => kind.keyed(key).into())
    }

    pub(crate) fn without_secrets(&self) -> Self {
        with_options!(self.clone(), kind => kind.without_seed().into())
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Description {
    game: Game,
    options: Vec<Field>,
}

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
    fn challenge_has_one_seed_a_day_and_game_and_no_user_can_choose_it() {
        let keys = |byte| crate::hub::secret::Secret::of_byte(byte).keys("room");
        let games: Vec<_> = Game::ALL.into_iter().filter(|game| game.has_challenge()).collect();
        assert_eq!(games, [Game::Nuggets, Game::Robots]);
        let mut seeds = BTreeSet::new();
        for (byte, day, game) in [(1, 7, "nuggets"), (1, 7, "robots"), (1, 8, "nuggets"), (2, 7, "nuggets")] {
            seeds.insert(keys(byte).challenge(game, day));
            assert_eq!(keys(byte).challenge(game, day), keys(byte).challenge(game, day));
        }
        assert_eq!(seeds.len(), 4);
        for game in games {
            let options = Options::challenge(game, 7).unwrap();
            let seeded = options.clone().seeded([5; 32]);
            assert_eq!(options.clone().seeded([5; 32]), seeded);
            assert_ne!(options.clone().seeded([6; 32]), seeded);
            engine(&seeded).unwrap();
            let shown = serde_json::to_string(&seeded.without_secrets()).unwrap();
            assert_eq!(shown, serde_json::to_string(&options).unwrap());
        }
        let chosen = serde_json::from_value::<Options>(json!({ "game": "nuggets", "challenge": 7 }));
        assert!(chosen.is_err());
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
    fn scores_are_formatted_as_on_the_page() {
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
    fn described_bounds_are_those_of_rooms() {
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
