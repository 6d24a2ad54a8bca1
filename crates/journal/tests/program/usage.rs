use std::{fs, process::Command};

use testkit::{
    TempDir,
    process::{Finished, Process},
};

use crate::{journal, matches, stdout_of};

const COMMANDS: [&str; 7] = ["list", "show", "verify", "replay", "export", "cut", "prune"];

#[test]
fn help_version_and_completions_work_and_wrong_usage_is_2() {
    assert!(stdout_of(&["--version"]).starts_with("journal "));
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout_of(&["--completions", shell]).contains("verify"), "{shell}");
    }
    for command in COMMANDS {
        let Finished { code, stdout, stderr } = journal(&[command]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains("For example: cargo run -p journal -- list journals"), "{stderr}");
    }
    let Finished { code, stderr, .. } = journal(&[]);
    assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{stderr}");
    assert!(stderr.contains("list, show, verify, replay, export, cut or prune"));
}

#[test]
fn the_examples_of_the_help_work() {
    let folder = TempDir::new();
    let journals = folder.path().join("journals");
    fs::create_dir(&journals).unwrap();
    let nuggets = matches::nuggets(folder.path(), 1_600, true);
    fs::copy(&nuggets, journals.join("nuggets-2026-11-22T06-37-51Z.journal")).unwrap();
    fs::rename(nuggets, folder.path().join("match.journal")).unwrap();
    fs::rename(matches::blackjack(folder.path()), folder.path().join("dealer.journal")).unwrap();
    let mut run = 0;
    for help in [vec!["--help"]].into_iter().chain(COMMANDS.map(|command| vec![command, "--help"])) {
        for line in stdout_of(&help).lines().filter_map(|line| line.strip_prefix("  journal ")) {
            let words: Vec<&str> = line.split(" | ").next().unwrap().split(' ').collect();
            let mut command = Command::new(env!("CARGO_BIN_EXE_journal"));
            let finished = Process::run(command.args(&words).current_dir(folder.path()));
            assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{line}");
            run += 1;
        }
    }
    assert!(run >= 14, "{run}");
}
