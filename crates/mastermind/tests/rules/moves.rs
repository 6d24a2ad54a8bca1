use std::fmt::Write;

use mastermind::{
    Lifeline, Revealed, Style,
    game::{Action, ActionError, Availability, Entry, Event, Game, Outcome, TURNS},
};

use crate::{code, rng, rules};

fn event_text(event: Event) -> String {
    match event {
        Event::Answered(_, feedback) => feedback.to_string(),
        Event::Revealed(revealed) => revealed.to_string(),
        Event::OutOfReach(lifeline) => format!("{lifeline} is out of reach"),
        Event::Ended(Outcome::Won(turns)) => format!("won in {turns}"),
        Event::Ended(Outcome::Lost(code)) => format!("lost, it was {code}"),
    }
}

pub(crate) fn transcript(game: &mut Game, seed: u64, lines: &[&str]) -> String {
    let mut rng = rng(seed);
    let mut text = String::new();
    for line in lines {
        let turn = game.turn();
        let came = match Action::parse(line).map_err(|error| error.to_string()) {
            Err(error) => error,
            Ok(action) => match game.apply(action, &mut rng) {
                Err(error) => error.to_string(),
                Ok(events) => events.into_iter().map(event_text).collect::<Vec<_>>().join("; "),
            },
        };
        writeln!(text, "{turn:>2} {line}: {came}").unwrap();
    }
    text
}

pub(crate) fn game(style: Style, secret: &str) -> Game {
    Game::with_code(rules(secret.len(), 8, true), style, code(secret)).unwrap()
}

#[test]
fn the_worked_game() {
    let mut game = game(Style::Text, "8536");
    // With this seed the lifeline chooses the second place.
    let seed =
        (0..1000).find(|seed| transcript(&mut game.clone(), *seed, &["lifeline#2"]).contains("place 2")).unwrap();
    let played = transcript(&mut game, seed, &["1111", "LifeLine#2", "lifeline#1", "8563", "8536", "8536"]);
    assert_eq!(
        played,
        " 1 1111: 0 red, 0 white\n \
          2 LifeLine#2: place 2 of the code is 5\n \
          5 lifeline#1: lifeline#1 cannot be used: the one use of a lifeline in this game is spent\n \
          5 8563: 2 red, 2 white\n \
          6 8536: 4 red, 0 white; won in 6\n \
          7 8536: the game is over\n"
    );
    assert_eq!(game.hint_code(), "*5**");
}

#[test]
fn ten_wrong_guesses_lose() {
    let mut game = game(Style::Panel, "1234");
    let played = transcript(&mut game, 1, &["5678"; 10]);
    assert!(played.ends_with("10 5678: 0 red, 0 white; lost, it was 1234\n"), "{played}");
    assert_eq!(played.matches("lost").count(), 1);
    assert_eq!(game.outcome(), Some(Outcome::Lost(code("1234"))));
}

#[test]
fn the_tenth_guess_may_win() {
    for style in [Style::Text, Style::Panel] {
        let lines = [&["87654321"; TURNS - 1][..], &["12345678"]].concat();
        let played = transcript(&mut game(style, "12345678"), 1, &lines);
        assert!(played.ends_with("10 12345678: 8 red, 0 white; won in 10\n"), "{played}");
    }
}

#[test]
fn invalid_moves_cost_nothing() {
    let mut game = game(Style::Text, "1234");
    let before = format!("{game:?}");
    let played = transcript(&mut game, 1, &["12345", "", "129a", "lifeline#3", "lifeline", "lifeline#1 "]);
    assert_eq!(
        played,
        " 1 12345: a guess has 4 pegs in this game, not 5\n \
          1 : type a code, or lifeline#1 or lifeline#2: invalid number of pegs 0: expected 4 to 8\n \
          1 129a: type a code, or lifeline#1 or lifeline#2: '9' at place 3 is no colour: colours are the digits 1 to 8\n \
          1 lifeline#3: there are two lifelines: type lifeline#1 or lifeline#2\n \
          1 lifeline: type a code, or lifeline#1 or lifeline#2: 'l' at place 1 is no colour: colours are the digits 1 to 8\n \
          1 lifeline#1 : there are two lifelines: type lifeline#1 or lifeline#2\n"
    );
    assert_eq!(format!("{game:?}"), before);
}

#[test]
fn colours_outside_of_the_game_are_rejected() {
    let mut game = Game::with_code(rules(4, 6, true), Style::Text, code("1234")).unwrap();
    let error = game.apply(Action::Guess(code("1237")), &mut rng(1)).unwrap_err();
    assert_eq!(error, ActionError::Colour { guess: code("1237"), colours: 6 });
    assert_eq!(game.turn(), 1);
}

#[test]
fn given_code_must_obey_the_rules() {
    let error = Game::with_code(rules(4, 8, false), Style::Text, code("1123")).unwrap_err();
    assert_eq!(error.to_string(), "1123 cannot be the code of a game with 4 pegs, 8 colours, no repeats");
    assert!(Game::with_code(rules(4, 8, true), Style::Text, code("12345")).is_err());
}

#[test]
fn unreachable_lifeline_is_reported_once() {
    let mut game = game(Style::Text, "1234");
    let played = transcript(&mut game, 1, &["5678"; 10]);
    let told: Vec<&str> = played.lines().filter(|line| line.contains("reach")).collect();
    assert_eq!(
        told,
        [" 7 5678: 0 red, 0 white; lifeline#2 is out of reach", " 8 5678: 0 red, 0 white; lifeline#1 is out of reach",]
    );
}

#[test]
fn no_report_of_unreachable_lifelines_after_a_win_or_a_use() {
    let lines = [&["lifeline#1"][..], &["5678"; 8]].concat();
    for (lines, end) in [([&["5678"; 6][..], &["1234"]].concat(), "won"), (lines, "lost")] {
        let played = transcript(&mut game(Style::Text, "1234"), 1, &lines);
        assert!(played.contains(end) && !played.contains("reach"), "{played}");
    }
}

#[test]
fn new_games_are_fresh() {
    let game = Game::new(rules(6, 8, false), Style::Panel, &mut rng(9));
    assert_eq!((game.turn(), game.history().len(), game.hints()), (1, 0, 0));
    assert_eq!(game.hint_code(), "******");
    assert!(Lifeline::ALL.iter().all(|lifeline| game.availability(*lifeline) == Availability::Available));
}

#[test]
fn lifeline_is_granted_if_a_guess_remains() {
    for (style, lifeline, cost, last) in [
        (Style::Text, Lifeline::Colour, 2, 8),
        (Style::Text, Lifeline::Place, 3, 7),
        (Style::Panel, Lifeline::Colour, 1, 9),
        (Style::Panel, Lifeline::Place, 2, 8),
    ] {
        for turn in 1..=10 {
            let mut game = game(style, "1234");
            transcript(&mut game, 1, &vec!["5678"; turn - 1]);
            assert_eq!(game.turn(), turn);
            let available = game.availability(lifeline);
            let before = format!("{game:?}");
            let result = game.apply(Action::Lifeline(lifeline), &mut rng(1));
            if turn <= last {
                assert!(matches!(result.unwrap()[..], [Event::Revealed(_)]), "{style:?} {lifeline} on turn {turn}");
                assert_eq!(available, Availability::Available);
                assert_eq!(game.turn(), turn + cost);
                assert_eq!(game.outcome(), None);
                assert!(game.apply(Action::Guess(code("5678")), &mut rng(1)).is_ok(), "a guess remains");
            } else {
                let left = 11 - turn;
                assert_eq!(result.unwrap_err(), ActionError::LifelineBlocked { lifeline, cost, left });
                assert_eq!(available, Availability::Blocked);
                assert_eq!(format!("{game:?}"), before, "nothing has changed");
            }
        }
    }
}

#[test]
fn using_one_lifeline_closes_both() {
    for first in Lifeline::ALL {
        for second in Lifeline::ALL {
            let mut game = game(Style::Panel, "1234");
            game.apply(Action::Lifeline(first), &mut rng(1)).unwrap();
            let before = format!("{game:?}");
            assert_eq!(game.availability(second), Availability::Used);
            let error = game.apply(Action::Lifeline(second), &mut rng(1)).unwrap_err();
            assert_eq!(error, ActionError::LifelineUsed(second));
            assert_eq!(format!("{game:?}"), before);
        }
    }
}

#[test]
fn lifelines_reveal_true_facts() {
    let mut places = [0; 5];
    for seed in 0..200 {
        let mut rng = rng(seed);
        let rules = rules(5, 8, true);
        let secret = rules.draw(&mut rng);
        let start = Game::with_code(rules, Style::Text, secret).unwrap();
        for lifeline in Lifeline::ALL {
            let mut game = start.clone();
            let events = game.apply(Action::Lifeline(lifeline), &mut rng).unwrap();
            let [Event::Revealed(revealed)] = events[..] else {
                panic!("{events:?}");
            };
            assert_eq!(game.history(), [Entry::Lifeline(revealed, lifeline.cost(Style::Text))]);
            match revealed {
                Revealed::Colour(peg) => {
                    assert_eq!(lifeline, Lifeline::Colour);
                    assert!(secret.pegs().any(|other| other == peg));
                    assert_eq!(game.hint_code(), "*****");
                }
                Revealed::Place { place, peg } => {
                    assert_eq!(lifeline, Lifeline::Place);
                    assert_eq!(secret.peg(place), Some(peg));
                    let shown: String = (0..5).map(|other| if other == place { peg.digit() } else { '*' }).collect();
                    assert_eq!(game.hint_code(), shown);
                    places[place] += 1;
                }
            }
        }
    }
    assert!(places.iter().all(|count| *count > 15), "every place is chosen: {places:?}");
}

#[test]
fn the_colour_is_that_of_a_random_place() {
    // Three of the four pegs are 1.
    let told = (0..4000)
        .filter(|seed| transcript(&mut game(Style::Text, "1121"), *seed, &["lifeline#1"]).contains("the code has a 1"));
    let told = told.count();
    assert!((2850..3150).contains(&told), "{told} of 4000");
}

#[test]
fn finished_game_has_no_lifelines() {
    let mut game = game(Style::Text, "1234");
    transcript(&mut game, 1, &["1234"]);
    assert_eq!(game.availability(Lifeline::Colour), Availability::Blocked);
    assert_eq!(game.apply(Action::Lifeline(Lifeline::Colour), &mut rng(1)), Err(ActionError::Over));
}
