//! The command that a failing seed prints.

use std::{env, process::Command};

use super::{GAMES, Named};

/// The seed of the tests.
const SEED: u64 = 7;

// Runs tests of this program. Returns their output, and whether they pass.
fn run(variables: &[(&str, &str)], arguments: &[&str]) -> (String, bool) {
    let mut program = Command::new(env::current_exe().unwrap());
    let output = program.args(arguments).arg("--nocapture").envs(variables.iter().copied()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.success())
}

#[test]
#[ignore = "fails, to show what a failing seed prints"]
fn a_seed_that_fails() {
    let game = GAMES.into_iter().find(|(game, _)| env::var("GAME").as_deref() == Ok(*game));
    let _named = Named(game.expect("GAME names a game").0, SEED);
    panic!("it fails");
}

#[test]
fn the_command_that_a_failing_seed_prints_plays_that_seed_again() {
    for (game, _) in GAMES {
        let (text, passed) =
            run(&[("GAME", game)], &["simulation::repeating::a_seed_that_fails", "--exact", "--ignored"]);
        assert!(!passed);
        let command = text.lines().find(|line| line.contains(" cargo test ")).expect("it prints a command");
        let (variable, rest) = command.split_once(' ').unwrap();
        let name = rest.strip_prefix("cargo test -p testkit --test tests ").expect("it runs this program");
        let (text, passed) = run(&[variable.split_once('=').unwrap()], &[name]);
        assert!(passed && text.contains("1 passed"), "{command}: {text}");
        assert!(text.contains(&format!("{game}: seed {SEED}\n")), "{command}: {text}");
    }
}
