use std::{net::SocketAddr, time::Instant};

use mastermind::{
    Feedback, Mode, ServerMessage,
    protocol::{MAX_TOLD, RoomRules},
    view::TurnRecord,
};

use super::rules::{GRAMMAR, LISTENS, ROOM};
use crate::{
    judge::{Judge, ScenarioResult},
    launch::Run,
    mastermind::lines::{Received, excerpt, normalized, read_line},
    net::Connection,
    rule::Rule,
    tester::Options,
    words::mastermind::WITH_SERVER,
};

pub(super) struct Server {
    pub(super) run: Box<dyn Run>,
    pub(super) address: SocketAddr,
    pub(super) options: Options,
    pub(super) clients: u32,
}

pub(super) struct Client {
    pub(super) connection: Connection,
    pub(super) options: Options,
    pub(super) room: RoomRules,
    pub(super) seat: Option<u8>,
    /// Each byte is sent in a separate segment.
    pub(super) in_bytes: bool,
    /// Lines end with a carriage return and a line feed.
    pub(super) returns: bool,
    pub(super) _server: Option<Server>,
}

impl Client {
    pub(super) fn connect(judge: &mut Judge, server: &mut Server) -> ScenarioResult<Self> {
        let Server { run, address, options, clients } = server;
        let opened = Connection::to_server(&mut **run, *address, options.start_deadline());
        let opened = opened.map_err(|error| {
            format!("expected a connection to {address}, but connecting failed: {error}{}", run.exit_clause())
        });
        *clients += 1;
        let channel = judge.open_channel(&format!("visitor {clients}"), &WITH_SERVER);
        let mut connection = judge.expect(&LISTENS, opened)?.recorded(channel);
        let first = receive(judge, &mut connection, options.deadline())?;
        let room = match first {
            Ok(ServerMessage::Room(room)) if room.mode == Mode::Solo => Ok(room),
            received => Err(format!("expected ROOM solo as the first message, received {}", describe(&received))),
        };
        let room = judge.expect(&ROOM, room)?;
        Ok(Self { connection, options: *options, room, seat: None, in_bytes: false, returns: false, _server: None })
    }

    pub(super) fn send(&mut self, line: impl AsRef<[u8]>) {
        let bytes = [line.as_ref(), if self.returns { b"\r\n" } else { b"\n" }].concat();
        if self.in_bytes {
            self.connection.send_in_bytes(&bytes);
        } else {
            self.connection.send(&bytes);
        }
    }

    pub(super) fn receive(&mut self, judge: &mut Judge) -> ScenarioResult<Result<ServerMessage<'static>, String>> {
        receive(judge, &mut self.connection, self.options.deadline())
    }

    /// The next line, unparsed.
    pub(super) fn line(&mut self) -> Option<String> {
        match read_line(&mut self.connection, MAX_TOLD, self.options.deadline()) {
            Received::Line(line) => Some(String::from_utf8_lossy(&line).into_owned()),
            _ => None,
        }
    }

    pub(super) fn receive_own(&mut self, judge: &mut Judge) -> ScenarioResult<Result<ServerMessage<'static>, String>> {
        loop {
            match self.receive(judge)? {
                Ok(message) if seat_of(&message).is_some_and(|seat| Some(seat) != self.seat) => {}
                received => return Ok(received),
            }
        }
    }

    pub(super) fn receive_about(
        &mut self,
        judge: &mut Judge,
        seat: u8,
    ) -> ScenarioResult<Result<ServerMessage<'static>, String>> {
        loop {
            match self.receive(judge)? {
                Ok(message) if seat_of(&message).is_some_and(|other| other != seat) => {}
                received => return Ok(received),
            }
        }
    }

    pub(super) fn expect_refusal(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        line: impl AsRef<[u8]>,
    ) -> ScenarioResult {
        self.send(&line);
        let received = self.receive_own(judge)?;
        judge.require(rule, matches!(received, Ok(ServerMessage::No(_))), || {
            format!("expected NO after {}, received {}", excerpt(line.as_ref()), describe(&received))
        })
    }

    pub(super) fn expect_bye(&mut self, judge: &mut Judge, rule: &'static Rule, after: &str) -> ScenarioResult {
        let received = loop {
            match self.receive_own(judge)? {
                // A server may report the error first.
                Ok(ServerMessage::No(_)) => {}
                received => break received,
            }
        };
        judge.require(rule, matches!(received, Ok(ServerMessage::Bye(_))), || {
            format!("expected BYE after {after}, received {}", describe(&received))
        })?;
        let by = self.options.deadline();
        while self.connection.more(by) {}
        judge.require(rule, self.connection.closed, || {
            format!("expected the end of the connection after {after} and BYE, but it is still open")
        })
    }
}

/// Blanks are ignored, and invalid messages are skipped.
fn receive(
    judge: &mut Judge,
    connection: &mut Connection,
    by: Instant,
) -> ScenarioResult<Result<ServerMessage<'static>, String>> {
    loop {
        let wrong = match read_line(connection, MAX_TOLD, by) {
            Received::Line(line) => {
                let (exact, loose) = (parse(&line), parse(&normalized(&line)));
                judge.check(&GRAMMAR, exact.is_some(), || {
                    format!("expected a message of a server, received {}", excerpt(&line))
                });
                match exact.or(loose) {
                    Some(message) => return Ok(Ok(message)),
                    None => continue,
                }
            }
            Received::TooLong(bytes) => {
                format!(
                    "expected a line feed within {MAX_TOLD} bytes, received bytes that start with {}",
                    excerpt(&bytes)
                )
            }
            Received::Truncated(bytes) => format!(
                "expected the rest of a message before the end of the connection, received only {}",
                excerpt(&bytes)
            ),
            Received::Closed => return Ok(Err("the end of the connection".to_owned())),
            Received::Timeout => return Ok(Err("nothing in time".to_owned())),
        };
        return judge.broken(&GRAMMAR, || wrong);
    }
}

fn parse(line: &[u8]) -> Option<ServerMessage<'static>> {
    let message = ServerMessage::parse(line).ok().or_else(|| impossible_row(line))?;
    (message.to_string().as_bytes() == line).then_some(message)
}

/// A row of correct form with numbers that no guess can get.
fn impossible_row(line: &[u8]) -> Option<ServerMessage<'static>> {
    let words: Vec<&str> = str::from_utf8(line).ok()?.split(' ').collect();
    let ["ROW", seat, turn, guess, red, white] = words[..] else { return None };
    let feedback = Feedback { red: red.parse().ok()?, white: white.parse().ok()? };
    let row = TurnRecord::Row { turn: turn.parse().ok()?, guess: guess.parse().ok()?, feedback };
    Some(ServerMessage::Line(seat.parse().ok()?, row))
}

pub(super) fn describe(received: &Result<ServerMessage<'static>, String>) -> String {
    received.as_ref().map_or_else(Clone::clone, |message| format!("'{message}'"))
}

pub(super) const fn seat_of(message: &ServerMessage<'_>) -> Option<u8> {
    match message {
        ServerMessage::Seat(seat, _)
        | ServerMessage::Left(seat)
        | ServerMessage::Game { seat, .. }
        | ServerMessage::Line(seat, _)
        | ServerMessage::Over(seat, _) => Some(*seat),
        _ => None,
    }
}
