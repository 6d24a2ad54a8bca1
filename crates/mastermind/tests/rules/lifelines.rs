use mastermind::{
    Lifeline, Revealed, Style,
    game::{Action, ActionError, Availability, Entry, Event, Game},
};

use super::{
    code,
    moves::{game, transcript},
    rng, rules,
};

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
