use netcore::{DecodeError, DisconnectReason, Leave, Link, Outcome, PeerId, Role, Time};
use netshell::{ConnectionId, Host};

use super::{Delivered, Event, EventRecorder, NOW, Parrot, RecordedEvent, Script, frames, work};

const ANN: &str = "10.0.0.1:5000";
const BOB: &str = "10.0.0.2:5000";

fn host() -> (Host, [Script; 3], EventRecorder) {
    let (scripts, recorder) = ([(); 3].map(|()| Script::default()), EventRecorder::default());
    let host = Host::new(Parrot::default()).with_observer(recorder.clone());
    (scripts.iter().fold(host, |host, script| host.with_transport(script.clone())), scripts, recorder)
}

#[test]
fn peer_numbers_are_unique_across_transports() {
    let (host, [left, right, _], recorder) = host();
    let mut host = host.with_first_peer(PeerId(40));
    for round in 0..5 {
        left.open(round, ANN);
        right.open(round, ANN);
        work(&mut host);
        match round {
            0 => left.disconnect(round, DisconnectReason::Broken),
            1 => left.send(round, "bye"),
            _ => right.disconnect(round, DisconnectReason::Lagging),
        }
        work(&mut host);
    }
    let number = |(_, observed)| if let RecordedEvent::Connected(peer, ..) = observed { Some(peer.0) } else { None };
    let numbers: Vec<u64> = recorder.observed().into_iter().filter_map(number).collect();
    assert_eq!(numbers, (40..50).collect::<Vec<_>>());
    assert_eq!(host.peers(), 5);
}

#[test]
fn time_of_inputs_never_decreases() {
    let (mut host, [left, right, _], recorder) = host();
    left.open(1, ANN);
    assert!(host.work(|| Time::from_millis(1_000)).unwrap());
    right.open(1, BOB);
    assert!(host.work(|| Time::from_millis(400)).unwrap());
    host.stop(Time::ZERO, Leave::Over);
    let times: Vec<Time> = recorder.observed().into_iter().map(|(now, _)| now).collect();
    assert!(times.len() >= 2 && times.iter().all(|&now| now == Time::from_millis(1_000)), "{times:?}");
}

#[test]
fn a_broadcast_reaches_every_transport() {
    let (mut host, scripts, _) = host();
    for (id, script) in (7..).zip(&scripts) {
        script.open(id, ANN);
    }
    scripts[0].open(9, BOB);
    work(&mut host);
    let greeted: Vec<_> = scripts.iter().map(Script::take_delivered).collect();
    assert_eq!(greeted.iter().map(Vec::len).sum::<usize>(), 4);
    scripts[1].send(8, "all");
    work(&mut host);
    assert_eq!(scripts[0].frames(), frames([(7, "all 1"), (9, "all 1")]));
    assert_eq!(scripts[1].frames(), frames([(8, "all 1")]));
    assert_eq!(scripts[2].frames(), frames([(9, "all 1")]), "another 9 than that of the first transport");
    scripts[0].send(7, "bye");
    work(&mut host);
    assert_eq!(scripts[0].take_delivered(), [(7, Delivered::Frame("bye".into())), (7, Delivered::Closed)]);
    scripts[1].send(8, "all");
    scripts[0].send(7, "all");
    work(&mut host);
    assert_eq!(scripts[0].frames(), frames([(9, "all 1")]));
}

#[test]
fn histories_refreshes_and_answers_reach_their_peer() {
    let (mut host, scripts, _) = host();
    scripts[0].open(1, ANN);
    scripts[1].open(1, BOB);
    work(&mut host);
    for script in &scripts {
        script.take_delivered();
    }
    scripts[1].send(1, "log");
    scripts[1].send(1, "echo");
    work(&mut host);
    assert_eq!(scripts[1].frames(), frames([(1, "one"), (1, "two"), (1, "echo")]));
    assert!(host.refresh(NOW, 1, ConnectionId(1)));
    assert_eq!(scripts[1].take_delivered().len(), 1);
    assert!(!host.refresh(NOW, 1, ConnectionId(2)) && !host.refresh(NOW, 2, ConnectionId(1)));
    assert!(!host.refresh(NOW, 9, ConnectionId(1)), "no such transport");
    assert_eq!(scripts[0].take_delivered(), []);
}

#[test]
fn observer_receives_the_address_of_the_peer() {
    let (mut host, scripts, recorder) = host();
    scripts[0].open(1, ANN);
    // An IPv4 address is shown as such, even if it arrived on an IPv6 socket.
    scripts[1].push(Event::Opened { id: 1, link: Link::Stream, address: "[::ffff:10.0.0.2]:5000".parse().unwrap() });
    work(&mut host);
    for message in ["notice", "?"] {
        scripts[1].send(1, message);
        scripts[0].send(1, message);
    }
    work(&mut host);
    scripts[1].disconnect(1, DisconnectReason::Broken);
    scripts[0].disconnect(1, DisconnectReason::Left);
    work(&mut host);
    let observed: Vec<RecordedEvent> = recorder.observed().into_iter().map(|(_, observed)| observed).collect();
    let about = |wanted: u64, address: &str| {
        let (peer, address) = (PeerId(wanted), address.to_owned());
        let events = observed.iter().filter_map(|observed| match observed {
            RecordedEvent::Event(event, address) => Some((format!("{event:?}"), address.as_deref())),
            _ => None,
        });
        let own: Vec<_> = events.filter(|(event, _)| event.contains(&format!("PeerId({wanted})"))).collect();
        assert_eq!(own.len(), 2, "{own:?}");
        assert!(own.iter().all(|(_, told)| *told == Some(&*address)), "{own:?}");
        let why = DecodeError::Incomplete;
        for expected in [
            RecordedEvent::Connected(peer, Role::Player, address.clone()),
            RecordedEvent::Malformed(peer, address.clone(), why),
        ] {
            assert!(observed.contains(&expected), "{expected:?} in {observed:?}");
        }
        let is_gone = |it: &RecordedEvent| matches!(it, RecordedEvent::Gone(p, a, _) if *p == peer && *a == address);
        assert!(observed.iter().any(is_gone));
    };
    about(0, ANN);
    about(1, BOB);
}

#[test]
fn observer_receives_the_address_of_a_closed_peer() {
    let (mut host, scripts, recorder) = host();
    scripts[0].open(1, ANN);
    scripts[0].send(1, "out");
    work(&mut host);
    let [(_, address)] = &recorder.events()[..] else { panic!("{:?}", recorder.events()) };
    assert_eq!(address.as_deref(), Some(ANN));
    assert_eq!(host.peers(), 0);
}

#[test]
fn ended_host_processes_no_events() {
    let (mut host, scripts, _) = host();
    scripts[0].open(1, ANN);
    work(&mut host);
    host.stop(NOW, Leave::Over);
    assert_eq!(host.outcome(), Some(Outcome::Stopped));
    scripts[0].take_delivered();
    scripts[0].send(1, "echo");
    work(&mut host);
    assert_eq!((scripts[0].take_delivered().len(), scripts[0].waiting()), (0, 1));
}
