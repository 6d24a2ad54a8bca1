use testkit::{process::Process, signpost::Signpost};

use super::Dealer;
use crate::programs::program;

fn player(arguments: &[&str]) -> Process {
    Process::start(program("player").arg("Ann").args(arguments))
}

#[test]
fn a_player_goes_on_where_the_room_is_now() {
    let signpost = Signpost::new();
    let first = Dealer::start("1000000 --delay-ms 1");
    let ann = player(&["127.0.0.1", &first.port.to_string(), "--best", "--directory", &signpost.url()]);
    ann.wait_stderr("a game", |text| text.contains(" rounds, ").then_some(()));
    first.process.kill();
    first.process.wait_for_end();
    ann.wait_stderr("a loss", |text| text.contains("locating the room").then_some(()));
    signpost.is_asked();
    let second = Dealer::start("5 --delay-ms 0");
    signpost.point("blackjack", second.port);
    let finished = ann.wait_for_end().ended(0);
    let rounds: u64 = finished.stdout.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(rounds > 5, "what was played before counts: {}", finished.stdout);
    assert!(finished.stderr.contains("does not locate the room") && finished.stderr.contains("status 503"));
    second.process.wait().ended(0);
}

#[test]
fn a_person_who_plays_by_lines_goes_on_too() {
    let signpost = Signpost::new();
    let first = Dealer::start("1 --players 2");
    signpost.point("blackjack", first.port);
    let mut command = program("player");
    let mut ann = Process::start_with_stdin(command.args(["Ann", "--human", "--directory", &signpost.url()]));
    let mut other = first.text("Bob");
    other.until_asked();
    first.process.kill();
    first.process.wait_for_end();
    ann.wait_stderr("a loss", |text| text.contains("locating the room").then_some(()));
    let hands = |text: &str| text.matches("hit, stand, advice or quit?").count();
    // It may have had no hand yet.
    let before = hands(&ann.stdout());
    let second = Dealer::start("1");
    signpost.point("blackjack", second.port);
    ann.wait_stdout("a hand at the other dealer", |text| (hands(text) > before).then_some(()));
    ann.write("stand\n");
    let finished = ann.wait_for_end().ended(0);
    assert!(finished.stdout.contains("in 2 games"), "{}", finished.stdout);
}

#[test]
fn a_player_that_finds_no_dealer_stops_by_a_signal() {
    let signpost = Signpost::new();
    let gone = Dealer::start("1");
    let port = gone.port.to_string();
    gone.process.kill();
    gone.process.wait_for_end();
    let ann = player(&["127.0.0.1", &port, "--best", "--directory", &signpost.url()]);
    signpost.is_asked();
    ann.terminate();
    ann.wait().ended(0);
}
