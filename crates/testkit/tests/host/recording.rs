use netcore::{Admission, Time};
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

/// Sends until the connection is paused. Returns the number of received messages.
fn flood(host: &mut Host, script: &Script, id: u64, now: Time) -> usize {
    let mut received = 0;
    loop {
        script.send(id, "x");
        while host.work(|| now).unwrap() {}
        if !script.lock().paused.is_empty() {
            return received;
        }
        received += 1;
        assert!(received <= 1_000, "it is never paused");
    }
}

fn unknown_peer(host: &mut Host, script: &Script, address: &str) -> Option<Admission> {
    script.push(Event::UnknownPeer { address: address.parse().unwrap() });
    work(host);
    script.lock().admissions.pop().expect("the host answers")
}

#[test]
fn a_peer_whose_inputs_record_too_much_is_paused() {
    let (mut host, script) = host(RECORDS);
    script.open(1, EVE);
    work(&mut host);
    // Half of the burst is for peers that record little. Opening the connection counts too.
    let share = usize::try_from(RECORDED_RATE.burst / 2 / RECORDS).unwrap();
    assert_eq!(flood(&mut host, &script, 1, Time::ZERO), share);
    script.take_delivered();
    assert_eq!(script.lock().unprocessed.pop().unwrap().1, "x");
    let (_, until) = script.lock().paused.pop().unwrap();
    assert!(until > Time::ZERO && until <= at(20), "{until:?}");
    let second = usize::try_from(RECORDED_RATE.per_second / RECORDS).unwrap();
    let received = flood(&mut host, &script, 1, at(1_000));
    assert!(received.abs_diff(second) <= 1, "{received} inputs");
}

#[test]
fn unknown_addresses_of_a_host_that_records_too_much_are_refused() {
    let (mut host, script) = host(RECORDS);
    script.open(1, EVE);
    work(&mut host);
    assert_eq!(unknown_peer(&mut host, &script, ANN), Some(Admission::Ignored), "the room is asked");
    flood(&mut host, &script, 1, Time::ZERO);
    assert_eq!(unknown_peer(&mut host, &script, ANN), None);
    assert_eq!(unknown_peer(&mut host, &script, BOB), Some(Admission::Ignored));
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
    assert!(script.take_delivered().contains(&(4, super::Delivered::Closed)));
    script.disconnect(5, netcore::DisconnectReason::Broken);
    script.open(6, BOB);
    script.open(7, BOB);
    work(&mut host);
    assert_eq!(host.peers(), 4, "the end of a connection counted");
}
