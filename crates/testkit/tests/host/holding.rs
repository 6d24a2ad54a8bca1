//! What is held back until a journal is on disk.

use std::time::Duration;

use netcore::{Gone, Leave, Outcome, Time};
use netshell::{Host, MAX_HELD, MAX_HOLD};
use testkit::net::Witness;

use super::{BULK, Gate, NOW, Parrot, Script, Told, frames, is_ready, work};

/// How often the host looks at what it holds back.
const LOOK: Duration = Duration::from_secs(1);
const ANN: &str = "10.0.0.1:5000";
const BOB: &str = "10.0.0.2:5000";

/// A host whose outputs are held back, with Ann at 1 and Bob at 2, who were greeted.
fn host() -> (Host, Script, Gate, Witness) {
    let (script, gate, witness) = (Script::default(), Gate::default(), Witness::default());
    let room = Parrot { gate: gate.clone(), ..Parrot::default() };
    let mut host =
        Host::new(room).with_transport(script.clone()).with_hold(gate.clone()).with_observer(witness.clone());
    script.open(1, ANN);
    script.open(2, BOB);
    work(&mut host);
    assert_eq!(script.told(), [], "nothing is on disk");
    gate.reach(2);
    assert!(is_ready(&mut host));
    work(&mut host);
    assert_eq!(script.frames(), frames([(1, "hello 0"), (2, "hello 1")]));
    (host, script, gate, witness)
}

#[test]
fn what_follows_from_an_input_leaves_when_its_mark_is_reached_and_in_order() {
    let (mut host, script, gate, witness) = host();
    for message in ["echo", "all", "log", "notice", "bye"] {
        script.say(1, message);
        script.say(2, "2");
    }
    work(&mut host);
    assert_eq!((gate.mark(), script.told()), (12, vec![]), "the room goes on");
    assert!(!is_ready(&mut host));
    let mut told = |mark| {
        gate.reach(mark);
        assert!(is_ready(&mut host));
        work(&mut host);
        script.told()
    };
    let frame = |id, frame: &str| (id, Told::Frame(frame.into()));
    assert_eq!(told(3), [frame(1, "echo")]);
    assert_eq!(told(5), [frame(2, "2"), frame(1, "all 0"), frame(2, "all 0")]);
    assert_eq!(told(8), [frame(2, "2"), frame(1, "one"), frame(1, "two"), frame(2, "2")]);
    assert_eq!(witness.events().len(), 0, "what is told to an observer waits as well");
    assert_eq!(told(11), [frame(2, "2"), frame(1, "bye"), (1, Told::Closed)]);
    assert_eq!(witness.events().len(), 1);
    assert_eq!(told(12), [frame(2, "2")]);
    assert!(!is_ready(&mut host), "nothing is left");
}

#[test]
fn nothing_is_lost_for_the_others_when_a_peer_goes_meanwhile() {
    for why in [Gone::Left, Gone::Broken, Gone::Lagging] {
        let (mut host, script, gate, witness) = host();
        for message in ["echo", "all"] {
            script.say(1, message);
            script.say(2, message);
        }
        script.go(1, why);
        work(&mut host);
        gate.reach(7);
        work(&mut host);
        let told = script.frames();
        let to_bob: Vec<&str> = told.iter().filter(|(id, _)| *id == 2).map(|(_, frame)| &**frame).collect();
        assert_eq!(to_bob, ["echo", "all 0", "all 1", "gone 0"], "{why:?}");
        let to_ann = told.iter().filter(|(id, _)| *id == 1).count();
        assert_eq!(to_ann, if why == Gone::Left { 4 } else { 0 }, "who only said its last still reads: {why:?}");
        let [(_, address)] = &witness.events()[..] else { panic!("{:?}", witness.events()) };
        assert_eq!(address.as_deref(), Some(ANN), "{why:?}");
    }
}

#[test]
fn whoever_comes_meanwhile_is_not_told_what_was_said_to_everybody_before() {
    let (mut host, script, gate, _) = host();
    script.say(1, "all");
    script.open(3, "10.0.0.3:5000");
    script.say(2, "all");
    work(&mut host);
    gate.reach(5);
    work(&mut host);
    let told = script.frames();
    assert_eq!(
        told,
        frames([(1, "all 0"), (2, "all 0"), (3, "hello 2"), (1, "all 1"), (2, "all 1"), (3, "all 1")]),
        "as without a hold"
    );
}

#[test]
fn a_host_that_may_not_deliver_stops_reading_at_its_bound_and_goes_on_later() {
    let (mut host, script, gate, _) = host();
    for _ in 0..100 {
        script.say(1, "bulk");
    }
    work(&mut host);
    let taken = 100 - script.waiting();
    assert_eq!(taken, MAX_HELD / BULK, "one more than fits is not taken in");
    // It does not even ask for work that it could not do.
    assert!(!is_ready(&mut host));
    script.lock().wake_at = Some(Time::ZERO);
    assert_eq!(host.wake_at(), Some(NOW.plus(LOOK)), "no transport wakes it, but its patience ends");
    let mut told = 0;
    for mark in 3..=102 {
        gate.reach(mark);
        assert!(is_ready(&mut host));
        work(&mut host);
        told += script.told().len();
        assert_eq!(told as u64, mark - 2);
    }
    assert_eq!(script.waiting(), 0);
    assert!(!is_ready(&mut host));
}

#[test]
fn the_end_is_the_end_when_nothing_is_held_back_any_more() {
    let (mut host, script, gate, _) = host();
    host.stop(NOW, Leave::Over);
    assert_eq!(host.outcome(), None);
    // Nobody's words keep it busy meanwhile.
    script.say(1, "echo");
    script.lock().wake_at = Some(Time::ZERO);
    assert!(!is_ready(&mut host));
    assert_eq!(host.wake_at(), Some(NOW.plus(LOOK)));
    gate.reach(gate.mark());
    assert!(is_ready(&mut host));
    work(&mut host);
    assert_eq!(script.frames(), frames([(1, "stop"), (2, "stop")]));
    assert_eq!(host.outcome(), Some(Outcome::Stopped));
}

#[test]
fn a_hold_that_reaches_nothing_is_given_up_after_a_while() {
    let (mut host, script, gate, _) = host();
    script.say(1, "echo");
    work(&mut host);
    assert!(script.frames().is_empty(), "held back");
    // The process was stopped for a minute: that is not the hold's fault.
    let mut now = NOW.plus(Duration::from_secs(60));
    let mut waited = LOOK;
    loop {
        host.work(|| now).unwrap();
        assert_eq!(gate.is_given_up(), waited >= MAX_HOLD, "after {waited:?}");
        if gate.is_given_up() {
            break;
        }
        let wake = host.wake_at().unwrap();
        waited += wake.since(now);
        now = wake;
    }
    assert_eq!(script.frames().len(), 1, "and what it held back leaves");
}
