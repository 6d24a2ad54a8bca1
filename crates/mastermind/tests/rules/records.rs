use mastermind::{
    Day, Game, Origin, Puzzle, Record, Style,
    record::{MAX_RECORD, MOST_PUZZLES},
};
use proptest::prelude::*;

use super::{
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
