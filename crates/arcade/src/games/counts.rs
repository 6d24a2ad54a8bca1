//! Matches are rated unless a user has chosen the seed, or options that make results incomparable.

use serde::Serialize;
use store::LADDER;

use super::{Options, challenge::CHALLENGE};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Casual {
    /// A user who has chosen the seed knows the outcome of random choices.
    Seed,
    Options,
    /// They differed from those of the room.
    Rules,
    Hints,
    Unfinished,
    Alone,
    Class,
    Challenge,
}

impl Casual {
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Options => "options",
            Self::Rules => "rules",
            Self::Hints => "hints",
            Self::Unfinished => "unfinished",
            Self::Alone => "alone",
            Self::Class => "class",
            Self::Challenge => CHALLENGE,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// A board of the game.
    pub(crate) class: String,
    pub(crate) rated: bool,
    /// Why its matches do not count, or in a rated room why a match of the present players does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) casual: Option<&'static str>,
}

impl Counts {
    pub(crate) fn of_the_ladder() -> Self {
        Self { class: LADDER.to_owned(), rated: true, casual: None }
    }

    pub(crate) fn of_a_challenge() -> Self {
        Self { class: CHALLENGE.to_owned(), rated: false, casual: Some(Casual::Challenge.code()) }
    }

    pub(crate) fn of_a_class(options: &Options) -> Self {
        Self { class: options.class(), rated: false, casual: Some(Casual::Class.code()) }
    }

    pub(crate) fn of(options: &Options) -> Self {
        let casual = options.casual().map(Casual::code);
        Self { class: options.class(), rated: casual.is_none(), casual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::Game;

    fn counts(text: &str) -> (String, Option<&'static str>) {
        let Counts { class, casual, rated } = Counts::of(&serde_json::from_str(text).unwrap());
        assert_eq!(rated, casual.is_none());
        (class, casual)
    }

    #[test]
    fn default_options_count_for_the_board_of_their_class() {
        for (text, class) in [
            (r#"{"game": "nuggets"}"#, "main"),
            (r#"{"game": "nuggets", "map": "spiral"}"#, "spiral"),
            (r#"{"game": "robots"}"#, "arena"),
            (r#"{"game": "blackjack"}"#, "standard"),
            (r#"{"game": "mastermind"}"#, "4-repeats"),
            (r#"{"game": "mastermind", "length": 6, "repeats": false}"#, "6"),
            (r#"{"game": "mastermind", "mode": "race"}"#, "race"),
            (r#"{"game": "mastermind", "mode": "daily"}"#, "daily"),
        ] {
            assert_eq!(counts(text), (class.into(), None), "{text}");
        }
        for (text, why) in [
            (r#"{"game": "nuggets", "seed": 7}"#, "seed"),
            (r#"{"game": "robots", "seed": 0}"#, "seed"),
            (r#"{"game": "mastermind", "seed": 7}"#, "seed"),
            (r#"{"game": "mastermind", "mode": "daily", "seed": 7}"#, "seed"),
            (r#"{"game": "nuggets", "countdown": 0}"#, "options"),
            (r#"{"game": "robots", "turns": 10}"#, "options"),
            (r#"{"game": "blackjack", "rounds": 1}"#, "options"),
            (r#"{"game": "blackjack", "players": 1}"#, "options"),
            (r#"{"game": "mastermind", "mode": "race", "minutes": 1}"#, "options"),
            (r#"{"game": "mastermind", "mode": "race", "length": 8}"#, "options"),
            (r#"{"game": "mastermind", "mode": "daily", "length": 5}"#, "options"),
        ] {
            assert_eq!(counts(text).1, Some(why), "{text}");
        }
    }

    #[test]
    fn first_board_of_a_game_is_that_of_default_rooms() {
        for game in Game::ALL {
            assert_eq!(Counts::of(&Options::usual(game)).class, game.classes()[0], "{game:?}");
        }
        for options in Options::permanent(true) {
            let counts = Counts::of(&options);
            assert!(counts.rated && options.game().classes().contains(&counts.class), "{counts:?}");
        }
    }
}
