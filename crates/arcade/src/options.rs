//! What a room can be asked for, described for a form and for programs: each option of each game with its type, default, bounds and
//! purpose. Rooms outside the bounds are refused by the same numbers.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;

use crate::games::{Game, MAPS, Options};

/// Robots in a match.
pub(crate) const ROBOTS: RangeInclusive<u8> = 1..=25;
/// Columns and rows of a board of robots.
pub(crate) const BOARD: RangeInclusive<u16> = 4..=100;
/// Turns of a game of robots.
pub(crate) const TURNS: RangeInclusive<u16> = 1..=10_000;
/// Milliseconds of a turn of robots.
pub(crate) const TURN_DURATION: RangeInclusive<u64> = 20..=10_000;
/// Seats at a table of blackjack.
pub(crate) const TABLE: RangeInclusive<u8> = 1..=6;
/// Rounds at a table of blackjack.
pub(crate) const ROUNDS: RangeInclusive<u32> = 1..=10_000;

/// Pegs in a code of mastermind.
pub(crate) const PEGS: RangeInclusive<u8> = 4..=8;
/// Players of a race of mastermind.
pub(crate) const RACERS: RangeInclusive<u8> = 2..=mastermind::server::MAX_RACERS;
/// Minutes that a race of mastermind lasts at most.
pub(crate) const MINUTES: RangeInclusive<u8> = 1..=60;

/// A game and what its rooms can be asked for.
#[derive(Debug, Serialize)]
pub(crate) struct Description {
    game: Game,
    options: Vec<Field>,
}

/// One option.
#[derive(Debug, Serialize)]
struct Field {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Null if the hub chooses.
    default: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<&'static str>,
    /// What it is for, in a sentence.
    text: &'static str,
}

/// The options of all games.
pub(crate) fn describe() -> Vec<Description> {
    Game::ALL.into_iter().map(|game| Description { game, options: fields(game) }).collect()
}

fn fields(game: Game) -> Vec<Field> {
    let defaults = serde_json::to_value(Options::usual(game)).unwrap_or_default();
    let default = |name: &str| defaults.get(name).cloned().unwrap_or_default();
    let whole = |name, (least, most): (u64, u64), text| Field {
        name,
        kind: "integer",
        default: default(name),
        least: Some(least),
        most: Some(most),
        choices: vec![],
        text,
    };
    let seed = |most| whole("seed", (0, most), "The same number gives the same match; without one it is drawn.");
    match game {
        Game::Nuggets => vec![
            Field {
                name: "map",
                kind: "choice",
                default: default("map"),
                least: None,
                most: None,
                choices: MAPS.map(|(name, _)| name).to_vec(),
                text: "The map that is explored.",
            },
            // What a number of JavaScript holds exactly.
            seed((1 << 53) - 1),
        ],
        Game::Robots => vec![
            whole("players", wide(&ROBOTS), "Robots in a match, which begins when all are taken."),
            whole("columns", wide(&BOARD), "Width of the board in fields."),
            whole("rows", wide(&BOARD), "Height of the board in fields."),
            whole("turns", wide(&TURNS), "Turns of a game."),
            whole(
                "turn_duration",
                (*TURN_DURATION.start(), *TURN_DURATION.end()),
                "Duration of a turn in milliseconds.",
            ),
            seed(u32::MAX.into()),
        ],
        Game::Blackjack => vec![
            whole("players", wide(&TABLE), "Seats at the table, which begins when all are taken."),
            whole("rounds", wide(&ROUNDS), "Rounds of a game."),
        ],
        Game::Mastermind => vec![
            Field {
                name: "mode",
                kind: "choice",
                default: default("mode"),
                least: None,
                most: None,
                choices: vec!["solo", "race", "daily"],
                text: "Solo: everybody has codes of their own. Race: all look for the same code. Daily: the puzzle of the day.",
            },
            whole("length", wide(&PEGS), "Pegs in a code."),
            Field {
                name: "repeats",
                kind: "boolean",
                default: default("repeats"),
                least: None,
                most: None,
                choices: vec![],
                text: "Whether a colour may occur twice in a code.",
            },
            whole("players", wide(&RACERS), "Players of a race, which begins when all are there."),
            whole("minutes", wide(&MINUTES), "How long a race lasts at most."),
            seed((1 << 53) - 1),
        ],
    }
}

fn wide<T: Copy + Into<u64>>(range: &RangeInclusive<T>) -> (u64, u64) {
    ((*range.start()).into(), (*range.end()).into())
}

/// Checks one number.
///
/// # Errors
/// A message that says what would be valid.
pub(crate) fn within<T>(name: &str, number: T, range: &RangeInclusive<T>) -> anyhow::Result<()>
where
    T: Copy + PartialOrd + std::fmt::Display,
{
    if range.contains(&number) {
        return Ok(());
    }
    anyhow::bail!("{name} is a number from {} to {}, not {number}", range.start(), range.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

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
    fn the_bounds_are_those_of_rooms() {
        for game in Game::ALL {
            for field in fields(game).iter().filter(|field| field.name != "seed") {
                let with = |value: Value| {
                    let options = json!({ "game": game.name(), (field.name): value });
                    serde_json::from_value::<Options>(options).map_err(anyhow::Error::from)?.engine().map(drop)
                };
                for number in field.least.into_iter().chain(field.most) {
                    with(number.into()).unwrap_or_else(|error| panic!("{} = {number}: {error}", field.name));
                }
                for number in field.least.map(|least| least - 1).into_iter().chain(field.most.map(|most| most + 1)) {
                    assert!(with(number.into()).is_err(), "{} = {number}", field.name);
                }
                for choice in &field.choices {
                    with((*choice).into()).unwrap();
                }
            }
        }
    }
}
