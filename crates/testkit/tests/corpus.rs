use std::{
    collections::BTreeSet,
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

/// Each fuzz target and its property.
const TARGETS: [(&str, fn(&[u8])); 16] = [
    ("client_message", properties::client_message),
    ("server_message", properties::server_message),
    ("map", properties::map),
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
];

#[test]
fn each_property_holds_for_the_corpus_of_its_target() {
    let targets = fs::read_dir(corpus("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let known = TARGETS.map(|(target, _)| target.to_owned());
    assert_eq!(targets.collect::<BTreeSet<_>>(), BTreeSet::from(known));
    for (target, property) in TARGETS {
        let folder = corpus(target);
        let mut paths: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(paths.len() >= 10, "{} should hold a corpus", folder.display());
        for path in paths {
            // Shown only when the test fails: then it is the last line.
            eprintln!("{}", path.display());
            property(&fs::read(&path).unwrap());
        }
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
        // The longest ones would only slow down the fuzzer.
        if bytes.len() <= 100 {
            let path = corpus("client_message").join(name);
            assert_eq!(fs::read(&path).ok().as_deref(), Some(*bytes), "{} should hold it", path.display());
        }
    }
}
