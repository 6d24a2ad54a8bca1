use std::time::Duration;

use bytes::Bytes;
use netcore::{Client as _, Departure, GameEvent, Leave, Link, Outcome, Output, PeerId, Room, Time};
use nuggets::{
    Client, Command, Config, End, Name, Participant, Rules,
    client::RETRIES,
    protocol::MAX_DATAGRAM,
    server::{DRAWN, UNPROVEN},
};
use proptest::prelude::*;

use crate::room::{RoomInput, TestRoom, events, large, on, sent};

const CABIN: &str =
    "+------------------------+\n|........................|\n|........................|\n+------------------------+\n";

fn ann() -> Participant {
    Participant::Player(Name::new(b"Ann").unwrap())
}

fn displays(outputs: &[Output], peer: u64) -> Vec<Bytes> {
    let mut frames = sent(outputs, peer);
    frames.retain(|frame| frame.windows(8).take(5).any(|front| front == b"DISPLAY\n"));
    frames
}

#[test]
fn only_stream_messages_have_a_length_prefix() {
    let played = |link| {
        let mut room = TestRoom::new(CABIN, Config::default());
        let mut outputs = room.join(1, link, b"PLAY Ann");
        outputs.extend(room.join(2, Link::Datagram, b"PLAY Bob"));
        outputs.extend(room.send(1, link, b"KEY ?"));
        outputs.extend(room.input(&RoomInput::Stop(Leave::Over)));
        outputs
    };
    let expected = played(Link::Datagram);
    for link in [Link::Datagram, Link::Stream, Link::Message] {
        let outputs = played(link);
        let behind_its_length: Vec<Vec<u8>> = sent(&expected, 1).iter().map(|frame| on(link, frame)).collect();
        assert_eq!(sent(&outputs, 1), behind_its_length, "{link:?}");
        assert_eq!(sent(&outputs, 1).len(), 7);
        assert_eq!(sent(&outputs, 2), sent(&expected, 2), "the other one's link is nothing to it");
    }
    assert_eq!(on(Link::Stream, b"OK A"), b"\0\0\0\x04OK A");
}

fn pieces<'a>(mut bytes: &'a [u8], lengths: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    lengths.iter().cycle().map_while(move |&length| {
        let piece = bytes.split_off(..length.min(bytes.len()))?;
        (!piece.is_empty()).then_some(piece)
    })
}

proptest! {
    #[test]
    fn a_stream_may_be_cut_anywhere(
        keys in prop::collection::vec(prop::sample::select(&b"hjklyubnHJKLYUBN?"[..]), 0..20),
        cuts in prop::collection::vec(1..12usize, 1..60),
    ) {
        let mut stream = on(Link::Stream, b"PLAY Ann");
        for key in keys {
            stream.extend(on(Link::Stream, &[b'K', b'E', b'Y', b' ', key]));
        }
        let (mut whole, mut cut) = (TestRoom::new(CABIN, Config::default()), TestRoom::new(CABIN, Config::default()));
        let [mut at_once, mut in_pieces] = [(); 2].map(|()| Client::with_link(Link::Stream, ann(), Time::ZERO));
        for room in [&mut whole, &mut cut] {
            room.connect(1, Link::Stream);
        }
        let expected = sent(&whole.input(&RoomInput::Bytes(1, stream.clone())), 1).concat();
        let mut received = |piece: &[u8]| sent(&cut.input(&RoomInput::Bytes(1, piece.to_vec())), 1).concat();
        let got: Vec<u8> = pieces(&stream, &cuts).flat_map(&mut received).collect();
        prop_assert_eq!(&got, &expected);
        prop_assert_eq!(cut.state(), whole.state());
        // The client receives the server's output, split at any byte too.
        at_once.receive(Time::ZERO, &expected).unwrap();
        for piece in pieces(&expected, &cuts) {
            in_pieces.receive(Time::ZERO, piece).unwrap();
        }
        prop_assert_eq!(in_pieces.display(), at_once.display());
        prop_assert!(in_pieces.position().is_some());
        prop_assert_eq!(in_pieces.end(), at_once.end());
        prop_assert_eq!(in_pieces.displays(), at_once.displays());
    }
}

#[test]
fn length_above_the_maximum_is_rejected_from_its_prefix() {
    let long = u32::try_from(MAX_DATAGRAM + 1).unwrap().to_be_bytes();
    let mut room = TestRoom::new(CABIN, Config::default());
    room.connect(1, Link::Stream);
    let outputs = room.input(&RoomInput::Bytes(1, long.to_vec()));
    assert!(sent(&outputs, 1)[0].starts_with(b"\0\0\0"));
    assert!(outputs.contains(&Output::Close { peer: PeerId(1) }));
    let mut client = Client::with_link(Link::Stream, ann(), Time::ZERO);
    assert!(client.receive(Time::ZERO, &long).is_err());
    assert!(client.receive(Time::ZERO, &on(Link::Stream, b"OK A")).is_err(), "nothing behind it can be read");
    assert_eq!(client.letter(), None);
}

#[test]
fn the_longest_message_passes_in_any_pieces() {
    let mut room = TestRoom::new(CABIN, Config::default());
    room.connect(1, Link::Stream);
    let name = [&b"PLAY "[..], &vec![b'x'; MAX_DATAGRAM - 5]].concat();
    let stream = on(Link::Stream, &name);
    let (most, last) = stream.split_at(stream.len() - 1);
    assert_eq!(room.input(&RoomInput::Bytes(1, most.to_vec())), []);
    assert_eq!(sent(&room.input(&RoomInput::Bytes(1, last.to_vec())), 1)[0], b"\0\0\0\x04OK A"[..]);
}

#[test]
fn malformed_message_ends_a_stream() {
    let mut room = TestRoom::with(CABIN, Config::default(), Link::Stream, &["PLAY Ann", "SPECTATE", "KEY h"]);
    for peer in 1..=3 {
        let outputs = room.send(peer, Link::Stream, b"OK A");
        let text = b"QUIT malformed message: byte 0: this is a message of a server";
        assert_eq!(sent(&outputs, peer), [on(Link::Stream, text)]);
        assert!(outputs.contains(&Output::Close { peer: PeerId(peer) }));
        let left = |event: &GameEvent| matches!(event, GameEvent::Left { why: Departure::Dismissed(_), .. });
        assert_eq!(events(&outputs).iter().filter(|event| left(event)).count(), usize::from(peer < 3));
    }
    assert_eq!(room.engine_room.status().taken, 0);
}

#[test]
fn malformed_whole_message_keeps_the_connection() {
    let mut room = TestRoom::with(CABIN, Config::default(), Link::Message, &["PLAY Ann"]);
    assert!(sent(&room.send(1, Link::Message, b"nonsense"), 1)[0].starts_with(b"ERROR malformed message"));
    assert_eq!(room.engine_room.status().taken, 1);
}

#[test]
fn traffic_to_an_address_is_bounded_and_the_newest_display_is_sent() {
    assert_eq!((DRAWN.per_second, DRAWN.burst), (8 << 20, 64 << 20));
    let mut room = TestRoom::with(&large(), Config::default(), Link::Datagram, &["PLAY Ann"]);
    let run = |room: &mut TestRoom, keys: usize| -> usize {
        room.runs(1, Link::Datagram, keys).flat_map(|outputs| sent(&outputs, 1)).map(|frame| frame.len()).sum()
    };
    let burst = run(&mut room, 1_040);
    assert!(burst <= DRAWN.burst as usize && burst + 65_305 > DRAWN.burst as usize, "{burst} bytes");
    room.send(1, Link::Datagram, b"KEY j");
    let newest = displays(&room.elapse(), 1);
    assert_eq!(newest.len(), 1);
    let stands = room.engine_room.engine().game().players()[0].cell.unwrap();
    assert_eq!(newest[0][8 + stands.index()], b'@', "as it is now");
    assert_eq!(room.engine_room.deadline(), None, "and then there is nothing to tell");
    room.now = room.now.plus(Duration::from_secs(1));
    let second = run(&mut room, 300);
    assert!(second <= DRAWN.per_second as usize && second + 65_305 > DRAWN.per_second as usize, "{second} bytes");
}

#[test]
fn exhausted_client_sees_moves_of_others_immediately() {
    let mut room = TestRoom::with(&large(), Config::default(), Link::Datagram, &["PLAY Ann", "PLAY Bob"]);
    (1..=2).for_each(|peer| drop(room.send(peer, Link::Datagram, b"KEY ?")));
    room.runs(1, Link::Datagram, 1_040).for_each(drop);
    assert!(displays(&room.send(1, Link::Datagram, b"KEY j"), 1).is_empty());
    let outputs = room.send(2, Link::Datagram, b"KEY H");
    assert_eq!((displays(&outputs, 1).len(), displays(&outputs, 2).len()), (1, 1));
    let after = if room.engine_room.deadline().is_some() { room.elapse() } else { vec![] };
    assert!(displays(&after, 1).is_empty(), "that picture was the newest");
}

#[test]
fn addresses_that_cannot_be_forged_are_not_paced() {
    for link in [Link::Stream, Link::Message] {
        let mut room = TestRoom::with(&large(), Config::default(), link, &["PLAY Ann", "PLAY Bob", "SPECTATE"]);
        for _ in 0..5 {
            assert_eq!(displays(&room.send(1, link, b"PLAY Ann"), 1).len(), 1, "as often as it asks");
        }
        let mut bytes = 0;
        for outputs in room.runs(2, link, 1_040) {
            assert_eq!([1, 2, 3].map(|peer| displays(&outputs, peer).len()), [1, 1, 1], "{link:?}");
            bytes += sent(&outputs, 2).iter().map(Bytes::len).sum::<usize>();
        }
        assert!(bytes > DRAWN.burst as usize);
    }
    // A spectator over datagrams without a key is paced.
    let mut room = TestRoom::with(&large(), Config::default(), Link::Message, &["PLAY Ann"]);
    room.join(2, Link::Datagram, b"SPECTATE");
    let shown: usize = room.runs(1, Link::Message, 40).map(|outputs| displays(&outputs, 2).len()).sum();
    assert_eq!(shown, UNPROVEN.burst as usize / 65_305 - 1, "the welcome was one");
}

#[test]
fn refresh_restores_a_new_client() {
    let rules = Rules { gold: 9, min_piles: 2, max_piles: 2, ..Rules::default() };
    for link in [Link::Datagram, Link::Stream, Link::Message] {
        let config = Config { rules, ..Config::default() };
        let mut room = TestRoom::with(CABIN, config, link, &["PLAY Ann", "SPECTATE", "KEY h"]);
        // Use up the budget, if there is one.
        (0..5_000).for_each(|_| drop(room.send(1, link, b"PLAY Ann")));
        let known = displays(&room.input(&RoomInput::Refresh(1)), 1);
        for (peer, part) in [(1, ann()), (2, Participant::Spectator)] {
            let mut client = Client::with_link(link, part, Time::ZERO);
            for frame in sent(&room.input(&RoomInput::Refresh(peer)), peer) {
                client.receive(Time::ZERO, &frame).unwrap();
            }
            assert!(client.is_joined(), "{link:?}");
            assert_eq!(client.remaining(), 9);
            assert_eq!(client.position().is_some(), peer == 1);
        }
        assert!(known[0].ends_with(&sent(&room.input(&RoomInput::Refresh(1)), 1)[3]));
        assert_eq!(room.input(&RoomInput::Refresh(3)), [], "it has no seat");
    }
}

#[test]
fn no_retries_over_reliable_links() {
    for link in [Link::Stream, Link::Message] {
        let mut client = Client::with_link(link, ann(), Time::ZERO);
        assert_eq!(client.take_outgoing().unwrap(), on(link, b"PLAY Ann"));
        client.elapsed(Time::ZERO.plus(RETRIES[0]));
        assert_eq!(client.take_outgoing(), None);
        for message in [&b"OK A"[..], b"GRID 2 3", b"GOLD 0 0 250", b"DISPLAY\n.@.\n  #\n"] {
            client.receive(Time::ZERO, &on(link, message)).unwrap();
        }
        client.act(Time::ZERO, Command::Leave);
        assert_eq!(client.take_outgoing().unwrap(), on(link, b"KEY Q"));
        client.elapsed(Time::from_millis(1_000));
        assert_eq!(client.take_outgoing(), None);
        client.disconnected(Time::from_millis(1_000), netcore::DisconnectReason::Broken);
        assert!(client.is_over());
        assert_eq!(client.end(), Some(&End::Disconnected(netcore::DisconnectReason::Broken)));
    }
}

#[test]
fn resumable_stop_sends_nothing() {
    let mut room = TestRoom::new(CABIN, Config::default());
    for (peer, link) in [(1, Link::Datagram), (2, Link::Stream), (3, Link::Message)] {
        room.join(peer, link, b"PLAY Ann");
    }
    assert_eq!(room.input(&RoomInput::Stop(Leave::Resumable)), []);
    assert_eq!(room.engine_room.outcome(), Some(Outcome::Stopped));
}
