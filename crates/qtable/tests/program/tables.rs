use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use blackjack::{Action, QTable, State, StateSpace, exact::Solver};
use serde_json::Value;
use testkit::{TempDir, process::Process};

use crate::{check_failure, fails, qtable, read, trained, works};

fn close(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-6)
}

#[test]
fn parts_add_up() {
    let folder = TempDir::new();
    let parts: Vec<QTable> = (1..=3).map(|seed| trained(StateSpace::Coarse, seed, 5_000)).collect();
    let mut sum = QTable::new(StateSpace::Coarse);
    for (at, part) in parts.iter().enumerate() {
        folder.file(&format!("part-{at}"), part.to_file());
        sum.merge(part).unwrap();
    }
    works(&folder, "merge part-0 part-1 part-2 -o whole");
    assert_eq!(read(&folder.path().join("whole")), sum);
    // In steps, into one of the parts.
    works(&folder, "merge part-0 part-1 -o part-0");
    works(&folder, "merge part-2 part-0 -o part-0");
    assert_eq!(read(&folder.path().join("part-0")), sum);

    let old = fs::read(folder.path().join("whole")).unwrap();
    folder.file("soft", trained(StateSpace::Soft, 1, 10).to_file());
    let said = fails(&folder, "merge part-1 soft -o whole", 1);
    assert!(said.contains("cannot add 'soft' to 'part-1': one table has coarse states and the other soft"), "{said}");
    let said = fails(&folder, "merge part-1 none -o whole", 1);
    assert!(said.contains("no table 'none'"), "{said}");
    assert_eq!(fs::read(folder.path().join("whole")).unwrap(), old, "nothing is written then");
}

#[test]
fn a_damaged_table_is_an_error_for_everything_that_reads_one() {
    let folder = TempDir::new();
    let whole = trained(StateSpace::Coarse, 1, 1_000).to_file();
    for (name, damaged, told) in [
        ("empty", vec![], "line 1: "),
        ("short", whole[..whole.len() / 2].to_vec(), "cut off"),
        ("long", vec![b'x'; 200_000], "no table has more than"),
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
fn a_dump_has_all_that_was_counted() {
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
fn the_exact_values_are_the_known_ones() {
    let folder = TempDir::new();
    let json: Value = serde_json::from_str(&works(&folder, "exact --json")).unwrap();
    let text = works(&folder, "exact");
    assert_eq!(text.matches("\n            dealer's card\n").count(), 2, "{text}");
    for (name, value) in [
        ("best_with_cards", -0.042_462),
        ("best_soft", -0.042_806),
        ("best_coarse", -0.051_474),
        ("mimic", -0.080_092),
        ("random_limit_soft", -0.113_946),
        ("random_limit_coarse", -0.126_285),
        ("stand", -0.183_443),
        ("random", -0.392_658),
    ] {
        assert!(close(&json["values"][name], value), "{name}: {json}");
        assert!(text.contains(&format!("{value:.6}  ")), "{name}: {text}");
    }
    let row = |space: &str, total: u64, soft: bool| {
        let rows = json["best_tables_hit"][space].as_array().unwrap();
        rows.iter().find(|row| row["total"] == total && row["soft"] == soft).unwrap()["against"].clone()
    };
    assert_eq!(row("soft", 12, false), serde_json::json!([2, 3, 7, 8, 9, 10, 11]));
    assert_eq!(row("soft", 18, true), serde_json::json!([9, 10, 11]));
    assert_eq!(row("coarse", 13, false), serde_json::json!([2, 7, 8, 9, 10, 11]));
    assert!(text.contains("\n        12   H   H   S   S   S   H   H   H   H   H\n"), "{text}");
    assert!(text.contains("\n  18 (A,7)   S   S   S   S   S   S   S   H   H   H\n"), "{text}");
}

#[test]
fn play_agrees_with_the_exact_value() {
    let folder = TempDir::new();
    folder.file("qtable", trained(StateSpace::Soft, 1, 200_000).to_file());
    let play = || works(&folder, "play --rounds 50000 --seed 4 --json");
    let json: Value = serde_json::from_str(&play()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&play()).unwrap(), json, "the same seed, the same cards");
    let number = |name: &str| json[name].as_f64().unwrap();
    assert!((number("wins") + number("pushes") + number("losses") + number("busts") - 50_000.0).abs() < 0.5);
    let mean = (number("wins") - number("losses") - number("busts")) / 50_000.0;
    assert!(close(&json["mean"], mean));
    // The width of the interval is 1.96 standard errors; three are exceeded once in 370 times, and the seed is fixed.
    assert!((mean - number("exact")).abs() < number("ci95") / 1.96 * 3.0, "{json}");
    assert!((0.007..0.009).contains(&number("ci95")), "{json}");
    let said = works(&folder, "play --rounds 1 --seed 4");
    assert!(said.contains("one round gives no interval"), "{said}");
}

#[test]
fn a_name_need_not_be_text() {
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
fn whoever_stops_reading_is_no_failure() {
    let folder = TempDir::new();
    folder.file("qtable", trained(StateSpace::Soft, 1, 10_000).to_file());
    let mut shell = std::process::Command::new("bash");
    let script = "set -o pipefail; for i in dump 'dump --format json' chart exact; do \"$0\" $i | head -c 1; done";
    shell.current_dir(folder.path()).args(["-c", script, env!("CARGO_BIN_EXE_qtable")]);
    let finished = Process::run(&mut shell);
    assert_eq!((finished.code, &*finished.stderr), (Some(0), ""), "{}", finished.stdout);
}
