//! A connection of the tester to a server, and the game that is played on it.

use std::{net::SocketAddr, time::Instant};

use mastermind::{
    Code, Feedback, Knowledge, Lifeline, Mode, Revealed, Rules, ServerMessage,
    game::{Availability, TURNS},
    protocol::{MAX_TOLD, RoomRules, Turn},
    view::{Ending, Line, Over, Shown},
};

use super::rules::{
    ANY_PLACE, AVAILABILITY, BLOCKED, CODES, FEEDBACK, FIRST_TURN, GRAMMAR, LIFELINE_1, LIFELINE_2, LISTENS, LOST,
    RESIGNED, ROOM, ROW, SEAT, TURN, WON,
};
use crate::{
    judge::{Halt, Judge, Played},
    launch::Run,
    mastermind::{
        answers::answer,
        lines::{Heard, next_line, told},
    },
    net::Connection,
    rule::Rule,
    tester::Options,
};

/// Turns that the lifelines take.
pub(super) const COSTS: [usize; 2] = [1, 2];

/// A server under test that runs.
pub(super) struct Server {
    pub(super) run: Box<dyn Run>,
    pub(super) address: SocketAddr,
    pub(super) options: Options,
}

/// Somebody who is connected.
pub(super) struct Visitor {
    pub(super) connection: Connection,
    pub(super) options: Options,
    pub(super) room: RoomRules,
    /// Its seat, once it has one.
    pub(super) seat: Option<u8>,
    /// Whether each byte is sent in a segment of its own, and lines end with a carriage return.
    pub(super) in_bytes: bool,
    pub(super) returns: bool,
    /// The server, if it runs for this visitor alone.
    pub(super) _server: Option<Server>,
}

impl Visitor {
    /// Connects, and takes ROOM.
    pub(super) fn connect(judge: &mut Judge, server: &mut Server) -> Played<Self> {
        let Server { run, address, options } = server;
        let opened = Connection::to_server(&mut **run, *address, options.deadline());
        let opened = opened.map_err(|error| format!("cannot connect to {address}: {error}{}", run.obituary()));
        let mut connection = judge.expect(&LISTENS, opened)?;
        let first = hear(judge, &mut connection, options.deadline())?;
        let room = match first {
            Ok(ServerMessage::Room(room)) if room.mode == Mode::Solo => Ok(room),
            heard => Err(format!("{} first instead of ROOM solo", said(&heard))),
        };
        let room = judge.expect(&ROOM, room)?;
        Ok(Self { connection, options: *options, room, seat: None, in_bytes: false, returns: false, _server: None })
    }

    pub(super) fn say(&mut self, line: impl AsRef<[u8]>) {
        let bytes = [line.as_ref(), if self.returns { b"\r\n" } else { b"\n" }].concat();
        if self.in_bytes {
            self.connection.send_in_bytes(&bytes);
        } else {
            self.connection.send(&bytes);
        }
    }

    /// The next message, of whatever seat.
    pub(super) fn hear(&mut self, judge: &mut Judge) -> Played<Result<ServerMessage<'static>, String>> {
        hear(judge, &mut self.connection, self.options.deadline())
    }

    /// The next line as it is, or nothing.
    pub(super) fn line(&mut self) -> Option<String> {
        match next_line(&mut self.connection, MAX_TOLD, self.options.deadline()) {
            Heard::Line(line) => Some(String::from_utf8_lossy(&line).into_owned()),
            _ => None,
        }
    }

    /// The next message that is not of another seat.
    pub(super) fn own(&mut self, judge: &mut Judge) -> Played<Result<ServerMessage<'static>, String>> {
        loop {
            match self.hear(judge)? {
                Ok(message) if seat_of(&message).is_some_and(|seat| Some(seat) != self.seat) => {}
                heard => return Ok(heard),
            }
        }
    }

    /// The next message of a seat.
    pub(super) fn of(&mut self, judge: &mut Judge, seat: u8) -> Played<Result<ServerMessage<'static>, String>> {
        loop {
            match self.hear(judge)? {
                Ok(message) if seat_of(&message).is_some_and(|other| other != seat) => {}
                heard => return Ok(heard),
            }
        }
    }

    /// Says something that must be refused.
    pub(super) fn refused(&mut self, judge: &mut Judge, rule: &'static Rule, line: impl AsRef<[u8]>) -> Played {
        self.say(&line);
        let heard = self.own(judge)?;
        judge.require(rule, matches!(heard, Ok(ServerMessage::No(_))), || {
            format!("{} after {} instead of NO", said(&heard), told(line.as_ref()))
        })
    }

    /// Waits for BYE and for the end of the connection.
    pub(super) fn is_dismissed(&mut self, judge: &mut Judge, rule: &'static Rule, after: &str) -> Played {
        let heard = loop {
            match self.own(judge)? {
                // A server may say first what was wrong.
                Ok(ServerMessage::No(_)) => {}
                heard => break heard,
            }
        };
        judge.require(rule, matches!(heard, Ok(ServerMessage::Bye(_))), || {
            format!("{} after {after} instead of BYE", said(&heard))
        })?;
        let by = self.options.deadline();
        while self.connection.more(by) {}
        judge.require(rule, self.connection.closed, || format!("the connection is still open after {after} and BYE"))
    }

    /// Takes a seat, and the first game at it.
    pub(super) fn sit(mut self, judge: &mut Judge, name: &str) -> Played<Player> {
        self.say(format!("PLAY {name}"));
        self.seated(judge, name)
    }

    /// Takes what comes after PLAY.
    pub(super) fn seated(mut self, judge: &mut Judge, name: &str) -> Played<Player> {
        let heard = self.own(judge)?;
        let seat = match heard {
            Ok(ServerMessage::Ok(seat)) if seat > 0 => Ok(seat),
            heard => Err(format!("{} after PLAY instead of OK with a seat from 1 on", said(&heard))),
        };
        let seat = judge.expect(&SEAT, seat)?;
        self.seat = Some(seat);
        let heard = self.own(judge)?;
        let right = matches!(&heard, Ok(ServerMessage::Seat(_, told)) if told.as_str() == name);
        judge.require(&SEAT, right, || format!("{} after OK {seat} instead of SEAT {seat} {name}", said(&heard)))?;
        let rules = self.room.rules;
        let mut player = Player { visitor: self, seat, game: Game::none(rules) };
        player.begins(judge, &SEAT, (rules.length(), rules.repeats()))?;
        Ok(player)
    }
}

/// The next message of a connection, or what came instead.
fn hear(judge: &mut Judge, connection: &mut Connection, by: Instant) -> Played<Result<ServerMessage<'static>, String>> {
    let message = match next_line(connection, MAX_TOLD, by) {
        Heard::Line(line) => parse(&line).ok_or_else(|| format!("{} is no message of a server", told(&line))),
        Heard::Endless(bytes) => Err(format!("{MAX_TOLD} bytes have no line feed; they begin with {}", told(&bytes))),
        Heard::Torn(bytes) => Err(format!("the connection ended within a message, after {}", told(&bytes))),
        Heard::Closed => return Ok(Err("the connection was closed".to_owned())),
        Heard::Nothing => return Ok(Err("nothing came in time".to_owned())),
    };
    Ok(Ok(judge.expect(&GRAMMAR, message)?))
}

/// A message, written exactly as the protocol has it.
fn parse(line: &[u8]) -> Option<ServerMessage<'static>> {
    let message = ServerMessage::parse(line).ok().or_else(|| impossible_row(line))?;
    (message.to_string().as_bytes() == line).then_some(message)
}

/// A row with numbers that no guess can get. They are well written and wrong.
fn impossible_row(line: &[u8]) -> Option<ServerMessage<'static>> {
    let words: Vec<&str> = str::from_utf8(line).ok()?.split(' ').collect();
    let ["ROW", seat, turn, guess, red, white] = words[..] else { return None };
    let feedback = Feedback { red: red.parse().ok()?, white: white.parse().ok()? };
    let row = Line::Row { turn: turn.parse().ok()?, guess: guess.parse().ok()?, feedback };
    Some(ServerMessage::Line(seat.parse().ok()?, row))
}

/// What came, for a message.
pub(super) fn said(heard: &Result<ServerMessage<'static>, String>) -> String {
    heard.as_ref().map_or_else(Clone::clone, |message| format!("'{message}' came"))
}

/// The seat of which a message tells everybody.
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

/// What is known of a game.
pub(super) struct Game {
    pub(super) number: u32,
    pub(super) rules: Rules,
    pub(super) turn: Turn,
    pub(super) rows: Vec<(Code, Feedback)>,
    revealed: Option<Revealed>,
    gone: usize,
    /// The code, when it is over.
    pub(super) code: Option<Code>,
}

impl Game {
    const fn none(rules: Rules) -> Self {
        let turn = Turn { turn: 1, lifelines: [Availability::Available; 2], hints: 0 };
        Self { number: 0, rules, turn, rows: Vec::new(), revealed: None, gone: 0, code: None }
    }

    /// What the player knows of the code, without trust in its having no repeats.
    pub(super) fn knowledge(&self) -> anyhow::Result<Knowledge> {
        let mut knowledge = Knowledge::new(Rules::new(self.rules.length(), self.rules.colours(), true)?);
        self.rows.iter().for_each(|(guess, feedback)| knowledge.answered(*guess, *feedback));
        Ok(knowledge)
    }

    fn expected_lifelines(&self) -> [Availability; 2] {
        COSTS.map(|cost| match self.revealed {
            Some(_) => Availability::Used,
            None if self.gone + cost >= TURNS => Availability::Blocked,
            None => Availability::Available,
        })
    }
}

/// Somebody with a seat.
pub(super) struct Player {
    pub(super) visitor: Visitor,
    pub(super) seat: u8,
    pub(super) game: Game,
}

impl Player {
    /// Takes the GAME that must come now, with its first TURN.
    pub(super) fn begins(&mut self, judge: &mut Judge, rule: &'static Rule, wanted: (usize, bool)) -> Played {
        let (length, repeats) = wanted;
        let heard = self.visitor.own(judge)?;
        let game = match heard {
            Ok(ServerMessage::Game { number, rules, .. })
                if (rules.length(), rules.repeats()) == wanted && number > 0 =>
            {
                Ok((number, rules))
            }
            heard => {
                let word = if repeats { "yes" } else { "no" };
                Err(format!("{} instead of GAME {} with its number, {length} {word}", said(&heard), self.seat))
            }
        };
        let (number, rules) = judge.expect(rule, game)?;
        let colours = self.visitor.room.rules.colours();
        self.game = Game { number, ..Game::none(Rules::new(length, colours, repeats).unwrap_or(rules)) };
        let heard = self.visitor.own(judge)?;
        let first = matches!(&heard, Ok(ServerMessage::Turn(turn)) if *turn == self.game.turn);
        judge.check(&FIRST_TURN, first, || format!("{} instead of TURN 1 available available 0", said(&heard)));
        // Without lifelines one can play on.
        let begun = matches!(&heard, Ok(ServerMessage::Turn(turn)) if turn.turn == 1);
        if begun { Ok(()) } else { Err(Halt::Broken) }
    }

    /// Asks for another game with these rules, or with those of the room.
    pub(super) fn new_game(&mut self, judge: &mut Judge, rule: &'static Rule, wanted: Option<(usize, bool)>) -> Played {
        let rules = self.visitor.room.rules;
        let asked = wanted
            .map_or_else(String::new, |(length, repeats)| format!(" {length} {}", if repeats { "yes" } else { "no" }));
        self.visitor.say(format!("NEW{asked}"));
        self.begins(judge, rule, wanted.unwrap_or((rules.length(), rules.repeats())))
    }

    /// A guess, and what must come of it.
    pub(super) fn guess(&mut self, judge: &mut Judge, guess: Code) -> Played {
        self.visitor.say(format!("GUESS {guess}"));
        self.answered(judge, guess)
    }

    /// What must come of a guess that was made.
    pub(super) fn answered(&mut self, judge: &mut Judge, guess: Code) -> Played {
        let heard = self.visitor.own(judge)?;
        let (turn, wanted) = (self.game.turn.turn, Shown::Code(guess));
        let feedback = match heard {
            Ok(ServerMessage::Line(_, Line::Row { turn: of, guess, feedback })) if (of, guess) == (turn, wanted) => {
                Ok(feedback)
            }
            heard => Err(format!("{} after GUESS {guess} instead of ROW {} {turn} {guess}", said(&heard), self.seat)),
        };
        let feedback = judge.expect(&ROW, feedback)?;
        self.game.rows.push((guess, feedback));
        self.game.gone += 1;
        if feedback.is_win(self.game.rules.length()) {
            return self.over(judge, &WON, Ending::Won);
        }
        if self.game.gone >= TURNS {
            return self.over(judge, &LOST, Ending::Lost);
        }
        self.next_turn(judge, &TURN)
    }

    /// Takes the TURN that must come now. A wrong number is a breach of `rule`.
    fn next_turn(&mut self, judge: &mut Judge, rule: &'static Rule) -> Played {
        let heard = self.visitor.own(judge)?;
        let wanted = self.game.gone + 1;
        let turn = match heard {
            Ok(ServerMessage::Turn(turn)) if turn.turn == wanted && turn.hints == self.game.turn.hints => Ok(turn),
            heard => Err(format!("{} instead of TURN {wanted}", said(&heard))),
        };
        self.game.turn = judge.expect(rule, turn)?;
        let expected = self.game.expected_lifelines();
        let told = self.game.turn.lifelines;
        judge.check(&AVAILABILITY, told == expected, || {
            format!("turn {wanted}: the lifelines are {told:?} and not {expected:?}")
        });
        Ok(())
    }

    /// Takes the OVER that must come now, and looks whether the code fits all that was told.
    pub(super) fn over(&mut self, judge: &mut Judge, rule: &'static Rule, how: Ending) -> Played {
        let heard = self.visitor.own(judge)?;
        let (gone, hints) = (self.game.gone, self.game.turn.hints);
        let code = match heard {
            Ok(ServerMessage::Over(_, Over { how: told, turns, hints: of, code: Shown::Code(code) }))
                if (told, turns, of) == (how, gone, hints) =>
            {
                Ok(code)
            }
            heard => Err(format!(
                "{} instead of OVER {} {} {gone} {hints} and the code",
                said(&heard),
                self.seat,
                how.word()
            )),
        };
        let code = judge.expect(rule, code)?;
        let rules = self.game.rules;
        judge.require(&CODES, rules.allows_secret(code), || format!("{code} is no code of a game with {rules}"))?;
        for (guess, told) in &self.game.rows {
            let right = answer(code, *guess)?;
            judge.check(&FEEDBACK, *told == right, || format!("{guess} got {told}; for the code {code} it is {right}"));
        }
        match self.game.revealed {
            Some(Revealed::Colour(peg)) => {
                judge
                    .check(&LIFELINE_1, code.pegs().any(|of| of == peg), || format!("{peg} is not in the code {code}"));
            }
            Some(Revealed::Place { place, peg }) => {
                judge.check(&LIFELINE_2, code.peg(place) == Some(peg), || {
                    format!("{peg} does not stand at place {} of the code {code}", place + 1)
                });
            }
            None => {}
        }
        self.game.code = Some(code);
        Ok(())
    }

    /// Gives up. Returns the code.
    pub(super) fn resign(&mut self, judge: &mut Judge) -> Played<Code> {
        self.visitor.say("RESIGN");
        self.over(judge, &RESIGNED, Ending::Resigned)?;
        self.game.code.ok_or_else(|| anyhow::anyhow!("a game that is over has a code").into())
    }

    /// A lifeline that must be granted. Returns what it revealed.
    pub(super) fn lifeline(&mut self, judge: &mut Judge, lifeline: Lifeline) -> Played<Revealed> {
        let number = lifeline.number();
        let rule = if number == 1 { &LIFELINE_1 } else { &LIFELINE_2 };
        self.visitor.say(format!("LIFELINE {number}"));
        let heard = self.visitor.own(judge)?;
        let turn = self.game.turn.turn;
        if matches!(heard, Ok(ServerMessage::No(_))) {
            // A server that has none is not one that counts wrongly.
            let rule = if turn <= 2 { rule } else { &BLOCKED };
            return judge.broken(rule, || format!("lifeline {number} is refused in turn {turn}"));
        }
        let told = match heard {
            Ok(ServerMessage::Line(_, Line::Lifeline { turn: of, lifeline: which, revealed: Some(revealed) }))
                if (of, which) == (turn, lifeline) =>
            {
                Ok(revealed)
            }
            heard => Err(format!("{} after LIFELINE {number} instead of what it tells", said(&heard))),
        };
        let revealed = judge.expect(rule, told)?;
        self.game.revealed = Some(revealed);
        self.game.gone += COSTS[number - 1];
        self.next_turn(judge, rule)?;
        Ok(revealed)
    }
}

/// Notes whether the places that lifelines told of were not always the same.
pub(super) fn look_at_places(judge: &mut Judge, which: usize, places: &[usize]) {
    let same = places.windows(2).all(|two| two[0] == two[1]);
    judge.check(&ANY_PLACE, !same, || {
        let place = places.first().map_or(0, |place| place + 1);
        format!("lifeline {which} told {} times of place {place}", places.len())
    });
}
