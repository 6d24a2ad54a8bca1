//! Peers whose inputs take much space in a recording.

use netcore::{Admission, Link, Time};
use netshell::{Host, RECORDED_RATE};

use super::{Event, Parrot, Script, work};

const ANN: &str = "10.0.0.1:5000";
const EVE: &str = "10.0.0.1:6000";
const BOB: &str = "10.0.0.2:5000";
const RECORDS: u32 = 1_000;

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

fn host(records: u32) -> (Host, Script) {
    let script = Script::default();
    let host = Host::new(Parrot { records, ..Parrot::default() }).with_transport(script.clone());
    (host, script)
}

/// Lets a connection send messages until it is paused; returns how many of them the room received.
fn flood(host: &mut Host, script: &Script, id: u64, now: Time) -> usize {
    let mut heard = 0;
    loop {
        script.say(id, "x");
        while host.work(|| now).unwrap() {}
        if !script.lock().paused.is_empty() {
            return heard;
        }
        heard += 1;
        assert!(heard <= 1_000, "it is never paused");
    }
}

fn stranger(host: &mut Host, script: &Script, address: &str) -> Option<Admission> {
    script.happens(Event::Stranger { address: address.parse().unwrap() });
    work(host);
    script.lock().admissions.pop().expect("the host answers")
}

#[test]
fn a_peer_is_charged_for_what_its_inputs_record_and_is_paused() {
    let (mut host, script) = host(RECORDS);
    script.open(1, EVE);
    work(&mut host);
    // Half of the burst is for peers that record little. Opening the connection counts too.
    let share = usize::try_from(RECORDED_RATE.burst / 2 / RECORDS).unwrap();
    assert_eq!(flood(&mut host, &script, 1, Time::ZERO), share);
    script.told();
    // The transport holds its message back, and the room has not received it.
    assert_eq!(script.lock().kept.pop().unwrap().1, "x");
    let (_, until) = script.lock().paused.pop().unwrap();
    assert!(until > Time::ZERO && until <= at(20), "{until:?}");
    // A second later it may record the amount allowed per second.
    let second = usize::try_from(RECORDED_RATE.per_second / RECORDS).unwrap();
    let heard = flood(&mut host, &script, 1, at(1_000));
    assert!(heard.abs_diff(second) <= 1, "{heard} inputs");
}

#[test]
fn neighbours_and_others_are_heard_while_a_peer_is_paused() {
    let (mut host, script) = host(RECORDS);
    for (id, address) in [(1, EVE), (2, ANN), (3, BOB)] {
        script.open(id, address);
    }
    work(&mut host);
    flood(&mut host, &script, 1, Time::ZERO);
    script.lock().paused.clear();
    script.told();
    script.say(2, "ann");
    script.say(3, "bob");
    work(&mut host);
    assert_eq!(script.frames(), super::frames([(2, "ann"), (3, "bob")]));
    assert_eq!(script.lock().paused, []);
    // A neighbour that does not record little is paused too; other peers are not.
    for _ in 0..10 {
        script.say(2, "ann");
        script.say(3, "bob");
    }
    work(&mut host);
    let paused = std::mem::take(&mut script.lock().paused);
    assert!(!paused.is_empty() && paused.iter().all(|&(id, _)| id == 2), "{paused:?}");
}

#[test]
fn strangers_of_a_host_that_records_too_much_are_refused() {
    let (mut host, script) = host(RECORDS);
    script.open(1, EVE);
    work(&mut host);
    assert_eq!(stranger(&mut host, &script, ANN), Some(Admission::Ignored), "the room is asked");
    flood(&mut host, &script, 1, Time::ZERO);
    assert_eq!(stranger(&mut host, &script, ANN), None);
    assert_eq!(stranger(&mut host, &script, BOB), Some(Admission::Ignored));
}

#[test]
fn connections_and_their_ends_are_charged_to_their_host() {
    let (mut host, script) = host(RECORDED_RATE.burst / 2);
    for id in 1..=3 {
        script.open(id, EVE);
    }
    work(&mut host);
    assert_eq!(host.peers(), 3, "a whole burst and one more");
    script.open(4, EVE);
    script.open(5, BOB);
    work(&mut host);
    assert_eq!(host.peers(), 4, "only the one from elsewhere is accepted");
    assert!(script.told().contains(&(4, super::Told::Closed)));
    script.go(5, netcore::Gone::Broken);
    script.open(6, BOB);
    script.open(7, BOB);
    work(&mut host);
    assert_eq!(host.peers(), 4, "the end of a connection counted");
}

#[test]
fn inputs_without_a_peer_are_charged_to_no_host() {
    let parrot = Parrot { records: RECORDED_RATE.burst, deadline: Some(Time::ZERO), ..Parrot::default() };
    let script = Script::default();
    let mut host = Host::new(parrot).with_transport(script.clone());
    assert!(host.elapse(Time::ZERO));
    host.resume(Time::ZERO, [(netcore::PeerId(1), Link::Message, ANN.parse().unwrap())]);
    script.open(1, EVE);
    work(&mut host);
    script.open(2, EVE);
    work(&mut host);
    assert_eq!(host.peers(), 2, "only the first of the two was charged, with the whole burst");
}

#[test]
fn inputs_that_record_nothing_are_never_paused() {
    let (mut host, script) = host(0);
    script.open(1, EVE);
    work(&mut host);
    for _ in 0..10_000 {
        script.say(1, "x");
    }
    work(&mut host);
    assert_eq!((script.waiting(), script.lock().paused.len()), (0, 0));
}
