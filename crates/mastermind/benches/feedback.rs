//! Judging guesses by all possible codes, compared with a plain loop over arrays in the same run.
//!
//! `cargo bench -p mastermind --bench feedback --bench solver`

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench measures time and prints it")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "rates are rough; colours are below 8"
)]

use mastermind::{
    Rules,
    solver::{Codebreaker, Job, Strategy},
};
use std::{hint::black_box, time::Instant};

fn naive(guess: &[u8], code: &[u8]) -> u8 {
    let (mut red, mut of_guess, mut of_code) = (0, [0u8; 8], [0u8; 8]);
    for (&g, &c) in guess.iter().zip(code) {
        if g == c {
            red += 1;
        }
        of_guess[usize::from(g)] += 1;
        of_code[usize::from(c)] += 1;
    }
    let shared: u8 = of_guess.iter().zip(&of_code).map(|(g, c)| *g.min(c)).sum();
    shared << 4 | red
}

fn parts(guess: &[u8], codes: &[u8]) -> usize {
    let mut counts = [0_u32; 256];
    for code in codes.chunks_exact(guess.len()) {
        counts[usize::from(naive(guess, code))] += 1;
    }
    counts.iter().filter(|count| **count > 0).count()
}

fn rate(comparisons: usize, mut work: impl FnMut()) -> f64 {
    work();
    let best = (0..7).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    comparisons as f64 / best.fold(f64::INFINITY, f64::min)
}

fn main() {
    println!(
        "the second guess of a game, chosen by the codebreaker for the largest set of codes that the first one leaves"
    );
    println!("billions of comparisons a second of a guess with a code, and how many times the plain loop");
    println!("{:<28} {:>8} {:>8} {:>8} {:>16}", "game", "guesses", "codes", "plain", "codebreaker");
    for (length, colours) in [(4, 6), (4, 8), (5, 8), (6, 8)] {
        let rules = Rules::new(length, colours, true).expect("rules of the table");
        let breaker = Codebreaker::new(rules, Strategy::Parts);
        let (_, jobs) = breaker.divide(&breaker.job());
        let job = jobs.into_iter().max_by_key(Job::codes).expect("one guess leaves some codes");
        let (guesses, codes) = (breaker.guesses(&job), job.codes());

        // Only some of the guesses, since the time per comparison is the same.
        let all: Vec<Vec<u8>> =
            rules.all().iter().map(|code| code.pegs().map(|peg| peg.index() as u8).collect()).collect();
        let spread = |count: usize| all.iter().step_by((all.len() / count).max(1)).take(count);
        let flat: Vec<u8> = spread(codes).flatten().copied().collect();
        let some = guesses.min(97);
        let plain = rate(some * codes, || {
            for guess in spread(some) {
                black_box(parts(guess, &flat));
            }
        });
        let ours = rate(guesses * codes, || {
            black_box(breaker.divide(&job));
        });
        let ratio = ours / plain;
        println!(
            "{:<28} {guesses:>8} {codes:>8} {:8.3} {:8.3} {ratio:6.1}x",
            rules.to_string(),
            plain / 1e9,
            ours / 1e9
        );
    }
}
