//! What the codebreaker's work takes: whole trees, the search for the best play, and hints.
//!
//! `cargo bench -p mastermind --bench solver`

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench measures time and prints it")]

use std::{ops::ControlFlow, time::Instant};

use mastermind::{
    Game, Rules, Style,
    game::Action,
    solver::{Codebreaker, Hint, Search, Strategy},
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

fn main() {
    println!("playing all codes of a game");
    for (length, colours) in [(4, 6), (4, 8)] {
        let rules = Rules::new(length, colours, true).expect("rules of the table");
        for strategy in Strategy::ALL {
            let start = Instant::now();
            let breaker = Codebreaker::new(rules, strategy);
            let tally = breaker.run(breaker.job(), |_| ControlFlow::Continue(())).expect("nobody stops it");
            println!("{rules}, {strategy}: {tally}, {:?}", start.elapsed());
        }
    }
    println!("the best play");
    for colours in [5, 6, 7] {
        let rules = Rules::new(4, colours, true).expect("rules of the table");
        let start = Instant::now();
        let found = Search::exhaustive(rules).run(|_| ControlFlow::Continue(())).expect("nobody stops it");
        println!("{rules}: {}, {} nodes, {:?}", found.tally, found.nodes, start.elapsed());
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
                let knowledge = game.ask_hint();
                let start = Instant::now();
                let hint = Hint::of(&knowledge).expect("answers were true");
                slowest[turn] = slowest[turn].max(start.elapsed().as_millis());
                game.apply(Action::Guess(hint.guess), &mut rng).expect("hints are allowed");
            }
        }
        println!("{rules}: {slowest:?}");
    }
}
