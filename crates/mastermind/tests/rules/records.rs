use mastermind::{
    Day, Game, Origin, Puzzle, Record, Style,
    record::{MAX_RECORD, MOST_PUZZLES},
    share,
};
use proptest::prelude::*;

use crate::{
    moves::{game, transcript},
    rules,
};

fn won(turns: usize) -> Game {
    let mut game = game(Style::Panel, "1234");
    transcript(&mut game, 1, &vec!["5678"; turns - 1]);
    transcript(&mut game, 1, &["1234"]);
    game
}

fn lost() -> Game {
    let mut game = game(Style::Panel, "1234");
    transcript(&mut game, 1, &["5678"; 10]);
    game
}

#[test]
fn games_are_counted() {
    let mut record = Record::default();
    assert!(!record.add(&game(Style::Panel, "1234")), "not while it goes on");
    for game in [won(3), won(5), lost(), won(5)] {
        assert!(record.add(&game));
    }
    assert_eq!(record.won(), &[0, 0, 1, 0, 2, 0, 0, 0, 0, 0]);
    assert_eq!((record.lost(), record.played(), record.streak(), record.best_streak()), (1, 4, 1, 2));
}

#[test]
fn games_with_hints_are_counted_separately() {
    let mut record = Record::default();
    record.add(&won(4));
    for mut game in [won(2), lost()] {
        game.request_hint();
        assert!(record.add(&game));
    }
    assert_eq!((record.played(), record.hinted(), record.streak()), (1, 2, 1));
}

fn daily(day: u32, length: usize) -> Puzzle {
    Puzzle { rules: rules(length, 8, true), origin: Origin::Day(Day(day)) }
}

fn seeded(seed: u64, length: usize) -> Puzzle {
    Puzzle { rules: rules(length, 8, true), origin: Origin::Seed(seed) }
}

#[test]
fn a_puzzle_is_begun_once() {
    let mut record = Record::default();
    // In any order, because clocks may be wrong and corrected.
    for puzzle in [daily(12, 4), daily(12, 5), seeded(10, 4), seeded(10, 5), seeded(0, 4), daily(10, 4), daily(11, 4)] {
        assert!(!record.has_begun(puzzle), "{puzzle:?}");
        assert!(record.begin(puzzle));
        assert!(record.has_begun(puzzle) && !record.begin(puzzle), "{puzzle:?}");
    }
    assert!(!record.begin(daily(12, 4)) && !record.begin(seeded(0, 4)));
    assert_eq!((record.played(), record.hinted()), (0, 0), "nothing is over yet");
}

#[test]
fn oldest_puzzle_is_forgotten() {
    let mut record = Record::default();
    let most = u32::try_from(MOST_PUZZLES).unwrap();
    let kinds: [fn(u32) -> Puzzle; 2] = [|number| daily(number, 4), |number| seeded(number.into(), 4)];
    for puzzle in kinds {
        assert!((0..=most).all(|number| record.begin(puzzle(number))));
    }
    for puzzle in kinds {
        assert_eq!([0, 1, most].map(|number| record.has_begun(puzzle(number))), [false, true, true]);
    }
}

#[test]
fn the_longest_record_can_be_read_again() {
    let mut record: Record = TEXT.replace(" 7 ", " 18446744073709551615 ").parse().unwrap();
    for number in 0..=u32::try_from(MOST_PUZZLES).unwrap() {
        let origins = [Origin::Day(Day(u32::MAX - number)), Origin::Seed(u64::MAX - u64::from(number))];
        assert!(origins.into_iter().all(|origin| record.begin(Puzzle { rules: rules(8, 8, true), origin })));
    }
    let text = record.to_string();
    assert!(text.len() < MAX_RECORD, "{}", text.len());
    assert_eq!(text.parse(), Ok(record));
}

#[test]
fn bars_are_proportional_to_the_counts() {
    let mut record = Record::default();
    for game in [won(4), won(4), won(4), won(4), won(6), lost(), lost()] {
        record.add(&game);
    }
    assert_eq!(
        record.bars(8),
        "   1 0\n   2 0\n   3 0\n   4 ████████ 4\n   5 0\n   6 ██ 1\n   7 0\n   8 0\n   9 0\n  10 0\nlost ████ 2\n"
    );
}

const TEXT: &str = "mastermind-record 1\nwon 0 0 1 4 7 2 0 0 0 0\nlost 3\nhinted 2\nstreak 5\nbest-streak 6\n\
     days 4/8/yes/20466 6/8/no/20466\nseeds 4/8/no/7 5/3/yes/18446744073709551615\n";

#[test]
fn record_is_read_and_written_as_text() {
    let record: Record = TEXT.parse().unwrap();
    assert_eq!(record.to_string(), TEXT);
    assert_eq!((record.played(), record.best_streak()), (17, 6));
    let begun = [(6, false, Origin::Day(Day(20_466))), (4, false, Origin::Seed(7)), (4, true, Origin::Seed(7))];
    let begun = begun.map(|(length, repeats, origin)| Puzzle { rules: rules(length, 8, repeats), origin });
    assert_eq!(begun.map(|puzzle| record.has_begun(puzzle)), [true, true, false]);
    let (without_seeds, _) = TEXT.split_once("seeds").unwrap();
    let (without_puzzles, _) = TEXT.split_once("days").unwrap();
    let without_day = TEXT.replace("days 4/8/yes/20466 6/8/no/20466\n", "");
    for text in [without_seeds, without_puzzles, &without_day] {
        assert_eq!(text.parse::<Record>().unwrap().to_string(), text);
    }
}

#[test]
fn malformed_record_is_rejected() {
    for (from, to, error) in [
        ("record 1", "record 2", "line 1 is not \"mastermind-record 1\""),
        ("won 0", "won -1", "line 2 is not \"won\" and what belongs to it"),
        ("7 2 0 0 0 0", "7 2 0 0 0", "line 2 is not \"won\" and what belongs to it"),
        ("7 2 0 0 0 0", "7 2 0 0 0 0 0", "line 2 is not \"won\" and what belongs to it"),
        ("lost 3", "lost +3", "line 3 is not \"lost\" and what belongs to it"),
        ("hinted 2", "hints 2", "line 4 is not \"hinted\" and what belongs to it"),
        ("streak 5\n", "streak 99999999999999999999\n", "line 5 is not \"streak\" and what belongs to it"),
        (
            "streak 5\nbest-streak 6\ndays 4/8/yes/20466 6/8/no/20466\n",
            "",
            "line 5 is not \"streak\" and what belongs to it",
        ),
        ("20466", "4294967296", "line 7 is not \"days\" and what belongs to it"),
        ("days 4/8/yes/20466 6/8/no/20466", "days", "line 7 is not \"days\" and what belongs to it"),
        ("6/8/no", "6/5/no", "line 7 is not \"days\" and what belongs to it"),
        ("6/8/no/", "6/8/no/7/", "line 7 is not \"days\" and what belongs to it"),
        ("6/8/no/20466\n", "6/8/no/20466\nmore\n", "line 8 is one too many"),
        ("no/7", "no", "line 8 is not \"seeds\" and what belongs to it"),
        ("no/7", "no/+7", "line 8 is not \"seeds\" and what belongs to it"),
        ("no/7", "maybe/7", "line 8 is not \"seeds\" and what belongs to it"),
        (" 4/8/no/7 5/3/yes/18446744073709551615", "", "line 8 is not \"seeds\" and what belongs to it"),
        ("615\n", "615\nmore\n", "line 9 is one too many"),
        ("streak 5\n", "streak 7\n", "invalid streak 7 with a best streak of 6 and 14 games won"),
        ("best-streak 6", "best-streak 15", "invalid streak 5 with a best streak of 15 and 14 games won"),
    ] {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, TEXT);
        assert_eq!(text.parse::<Record>().unwrap_err().to_string(), error);
    }
    let many = TEXT.replace("seeds", &format!("seeds{}", " 4/8/no/7".repeat(MOST_PUZZLES)));
    assert!(many.parse::<Record>().unwrap_err().to_string().starts_with("line 8"));
    assert!("x".repeat(5000).parse::<Record>().unwrap_err().to_string().contains("at most 4096"));
}

proptest! {
    #[test]
    fn any_text_is_rejected_or_read_back(text in ".{0,200}") {
        if let Ok(record) = text.parse::<Record>() {
            prop_assert_eq!(record.to_string().parse::<Record>(), Ok(record));
        }
    }

    #[test]
    fn any_text_of_the_words_of_a_record_is_tolerated(words in prop::collection::vec("won|lost|streak|days|seeds|[0-9]{1,21}|[3-9]/[1-9]/(yes|no)(/[0-9]{1,21})?|\n", 0..30)) {
        let _ = format!("mastermind-record 1\n{}", words.join(" ")).parse::<Record>();
    }
}

#[test]
fn result_of_a_won_game() {
    let mut game = game(Style::Text, "8536");
    assert_eq!(share(&game, None, false), None, "not while it goes on");
    transcript(&mut game, 1, &["1186", "lifeline#1", "8563", "8536"]);
    assert_eq!(
        share(&game, Some(Day(20_466)), false).unwrap(),
        "Mastermind 2026-01-13, 4 pegs, 8 colours, with repeats: 5/10\n●○··\nlifeline#1 (2 turns)\n●●○○\n●●●●"
    );
}

#[test]
fn result_of_a_lost_game_with_hints() {
    let mut game = game(Style::Panel, "12345");
    game.request_hint();
    game.request_hint();
    transcript(&mut game, 1, &["lifeline#1"]);
    transcript(&mut game, 1, &["66666"; 9]);
    let text = share(&game, None, false).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    assert_eq!(head, "Mastermind, 5 pegs, 8 colours, with repeats: X/10, with 2 hints");
    assert_eq!(rest, format!("lifeline#1 (1 turn){}", "\n·····".repeat(9)));
}

#[test]
fn result_of_a_repeated_puzzle() {
    let mut game = game(Style::Text, "8536");
    game.request_hint();
    transcript(&mut game, 1, &["8536"]);
    assert_eq!(
        share(&game, Some(Day(20_466)), true).unwrap(),
        "Mastermind 2026-01-13, 4 pegs, 8 colours, with repeats: 1/10, with a hint, played again\n●●●●"
    );
}

#[test]
fn result_reveals_no_code_or_guess() {
    let mut game = game(Style::Text, "2718");
    transcript(&mut game, 1, &["2178", "lifeline#2", "2718"]);
    let text = share(&game, None, false).unwrap();
    assert!(!text.contains("2718") && !text.contains("2178"));
    let rows: String = text.lines().skip(1).filter(|row| !row.starts_with("lifeline#2 (3 turns)")).collect();
    assert!(rows.chars().all(|char| "●○·".contains(char)), "{rows}");
}

#[test]
fn days_have_dates() {
    for (day, date) in [
        (0, "1970-01-01"),
        (58, "1970-02-28"),
        (59, "1970-03-01"),
        (789, "1972-02-29"),
        (11_016, "2000-02-29"),
        (11_017, "2000-03-01"),
        (20_466, "2026-01-13"),
        (47_540, "2100-02-28"),
        (47_541, "2100-03-01"),
        (u32::MAX, "11761191-01-20"),
    ] {
        assert_eq!(Day(day).to_string(), date);
    }
}

/// A change breaks the daily puzzle for players of other versions.
#[test]
fn the_puzzle_of_a_day_does_not_change() {
    let puzzles = [(20_466, 4, true), (20_467, 4, true), (20_466, 5, true), (20_466, 4, false), (20_466, 8, false)]
        .map(|(day, length, repeats)| Day(day).puzzle(rules(length, 8, repeats)).to_string());
    assert_eq!(puzzles, ["3451", "8788", "34527", "6534", "17643852"]);
}

#[test]
fn puzzles_differ_by_day_and_by_length() {
    let year: std::collections::BTreeSet<_> = (20_000..20_365).map(|day| Day(day).puzzle(rules(8, 8, true))).collect();
    assert_eq!(year.len(), 365);
    let long = Day(20_466).puzzle(rules(8, 8, true)).to_string();
    assert!(!long.starts_with(&Day(20_466).puzzle(rules(7, 8, true)).to_string()));
}

/// A hub that is restarted or upgraded during the day must have the same puzzle.
#[test]
fn keyed_puzzle_depends_on_day_and_key_only() {
    let puzzle = |day: u32, key: u8| Day(day).keyed_puzzle(rules(4, 8, true), [key; 32]).to_string();
    assert_eq!([(20_466, 7), (20_467, 7), (20_466, 8)].map(|(day, key)| puzzle(day, key)), ["2777", "4835", "4254"]);
    let year: Vec<_> = (20_000..20_365).map(|day| puzzle(day, 7)).collect();
    let same =
        |other: &dyn Fn(u32) -> String| year.iter().zip(20_000..).filter(|(code, day)| **code == other(*day)).count();
    // Random codes are equal with a chance of 1 in 4,096.
    assert!(same(&|day| puzzle(day, 8)) < 5 && same(&|day| Day(day).puzzle(rules(4, 8, true)).to_string()) < 5);
}
