//! The numbers for Prometheus, and the dashboard that shows them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::support::Hub;

/// The samples by their names, with labels, and the names that have help.
fn scrape(hub: &Hub) -> (BTreeMap<String, f64>, BTreeSet<String>) {
    let (head, text) = hub.get("/metrics");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("application/openmetrics-text"), "{head}");
    assert!(text.ends_with("# EOF\n"));
    let mut samples = BTreeMap::new();
    let mut helped = BTreeSet::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap();
            assert!(help.len() > 5, "{name}: {help}");
            helped.insert(name.to_owned());
        } else if !line.starts_with('#') {
            let (name, value) = line.rsplit_once(' ').unwrap();
            samples.insert(name.to_owned(), value.parse().unwrap());
        }
    }
    (samples, helped)
}

/// The name of a metric without its labels and the endings of its samples.
fn family(sample: &str) -> &str {
    let name = sample.split('{').next().unwrap();
    ["_bucket", "_count", "_sum", "_total", "_info"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

#[test]
fn every_metric_has_help_and_nobody_is_named() {
    let hub = Hub::start();
    let id = hub.room("nuggets")["id"].as_str().unwrap().to_owned();
    let mut browser = hub.socket(&format!("/rooms/{id}/socket"), None).unwrap();
    browser.say("PLAY Secretname");
    browser.until("DISPLAY");
    browser.say("nonsense");
    browser.until("ERROR");
    hub.get("/api/players/Secretname");
    hub.get("/nowhere/Secretname");
    let (samples, helped) = scrape(&hub);
    for name in samples.keys() {
        assert!(helped.contains(family(name)), "{name} has no help");
        assert!(!name.contains("Secretname") && !name.contains(&id), "{name}");
    }
    let value = |name: &str| samples.get(name).copied().unwrap_or_else(|| panic!("no {name} in {samples:?}"));
    assert!((value("arcade_rooms{game=\"nuggets\",phase=\"playing\"}") - 1.0).abs() < f64::EPSILON);
    assert!((value("arcade_rooms{game=\"robots\",phase=\"lobby\"}") - 1.0).abs() < f64::EPSILON);
    assert!((value("arcade_players{game=\"nuggets\",kind=\"person\"}") - 1.0).abs() < f64::EPSILON);
    assert!(value("arcade_messages_received_total{game=\"nuggets\"}") >= 1.0);
    assert!(value("arcade_messages_malformed_total{game=\"nuggets\"}") >= 1.0);
    assert!(value("arcade_messages_sent_total{game=\"nuggets\"}") >= 4.0);
    assert!(value("arcade_http_requests_total{method=\"GET\",route=\"/api/players/{name}\",status=\"404\"}") >= 1.0);
    assert!(value("arcade_http_requests_total{method=\"GET\",route=\"other\",status=\"404\"}") >= 1.0);
    assert!(value("arcade_journals_bytes") > 1_000.0);
    assert!(value("process_resident_memory_bytes") > 1e6 && value("process_cpu_seconds_total") > 0.0);
}

#[test]
fn the_dashboard_shows_what_there_is_and_all_of_it() {
    let hub = Hub::start();
    // The first request, which is counted once it is answered.
    hub.rooms();
    let (samples, _) = scrape(&hub);
    let exported: BTreeSet<&str> = samples.keys().map(|name| name.split('{').next().unwrap()).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/grafana/arcade.json");
    let text = fs::read_to_string(path).unwrap();
    // Also that it is JSON.
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let named: BTreeSet<&str> =
        words.filter(|word| word.starts_with("arcade_") || word.starts_with("process_")).collect();
    assert!(named.is_subset(&exported), "{:?}", named.difference(&exported));
    let families: BTreeSet<&str> = named.iter().map(|name| family(name)).collect();
    let unseen: Vec<_> = exported.iter().filter(|name| !families.contains(family(name))).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}
