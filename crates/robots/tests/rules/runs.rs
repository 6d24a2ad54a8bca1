//! Runs of actions, of which a server reads the last: to a game the same as one by one.

use bytes::BytesMut;
use netcore::{DecodeError, Engine, Input, Link, Outbox, Output, PeerId, Protocol, Role, Time, wire::ShortText};
use proptest::{collection::vec, prelude::*};
use robots::{Action, ClientMessage, Direction, Server, protocol::Robots};

use crate::{
    streams::{action, bytes, one_by_one},
    table::config,
};

type Decode = fn(&mut BytesMut) -> Result<Option<ClientMessage>, DecodeError>;

fn in_runs(buffer: &mut BytesMut) -> Result<Option<ClientMessage>, DecodeError> {
    Robots::take(&mut (), buffer)
}

/// All messages that are there, and what is wrong behind them.
fn drain(buffer: &mut BytesMut, decode: Decode) -> (Vec<ClientMessage>, Result<(), DecodeError>) {
    let mut messages = vec![];
    loop {
        match decode(buffer) {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return (messages, Ok(())),
            Err(why) => return (messages, Err(why)),
        }
    }
}

/// All but the actions that another follows.
fn last_of_runs(messages: Vec<ClientMessage>) -> Vec<ClientMessage> {
    let mut kept: Vec<ClientMessage> = vec![];
    for message in messages {
        if let (Some(ClientMessage::Action(last)), &ClientMessage::Action(action)) = (kept.last_mut(), &message) {
            *last = action;
        } else {
            kept.push(message);
        }
    }
    kept
}

const SENDER: PeerId = PeerId(0);

/// A server, and the stream of one of its clients.
#[derive(Debug)]
struct End {
    server: Server,
    buffer: BytesMut,
}

impl End {
    /// The sender is the first to join or looks on, in the lobby or in a game of two.
    fn new(joins: bool, playing: bool) -> Self {
        let mut server = Server::new(config()).unwrap();
        let joiners = [(joins, SENDER), (playing, PeerId(1)), (!joins || !playing, PeerId(2))];
        let link = Link::Stream;
        for (joins, peer) in joiners {
            let mut out = Outbox::new();
            let connected = Input::Connected { peer, role: Role::Player, link, address: "1.2.3.4:5".into() };
            server.input(Time::ZERO, connected, &mut out);
            // A lobby has room for one more.
            if joins && (playing || server.players().is_empty()) {
                let request = ClientMessage::Join { name: ShortText::default() };
                server.input(Time::ZERO, Input::Message { peer, message: request }, &mut out);
            }
        }
        assert_eq!(server.game().is_some(), playing);
        Self { server, buffer: BytesMut::new() }
    }

    /// Takes in a piece of the sender's stream: what the server says, and whether the piece was wrong.
    fn hear(&mut self, now: Time, piece: &[u8], decode: Decode) -> (Vec<Output>, bool) {
        self.buffer.extend_from_slice(piece);
        let (messages, end) = drain(&mut self.buffer, decode);
        let mut out = Outbox::new();
        for request in messages {
            self.server.input(now, Input::Message { peer: SENDER, message: request }, &mut out);
        }
        let refused = end.is_err();
        if let Err(why) = end {
            self.server.input(now, Input::Malformed { peer: SENDER, why }, &mut out);
        }
        (out.drain().collect(), refused)
    }

    fn end_turn(&mut self, due: Time) -> Vec<Output> {
        let mut out = Outbox::new();
        self.server.input(due, Input::Elapsed, &mut out);
        out.drain().collect()
    }
}

/// A client's stream: runs of actions, Joins between them, and now and then bytes that are neither.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let actions = vec(action().prop_map(ClientMessage::Action), 1..6)
        .prop_map(|actions| actions.iter().flat_map(|action| bytes(action).to_vec()).collect());
    // A name that reads like actions.
    let join = "[a-z\\x00-\\x03]{0,4}"
        .prop_map(|name| bytes(&ClientMessage::Join { name: ShortText::try_from(name).unwrap() }).to_vec());
    let wrong = vec(any::<u8>(), 1..3);
    vec(prop_oneof![8 => actions, 2 => join, 1 => wrong], 0..12).prop_map(|pieces: Vec<Vec<u8>>| pieces.concat())
}

proptest! {
    #[test]
    fn of_a_run_of_actions_the_last_that_is_whole_is_read(stream in stream(), step in 1..40_usize) {
        let mut buffers = [BytesMut::new(), BytesMut::new()];
        for piece in stream.chunks(step) {
            for buffer in &mut buffers {
                buffer.extend_from_slice(piece);
            }
            let (messages, end) = drain(&mut buffers[0], one_by_one);
            prop_assert_eq!(drain(&mut buffers[1], in_runs), (last_of_runs(messages), end.clone()));
            prop_assert_eq!(&buffers[0], &buffers[1]);
            if end.is_err() {
                break;
            }
        }
    }

    #[test]
    fn a_run_of_actions_does_to_a_game_what_its_actions_do_one_by_one(
        stream in stream(), step in 1..20_usize, turns in vec(any::<bool>(), 1..20),
        joins in any::<bool>(), playing in any::<bool>(),
    ) {
        let (mut plain, mut skipping) = (End::new(joins, playing), End::new(joins, playing));
        let mut now = Time::ZERO;
        for (piece, turn) in stream.chunks(step).zip(turns.into_iter().cycle()) {
            let (said, is_wrong) = plain.hear(now, piece, one_by_one);
            prop_assert_eq!(skipping.hear(now, piece, in_runs), (said, is_wrong));
            // What each player wants to do in the coming turn is part of it.
            prop_assert_eq!(format!("{plain:?}"), format!("{skipping:?}"));
            if is_wrong {
                break;
            }
            if turn && let Some(due) = plain.server.deadline() {
                now = due;
                prop_assert_eq!(plain.end_turn(now), skipping.end_turn(now));
            }
        }
    }
}

#[test]
fn a_run_of_actions_is_one_request() {
    let mut buffer = BytesMut::from(&[1, 2, 3, 0].repeat(10_000)[..]);
    // The last is not whole.
    buffer.extend_from_slice(&[3]);
    let last = ClientMessage::Action(Action::Move(Direction::Up));
    assert_eq!(drain(&mut buffer, in_runs), (vec![last], Ok(())));
    assert_eq!(buffer[..], [3]);
}
