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
        // Shown only if the test fails, as the last line.
        eprintln!("{}", path.display());
        property(&fs::read(&path).unwrap());
    }
}

#[test]
fn each_target_is_run_with_its_corpus() {
    type Target = (&'static str, fn(&[u8]));
    let targets: [Target; 16] = [
        ("client_message", properties::client_message),
        ("server_message", properties::server_message),
        ("robots_client_message", properties::robots::client_message),
        ("robots_server_message", properties::robots::server_message),
        ("robots_draw_message", properties::robots::draw_message),
        ("robots_input_message", properties::robots::input_message),
        ("blackjack_player_message", properties::blackjack::player_message),
        ("blackjack_dealer_message", properties::blackjack::dealer_message),
        ("blackjack_table", properties::blackjack::table),
        ("mastermind_line", properties::mastermind::line),
        ("mastermind_client_message", properties::mastermind::client_message),
        ("mastermind_server_message", properties::mastermind::server_message),
        ("mastermind_record", properties::mastermind::record),
        ("journal", properties::journal::journal),
        ("room", properties::rooms::room),
        ("map", properties::map),
    ];
    for (target, property) in targets {
        for_each_file(target, property);
    }
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
        // Longer inputs would only slow down the fuzzer.
        if bytes.len() <= 100 {
            let path = corpus("client_message").join(name);
            assert_eq!(fs::read(&path).ok().as_deref(), Some(*bytes), "{} should hold it", path.display());
        }
    }
}
