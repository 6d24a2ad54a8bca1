//! Runs the public conformance kit against a room of the hub.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Hub, native};

#[test]
#[ignore = "a whole run of the kit; .ci/run runs it"]
fn a_room_of_mastermind_passes_the_kit() {
    let hub = Hub::with(&["--no-default-rooms"]);
    let room = hub.make(&json!({ "game": "mastermind" }));
    let mut kit = Command::new(testkit::programs::build(&["conformance"]).join("conformance"));
    kit.args(["mastermind-server", "--format", "json", "--patience", "15", "--at", &native(&room).to_string()]);
    let output = kit.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rules = report["rules"].as_array().unwrap();
    let others: Vec<&Value> = rules.iter().filter(|rule| rule["verdict"] != "pass").collect();
    assert!(output.status.success() && others.is_empty(), "{others:#?}");
}
