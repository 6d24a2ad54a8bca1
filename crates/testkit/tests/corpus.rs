use std::{
    fs,
    path::{Path, PathBuf},
};

use testkit::{
    hostile::{MALFORMED, Malformed},
    properties,
};

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

fn for_each_file(target: &str, property: fn(&[u8])) {
    let folder = corpus(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 10, "{} should hold a corpus", folder.display());
    for path in paths {
        // Shown only when the test fails: then it is the last line.
        eprintln!("{}", path.display());
        property(&fs::read(&path).unwrap());
    }
}

#[test]
fn client_message() {
    for_each_file("client_message", properties::client_message);
}

#[test]
fn server_message() {
    for_each_file("server_message", properties::server_message);
}

#[test]
fn robots_client_message() {
    for_each_file("robots_client_message", properties::robots::client_message);
}

#[test]
fn robots_server_message() {
    for_each_file("robots_server_message", properties::robots::server_message);
}

#[test]
fn robots_draw_message() {
    for_each_file("robots_draw_message", properties::robots::draw_message);
}

#[test]
fn robots_input_message() {
    for_each_file("robots_input_message", properties::robots::input_message);
}

#[test]
fn blackjack_player_message() {
    for_each_file("blackjack_player_message", properties::blackjack::player_message);
}

#[test]
fn blackjack_dealer_message() {
    for_each_file("blackjack_dealer_message", properties::blackjack::dealer_message);
}

#[test]
fn blackjack_table() {
    for_each_file("blackjack_table", properties::blackjack::table);
}

#[test]
fn mastermind_line() {
    for_each_file("mastermind_line", properties::mastermind::line);
}

#[test]
fn mastermind_client_message() {
    for_each_file("mastermind_client_message", properties::mastermind::client_message);
}

#[test]
fn mastermind_server_message() {
    for_each_file("mastermind_server_message", properties::mastermind::server_message);
}

#[test]
fn mastermind_record() {
    for_each_file("mastermind_record", properties::mastermind::record);
}

#[test]
fn journal() {
    for_each_file("journal", properties::journal::journal);
}

#[test]
fn room() {
    for_each_file("room", properties::rooms::room);
}

#[test]
fn map() {
    for_each_file("map", properties::map);
}

#[test]
fn properties_hold_for_the_maps_and_for_malformed_datagrams() {
    let maps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../maps");
    for entry in fs::read_dir(maps).unwrap() {
        properties::map(&fs::read(entry.unwrap().path()).unwrap());
    }
    for Malformed { bytes, .. } in MALFORMED {
        properties::client_message(bytes);
        properties::server_message(bytes);
    }
}

#[test]
fn the_corpus_contains_the_malformed_datagrams() {
    for Malformed { name, bytes } in MALFORMED {
        // The longest ones would only slow down the fuzzer.
        if bytes.len() <= 100 {
            let path = corpus("client_message").join(name);
            assert_eq!(fs::read(&path).ok().as_deref(), Some(*bytes), "{} should hold it", path.display());
        }
    }
}
