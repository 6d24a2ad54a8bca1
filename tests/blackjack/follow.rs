use testkit::{process::Process, signpost::Signpost};

use super::Dealer;
use crate::programs::program;

fn player(arguments: &[&str]) -> Process {
    Process::start(program("player").arg("Ann").args(arguments))
}

#[test]
fn a_player_continues_in_a_room_that_has_moved() {
    let signpost = Signpost::new();
    let first = Dealer::start("1000000 --delay-ms 1");
    let ann = player(&["127.0.0.1", &first.port.to_string(), "--best", "--directory", &signpost.url()]);
    ann.wait_stderr("a game", |text| text.contains(" rounds ").then_some(()));
    first.process.kill();
    first.process.wait_for_end();
    ann.wait_stderr("a loss", |text| text.contains("locating the room").then_some(()));
    signpost.wait_for_request();
    let second = Dealer::start("5 --delay-ms 0");
    signpost.set_location("blackjack", second.port);
    let finished = ann.wait_for_end().ended(0);
    let rounds: u64 = finished.stdout.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(rounds > 5, "what was played before counts: {}", finished.stdout);
    assert!(finished.stderr.contains("does not locate the room") && finished.stderr.contains("status 503"));
    second.process.wait().ended(0);
}
