use netcore::{Client as _, DisconnectReason, Time};
use robots::{Action, Client, Direction, ServerMessage, client::MAX_OUTGOING};

use crate::{
    streams::bytes,
    table::{config, text},
};

const NOW: Time = Time::ZERO;

fn stream(messages: &[ServerMessage]) -> Vec<u8> {
    messages.iter().flat_map(bytes).collect()
}

fn beginning() -> Vec<u8> {
    stream(&[
        ServerMessage::Hello(config().parameters),
        ServerMessage::GameStarted { players: [].into() },
        ServerMessage::Turn { turn: 0, events: vec![] },
        ServerMessage::Turn { turn: 1, events: vec![] },
    ])
}

#[test]
fn client_decodes_bytes_in_any_pieces() {
    let bytes = beginning();
    for size in 1..=bytes.len() {
        let mut client = Client::new(text("Ann"), None);
        client.act(NOW, Action::PlaceBlock);
        assert_eq!(client.take_outgoing().as_deref(), Some(&b"\0\x03Ann"[..]));
        for piece in bytes.chunks(size) {
            client.receive(NOW, piece).unwrap();
        }
        assert_eq!(client.game().unwrap().turn(), 1);
        client.act(NOW, Action::PlaceBlock);
        client.act(NOW, Action::Move(Direction::Left));
        let out = || client.take_outgoing();
        assert_eq!(std::iter::from_fn(out).collect::<Vec<_>>(), [&[2][..], &[3, 3]]);
        assert_eq!((client.deadline(NOW), client.is_over()), (None, false));
    }
}

#[test]
fn each_message_can_be_shown_separately() {
    let mut client = Client::new(text("Ann"), None);
    client.feed(&beginning());
    let mut due = vec![];
    while let Some(event) = client.poll_event().unwrap() {
        due.push(event.is_picture_due());
    }
    assert_eq!(due, [true, false, true, true]);
    assert!(!client.incoming().is_within_message());
}

#[test]
fn malformed_bytes_end_the_client_with_their_offset() {
    let mut client = Client::new(text("Ann"), None);
    let bytes = [beginning(), vec![3, 0, 2, 0, 0, 0, 1, 9]].concat();
    client.act(NOW, Action::PlaceBomb);
    let wrong = client.receive(NOW, &bytes).unwrap_err();
    let place = format!("byte {} of the stream (byte 7 of message 5, a Turn): 9 is no tag of Event", bytes.len() - 1);
    assert!(wrong.to_string().starts_with(&place), "{wrong}");
    assert_eq!(client.game().unwrap().turn(), 1, "what came before counts");
    assert!(client.is_over() && client.take_outgoing().is_none());
    assert_eq!(client.receive(NOW, &[9, 9]), Ok(()));
    client.act(NOW, Action::PlaceBomb);
    assert!(client.take_outgoing().is_none());
}

#[test]
fn client_is_silent_after_the_end() {
    let mut client = Client::new(text("Ann"), None);
    client.receive(NOW, &beginning()).unwrap();
    client.act(NOW, Action::PlaceBomb);
    client.disconnected(NOW, DisconnectReason::Broken);
    client.receive(NOW, &stream(&[ServerMessage::GameEnded { scores: [].into() }])).unwrap();
    assert!(client.is_over() && client.take_outgoing().is_none());
    assert!(client.game().is_some(), "it shows what it showed");
}

#[test]
fn full_outgoing_queue_replaces_its_newest_message() {
    let mut client = Client::new(text("Ann"), None);
    client.receive(NOW, &beginning()).unwrap();
    for _ in 0..10_000 {
        client.act(NOW, Action::PlaceBomb);
    }
    client.act(NOW, Action::PlaceBlock);
    let all: Vec<_> = std::iter::from_fn(|| client.take_outgoing()).collect();
    assert_eq!((all.len(), &all[all.len() - 1][..]), (MAX_OUTGOING, &[2][..]));
}
