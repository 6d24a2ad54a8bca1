use std::{env, fs, path::Path, process::Command};

use blackjack::StateSpace;
use testkit::{TempDir, process::Process};

use crate::{names, qtable, trained};

#[test]
fn wrong_usage_names_the_expected_form() {
    let folder = TempDir::new();
    for (arguments, told) in [
        ("", "missing command: expected train, eval, exact, merge, dump, chart, curve or play"),
        ("learn", "unrecognized subcommand 'learn'"),
        ("train --rounds 0", "expected a whole number from 1 to 1000000000000, as in 1000000"),
        ("train --rounds 1e13", "expected a whole number from 1"),
        ("train --rounds 1.5e6", "expected a whole number from 1"),
        ("train --rounds -5", "expected a whole number from 1"),
        ("train --rounds 80x", "expected a whole number from 1"),
        ("train --threads 0", "expected a whole number from 1 to 256, as in 2"),
        ("train --threads 257", "expected a whole number from 1 to 256"),
        ("train --seed +1", "expected a whole number from 0 to 18446744073709551615, as in 7"),
        ("train --explore softmax", "[possible values: random, epsilon, until-confident]"),
        ("train --state fine", "[possible values: coarse, soft]"),
        ("train --epsilon 1.5", "expected a probability from 0 to 1, as in 0.1"),
        ("train --epsilon -0.1", "expected a probability from 0 to 1"),
        ("train --epsilon nan", "expected a probability from 0 to 1"),
        ("train --epsilon inf", "expected a probability from 0 to 1"),
        ("train --explore random --epsilon 0.1", "--epsilon requires --explore epsilon"),
        ("train --save-every 0", "expected a whole number from 1"),
        ("train file", "unexpected argument 'file'"),
        ("merge a b", "--output <OUT>"),
        ("merge -o c", "<FILE>..."),
        ("dump --format xml", "[possible values: text, csv, json]"),
        ("chart --state soft", "--policy"),
        ("chart file --policy best", "cannot be used with"),
        ("chart --colour blue", "[possible values: auto, always, never]"),
        ("curve --rounds 999", "expected a whole number from 1000 to"),
        ("curve --runs 101", "expected a whole number from 1 to 100, as in 5"),
        ("curve --explore until-confident --epsilon 0.2", "--epsilon requires --explore epsilon"),
        ("play --rounds", "a value is required for '--rounds <N>'"),
        ("exact file", "unexpected argument 'file'"),
    ] {
        let finished = Process::run(&mut qtable(&folder, arguments));
        assert_eq!((finished.code, &*finished.stdout), (Some(2), ""), "{arguments}: {}", finished.stderr);
        assert!(finished.stderr.contains(told), "{arguments}: {}", finished.stderr);
    }
    assert!(names(&folder).is_empty(), "nothing is done before the arguments are understood");
}

#[test]
fn completions_are_for_every_command() {
    let folder = TempDir::new();
    let script = Process::run(&mut qtable(&folder, "--completions bash"));
    assert_eq!(script.code, Some(0), "{}", script.stderr);
    assert!(["train", "curve", "--save-every"].iter().all(|word| script.stdout.contains(word)));
}

#[test]
fn the_examples_of_the_help_work() {
    let folder = TempDir::new();
    for name in ["qtable", "monday.table", "tuesday.table", "soft.table"] {
        folder.file(name, trained(StateSpace::Soft, 1, 100).to_file());
    }
    let program = Path::new(env!("CARGO_BIN_EXE_qtable")).parent().unwrap();
    let path = env::join_paths([program.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())));
    let mut run = 0;
    for command in ["", "train", "eval", "exact", "merge", "dump", "chart", "curve", "play"] {
        let help = Process::run(&mut qtable(&folder, &format!("{command} --help")));
        assert_eq!(help.code, Some(0), "{}", help.stderr);
        let Some((_, examples)) = help.stdout.split_once("\nExamples:\n") else { continue };
        // A line that is indented further explains the command above it.
        for line in examples.lines().map_while(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' ')) {
            // With fewer rounds than printed.
            let fewer = [("000000", "000"), ("e8", "e3"), ("e7", "e3"), ("e6", "e3"), ("e5", "e3")];
            let line = fewer.iter().fold(line.to_owned(), |line, (many, few)| line.replace(many, few));
            let mut shell = Command::new("bash");
            shell.current_dir(folder.path()).args(["-c", &line]).env("PATH", path.as_ref().unwrap());
            let finished = Process::run(&mut shell);
            assert_eq!(finished.code, Some(0), "{line}: {}", finished.stderr);
            run += 1;
        }
    }
    assert!(run >= 15, "{run}");
    for name in ["whole.table", "long.table", "chart.svg", "chart.png", "curve.svg", "curve.png", "curve.csv"] {
        assert!(fs::metadata(folder.path().join(name)).unwrap().len() > 100, "{name}");
    }
}
