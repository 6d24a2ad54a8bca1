//! What the feedback of one guess to many codes costs, beside a plain loop over arrays in the same run.
//!
//! `cargo bench -p mastermind --bench feedback --bench solver`

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench measures time and prints it")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "rates are rough; colours are below 8"
)]

use mastermind::{Code, Feedback, Planes, Rules};
use std::{hint::black_box, time::Instant};

/// The plain loop: counts in arrays, as one would first write it.
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

/// Comparisons in a second, the best of a few rounds.
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
    println!("billions of comparisons a second, and how many times the plain loop (the goal: together at least 30)");
    println!("{:<28} {:>8} {:>16} {:>16}", "game", "plain", "one by one", "together");
    for (length, colours) in [(4, 6), (4, 8), (5, 8), (6, 8)] {
        let rules = Rules::new(length, colours, true).expect("rules of the table");
        let codes = rules.all();
        let arrays: Vec<Vec<u8>> =
            codes.iter().map(|code| code.pegs().map(|peg| peg.index() as u8).collect()).collect();
        let flat: Vec<u8> = arrays.concat();
        let step = (codes.len() / 97).max(1);
        let guesses: Vec<usize> = (0..codes.len()).step_by(step).collect();
        let comparisons = guesses.len() * codes.len();
        let mut answers = vec![0; codes.len()];

        let plain = rate(comparisons, || {
            for &guess in &guesses {
                for (answer, code) in answers.iter_mut().zip(flat.chunks_exact(length)) {
                    *answer = naive(&arrays[guess], code);
                }
                black_box(&mut answers);
            }
        });
        let one_by_one = rate(comparisons, || {
            for &guess in &guesses {
                for (answer, code) in answers.iter_mut().zip(&codes) {
                    *answer = Feedback::of(codes[guess], *code).to_byte();
                }
                black_box(&mut answers);
            }
        });
        let planes = Planes::new(length, &codes);
        let together = rate(comparisons, || {
            for &guess in &guesses {
                planes.answer(codes[guess], &mut answers);
                black_box(&mut answers);
            }
        });
        let last: Code = codes[guesses[guesses.len() - 1]];
        assert!(answers.iter().zip(&codes).all(|(byte, code)| *byte == Feedback::of(last, *code).to_byte()));
        let column = |rate: f64| format!("{:8.3} {:6.1}x", rate / 1e9, rate / plain);
        println!("{:<28} {:8.3} {} {}", rules.to_string(), plain / 1e9, column(one_by_one), column(together));
    }
}
