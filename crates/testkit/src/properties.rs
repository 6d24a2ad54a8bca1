//! Properties that hold for any input: each function takes arbitrary bytes and panics if one does not hold. The fuzz
//! targets of the same names call them with generated input, and a test with each corpus.

pub mod blackjack;
pub mod journal;
pub mod mastermind;
pub mod robots;
pub mod rooms;

use std::collections::BTreeSet;

use netcore::{Client as _, Framing, Protocol, Time};
use nuggets::{
    Cell, Client, ClientMessage, Direction, Grid, Name, Nuggets, ParseGridError, Participant, Position, Repair,
    ServerMessage, check_map,
    grid::ROOM,
    protocol::{MAX_DATAGRAM, MAX_NAME, printable},
    visibility::{Field, Sighter, Vision},
};

/// Encoding reverses decoding, and errors are printable.
pub fn client_message(datagram: &[u8]) {
    let parsed = ClientMessage::parse(datagram);
    assert_eq!(Nuggets::decode(&mut (), datagram, Framing::Whole), parsed);
    let message = match parsed {
        Ok(message) => message,
        Err(error) => return assert_printable(error.to_string().as_bytes()),
    };
    let written = message.to_bytes();
    assert!(written.len() <= datagram.len(), "decoding never adds bytes");
    match &message {
        ClientMessage::Play(Some(name)) => {
            assert!((1..=MAX_NAME).contains(&name.as_str().len()));
            let kept = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
            assert!(name.as_str().bytes().all(kept), "{name:?}");
            // A truncated name may be empty after trimming; only then does a second decoding differ.
            if !name.as_str().trim_ascii().is_empty() {
                assert_eq!(ClientMessage::parse(&written), Ok(message));
            }
        }
        ClientMessage::Play(None) => assert_eq!(written, b"PLAY "[..]),
        ClientMessage::Spectate | ClientMessage::Key(_) => assert_eq!(written, datagram),
    }
}

/// Decoding reverses encoding, and the texts of the client are printable.
pub fn server_message(datagram: &[u8]) {
    match ServerMessage::parse(datagram) {
        Ok(message) => {
            let written = message.to_bytes();
            assert_eq!(ServerMessage::parse(&written), Ok(message));
        }
        Err(error) => assert_printable(error.to_string().as_bytes()),
    }
    let player = || Participant::Player(Name::new(b"Ann").expect("this is a name"));
    for welcome in [&[][..], &[&b"OK A"[..], b"GRID 2 3", b"GOLD 0 0 250", b"DISPLAY\n.@.\n  #\n"]] {
        for part in [player(), Participant::Spectator] {
            let mut client = Client::new(part, Time::ZERO);
            for message in welcome {
                let _ = client.receive(Time::ZERO, message);
            }
            let _ = client.receive(Time::ZERO, datagram);
            assert_client(&client);
            // Valid messages restore any state of the client.
            for message in [&b"GRID 2 3"[..], b"GOLD 0 7 100", b"DISPLAY\n..@\n  #\n"] {
                let _ = client.receive(Time::ZERO, message);
            }
            assert_client(&client);
            if client.end().is_none() {
                assert_eq!(client.display(), b"..@\n  #\n");
                assert_eq!((client.purse(), client.remaining()), (7, 100));
                assert_eq!(client.position(), Some(Position::new(0, 2)));
            }
        }
    }
}

fn assert_client(client: &Client) {
    assert_printable(client.status(Time::ZERO).as_bytes());
    let display = client.display();
    assert!(display.len() <= MAX_DATAGRAM + 1);
    display.split(|&byte| byte == b'\n').for_each(assert_printable);
    if let (true, Some((rows, cols))) = (client.is_joined(), client.size()) {
        let width = usize::from(cols) + 1;
        assert_eq!(display.len(), usize::from(rows) * width);
        assert!(display.chunks_exact(width).all(|row| row.iter().position(|&byte| byte == b'\n') == Some(width - 1)));
    }
    if let Some(position) = client.position() {
        let (rows, cols) = client.size().expect("a position needs a size");
        assert!(position.row < rows && position.col < cols);
    }
}

fn assert_printable(text: &[u8]) {
    let shown = printable(text, b"");
    assert_eq!(shown.as_bytes(), text, "displayed text must be plain ASCII");
}

/// Spots per map, to keep the fuzzer fast.
const SPOTS: usize = 24;

/// Parsing reverses printing, sights follow the rule, and the report agrees with the parser.
pub fn map(text: &[u8]) {
    let report = check_map(text);
    for line in report.to_string().lines() {
        assert_printable(line.as_bytes());
    }
    let (grid, repairs) = match Grid::parse(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(!report.breaches.is_empty(), "an invalid map has breaches");
            if let ParseGridError::Foreign { at, byte } = error {
                let line = text.split(|&byte| byte == b'\n').nth(at.row.into()).unwrap_or_default();
                assert!(at.col == u16::MAX || at.row == u16::MAX || line.contains(&byte), "{error}");
            }
            return assert_printable(error.to_string().as_bytes());
        }
    };
    assert!(report.breaches.len() >= repairs.len(), "each repair is a breach");
    let printed = grid.to_string();
    assert_eq!(printed.as_bytes(), grid.text());
    assert_eq!(Grid::parse(printed.as_bytes()), Ok((grid.clone(), vec![])), "a printed map needs no repair");
    if repairs.is_empty() {
        assert_eq!(printed.as_bytes(), text);
    } else {
        assert!(!matches!(repairs[..], [Repair::NoLastNewline { .. }]) || text.len() + 1 == printed.len());
    }
    assert!(printed.len() + 8 <= MAX_DATAGRAM, "a display of it fits a datagram");
    sights(&grid);
}

// Checks a few spots spread over the map.
fn sights(grid: &Grid) {
    let mut sighter = Sighter::default();
    let spots = grid.room_spots();
    for &from in spots.iter().step_by(spots.len().div_ceil(SPOTS)) {
        let sight = sighter.sight(Field::from(grid), from, Vision::default());
        let cells: BTreeSet<Cell> = sight.cells().collect();
        assert!(sight.contains(from));
        for &cell in &cells {
            assert!(sight.contains(cell) && grid.at(cell) != b'\n' && cell.index() < grid.text().len());
            // Sight between two room spots is symmetric.
            if grid.at(cell) == ROOM && cells.len() < 200 {
                assert!(sighter.sight(Field::from(grid), cell, Vision::default()).contains(from), "{from:?} {cell:?}");
            }
        }
        for way in Direction::ALL {
            assert!(grid.step(from, way).is_none_or(|next| sight.contains(next)), "neighbours are visible");
        }
        let near = sighter.sight(Field::from(grid), from, Vision { radius: Some(2) });
        assert!(near.cells().all(|cell| sight.contains(cell)), "a shorter sight shows nothing new");
    }
}
