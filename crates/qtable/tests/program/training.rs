use std::fs;

use blackjack::{QTable, StateSpace, exact::Solver};
use testkit::{
    TempDir,
    process::{Process, hang_up_counts},
};

use crate::{fails, names, qtable, read, works};

fn bytes(folder: &TempDir, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

#[test]
fn the_same_seed_and_threads_give_the_same_table() {
    let folder = TempDir::new();
    let train = |options: &str, name: &str| {
        works(&folder, &format!("train --rounds 100000 {options} -o {name}"));
        bytes(&folder, name)
    };
    let same = ["--seed 1", "--seed 1 --threads 3 --state soft", "--seed 1 --explore doubt --save-every 1"];
    for (at, options) in same.iter().enumerate() {
        let twice = [1, 2].map(|time| train(options, &format!("same-{at}-{time}")));
        assert_eq!(twice[0], twice[1], "{options}");
    }
    let tables =
        ["--seed 1", "--seed 2", "--seed 1 --threads 2", "--seed 1 --epsilon 0.2", "--seed 1 --explore random"];
    let tables: Vec<Vec<u8>> =
        tables.iter().enumerate().map(|(at, options)| train(options, &format!("other-{at}"))).collect();
    for (at, table) in tables.iter().enumerate() {
        assert!(!tables[..at].contains(table), "{at}");
    }
    assert_ne!(train("", "free-1"), train("", "free-2"), "without a seed it is another one each time");
}

#[test]
fn trained_table_reports_and_plays_well() {
    let folder = TempDir::new();
    let said = works(&folder, "train --rounds 1000000 --seed 1");
    let value: f64 = {
        let line = said.lines().find_map(|line| line.strip_prefix("exact")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let table = read(&folder.path().join("qtable"));
    assert!((value - Solver::new().value(&table.policy())).abs() < 1e-6, "{said}");
    assert!(value >= -0.055, "{said}");
    assert!(said.contains("trained  1000000 rounds by epsilon 0.1, seed 1\n"), "{said}");
    assert!(said.contains(" rounds/s by 1 thread\n"), "{said}");
    assert!(said.lines().all(|line| line.len() <= 80), "{said}");
    assert!(said.contains("180 of 180 states"), "{said}");
}

const ENDLESS: u64 = 1_000_000_000_000;

fn under_way(folder: &TempDir, options: &str) -> Process {
    let process = Process::start(&mut qtable(folder, &format!("train --rounds {ENDLESS} --progress {options}")));
    process.wait_stderr("a line of progress", |stderr| stderr.contains("exact").then_some(()));
    process
}

fn stopped(folder: &TempDir, options: &str, stop: fn(&Process)) -> u64 {
    let process = under_way(folder, options);
    stop(&process);
    let finished = process.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let (_, left) = finished.stderr.split_once("stopped with ").unwrap();
    let left: u64 = left.split(' ').next().unwrap().parse().unwrap();
    assert!(finished.stderr.contains(&format!("train --rounds {left} ")), "{}", finished.stderr);
    assert!(finished.stdout.contains("saved"), "{}", finished.stdout);
    ENDLESS - left
}

#[test]
fn resumed_training_ends_with_the_same_table() {
    let folder = TempDir::new();
    let hang_up = if hang_up_counts() { Process::hang_up } else { Process::terminate };
    for (stop, options) in [
        (Process::interrupt as fn(&Process), "--seed 5 --threads 2 --state soft -o"),
        (Process::terminate, "--seed 6 --threads 1 --explore doubt -o"),
        (hang_up, "--seed 7 --threads 1 --explore epsilon -o"),
    ] {
        let [parts, once] = ["parts", "once"].map(|part| format!("{options} {part}"));
        // Directly after the stop, and after further training.
        for more in [0, 100_000] {
            let rounds = stopped(&folder, &parts, stop);
            if more > 0 {
                works(&folder, &format!("train --rounds {more} {parts}"));
            }
            works(&folder, &format!("train --rounds {} {once}", rounds + more));
            assert_eq!(bytes(&folder, "parts"), bytes(&folder, "once"), "{options}, {more} more rounds");
            for name in ["parts", "once"] {
                fs::remove_file(folder.path().join(name)).unwrap();
            }
        }
    }
    assert!(names(&folder).is_empty(), "nothing is left beside the tables");
}

fn decisions(table: &QTable) -> u64 {
    table.visited().map(|(_, entry)| entry.visits()).sum()
}

#[test]
fn training_continues_an_existing_table() {
    let folder = TempDir::new();
    works(&folder, "train --rounds 20000 --seed 1 --state soft");
    let first = read(&folder.path().join("qtable"));
    works(&folder, "train --rounds 20000 --seed 1");
    let second = read(&folder.path().join("qtable"));
    assert_eq!(second.space(), StateSpace::Soft);
    assert!(
        decisions(&second) > decisions(&first) + 20_000 && second.since(&first) != first,
        "other rounds were played"
    );
    let said = fails(&folder, "train --rounds 1 --state coarse", 1);
    let wanted = "'qtable' is a table with soft states, not coarse; omit --state";
    assert!(said.contains(wanted), "{said}");
    assert_eq!(read(&folder.path().join("qtable")), second);
}

#[test]
fn damaged_table_is_not_trained_or_changed() {
    let folder = TempDir::new();
    for (content, told) in [
        (&b""[..], "line 1"),
        (b"21-qtable 1 coarse\n", "line 2"),
        (b"21-qtable 1 coarse\nend 0 00000000\n", "line 2"),
        (b"\xff\xfe", "line 1"),
    ] {
        let path = folder.file("damaged", content);
        let said = fails(&folder, "train --rounds 1 -o damaged", 1);
        assert!(said.contains("the table 'damaged' is damaged: ") && said.contains(told), "{said}");
        assert_eq!(fs::read(path).unwrap(), content);
    }
    let said = fails(&folder, "train --rounds 1 -o /dev/zero", 1);
    assert!(said.contains("'/dev/zero' is not a regular file, so training cannot continue with it"), "{said}");
    let said = fails(&folder, "train --rounds 1 -o .", 1);
    assert!(said.contains("'.' is not a regular file"), "{said}");
}

#[test]
fn no_progress_is_shown_without_a_terminal() {
    let folder = TempDir::new();
    let finished = Process::run(&mut qtable(&folder, "train --rounds 50000"));
    assert_eq!((finished.code, &*finished.stderr), (Some(0), ""));
    let finished = Process::run(&mut qtable(&folder, "train --rounds 50000 --progress"));
    assert!(
        finished.stderr.lines().last().unwrap().starts_with("[####################] 100 %  50.0 k of 50.0 k rounds")
    );
}
