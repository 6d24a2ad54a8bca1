//! Statistics and the text that they are kept as.

use mastermind::{Day, Game, Record, Style};
use proptest::prelude::*;

use super::playing::{game, transcript};

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
    assert!(!record.add(&game(Style::Panel, "1234"), None), "not while it goes on");
    for game in [won(3), won(5), lost(), won(5)] {
        assert!(record.add(&game, None));
    }
    assert_eq!(record.won(), &[0, 0, 1, 0, 2, 0, 0, 0, 0, 0]);
    assert_eq!((record.lost(), record.played(), record.streak(), record.best_streak()), (1, 4, 1, 2));
}

#[test]
fn games_with_hints_stand_aside() {
    let mut record = Record::default();
    record.add(&won(4), None);
    for mut game in [won(2), lost()] {
        game.ask_hint();
        assert!(record.add(&game, None));
    }
    assert_eq!((record.played(), record.hinted(), record.streak()), (1, 2, 1));
}

#[test]
fn the_puzzle_of_a_day_counts_once() {
    let mut record = Record::default();
    assert!(record.add(&won(4), Some(Day(10))));
    assert!(!record.add(&won(1), Some(Day(10))));
    assert!(!record.add(&won(1), Some(Day(9))));
    assert!(record.add(&lost(), Some(Day(11))));
    assert_eq!((record.played(), record.last_daily()), (2, Some(Day(11))));
}

#[test]
fn bars() {
    let mut record = Record::default();
    for game in [won(4), won(4), won(4), won(4), won(6), lost(), lost()] {
        record.add(&game, None);
    }
    assert_eq!(
        record.bars(8),
        "   1 0\n   2 0\n   3 0\n   4 ████████ 4\n   5 0\n   6 ██ 1\n   7 0\n   8 0\n   9 0\n  10 0\nlost ████ 2\n"
    );
}

const TEXT: &str =
    "mastermind-record 1\nwon 0 0 1 4 7 2 0 0 0 0\nlost 3\nhinted 2\nstreak 5\nbest-streak 6\nlast-daily 20466\n";

#[test]
fn a_record_is_kept_as_text() {
    let record: Record = TEXT.parse().unwrap();
    assert_eq!(record.to_string(), TEXT);
    assert_eq!((record.played(), record.best_streak(), record.last_daily()), (17, 6, Some(Day(20_466))));
    let without_day = TEXT.strip_suffix("last-daily 20466\n").unwrap();
    assert_eq!(without_day.parse::<Record>().unwrap().to_string(), without_day);
}

#[test]
fn what_is_no_record_is_refused() {
    for (from, to, error) in [
        ("record 1", "record 2", "line 1 is not \"mastermind-record 1\""),
        ("won 0", "won -1", "line 2 is not \"won\" and the numbers of it"),
        ("7 2 0 0 0 0", "7 2 0 0 0", "line 2 is not \"won\" and the numbers of it"),
        ("7 2 0 0 0 0", "7 2 0 0 0 0 0", "line 2 is not \"won\" and the numbers of it"),
        ("lost 3", "lost +3", "line 3 is not \"lost\" and the numbers of it"),
        ("hinted 2", "hints 2", "line 4 is not \"hinted\" and the numbers of it"),
        ("streak 5\n", "streak 99999999999999999999\n", "line 5 is not \"streak\" and the numbers of it"),
        ("streak 5\nbest-streak 6\nlast-daily 20466\n", "", "line 5 is not \"streak\" and the numbers of it"),
        ("20466", "4294967296", "line 7 is not \"last-daily\" and the numbers of it"),
        ("20466\n", "20466\nmore\n", "line 8 is one too many"),
        ("streak 5\n", "streak 7\n", "a streak of 7 with a best one of 6 and 14 games won is not possible"),
        ("best-streak 6", "best-streak 15", "a streak of 5 with a best one of 15 and 14 games won is not possible"),
    ] {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, TEXT);
        assert_eq!(text.parse::<Record>().unwrap_err().to_string(), error);
    }
    assert!("x".repeat(5000).parse::<Record>().unwrap_err().to_string().contains("at most 4096"));
}

proptest! {
    #[test]
    fn any_text(text in ".{0,200}") {
        if let Ok(record) = text.parse::<Record>() {
            prop_assert_eq!(record.to_string().parse::<Record>(), Ok(record));
        }
    }

    #[test]
    fn any_text_that_looks_like_one(words in prop::collection::vec("won|lost|streak|[0-9]{1,21}|\n", 0..30)) {
        let _ = format!("mastermind-record 1\n{}", words.join(" ")).parse::<Record>();
    }
}
