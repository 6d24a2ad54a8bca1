use std::time::Duration;

use netcore::Time;
use netshell::Host;

use super::{Parrot, Script, frames, is_ready};

const TURN: Duration = Duration::from_millis(100);

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// The room has a turn every 100 ms and has completed the first one. Inputs gather for the given duration.
fn host(gathering: Duration) -> (Host, Script) {
    let script = Script::default();
    let room = Parrot { deadline: Some(at(100)), every: Some(TURN), ..Parrot::default() };
    let mut host = Host::new(room).with_transport(script.clone()).with_gathering(gathering);
    script.open(1, "10.0.0.1:5000");
    work_at(&mut host, 50);
    assert!(host.elapse(at(100)));
    assert_eq!(script.frames(), frames([(1, "hello 0"), (1, "elapsed")]));
    (host, script)
}

fn work_at(host: &mut Host, millis: u64) {
    while host.work(|| at(millis)).unwrap() {}
}

#[test]
fn inputs_after_a_deadline_gather_and_are_processed_together() {
    let (mut host, script) = host(Duration::from_millis(15));
    script.send(1, "one");
    assert!(!is_ready(&mut host), "it gathers");
    assert_eq!(host.wake_at(), Some(at(115)), "and is not forgotten");
    script.send(1, "two");
    work_at(&mut host, 115);
    assert_eq!(script.frames(), frames([(1, "one"), (1, "two")]));
    assert_eq!(host.wake_at(), Some(at(200)));
    script.send(1, "three");
    assert!(is_ready(&mut host), "until the next deadline it is processed at once");
}

#[test]
fn gathering_takes_no_more_than_a_fifth_of_a_turn() {
    let (mut host, script) = host(Duration::from_secs(1));
    script.send(1, "one");
    assert!(!is_ready(&mut host));
    assert_eq!(host.wake_at(), Some(at(120)));
}

#[test]
fn without_gathering_inputs_are_processed_immediately() {
    let (mut host, script) = host(Duration::ZERO);
    script.send(1, "one");
    assert!(is_ready(&mut host));
    assert_eq!(host.wake_at(), Some(at(200)));
}
