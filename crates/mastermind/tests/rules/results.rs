use mastermind::{Day, Style, share};

use super::moves::{game, transcript};

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
