use std::fs;

use testkit::{TempDir, process::Process};

use super::server;
use crate::programs::workspace;

#[test]
fn every_map_of_ours_keeps_the_rules() {
    let mut checked = 0;
    for entry in fs::read_dir(workspace().join("maps")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let finished = Process::run(server().arg("--check-map").arg(&path));
            assert_eq!(finished.code, Some(0), "{}", finished.stdout);
            assert!(finished.stdout.contains("the map keeps all rules"), "{}", finished.stdout);
            checked += 1;
        }
    }
    assert!(checked >= 5);
}

#[test]
fn the_built_in_map_is_one_of_them() {
    let finished = Process::run(server().arg("--check-map"));
    assert_eq!(finished.code, Some(0), "{}", finished.stdout);
    assert!(finished.stdout.contains("the built-in map: the map keeps all rules"), "{}", finished.stdout);
}

#[test]
fn breaches_are_told_by_row_and_column() {
    let maps = TempDir::new();
    let path = maps.file("broken.txt", "+--#\n|..|\n+--+\n");
    let finished = Process::run(server().args(["--check-map", &path]));
    assert_eq!(finished.code, Some(1));
    assert!(finished.stdout.contains("row 1, column 4: a passage breaks a corner"), "{}", finished.stdout);
    assert!(finished.stdout.contains("2 room spots are too few"), "{}", finished.stdout);
    assert!(finished.stdout.ends_with("rows and columns count from 1\n"), "{}", finished.stdout);
    assert_eq!(finished.stderr, "");
}

#[test]
fn what_cannot_be_played_is_told_too() {
    let maps = TempDir::new();
    for (content, said) in [("..x\n", "row 1, column 3: 'x'"), ("", "the map is empty"), ("###\n", "no room spot")] {
        let finished = Process::run(server().args(["--check-map", &maps.file("map.txt", content)]));
        assert_eq!(finished.code, Some(1));
        assert!(finished.stdout.contains(said), "{}", finished.stdout);
    }
}

#[test]
fn a_file_that_is_not_there_is_an_error_and_no_report() {
    let maps = TempDir::new();
    let path = maps.path().join("missing.txt");
    let finished = Process::run(server().arg("--check-map").arg(&path));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
}

#[test]
fn fragments_are_mentioned() {
    let checked = |map: &str| Process::run(server().arg("--check-map").arg(workspace().join("maps").join(map))).stdout;
    assert!(checked("main.txt").contains("travels in fragments on Ethernet"));
    assert!(checked("brawl.txt").contains("fits one Ethernet frame"));
}
