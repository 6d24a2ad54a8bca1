//! The speed of the learner, compared with a minimal loop that plays rounds.
//!
//! The two alternate in many short turns, because a drifting clock slows both, and the ratio is that of the best turns.
//! The figure for two threads requires two free cores.
//!
//! `cargo bench -p blackjack --bench train` prints the table; `-- --rounds N` sets the length of a turn.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock and its arguments, and runs two threads")]

use std::{
    hint::black_box,
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use blackjack::{
    QTable, StateSpace,
    exact::Solver,
    learn::{Chance, Explore, Trainer},
};

use rand_pcg::Pcg64Mcg;

const TURNS: usize = 500;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = arguments.iter().position(|word| word == "--rounds").and_then(|at| arguments.get(at + 1));
    let rounds: u64 = value.map_or(50_000, |word| word.parse().expect("a number of rounds"));
    let epsilon = Explore::Epsilon(Chance::new(0.1).expect("a chance"));
    println!("{rounds} rounds a turn, best of {TURNS} turns, million rounds a second");
    println!("{:<24} {:>9} {:>9} {:>7}", "one thread", "learning", "bare", "ratio");
    for (name, explore, space, bare) in [
        ("random, coarse", Explore::Random, StateSpace::Coarse, Bare::Coin),
        ("epsilon 0.1, coarse", epsilon, StateSpace::Coarse, Bare::Below17),
        ("epsilon 0.1, soft", epsilon, StateSpace::Soft, Bare::Below17),
        ("until confident, soft", Explore::UntilConfident, StateSpace::Soft, Bare::Below17),
    ] {
        let mut learner = trainer(explore, space, 1);
        let mut loops = BareLoop::new();
        let (mut learning, mut barely) = (0.0_f64, 0.0_f64);
        for _ in 0..TURNS {
            barely = barely.max(rate(rounds, || black_box(loops.play(bare, rounds))));
            learning = learning.max(rate(rounds, || learner.play(rounds)));
        }
        println!("{name:<24} {learning:>9.1} {barely:>9.1} {:>7.2}", learning / barely);
    }
    threads(epsilon, rounds);
    solver();
}

fn trainer(explore: Explore, space: StateSpace, seed: u64) -> Trainer<Pcg64Mcg> {
    Trainer::seeded(QTable::new(space), explore, seed, 0)
}

fn threads(explore: Explore, rounds: u64) {
    let mut one = 0.0_f64;
    let mut learner = trainer(explore, StateSpace::Coarse, 1);
    for _ in 0..TURNS {
        one = one.max(rate(rounds, || learner.play(rounds)));
    }
    // The waiting thread spins, so that the system assigns a core to each thread.
    let arrived = AtomicUsize::new(0);
    let learn = |seed| {
        let mut learner = trainer(explore, StateSpace::Coarse, seed);
        let turn = |turn| {
            arrived.fetch_add(1, Ordering::AcqRel);
            while arrived.load(Ordering::Acquire) < 2 * (turn + 1) {
                std::hint::spin_loop();
            }
            let start = Instant::now();
            learner.play(rounds).expect("no round takes all cards");
            (start, Instant::now())
        };
        (0..TURNS).map(turn).collect::<Vec<_>>()
    };
    let [left, right] = std::thread::scope(|scope| {
        [1, 2].map(|seed| scope.spawn(move || learn(seed))).map(|thread| thread.join().expect("it learns"))
    });
    let shortest = left.iter().zip(&right).map(|(a, b)| a.1.max(b.1) - a.0.min(b.0)).min();
    let two = million(2 * rounds) / shortest.expect("some turns").as_secs_f64();
    println!("{:<24} {two:>9.1} {:>9} {:>7.2} of one thread", "two threads, epsilon", "", two / one);
}

fn solver() {
    let (mut best, mut value) = (f64::INFINITY, 0.0);
    for _ in 0..5 {
        let start = Instant::now();
        let solver = Solver::new();
        value = solver.value(&solver.best(StateSpace::Soft)) + solver.value(&solver.best(StateSpace::Coarse));
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("exact solver with both best tables: {best:.3} s ({value:.6})");
}

// In millions per second.
fn rate<T>(rounds: u64, play: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(play());
    million(rounds) / start.elapsed().as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
fn million(rounds: u64) -> f64 {
    rounds as f64 / 1e6
}

#[derive(Clone, Copy)]
enum Bare {
    Coin,
    Below17,
}

struct BareLoop {
    deck: [u8; 52],
    dealt: usize,
    bits: u64,
}

impl BareLoop {
    fn new() -> Self {
        let mut deck = [10; 52];
        for (place, card) in deck.iter_mut().enumerate() {
            *card = [11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10][place % 13];
        }
        Self { deck, dealt: 0, bits: 0x9E37_79B9_7F4A_7C15 }
    }

    #[inline]
    fn random(&mut self) -> u64 {
        self.bits ^= self.bits << 13;
        self.bits ^= self.bits >> 7;
        self.bits ^= self.bits << 17;
        self.bits
    }

    #[inline]
    fn draw(&mut self) -> u8 {
        let left = 52 - self.dealt;
        // The bias is below 10^-8: too much for a learner.
        let pick = self.dealt + (((self.random() >> 32) * left as u64) >> 32) as usize;
        self.deck.swap(self.dealt, pick);
        self.dealt += 1;
        self.deck[self.dealt - 1]
    }

    #[inline]
    fn take(&mut self, hand: &mut (u8, u8)) {
        let card = self.draw();
        hand.0 += card;
        hand.1 += u8::from(card == 11);
        if hand.0 > 21 && hand.1 > 0 {
            hand.0 -= 10;
            hand.1 -= 1;
        }
    }

    #[inline]
    fn round(&mut self, bare: Bare) -> i64 {
        self.dealt = 0;
        let (mut player, mut dealer) = ((0, 0), (0, 0));
        for _ in 0..2 {
            self.take(&mut player);
            self.take(&mut dealer);
        }
        match bare {
            Bare::Coin => {
                while player.0 <= 21 && self.random() >> 63 == 0 {
                    self.take(&mut player);
                }
            }
            Bare::Below17 => {
                while player.0 < 17 {
                    self.take(&mut player);
                }
            }
        }
        if player.0 > 21 {
            return -1;
        }
        while dealer.0 < 17 {
            self.take(&mut dealer);
        }
        if dealer.0 > 21 { 1 } else { i64::from(player.0 > dealer.0) - i64::from(player.0 < dealer.0) }
    }

    #[inline(never)]
    fn play(&mut self, bare: Bare, rounds: u64) -> i64 {
        match bare {
            Bare::Coin => (0..rounds).map(|_| self.round(Bare::Coin)).sum(),
            Bare::Below17 => (0..rounds).map(|_| self.round(Bare::Below17)).sum(),
        }
    }
}
