use std::time::Duration;

use netcore::{DisconnectReason, Leave, Outcome, Phase, Status, Time};
use netshell::{Host, MAX_HELD, SLOW_HOLD};

use super::{BULK, Delivered, EventRecorder, Gate, NOW, Parrot, RecordedEvent, Script, frames, is_ready, work};

/// The interval between checks of held-back outputs.
const LOOK: Duration = Duration::from_secs(5);
const ANN: &str = "10.0.0.1:5000";
const BOB: &str = "10.0.0.2:5000";

/// Ann (1) and Bob (2) have been greeted.
fn host() -> (Host, Script, Gate, EventRecorder) {
    let (script, gate, recorder) = (Script::default(), Gate::default(), EventRecorder::default());
    let room = Parrot { gate: gate.clone(), ..Parrot::default() };
    let mut host =
        Host::new(room).with_transport(script.clone()).with_hold(gate.clone()).with_observer(recorder.clone());
    script.open(1, ANN);
    script.open(2, BOB);
    work(&mut host);
    assert_eq!(script.take_delivered(), [], "nothing is on disk");
    gate.reach(2);
    assert!(is_ready(&mut host));
    work(&mut host);
    assert_eq!(script.frames(), frames([(1, "hello 0"), (2, "hello 1")]));
    (host, script, gate, recorder)
}

#[test]
fn outputs_leave_in_order_when_their_mark_is_reached() {
    let (mut host, script, gate, recorder) = host();
    for message in ["echo", "all", "log", "notice", "bye"] {
        script.send(1, message);
        script.send(2, "2");
    }
    work(&mut host);
    assert_eq!((gate.position(), script.take_delivered()), (12, vec![]), "the room goes on");
    assert!(!is_ready(&mut host));
    let mut told = |mark| {
        gate.reach(mark);
        assert!(is_ready(&mut host));
        work(&mut host);
        script.take_delivered()
    };
    let frame = |id, frame: &str| (id, Delivered::Frame(frame.into()));
    assert_eq!(told(3), [frame(1, "echo")]);
    assert_eq!(told(5), [frame(2, "2"), frame(1, "all 0"), frame(2, "all 0")]);
    assert_eq!(told(8), [frame(2, "2"), frame(1, "one"), frame(1, "two"), frame(2, "2")]);
    assert_eq!(recorder.events().len(), 0, "events for the observer wait as well");
    assert_eq!(told(11), [frame(2, "2"), frame(1, "bye"), (1, Delivered::Closed)]);
    assert_eq!(recorder.events().len(), 1);
    assert_eq!(told(12), [frame(2, "2")]);
    assert!(!is_ready(&mut host), "nothing is left");
}

#[test]
fn other_peers_receive_held_outputs_after_a_disconnect() {
    for why in [DisconnectReason::Left, DisconnectReason::Broken, DisconnectReason::Lagging] {
        let (mut host, script, gate, recorder) = host();
        for message in ["echo", "all"] {
            script.send(1, message);
            script.send(2, message);
        }
        script.disconnect(1, why);
        work(&mut host);
        gate.reach(7);
        work(&mut host);
        let told = script.frames();
        let to_bob: Vec<&str> = told.iter().filter(|(id, _)| *id == 2).map(|(_, frame)| &**frame).collect();
        assert_eq!(to_bob, ["echo", "all 0", "all 1", "gone 0"], "{why:?}");
        let to_ann = told.iter().filter(|(id, _)| *id == 1).count();
        let expected = if why == DisconnectReason::Left { 4 } else { 0 };
        assert_eq!(to_ann, expected, "a peer that only stopped sending still reads: {why:?}");
        let [(_, address)] = &recorder.events()[..] else { panic!("{:?}", recorder.events()) };
        assert_eq!(address.as_deref(), Some(ANN), "{why:?}");
    }
}

#[test]
fn a_peer_that_connects_meanwhile_receives_no_earlier_broadcasts() {
    let (mut host, script, gate, _) = host();
    script.send(1, "all");
    script.open(3, "10.0.0.3:5000");
    script.send(2, "all");
    work(&mut host);
    gate.reach(5);
    work(&mut host);
    let told = [(1, "all 0"), (2, "all 0"), (3, "hello 2"), (1, "all 1"), (2, "all 1"), (3, "all 1")];
    assert_eq!(script.frames(), frames(told), "as without a hold");
}

#[test]
fn peer_that_reconnects_to_its_seat_receives_no_outputs_of_earlier_inputs() {
    let (mut host, script, gate, _) = host();
    for message in ["echo", "all", "log"] {
        script.send(1, message);
    }
    script.refresh(1);
    script.send(2, "all");
    script.send(1, "bye");
    work(&mut host);
    gate.reach(gate.position());
    work(&mut host);
    let frame = |id, frame: &str| (id, Delivered::Frame(frame.into()));
    let earlier = [frame(2, "all 0")];
    let later = [frame(1, "again 0"), frame(1, "all 1"), frame(2, "all 1"), frame(1, "bye"), (1, Delivered::Closed)];
    assert_eq!(script.take_delivered(), [&earlier[..], &later].concat());
}

#[test]
fn a_host_with_too_many_held_outputs_stops_reading_and_continues_later() {
    let (mut host, script, gate, _) = host();
    for _ in 0..100 {
        script.send(1, "bulk");
    }
    work(&mut host);
    let taken = 100 - script.waiting();
    assert_eq!(taken, MAX_HELD / BULK, "one more than fits is not taken in");
    assert!(!is_ready(&mut host));
    script.lock().wake_at = Some(Time::ZERO);
    assert_eq!(host.wake_at(), Some(NOW.plus(LOOK)), "no transport wakes it, but it looks whether the disk responds");
    let mut told = 0;
    for mark in 3..=102 {
        gate.reach(mark);
        assert!(is_ready(&mut host));
        work(&mut host);
        told += script.take_delivered().len();
        assert_eq!(told as u64, mark - 2);
    }
    assert_eq!(script.waiting(), 0);
    assert!(!is_ready(&mut host));
}

#[test]
fn stopped_host_ends_after_all_held_outputs_are_sent() {
    let (mut host, script, gate, _) = host();
    host.stop(NOW, Leave::Over);
    assert_eq!(host.outcome(), None);
    script.send(1, "echo");
    script.lock().wake_at = Some(Time::ZERO);
    assert!(!is_ready(&mut host));
    assert_eq!(host.wake_at(), Some(NOW.plus(LOOK)));
    gate.reach(gate.position());
    assert!(is_ready(&mut host));
    work(&mut host);
    assert_eq!(script.frames(), frames([(1, "stop"), (2, "stop")]));
    assert_eq!(host.outcome(), Some(Outcome::Stopped));
}

#[test]
fn observer_receives_status_after_outputs_of_earlier_inputs() {
    let (mut host, script, gate, recorder) = host();
    let observed = || recorder.observed().into_iter().skip(2).map(|(_, event)| event).collect::<Vec<_>>();
    script.send(1, "notice");
    work(&mut host);
    host.stop(NOW, Leave::Over);
    assert_eq!(observed(), []);
    gate.reach(3);
    work(&mut host);
    assert!(matches!(observed()[..], [RecordedEvent::Event(..)]), "{:?}", observed());
    gate.reach(4);
    work(&mut host);
    let over = RecordedEvent::Status(Status { phase: Phase::Over, taken: 0, seats: 0 });
    assert_eq!(observed()[1..], [over]);
}

#[test]
fn outputs_wait_for_their_hold_without_a_limit() {
    let (mut host, script, gate, _) = host();
    script.send(1, "echo");
    work(&mut host);
    let mut now = NOW;
    for _ in 0..100 {
        now = host.wake_at().unwrap().max(now.plus(LOOK));
        host.work(|| now).unwrap();
        assert!(script.frames().is_empty(), "after {now:?}");
    }
    assert!(now.since(NOW) > SLOW_HOLD);
    gate.reach(gate.position());
    host.work(|| now).unwrap();
    assert_eq!(script.frames().len(), 1);
}

#[test]
fn hold_is_notified_when_outputs_have_waited_for_ten_seconds_and_when_they_are_sent() {
    let (mut host, script, gate, _) = host();
    let mut now = NOW;
    for _ in 0..2 {
        script.send(1, "echo");
        let from = now;
        host.work(|| now).unwrap();
        while gate.lock().stalls.is_empty() {
            now = host.wake_at().unwrap();
            assert!(now <= from.plus(SLOW_HOLD), "not notified");
            host.work(|| now).unwrap();
        }
        assert_eq!(now, from.plus(SLOW_HOLD));
        host.work(|| now).unwrap();
        assert_eq!(std::mem::take(&mut gate.lock().stalls), [true]);
        gate.reach(gate.position());
        host.work(|| now).unwrap();
        assert_eq!(std::mem::take(&mut gate.lock().stalls), [false]);
    }
    now = host.wake_at().unwrap();
    host.work(|| now).unwrap();
    assert_eq!(host.wake_at(), None);
}

#[test]
fn a_host_whose_hold_is_full_takes_no_input() {
    let (mut host, script, gate, _) = host();
    gate.lock().full = true;
    script.send(1, "echo");
    work(&mut host);
    assert_eq!((script.waiting(), is_ready(&mut host)), (1, false));
    gate.lock().full = false;
    work(&mut host);
    assert_eq!(script.waiting(), 0);
}

#[test]
fn a_host_whose_hold_is_lost_sends_nothing_and_fails_with_the_reason() {
    let (mut host, script, gate, _) = host();
    script.send(1, "echo");
    work(&mut host);
    gate.lock().lost = true;
    let failed = host.work(|| NOW).unwrap_err();
    assert_eq!((failed.to_string().as_str(), script.frames().len()), ("the disk is gone", 0));
}
