//! Runs of actions: a server decodes only the last one. For a game this is equivalent to decoding one by one, because
//! only the last one counts.

use bytes::BytesMut;
use netcore::{DecodeError, Protocol, wire::ShortText};
use proptest::{collection::vec, prelude::*};
use robots::{Action, ClientMessage, Direction, protocol::Robots};

use crate::streams::{action, bytes, one_by_one};

type Decode = fn(&mut BytesMut) -> Result<Option<ClientMessage>, DecodeError>;

fn in_runs(buffer: &mut BytesMut) -> Result<Option<ClientMessage>, DecodeError> {
    Robots::take(&mut (), buffer)
}

/// All messages in the buffer, and the error after them.
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

/// All messages except actions followed by another action.
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

/// A client's stream: runs of actions, Joins between them, and occasionally bytes that are not valid messages.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let actions = vec(action().prop_map(ClientMessage::Action), 1..6)
        .prop_map(|actions| actions.iter().flat_map(|action| bytes(action).to_vec()).collect());
    // A name whose bytes look like actions.
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
}

#[test]
fn a_run_of_actions_is_one_request() {
    let mut buffer = BytesMut::from(&[1, 2, 3, 0].repeat(10_000)[..]);
    // The last action is incomplete.
    buffer.extend_from_slice(&[3]);
    let last = ClientMessage::Action(Action::Move(Direction::Up));
    assert_eq!(drain(&mut buffer, in_runs), (vec![last], Ok(())));
    assert_eq!(buffer[..], [3]);
}
