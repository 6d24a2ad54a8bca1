use std::{fs, path::Path, process::Command, thread};

use blackjack::{QTable, StateSpace, exact::Solver};
use testkit::{
    TempDir,
    process::{Process, hang_up_counts},
};

use crate::{check_failure, fails, names, qtable, read, trained, works};

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
fn what_was_trained_is_told_and_plays_as_well_as_it_should() {
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

// Starts an endless training and waits until it has made progress.
fn under_way(folder: &TempDir, options: &str) -> Process {
    let process = Process::start(&mut qtable(folder, &format!("train --rounds {ENDLESS} --progress {options}")));
    process.wait_stderr("a line of progress", |stderr| stderr.contains("exact").then_some(()));
    process
}

// Starts an endless training and stops it once it has made progress.
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
fn a_training_that_is_stopped_and_gone_on_with_ends_with_the_same_table() {
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

// Starts an endless training whose next save blocks until the test reads it.
fn with_slow_save(folder: &TempDir) -> Process {
    let process = under_way(folder, "-o table");
    fs::remove_file(folder.path().join("table")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("table")).status().unwrap().success());
    process
}

#[test]
fn a_terminal_that_closes_says_so_more_than_once_and_the_save_is_made() {
    if !hang_up_counts() {
        return;
    }
    let folder = TempDir::new();
    let process = with_slow_save(&folder);
    // Signals from the shell, from the system, and from the end of a session.
    for signal in [Process::hang_up, Process::hang_up, Process::terminate, Process::hang_up] {
        signal(&process);
        process.wait_until_signals_are_taken();
    }
    // In a separate thread, since opening blocks until the program saves.
    let path = folder.path().join("table");
    let reader = thread::spawn(move || fs::read(path).unwrap());
    let finished = process.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.contains("saved    'table'"), "{}", finished.stdout);
    QTable::from_file(&reader.join().unwrap()).unwrap();
}

#[test]
fn who_insists_does_not_wait_for_the_save() {
    for signal in [Process::terminate, Process::interrupt] {
        let folder = TempDir::new();
        let process = with_slow_save(&folder);
        while process.is_running() {
            signal(&process);
            process.wait_until_signals_are_taken();
        }
        assert_eq!(process.wait().code, Some(1));
    }
}

#[test]
fn a_save_that_fails_in_between_is_told_and_tried_again() {
    let folder = TempDir::new();
    let process = under_way(&folder, "--save-every 1 -o table");
    let path = folder.path().join("table");
    // Between the two calls the program may have saved.
    while fs::create_dir(&path).is_err() {
        let _ = fs::remove_file(&path);
    }
    let told = "qtable: cannot write the table to 'table': is a directory; continuing, the next save retries\n";
    process.wait_stderr("what went wrong", |stderr| stderr.contains(told).then_some(()));
    fs::remove_dir(&path).unwrap();
    process.terminate();
    let finished = process.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    read(&path);
}

fn decisions(table: &QTable) -> u64 {
    table.visited().map(|(_, entry)| entry.visits()).sum()
}

#[test]
fn training_goes_on_with_the_table_that_is_there() {
    let folder = TempDir::new();
    works(&folder, "train --rounds 20000 --seed 1 --state soft");
    let first = read(&folder.path().join("qtable"));
    // Training keeps the states of the table.
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
fn a_damaged_table_is_not_trained_and_not_touched() {
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
fn a_place_that_cannot_be_written_to_is_found_before_the_training() {
    let folder = TempDir::new();
    folder.file("plain", "no folder");
    for place in ["missing/table", "plain/table", "/proc/table"] {
        // Endless, so that the error cannot come from the save at the end.
        let said = fails(&folder, &format!("train --rounds 1000000000000 -o {place}"), 1);
        assert!(said.contains(&format!("'{place}'")), "{said}");
    }
    assert_eq!(names(&folder), ["plain"]);
}

#[test]
fn a_disk_that_is_full_leaves_the_old_table() {
    let folder = TempDir::new();
    let old = trained(StateSpace::Coarse, 1, 10).to_file();
    folder.file("table", &old);
    // No file may grow beyond 1 kB, and a table with all states does.
    let script = "ulimit -f 1; exec \"$0\" train --rounds 100000 --seed 1 -o table";
    let mut shell = Command::new("bash");
    shell.current_dir(folder.path()).args(["-c", script, env!("CARGO_BIN_EXE_qtable")]);
    let said = check_failure(Process::run(&mut shell), 1);
    assert!(said.contains("cannot write the table to 'table': File too large"), "{said}");
    assert!(said.ends_with("; all work since the last save is lost\n"), "{said}");
    assert_eq!(bytes(&folder, "table"), old);
    assert_eq!(names(&folder), ["table"]);
    if Path::new("/dev/full").exists() {
        let said = fails(&folder, "merge table -o /dev/full", 1);
        assert!(said.contains("cannot write the table to '/dev/full': No space left on device"), "{said}");
    }
}

#[test]
fn a_kill_while_it_saves_leaves_a_whole_table() {
    let folder = TempDir::new();
    let mut before = 0;
    for seed in 0..5 {
        let process = under_way(&folder, &format!("--save-every 1 --seed {seed}"));
        process.kill();
        assert_eq!(process.wait().code, None);
        let counted = decisions(&read(&folder.path().join("qtable")));
        assert!(counted >= before);
        before = counted;
    }
}

#[test]
fn no_progress_is_shown_where_nobody_looks() {
    let folder = TempDir::new();
    let finished = Process::run(&mut qtable(&folder, "train --rounds 50000"));
    assert_eq!((finished.code, &*finished.stderr), (Some(0), ""));
    let finished = Process::run(&mut qtable(&folder, "train --rounds 50000 --progress"));
    assert!(
        finished.stderr.lines().last().unwrap().starts_with("[####################] 100 %  50.0 k of 50.0 k rounds")
    );
}
