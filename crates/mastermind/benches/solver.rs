//! The time for whole trees, the search for the best play, and hints, compared with the goals.
//!
//! `cargo bench -p mastermind --bench feedback --bench solver`

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench measures time and prints it")]

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use mastermind::{
    Game, Rules, Style,
    game::Action,
    solver::{Codebreaker, Hint, Search, Strategy},
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

fn best_of<T>(rounds: usize, mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut round = || {
        let start = Instant::now();
        let result = work();
        (start.elapsed(), result)
    };
    let first = round();
    (1..rounds).fold(first, |best, _| {
        let next = round();
        if next.0 < best.0 { next } else { best }
    })
}

fn beside(time: Duration, goal: Option<Duration>) -> String {
    goal.map_or_else(
        || format!("{time:.1?}"),
        |goal| format!("{time:.1?}, {:.2} of the goal of {goal:?}", time.as_secs_f64() / goal.as_secs_f64()),
    )
}

fn main() {
    println!("playing all codes of a game with one thread, the best of five");
    for (length, colours, goal) in [(4, 6, Some(Duration::from_millis(20))), (4, 8, None)] {
        let rules = Rules::new(length, colours, true).expect("rules of the table");
        for strategy in Strategy::ALL {
            let (time, tally) = best_of(5, || {
                let breaker = Codebreaker::new(rules, strategy);
                breaker.run(breaker.job(), |_| ControlFlow::Continue(())).expect("nobody stops it")
            });
            println!("{rules}, {strategy}: {tally}, {}", beside(time, goal));
        }
    }
    println!("the best play");
    for (colours, rounds, goal) in [(6, 5, 1), (7, 1, 30)] {
        let rules = Rules::new(4, colours, true).expect("rules of the table");
        let (time, found) =
            best_of(rounds, || Search::exhaustive(rules).run(|_| ControlFlow::Continue(())).expect("nobody stops it"));
        let time = beside(time, Some(Duration::from_secs(goal)));
        println!("{rules}: {}, {} nodes, {time}", found.tally, found.nodes);
    }
    println!("the slowest hint of each turn in ten games, in milliseconds");
    for (length, repeats) in [(4, true), (5, true), (6, true), (7, true), (8, true), (7, false), (8, false)] {
        let rules = Rules::new(length, 8, repeats).expect("rules of the table");
        let mut slowest = [0; 10];
        for seed in 0..10 {
            let mut rng = Pcg64::seed_from_u64(seed);
            let mut game = Game::new(rules, Style::Panel, &mut rng);
            while game.outcome().is_none() {
                let turn = game.turns_gone();
                let knowledge = game.request_hint();
                let start = Instant::now();
                let hint = Hint::of(&knowledge).expect("answers were true");
                slowest[turn] = slowest[turn].max(start.elapsed().as_millis());
                game.apply(Action::Guess(hint.guess), &mut rng).expect("hints are allowed");
            }
        }
        println!("{rules}: {slowest:?}");
    }
}
