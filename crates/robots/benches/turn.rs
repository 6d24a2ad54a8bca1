//! The cost of one turn on a busy board, compared with a plain pass over its blocks in the same run.
//!
//! 25 players, 10,000 blocks and 1,000 bombs, of which 25 explode. The pass reads every block once from an array. The
//! measurements alternate on copies of the game, so both find equally warm caches.
//!
//! `cargo bench -p robots --bench turn` prints the table.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]
#![allow(clippy::disallowed_methods, reason = "it measures time")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use netcore::wire::ShortText;
use robots::{Action, Config, Direction, Event, Game, MAX_HISTORY, MinStd, Parameters, Position};

const PLAYERS: u8 = 25;
const BLOCKS: u32 = 10_000;
const BOMBS: usize = 1_000;
const ROUNDS: usize = 2_000;
const GOAL: Duration = Duration::from_micros(200);

fn main() {
    println!("{PLAYERS} players, {BLOCKS} blocks, {BOMBS} bombs, {PLAYERS} of them explode; {ROUNDS} rounds");
    println!("{:<32} {:>9} {:>9} {:>9} {:>9} {:>7}", "", "p50", "p99", "max", "pass p50", "ratio");
    for size in [200, 1_000, 65_535] {
        for radius in [20, 65_535] {
            measure(size, radius);
        }
    }
}

fn measure(size: u16, radius: u16) {
    let mut draws = MinStd::new(1234);
    let game = busy(size, radius, &mut draws);
    let blocks: Vec<Position> = game.board().blocks().collect();
    assert!(blocks.len().abs_diff(BLOCKS as usize) < BLOCKS as usize / 20, "{} blocks", blocks.len());
    assert_eq!(game.bombs().len(), BOMBS);
    let actions: Vec<_> = (0..PLAYERS).map(|player| Some(Action::Move(way(player.into())))).collect();
    let (mut turns, mut passes) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        let (mut game, mut draws, blocks) = (game.clone(), draws.clone(), blocks.clone());
        let start = Instant::now();
        let sum: u64 = black_box(&blocks).iter().map(|block| u64::from(block.x ^ block.y)).sum();
        black_box(sum);
        passes.push(start.elapsed());
        let start = Instant::now();
        let events = black_box(game.end_turn(&actions, &mut draws));
        turns.push(start.elapsed());
        let exploded = events.iter().filter(|event| matches!(event, Event::BombExploded { .. })).count();
        assert_eq!(exploded, usize::from(PLAYERS));
    }
    turns.sort_unstable();
    passes.sort_unstable();
    let at = |sorted: &[Duration], percent: usize| sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)];
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let (middle, pass) = (at(&turns, 50), at(&passes, 50));
    println!(
        "{:<32} {:>6.1} us {:>6.1} us {:>6.1} us {:>6.1} us {:>6.1}x{}",
        format!("{size} x {size}, radius {radius}"),
        micros(middle),
        micros(at(&turns, 99)),
        micros(at(&turns, 100)),
        micros(pass),
        micros(middle) / micros(pass),
        if middle > GOAL { "  above the goal" } else { "" },
    );
}

// One bomb of each player is about to explode; all have alternately moved and placed a bomb.
fn busy(size: u16, radius: u16, draws: &mut MinStd) -> Game {
    let each = BOMBS / usize::from(PLAYERS);
    let fields = f64::from(size) * f64::from(size);
    // The expected number of draws for this number of distinct fields.
    let needed = -(1.0 - f64::from(BLOCKS) / fields).ln() * fields;
    let parameters = Parameters {
        server_name: ShortText::default(),
        players_count: PLAYERS,
        size_x: size,
        size_y: size,
        game_length: u16::MAX,
        explosion_radius: radius,
        bomb_timer: u16::try_from(2 * each).expect("a short timer"),
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of blocks")]
    let initial_blocks = needed as u16;
    let config =
        Config { parameters, turn_duration: Duration::ZERO, initial_blocks, seed: 0, max_history: MAX_HISTORY };
    let (mut game, _) = Game::new(&config, draws);
    for turn in 0..2 * each {
        let bomb = turn % 2 == 0;
        let action = |player: usize| if bomb { Action::PlaceBomb } else { Action::Move(way(player + turn / 8)) };
        let actions: Vec<_> = (0..usize::from(PLAYERS)).map(|player| Some(action(player))).collect();
        game.end_turn(&actions, draws);
    }
    game
}

fn way(number: usize) -> Direction {
    Direction::ALL[number % Direction::ALL.len()]
}
