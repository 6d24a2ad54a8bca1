use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::support::{Hub, raw};

fn scrape(hub: &Hub) -> BTreeMap<String, f64> {
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: {}\r\nAccept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\nConnection: close\r\n\r\n",
        hub.address
    );
    let answer = hub.raw(&request);
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("application/openmetrics-text"), "{head}");
    assert!(text.ends_with("# EOF\n"));
    let samples = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.rsplit_once(' ').unwrap());
    samples.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

fn family(sample: &str) -> &str {
    let name = sample.split('{').next().unwrap();
    ["_bucket", "_count", "_sum", "_total", "_info"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

#[test]
fn metrics_count_and_contain_no_names() {
    let hub = Hub::start();
    let id = hub.nuggets()["id"].as_str().unwrap().to_owned();
    let mut browser = hub.socket(&format!("/rooms/{id}/socket"), None).unwrap();
    browser.send("PLAY Secretname");
    browser.until("DISPLAY");
    browser.send("nonsense");
    browser.until("ERROR");
    hub.get("/api/players/Secretname");
    hub.get("/nowhere/Secretname");
    let samples = scrape(&hub);
    for name in samples.keys() {
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

/// Not allowed in names: types, and units other than the base units of Prometheus.
const WRONG: [&str; 14] = [
    "milliseconds",
    "ms",
    "minutes",
    "hours",
    "days",
    "percent",
    "kilobytes",
    "megabytes",
    "kib",
    "mib",
    "counter",
    "gauge",
    "histogram",
    "summary",
];

// As `promtool check metrics`, which reads the older of the two formats.
#[test]
fn metrics_follow_the_naming_rules_of_prometheus() {
    let hub = Hub::start();
    hub.rooms();
    let (head, text) = hub.get("/metrics");
    assert!(head.contains("text/plain; version=0.0.4") && head.contains("vary: accept"), "{head}");
    let described = |what: &str| -> BTreeMap<&str, &str> {
        text.lines().filter_map(|line| line.strip_prefix(what)?.split_once(' ')).collect()
    };
    let (help, types) = (described("# HELP "), described("# TYPE "));
    assert!(help.keys().eq(types.keys()) && help.values().all(|help| help.len() > 5), "{help:?} {types:?}");
    let mut seen = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let sample = line.split(['{', ' ']).next().unwrap();
        let histogram = ["_bucket", "_sum", "_count"].iter().find_map(|end| sample.strip_suffix(end));
        let name = histogram.filter(|name| types.get(name) == Some(&"histogram")).unwrap_or(sample);
        assert!(types.contains_key(name), "{line} has no type");
        seen.insert(name);
    }
    for (name, kind) in types {
        assert!(seen.contains(name), "{name} has no sample");
        assert!(["counter", "gauge", "histogram"].contains(&kind), "{name}: {kind}");
        assert_eq!(name.ends_with("_total"), kind == "counter", "{name} is a {kind}");
        assert!(!name.split('_').any(|word| WRONG.contains(&word)), "{name}");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
    }
}

#[test]
fn metrics_are_local_unless_configured() {
    let hub = Hub::with(&["--no-default-rooms", "--proxy", "127.0.0.1", "--metrics", "127.0.0.1:0"]);
    let request = |path: &str, headers: &str| {
        hub.raw(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Connection: close\r\n\r\n"))
    };
    assert!(request("/metrics", "").starts_with("HTTP/1.1 200"));
    for header in ["X-Forwarded-For: 203.0.113.9\r\n", "X-Forwarded-For: 127.0.0.1\r\n", "Forwarded: for=192.0.2.1\r\n"]
    {
        let answer = request("/metrics", header);
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("--metrics"), "{answer}");
    }
    // This address serves only metrics.
    let port: u16 = hub.process.wait_stderr("the metrics address", |log| {
        let (_, rest) = log.split_once("http://127.0.0.1:")?;
        rest.split_once("/metrics")?.0.parse().ok()
    });
    let request = |path: &str| {
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: arcade:9100\r\nX-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n\r\n"
        );
        raw(([127, 0, 0, 1], port).into(), &head)
    };
    assert!(request("/metrics").starts_with("HTTP/1.1 200"));
    assert!(request("/").starts_with("HTTP/1.1 404") && request("/api/rooms").starts_with("HTTP/1.1 404"));
}

#[test]
fn dashboard_shows_exactly_the_exported_metrics() {
    let hub = Hub::start();
    // Counted after its response.
    hub.rooms();
    let samples = scrape(&hub);
    let exported: BTreeSet<&str> = samples.keys().map(|name| name.split('{').next().unwrap()).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/grafana/arcade.json");
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let named: BTreeSet<&str> =
        words.filter(|word| word.starts_with("arcade_") || word.starts_with("process_")).collect();
    assert!(named.is_subset(&exported), "{:?}", named.difference(&exported));
    let families: BTreeSet<&str> = named.iter().map(|name| family(name)).collect();
    let unseen: Vec<_> = exported.iter().filter(|name| !families.contains(family(name))).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}
