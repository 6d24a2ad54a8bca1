use mastermind::Day;

use super::rules;

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
