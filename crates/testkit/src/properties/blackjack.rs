use std::mem;

use blackjack::{
    Action, Blackjack, Client, DealerMessage, Dialect, Name, PlayerMessage, QTable, StateSpace, Verdict,
    client::MessageEffect,
    learn::{Choice, Explore, Trainer},
    protocol::{DealerDecoder, MAX_MESSAGE, PlayerDecoder},
    qtable::{MAX_FILE, Trouble},
};
use bytes::BytesMut;
use netcore::{Client as _, DecodeError, Framing, Protocol, Time};

/// Bytes of an incomplete message: all but the last, including the length of a binary one.
const MOST_KEPT: usize = MAX_MESSAGE as usize + 4;
/// Sizes of the pieces in which a stream arrives, besides the whole.
const PIECES: [usize; 6] = [1, 2, 3, 7, 64, 300];

pub fn player_message(bytes: &[u8]) {
    let decoder = || {
        let mut decoder = PlayerDecoder::default();
        move |buffer: &mut BytesMut| Blackjack::take(&mut decoder, buffer)
    };
    let (slowly, error) = in_pieces(bytes, 1, decoder());
    let mut read = 0;
    for request in &slowly {
        let written = request.message.to_bytes(request.dialect);
        assert_eq!(written, bytes[read..read + written.len()], "each message has one form");
        read += written.len();
        assert_eq!(Some(request.dialect), Dialect::of_first_byte(bytes[0]));
    }
    for pieces in PIECES.into_iter().chain([bytes.len().max(1)]) {
        let (found, why) = in_pieces(bytes, pieces, decoder());
        assert_eq!((found, why.map(kind)), (slowly.clone(), error.clone().map(kind)), "in pieces of {pieces}");
    }
    // In one frame, a text message may lack its NUL.
    let mut decoder = PlayerDecoder::default();
    if let Ok(request) = decoder.decode(bytes) {
        let written = request.message.to_bytes(request.dialect);
        assert!(written == bytes || written[..written.len() - 1] == *bytes);
    } else {
        assert!(slowly.len() != 1 || error.is_some() || read != bytes.len());
        let other = PlayerMessage::Join(Name::new(b"Ann").expect("a name"));
        for dialect in [Dialect::Text, Dialect::Binary] {
            assert!(decoder.clone().decode(&other.to_bytes(dialect)).is_ok(), "the decoder keeps no state");
        }
    }
    if let Ok(message) = PlayerMessage::parse_binary(bytes) {
        assert_eq!(message.to_bytes(Dialect::Binary)[4..], *bytes);
    }
}

/// Dealer messages as a player decodes them, and the player's state.
pub fn dealer_message(bytes: &[u8]) {
    for dialect in [Dialect::Text, Dialect::Binary] {
        let decoder = || {
            let mut decoder = DealerDecoder::new(dialect);
            move |buffer: &mut BytesMut| decoder.decode(buffer)
        };
        let (messages, error) = in_pieces(bytes, bytes.len().max(1), decoder());
        for pieces in PIECES {
            let (found, why) = in_pieces(bytes, pieces, decoder());
            assert_eq!((&found, why.map(kind)), (&messages, error.clone().map(kind)), "in pieces of {pieces}");
        }
        let mut read = 0;
        for message in &messages {
            let mut written = message.to_bytes(dialect).to_vec();
            // The only message with two encodings.
            if *message == DealerMessage::Result(Verdict::Lose) && bytes[read..].starts_with(b"RESULT LOSE") {
                written = b"RESULT LOSE\0".to_vec();
            }
            assert_eq!(written, bytes[read..read + written.len()], "each message has one form");
            read += written.len();
        }
        receive_all(&messages);
        let slowly = stands(bytes, dialect, 1);
        let last = slowly.0.last();
        assert!(slowly.0.len() <= 1 + messages.len());
        assert!(last.is_none_or(|last| *last != PlayerMessage::Hit.to_bytes(dialect)));
        assert!(!slowly.2 || error.is_some() || !messages.is_empty());
        stands(bytes, dialect, bytes.len().max(1));
        if let [message] = messages[..]
            && error.is_none()
        {
            let whole = DealerDecoder::new(dialect).decode_whole(bytes).ok();
            assert_eq!(whole, Some(message).filter(|_| bytes.len() == read));
        }
    }
}

fn client(dialect: Dialect, space: StateSpace) -> Client {
    Client::new(Name::new(b"Ann").expect("a name"), dialect, Framing::Stream, space)
}

// A player that always stands: its answers, its final hand, and whether it is over.
fn stands(bytes: &[u8], dialect: Dialect, pieces: usize) -> (Vec<Vec<u8>>, u8, bool) {
    let (mut player, mut said) = (client(dialect, StateSpace::Soft), vec![]);
    for piece in bytes.chunks(pieces) {
        let received = player.receive(Time::ZERO, piece);
        assert!(received.is_ok() || player.is_over());
        player.act(Time::ZERO, Choice::sure(Action::Stand));
        said.extend(std::iter::from_fn(|| player.take_outgoing()).map(|message| message.to_vec()));
    }
    (said, player.hand().total(), player.is_over())
}

// Plays by the messages while they are valid, and learns from them. Hits sometimes, but never with 21.
fn receive_all(messages: &[DealerMessage]) {
    for space in [StateSpace::Coarse, StateSpace::Soft] {
        let (mut player, mut table) = (client(Dialect::Text, space), QTable::new(space));
        let (mut decided, mut over) = (0_u64, false);
        for &message in messages {
            let (before, in_round) = (player.points(), player.in_round());
            let Ok(event) = player.apply(message) else {
                // The player is unchanged, and accepts valid messages.
                assert_eq!((player.points(), player.in_round()), (before, in_round));
                assert_eq!(player.apply(DealerMessage::Quit).is_err(), over, "nothing follows QUIT");
                break;
            };
            assert!(!over);
            match event.effect {
                MessageEffect::DecisionDue => {
                    let state = player.state().expect("asked");
                    assert!(!player.points().is_bust());
                    let hits = decided.is_multiple_of(2) && state.total() < 21;
                    let action = if hits { Action::Hit } else { Action::Stand };
                    assert_eq!(player.decide(Choice::sure(action)), Ok(action.into()));
                    assert!(player.decide(Choice::sure(action)).is_err(), "asked once");
                    decided += 1;
                }
                MessageEffect::Ended { verdict, lesson, .. } => {
                    assert!(lesson.is_none() || event.anomaly.is_none());
                    if let Some(lesson) = lesson {
                        lesson.teach(&mut table, verdict);
                    }
                }
                MessageEffect::Quit => over = true,
                MessageEffect::Began | MessageEffect::Dealt | MessageEffect::Ignored => {}
            }
        }
        let learned: u64 = table.visited().map(|(_, entry)| entry.visits()).sum();
        assert!(learned <= decided);
    }
}

fn in_pieces<T>(
    bytes: &[u8],
    pieces: usize,
    mut decode: impl FnMut(&mut BytesMut) -> Result<Option<T>, DecodeError>,
) -> (Vec<T>, Option<DecodeError>) {
    let (mut buffer, mut messages) = (BytesMut::new(), vec![]);
    for piece in bytes.chunks(pieces) {
        buffer.extend_from_slice(piece);
        loop {
            match decode(&mut buffer) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(why) => return (messages, Some(why)),
            }
        }
        assert!(buffer.len() < MOST_KEPT, "{} bytes are buffered", buffer.len());
    }
    (messages, None)
}

// How early an error is found depends on how much of a message has arrived.
fn kind(error: DecodeError) -> DecodeError {
    match error {
        DecodeError::TooLong { max, .. } => DecodeError::TooLong { length: 0, max },
        error => error,
    }
}

/// Encoding reverses decoding, or the error names the place.
pub fn table(file: &[u8]) {
    let mut file = file.to_vec();
    let mut result = QTable::from_file(&file);
    // A fuzzer cannot find checksums, so errors in the last line are corrected as the error message states.
    for _ in 0..2 {
        let Err(error) = &result else { break };
        let words = match error.trouble {
            Trouble::Checksum(announced, found) => [format!(" {announced:08x}\n"), format!(" {found:08x}\n")],
            Trouble::Lines(announced, found) => [format!("end {announced} "), format!("end {found} ")],
            _ => break,
        };
        let [wrong, right] = words.map(String::into_bytes);
        let line: usize = file.split_inclusive(|&byte| byte == b'\n').take(error.line - 1).map(<[u8]>::len).sum();
        let at =
            line + file[line..].windows(wrong.len()).position(|window| window == wrong).expect("it was read there");
        file.splice(at..at + wrong.len(), right);
        let before = mem::replace(&mut result, QTable::from_file(&file));
        assert_ne!(result, before);
    }
    match result {
        Ok(table) => whole(&table, &file),
        Err(error) => {
            let lines = file.split(|&byte| byte == b'\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(error.to_string().bytes().all(|byte| matches!(byte, b' '..=b'~')), "{error:?}");
        }
    }
}

fn whole(table: &QTable, file: &[u8]) {
    assert_eq!(table.to_file(), file, "there is one way to write a table");
    assert!(file.len() <= MAX_FILE);
    assert_eq!(table.dump().lines().count(), table.visited().count());
    let policy = table.policy();
    for (state, entry) in table.visited() {
        assert_eq!(table.best(state), policy.action(state));
        assert!(entry.visits() > 0);
    }
    let mut twice = table.clone();
    if twice.merge(table).is_ok() {
        assert_eq!(twice.since(table), *table);
    }
    // Training can continue, however full the table is.
    let mut trainer = Trainer::seeded(table.clone(), Explore::UntilConfident, 1, 0);
    trainer.play(10).expect("no round takes all cards");
    assert!(trainer.table().visited().count() >= table.visited().count());
}
