//! The protocols have no field for a key, so it follows the name in the first message of a program.

use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use netcore::{EngineRoom, Input, Link, Outbox, Output, PeerId, Role, Room as _, Time};

use super::{Game, GameKind, Options, by_kind, with_kind};

/// In bytes.
pub(crate) const MAX_FIRST: usize = 300;
/// In bytes. Longer messages of a room never request a move.
const MAX_TEXT: usize = 512;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// The name and the text that follows it, and the length of the message in bytes.
    Join(String, usize),
    Incomplete,
    /// Describes the expected message.
    Wrong(&'static str),
}

impl First {
    /// A word in any case and a name, up to the byte `end`. `None` if the bytes cannot be such a message or the start
    /// of one.
    pub(super) fn text(bytes: &[u8], word: &str, end: u8) -> Option<Self> {
        let front = bytes.len().min(word.len());
        if !bytes[..front].eq_ignore_ascii_case(&word.as_bytes()[..front]) {
            return None;
        }
        match bytes.iter().position(|&byte| byte == end) {
            Some(at) if at > front => {
                let name = bytes[front..at].strip_suffix(b"\r").unwrap_or(&bytes[front..at]);
                Some(Self::Join(String::from_utf8_lossy(name).into_owned(), at + 1))
            }
            None if bytes.len() < MAX_FIRST => Some(Self::Incomplete),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramEvent {
    Requested,
    /// The program has finished its part; the match may continue.
    Finished,
}

#[derive(Debug, Default)]
pub(crate) struct MessageParser {
    rest: BytesMut,
    // The program's seat, if the messages of the game contain it.
    pub(super) seat: Option<String>,
}

impl MessageParser {
    // Splits off complete texts, which end with the byte `end`.
    pub(super) fn texts(&mut self, bytes: &[u8], end: u8) -> Vec<String> {
        self.rest.extend_from_slice(bytes);
        let mut texts = vec![];
        while let Some(at) = self.rest.iter().position(|&byte| byte == end) {
            texts.push(String::from_utf8_lossy(&self.rest[..at]).into_owned());
            self.rest.advance(at + 1);
        }
        if self.rest.len() > MAX_TEXT {
            self.rest.clear();
        }
        texts
    }
}

pub(super) trait LadderGame: GameKind {
    /// Whether the game requests moves. In other games a program has to send messages all the time.
    const REQUESTS_MOVES: bool;
    /// The maximum duration of a match.
    const LIMIT: Duration = Duration::from_mins(2);

    /// A short match with two seats.
    fn of_the_ladder() -> Self;

    /// Parses the first message; by default the line `PLAY name`.
    fn first(bytes: &[u8]) -> First {
        First::text(bytes, "PLAY ", b'\n').unwrap_or(First::Wrong("the first line is PLAY with a name"))
    }

    fn join(name: &str) -> Bytes {
        format!("PLAY {name}\n").into()
    }

    /// The message with which a program is disconnected, if its link has one.
    fn refusal(why: &str) -> Option<Bytes> {
        Self::farewell(why, Self::link().framing())
    }

    /// The start of the state that a reconnected program receives over a stream, if a room sends no greeting.
    fn state_start() -> Bytes {
        Bytes::new()
    }

    /// The message that leaves a room. `None` if the room notices a disconnection.
    fn leave() -> Option<Bytes> {
        None
    }

    fn parse_events(_parser: &mut MessageParser, _bytes: &[u8]) -> Vec<ProgramEvent> {
        vec![]
    }

    fn link() -> Link {
        match Self::WIRE {
            servekit::Wire::Udp => Link::Datagram,
            servekit::Wire::Tcp(_) => Link::Stream,
        }
    }
}

by_kind! {
    of_the_ladder() -> Options = K => <K as LadderGame>::of_the_ladder().into();
    requests_moves() -> bool = K => K::REQUESTS_MOVES;
    ladder_limit() -> Duration = K => K::LIMIT;
    link() -> Link = K => K::link();
    first(bytes: &[u8]) -> First = K => K::first(bytes);
    join(name: &str) -> Bytes = K => K::join(name);
    state_start() -> Bytes = K => K::state_start();
    leave() -> Option<Bytes> = K => K::leave();
    refusal(why: &str) -> Option<Bytes> = K => K::refusal(why);
    parse_events(parser: &mut MessageParser, bytes: &[u8]) -> Vec<ProgramEvent> = K => K::parse_events(parser, bytes);
}

impl Game {
    /// The first message of a room, before any player has joined. A program may wait for it before it sends its name.
    pub(crate) fn greeting(self) -> anyhow::Result<Bytes> {
        with_kind!(self, K => {
            let mut out = Outbox::default();
            let start = out.position();
            let address = "127.0.0.1:1".into();
            let input = Input::Connected { peer: PeerId(0), role: Role::Player, link: <K as LadderGame>::link(), address };
            EngineRoom::new(<K as LadderGame>::of_the_ladder().engine()?).input(Time::ZERO, input, &mut out);
            let first = out.since(start).iter().find_map(|output| match output {
                Output::Send { frame, .. } => Some(frame.clone()),
                _ => None,
            });
            Ok(first.unwrap_or_default())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_message_contains_the_name_and_the_key() {
        for game in Game::ALL {
            let bytes = game.join("Ann-1#abcdefghijklmnop");
            assert_eq!(game.first(&bytes), First::Join("Ann-1#abcdefghijklmnop".into(), bytes.len()), "{game:?}");
            if game.link() == Link::Stream {
                for at in 0..bytes.len() {
                    assert_eq!(game.first(&bytes[..at]), First::Incomplete, "{game:?}");
                }
                let more = [&bytes[..], b"x"].concat();
                assert_eq!(game.first(&more), First::Join("Ann-1#abcdefghijklmnop".into(), bytes.len()));
            }
            assert!(matches!(game.first(b"nonsense\n\0"), First::Wrong(_)), "{game:?}");
            assert!(matches!(game.first(&[7; MAX_FIRST]), First::Wrong(_)), "{game:?}");
        }
    }

    #[test]
    fn ladder_rooms_open_with_two_seats() {
        for game in Game::ALL {
            let greeting = game.greeting().unwrap();
            assert_eq!(greeting.is_empty(), matches!(game, Game::Nuggets | Game::Blackjack), "{game:?}");
        }
        assert_eq!(&Game::Mastermind.greeting().unwrap()[..], b"ROOM race 4 8 yes 2\n");
        // Hello: its tag, the name of the server, and two players.
        assert_eq!(&Game::Robots.greeting().unwrap()[..9], b"\x00\x06Arcade\x02");
    }

    #[test]
    fn requests_are_recognized_in_pieces_of_any_size() {
        let events = |game: Game, text: &str, size: usize| {
            let mut parser = MessageParser::default();
            text.as_bytes().chunks(size).flat_map(|part| game.parse_events(&mut parser, part)).collect::<Vec<_>>()
        };
        for size in [1, 5, 1_000] {
            let blackjack = "BEGIN\0CARD Ace of Spades\0DEALER Two of Clubs\0DECISION\0RESULT WIN\0QUIT\0";
            assert_eq!(events(Game::Blackjack, blackjack, size), [ProgramEvent::Requested, ProgramEvent::Finished]);
            let mastermind = "ROOM race 4 8 yes 2\nOK 2\nSEAT 2 Ann\nGAME 2 1 4 yes\nTURN 1 available available 0\n\
                              OVER 1 won 3 0 ****\nROW 2 1 1234 4 0\nOVER 2 won 1 0 1234\n";
            assert_eq!(events(Game::Mastermind, mastermind, size), [ProgramEvent::Requested, ProgramEvent::Finished]);
        }
        let endless = "x".repeat(10 * MAX_TEXT);
        assert_eq!(events(Game::Mastermind, &endless, 100), []);
    }
}
