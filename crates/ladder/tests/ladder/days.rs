//! Simulates days of a ladder with programs of known strength, some of which hang, crash, or run twice.
//!
//! After each event, the tests check that no program waits while a match could start, that no name plays twice at the
//! same time, and that every deadline is met.

use std::{ops::Range, time::Duration};

use ladder::Settings;

use crate::world::{self, Behaviour, World};

/// Programs of these strengths, in rating points, that never forfeit.
fn sound(strengths: &[f64]) -> Vec<(f64, Behaviour)> {
    strengths.iter().map(|&strength| (strength, Behaviour::Sound)).collect()
}

fn days(seeds: Range<u64>) {
    let off: f64 = seeds.map(day).sum();
    // On a single day, chance outweighs the forfeits.
    assert!(off < 0.0, "programs that hang and crash are above their strength, by {off} points in all days");
}

/// Returns the total points by which programs that hang or crash are rated above their strength.
///
/// Of seven sound programs, each beats the one before it about three times in five.
fn day(seed: u64) -> f64 {
    let mut programs = sound(&[640.0, 760.0, 880.0, 1_000.0, 1_120.0, 1_240.0, 1_360.0]);
    programs.extend([(1_000.0, Behaviour::Hangs(20)), (1_000.0, Behaviour::Crashes(5)), (1_180.0, Behaviour::Twice)]);
    let mut world = World::new(seed, Settings { continuous: seed.is_multiple_of(2), ..Settings::default() }, &programs);
    world.run(24);
    assert!(world.matches > 10_000, "{} matches", world.matches);
    assert!(world.reconnected > 100, "{} reconnections", world.reconnected);
    assert!(world.met.len() == 3 && world.met.values().all(|met| *met > 500), "{:?}", world.met);
    let mut above = 0.0;
    for program in &world.programs {
        assert!(program.played > 1_000 && program.lately > 50, "{program:?}");
        match program.behaviour {
            Behaviour::Sound | Behaviour::Twice => {
                let off = (program.points() - program.strength).abs();
                assert!(off < 80.0, "{off} points off: {program:?}");
                assert_eq!(program.forfeits, 0);
            }
            Behaviour::Hangs(_) | Behaviour::Crashes(_) => {
                let off = program.points() - program.strength;
                assert!(program.forfeits > 100 && off < 60.0, "{off} points off: {program:?}");
                above += off;
            }
        }
    }
    let order: Vec<f64> = world.programs[..7].iter().map(world::Program::points).collect();
    assert!(order.is_sorted(), "{order:?}");
    above
}

#[test]
fn day_of_the_ladder_ranks_all_programs() {
    // Even seeds run without turns, odd seeds with turns.
    days(0..if cfg!(debug_assertions) { 2 } else { 8 });
}

#[test]
#[ignore = "minutes; see CONTRIBUTING.md"]
fn hundred_days_of_the_ladder_rank_all_programs() {
    days(100..200);
}

#[test]
fn more_programs_than_places_all_play() {
    let strengths: Vec<f64> = (0..40).map(|at| 700.0 + 15.0 * f64::from(at)).collect();
    let settings = Settings { matches: 3, ..Settings::default() };
    let mut world = World::new(7, settings, &sound(&strengths));
    world.run(24);
    // Forty programs in three matches of 14 s: each waits for about 90 s.
    for program in &world.programs {
        assert!(program.longest < Duration::from_secs(300) && program.played > 500, "{program:?}");
    }
}

#[test]
fn lone_program_plays_bots() {
    let mut world = World::new(3, Settings::default(), &sound(&[1_080.0]));
    world.run(24);
    let alone = &world.programs[0];
    assert!(alone.played > 3_000 && (alone.points() - 1_080.0).abs() < 80.0, "{alone:?}");
}
