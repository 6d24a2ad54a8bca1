use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use blackjack::{Action, QTable, State, StateSpace, exact::Solver};
use serde_json::Value;
use testkit::{TempDir, process::Process};

use crate::{check_failure, fails, qtable, trained, works};

fn close(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-6)
}

#[test]
fn damaged_table_is_an_error_for_all_readers() {
    let folder = TempDir::new();
    let whole = trained(StateSpace::Coarse, 1, 1_000).to_file();
    for (name, damaged, told) in [
        ("empty", vec![], "line 1: "),
        ("short", whole[..whole.len() / 2].to_vec(), "cut off"),
        ("long", vec![b'x'; 200_000], "but a table has at most"),
        ("bytes", b"21-qtable 1 coarse\n\xff\n".to_vec(), "line 2: "),
    ] {
        folder.file(name, &damaged);
        for command in ["eval", "dump", "chart", "play", "merge -o out"] {
            let said = fails(&folder, &format!("{command} {name}"), 1);
            assert!(said.contains(&format!("the table '{name}' is damaged: ")), "{command} {name}: {said}");
            assert!(said.contains(told), "{command} {name}: {said}");
        }
    }
    assert!(!folder.path().join("out").exists());
    for command in ["eval", "dump", "chart", "play", "merge -o out"] {
        let said = fails(&folder, &format!("{command} none"), 1);
        assert!(said.contains("no table 'none'; `qtable train -o FILE` creates one"), "{said}");
        let said = fails(&folder, &format!("{command} ."), 1);
        assert!(said.contains("cannot read the table '.'"), "{said}");
    }
}

fn small() -> QTable {
    let mut table = QTable::new(StateSpace::Soft);
    let state = |total, soft, upcard| State::new(StateSpace::Soft, total, soft, upcard).unwrap();
    for (state, action, reward) in [
        (state(16, false, 10), Action::Hit, -1),
        (state(16, false, 10), Action::Hit, 1),
        (state(16, false, 10), Action::Hit, 1),
        (state(16, false, 10), Action::Stand, -1),
        (state(18, true, 11), Action::Stand, 0),
    ] {
        table.learn(state, action, reward);
    }
    table
}

#[test]
fn dump_lists_all_counts() {
    let folder = TempDir::new();
    folder.file("qtable", small().to_file());
    assert_eq!(works(&folder, "dump"), "16 0 10 0.333333 3 -1.000000 1\n18 1 11 - 0 0.000000 1\n");
    assert_eq!(
        works(&folder, "dump --format csv"),
        "total,soft,dealer,hit_n,hit_sum,hit_mean,stand_n,stand_sum,stand_mean,plays\n\
         16,0,10,3,1,0.333333,1,-1,-1.000000,hit\n\
         18,1,11,0,0,,1,0,0.000000,stand\n"
    );
    let json: Value = serde_json::from_str(&works(&folder, "dump --format json")).unwrap();
    assert_eq!(json["states"], "soft");
    assert_eq!(json["visited"][0]["hit"]["n"], 3);
    assert_eq!(json["visited"][0]["stand"]["mean"], -1.0);
    assert_eq!(json["visited"][1]["hit"]["mean"], Value::Null);
    assert_eq!(json["visited"].as_array().unwrap().len(), 2);
}

#[test]
fn tables_are_judged_exactly_beside_the_best_and_the_dealer() {
    let folder = TempDir::new();
    let solver = Solver::new();
    let (coarse, soft) = (trained(StateSpace::Coarse, 1, 50_000), trained(StateSpace::Soft, 1, 50_000));
    folder.file("coarse", coarse.to_file());
    folder.file("soft", soft.to_file());
    let json: Value = serde_json::from_str(&works(&folder, "eval coarse soft --json")).unwrap();
    assert!(close(&json["best_coarse"], -0.051_474) && close(&json["best_soft"], -0.042_806), "{json}");
    assert!(close(&json["mimic"], -0.080_092), "{json}");
    for (at, table) in [coarse, soft].iter().enumerate() {
        let (entry, policy) = (&json["tables"][at], table.policy());
        assert!(close(&entry["value"], solver.value(&policy)), "{entry}");
        let differs = policy.differences(&solver.best(table.space())).count();
        assert_eq!(entry["differs"].as_u64(), u64::try_from(differs).ok());
        assert!(differs > 0);
    }
    let text = works(&folder, "eval coarse soft");
    let values: Vec<f64> =
        text.lines().skip(1).map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect();
    assert!(close(&json["tables"][1]["value"], values[1]) && values.len() == 5, "{text}");
}

#[test]
fn file_name_need_not_be_utf8() {
    let folder = TempDir::new();
    let name = OsStr::from_bytes(b"table-\xff");
    let run = |arguments: &str| Process::run(qtable(&folder, arguments).arg(name));
    let finished = run("train --rounds 10 -o");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(folder.path().join(name).exists());
    let finished = run("eval");
    assert!(finished.code == Some(0) && finished.stdout.contains("'table-\u{fffd}'"), "{finished:?}");
    fs::write(folder.path().join(name), "").unwrap();
    let said = check_failure(run("eval"), 1);
    assert!(said.contains("the table 'table-\u{fffd}' is damaged"), "{said}");
}

#[test]
fn closed_pipe_is_no_failure() {
    let folder = TempDir::new();
    folder.file("qtable", trained(StateSpace::Soft, 1, 10_000).to_file());
    let mut shell = std::process::Command::new("bash");
    let script = "set -o pipefail; for i in dump 'dump --format json' chart exact; do \"$0\" $i | head -c 1; done";
    shell.current_dir(folder.path()).args(["-c", script, env!("CARGO_BIN_EXE_qtable")]);
    let finished = Process::run(&mut shell);
    assert_eq!((finished.code, &*finished.stderr), (Some(0), ""), "{}", finished.stdout);
}
