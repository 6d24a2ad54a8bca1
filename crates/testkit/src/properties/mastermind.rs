use bytes::BytesMut;
use mastermind::{
    Client, ClientMessage, Code, Day, Mastermind, Origin, Puzzle, Record, Rules, ServerMessage,
    code::{MAX_COLOURS, MAX_LENGTH, MIN_LENGTH},
    game::{Action, TURNS},
    protocol::{Decoder, MAX_MESSAGE, MAX_NAME, MAX_TOLD},
    record::MAX_RECORD,
    view::TurnRecord,
};
use netcore::{Client as _, Framing, Link, Protocol, Time};

pub fn line(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(code) = text.parse::<Code>() {
        assert_eq!(code.to_string(), text, "a code is written as it is read");
        assert!((MIN_LENGTH..=MAX_LENGTH).contains(&code.len()));
        assert_eq!(Action::parse(&text), Ok(Action::Guess(code)));
        assert_eq!(Code::new(&code.pegs().collect::<Vec<_>>()), Ok(code));
        assert_eq!(code.counts().iter().map(|&count| usize::from(count)).sum::<usize>(), code.len());
    }
    match Action::parse(&text) {
        Ok(Action::Guess(code)) => assert_eq!(code.to_string(), text),
        Ok(Action::Lifeline(lifeline)) => assert!(text.eq_ignore_ascii_case(match lifeline {
            mastermind::Lifeline::Colour => "lifeline#1",
            mastermind::Lifeline::Place => "lifeline#2",
        })),
        Err(error) => assert!(error.to_string().len() < 200, "an error is a line: {error}"),
    }
}

/// Encoding reverses decoding, over frames and in lines with arbitrary splits.
pub fn client_message(bytes: &[u8]) {
    if let Ok(message) = ClientMessage::parse(bytes) {
        let written = message.to_frame(Framing::Whole);
        assert!(written.len() <= bytes.len(), "decoding adds no bytes");
        assert_eq!(ClientMessage::parse(&written), Ok(message.clone()));
        if let ClientMessage::Play(name) = message {
            assert!((1..=MAX_NAME).contains(&name.as_str().len()));
            assert!(name.as_str().bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name:?}");
        }
    }
    let whole = Mastermind::decode(&mut Decoder, bytes, Framing::Whole);
    assert_eq!(whole.is_err(), bytes.len() > MAX_MESSAGE);
    let read = |piece: usize| {
        let (mut decoder, mut buffer, mut all) = (Decoder, BytesMut::new(), vec![]);
        for piece in bytes.chunks(piece) {
            buffer.extend_from_slice(piece);
            loop {
                match Mastermind::take(&mut decoder, &mut buffer) {
                    Ok(Some(line)) => all.push(line),
                    Ok(None) => break,
                    Err(_) => return all,
                }
            }
        }
        all
    };
    assert_eq!(read(1), read(bytes.len().max(1)));
}

/// Encoding reverses decoding. Whatever state a message leaves in a client, a refresh corrects it.
pub fn server_message(bytes: &[u8]) {
    if let Ok(message) = ServerMessage::parse(bytes) {
        let written = message.to_frame(Framing::Whole);
        assert_eq!(written, bytes, "a message is written in one way");
        assert!(written.len() <= MAX_TOLD);
    }
    let told =
        ["ROOM solo 4 8 no", "OK 1", "SEAT 1 Ann", "GAME 1 1 4 no", "ROW 1 1 1234 0 3", "TURN 2 available used 0"];
    let mut client = Client::new(Link::Message, None);
    for text in told {
        client.receive(Time::ZERO, text.as_bytes()).expect("a server says this");
    }
    let _ = client.receive(Time::ZERO, bytes);
    for place in client.places().values() {
        let lines = place.board.as_ref().map_or(&[][..], |board| &board.lines[..]);
        assert!(lines.len() <= TURNS && lines.is_sorted_by_key(TurnRecord::turn));
    }
    for text in told {
        client.receive(Time::ZERO, text.as_bytes()).expect("a server says this");
    }
    assert_eq!((client.seat(), client.places().len()), (Some(1), 1));
    assert_eq!(client.board().map(|board| board.lines.len()), Some(1));
    // As a stream, with a line of the client's own at its end.
    let mut client = Client::new(Link::Stream, None);
    for piece in bytes.chunks(3) {
        if client.receive(Time::ZERO, piece).is_err() {
            return;
        }
    }
}

/// Encoding reverses decoding.
pub fn record(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<Record>() {
        Ok(record) => {
            let written = record.to_string();
            assert!(written.len() <= MAX_RECORD);
            assert_eq!(written.parse(), Ok(record.clone()));
            assert!(record.streak() <= record.best_streak() && record.lost() <= record.played());
            for width in [0, 1, 40] {
                let bars = record.bars(width);
                assert_eq!(bars.lines().count(), record.won().len() + 1);
                let longest = bars.lines().map(|line| line.chars().filter(|&shown| shown == '█').count()).max();
                assert!(longest <= Some(width.max(1)), "{bars}");
            }
            // Another puzzle can be added, regardless of their number.
            let rules = Rules::new(MAX_LENGTH, MAX_COLOURS, true).expect("the largest game");
            let mut record = record;
            for origin in [Origin::Day(Day(u32::MAX)), Origin::Seed(u64::MAX)] {
                let puzzle = Puzzle { rules, origin };
                record.begin(puzzle);
                assert!(record.has_begun(puzzle) && !record.begin(puzzle));
                let written = record.to_string();
                assert!(written.len() <= MAX_RECORD);
                assert_eq!(written.parse(), Ok(record.clone()));
            }
        }
        Err(error) => assert!(error.to_string().len() < 200, "an error is a line: {error}"),
    }
}
