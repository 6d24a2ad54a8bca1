use std::net::SocketAddr;

use mastermind::{
    ClientMessage, Code, Feedback, Lifeline, Mode, Revealed, Rules, ServerMessage, Style,
    code::MAX_COLOURS,
    game::{Availability, TURNS},
    protocol::{MAX_TOLD, Turn},
    view::{GameOutcome, GameResult, MaskedCode, TurnRecord},
};

use super::{
    AVAILABILITY, BLOCKED, CODES, FEEDBACK, FIRST_TURN, GRAMMAR, LIFELINE_1, LIFELINE_2, LISTENS, LOST, NEW, NEW_RULES,
    OWN_TURN, QUIT, RESIGNED, ROOM, ROW, SEAT, SEEN, STATE, TURN, WON,
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    launch::Run,
    mastermind::{
        Rows, check_answers,
        lines::{Delivery, Grammar, Lines, Received, describe, excerpt},
    },
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

static OF_SERVER: Grammar<ServerMessage<'static>> =
    Grammar { rule: &GRAMMAR, sender: "server", most: MAX_TOLD, parse: exact };

fn exact(line: &[u8]) -> Option<ServerMessage<'static>> {
    let message = ServerMessage::parse(line).ok().or_else(|| impossible_row(line))?;
    (message.to_string().as_bytes() == line).then_some(message)
}

/// A well-formed row with numbers that no guess can get.
fn impossible_row(line: &[u8]) -> Option<ServerMessage<'static>> {
    let words: Vec<&str> = str::from_utf8(line).ok()?.split(' ').collect();
    let ["ROW", seat, turn, guess, red, white] = words[..] else { return None };
    let feedback = Feedback { red: red.parse().ok()?, white: white.parse().ok()? };
    let row = TurnRecord::Row { turn: turn.parse().ok()?, guess: guess.parse().ok()?, feedback };
    Some(ServerMessage::Line(seat.parse().ok()?, row))
}

const fn seat_of(message: &ServerMessage<'_>) -> Option<u8> {
    match message {
        ServerMessage::Seat(seat, _)
        | ServerMessage::Left(seat)
        | ServerMessage::Game { seat, .. }
        | ServerMessage::Line(seat, _)
        | ServerMessage::Over(seat, _) => Some(*seat),
        _ => None,
    }
}

pub(super) struct Game {
    pub(super) number: u32,
    pub(super) rules: Rules,
    pub(super) turn: Turn,
    pub(super) rows: Rows,
    pub(super) revealed: Option<Revealed>,
    played: usize,
    /// Known after the game.
    pub(super) code: Option<Code>,
}

impl Game {
    const fn new(number: u32, rules: Rules) -> Self {
        let turn = Turn { turn: 1, lifelines: [Availability::Available; 2], hints: 0 };
        Self { number, rules, turn, rows: Vec::new(), revealed: None, played: 0, code: None }
    }

    fn expected_lifelines(&self) -> [Availability; 2] {
        Lifeline::ALL.map(|lifeline| match self.revealed {
            Some(_) => Availability::Used,
            None if self.played + lifeline.cost(Style::Panel) >= TURNS => Availability::Blocked,
            None => Availability::Available,
        })
    }
}

pub(super) struct Player {
    pub(super) lines: Lines<ServerMessage<'static>>,
    /// Of the room.
    pub(super) rules: Rules,
    /// 0 before OK.
    pub(super) seat: u8,
    pub(super) game: Game,
    pub(super) _server: Option<Server>,
}

impl Player {
    pub(super) fn connect(judge: &mut Judge, server: &mut Server) -> ScenarioResult<Self> {
        let Server { run, address, options, clients } = server;
        let opened = Connection::to_server(&mut **run, *address, options.start_deadline());
        let opened = opened.map_err(|error| {
            format!("expected a connection to {address}, but connecting failed: {error}{}", run.exit_clause())
        });
        *clients += 1;
        let channel = judge.open_channel(&format!("visitor {clients}"), &WITH_SERVER);
        let connection = judge.expect(&LISTENS, opened)?.recorded(channel);
        let mut lines = Lines::new(connection, *options, &OF_SERVER);
        let room = match lines.receive(judge)? {
            Ok(ServerMessage::Room(room)) if room.mode == Mode::Solo => Ok(room),
            received => Err(format!("expected ROOM solo as the first message, received {}", describe(&received))),
        };
        let rules = judge.expect(&ROOM, room)?.rules;
        Ok(Self { lines, rules, seat: 0, game: Game::new(0, rules), _server: None })
    }

    /// Skips messages about other seats.
    fn receive(&mut self, judge: &mut Judge, seat: u8) -> ScenarioResult<Received<ServerMessage<'static>>> {
        loop {
            match self.lines.receive(judge)? {
                Ok(message) if seat_of(&message).is_some_and(|other| other != seat) => {}
                received => return Ok(received),
            }
        }
    }

    /// Returns what `pick` finds in the next message; any but the `wanted` one breaks `rule`.
    pub(super) fn expect<T>(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        wanted: &str,
        pick: impl FnOnce(&ServerMessage<'_>) -> Option<T>,
    ) -> ScenarioResult<T> {
        let received = self.receive(judge, self.seat)?;
        let picked = received.as_ref().ok().and_then(pick);
        judge.expect(rule, picked.ok_or_else(|| format!("expected {wanted}, received {}", describe(&received))))
    }

    /// Sends each message, and expects the answer of a correct server.
    pub(super) fn say(&mut self, judge: &mut Judge, lines: &[&str]) -> ScenarioResult {
        let batch = if self.lines.delivery == Delivery::Merged { lines.len().max(1) } else { 1 };
        for lines in lines.chunks(batch) {
            for line in lines {
                self.lines.send(line);
            }
            self.lines.flush();
            lines.iter().try_for_each(|line| self.answer(judge, line))?;
        }
        Ok(())
    }

    fn answer(&mut self, judge: &mut Judge, line: &str) -> ScenarioResult {
        match ClientMessage::parse(line.as_bytes())? {
            ClientMessage::Play(name) => self.take_seat(judge, name.as_str()),
            ClientMessage::Guess(guess) => self.row(judge, guess),
            ClientMessage::Lifeline(lifeline) => self.lifeline(judge, lifeline),
            ClientMessage::New(None) => self.begin(judge, &NEW, (self.rules.length(), self.rules.repeats())),
            ClientMessage::New(Some(wanted)) => self.begin(judge, &NEW_RULES, wanted),
            ClientMessage::Resign => self.over(judge, &RESIGNED, GameOutcome::Resigned),
            ClientMessage::Quit => self.bye(judge, &QUIT, line),
            ClientMessage::Hint => Ok(()),
        }
    }

    pub(super) fn guess(&mut self, judge: &mut Judge, guess: Code) -> ScenarioResult {
        self.say(judge, &[&format!("GUESS {guess}")])
    }

    pub(super) fn resign(&mut self, judge: &mut Judge) -> ScenarioResult<Code> {
        self.say(judge, &["RESIGN"])?;
        self.game.code.ok_or_else(|| anyhow::anyhow!("a completed game has a code").into())
    }

    pub(super) fn refused(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        lines: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> ScenarioResult {
        for line in lines {
            self.lines.send(&line);
            let wanted = format!("NO after {}", excerpt(line.as_ref()));
            self.expect(judge, rule, &wanted, |message| matches!(message, ServerMessage::No(_)).then_some(()))?;
        }
        Ok(())
    }

    pub(super) fn bye(&mut self, judge: &mut Judge, rule: &'static Rule, after: &str) -> ScenarioResult {
        let received = loop {
            match self.receive(judge, self.seat)? {
                // A server may report the error first.
                Ok(ServerMessage::No(_)) => {}
                received => break received,
            }
        };
        judge.require(rule, matches!(received, Ok(ServerMessage::Bye(_))), || {
            format!("expected BYE after {after}, received {}", describe(&received))
        })?;
        let by = self.lines.options.deadline();
        while self.lines.connection.more(by) {}
        judge.require(rule, self.lines.connection.closed, || {
            format!("expected the end of the connection after {after} and BYE, but it is still open")
        })
    }

    fn take_seat(&mut self, judge: &mut Judge, name: &str) -> ScenarioResult {
        self.lines.connection.rename(name);
        self.seat = self.expect(judge, &SEAT, "OK with a seat from 1 after PLAY", |message| match message {
            ServerMessage::Ok(seat) if *seat > 0 => Some(*seat),
            _ => None,
        })?;
        let wanted = format!("SEAT {0} {name} after OK {0}", self.seat);
        self.expect(judge, &SEAT, &wanted, |message| match message {
            ServerMessage::Seat(_, reported) if reported.as_str() == name => Some(()),
            _ => None,
        })?;
        self.begin(judge, &SEAT, (self.rules.length(), self.rules.repeats()))
    }

    fn begin(&mut self, judge: &mut Judge, rule: &'static Rule, (length, repeats): (usize, bool)) -> ScenarioResult {
        let word = if repeats { "yes" } else { "no" };
        let wanted = format!("GAME {} with its number, {length} {word}", self.seat);
        let number = self.expect(judge, rule, &wanted, |message| match *message {
            ServerMessage::Game { number, rules, .. } => {
                ((rules.length(), rules.repeats()) == (length, repeats) && number > 0).then_some(number)
            }
            _ => None,
        })?;
        let rules = Rules::new(length, self.rules.colours(), repeats);
        self.game = Game::new(number, rules.or_else(|_| Rules::new(length, MAX_COLOURS, repeats))?);
        let received = self.receive(judge, self.seat)?;
        let turn = if let Ok(ServerMessage::Turn(turn)) = received { Some(turn) } else { None };
        judge.check(&FIRST_TURN, turn == Some(self.game.turn), || {
            format!("expected TURN 1 available available 0, received {}", describe(&received))
        });
        // The game can continue without lifelines.
        if turn.is_some_and(|turn| turn.turn == 1) { Ok(()) } else { Err(Halt::Broken) }
    }

    fn row(&mut self, judge: &mut Judge, guess: Code) -> ScenarioResult {
        let turn = self.game.turn.turn;
        let wanted = format!("ROW {} {turn} {guess} after GUESS {guess}", self.seat);
        let feedback = self.expect(judge, &ROW, &wanted, |message| match *message {
            ServerMessage::Line(_, TurnRecord::Row { turn: of, guess: MaskedCode::Code(code), feedback }) => {
                ((of, code) == (turn, guess)).then_some(feedback)
            }
            _ => None,
        })?;
        self.game.rows.push((guess, feedback));
        self.game.played += 1;
        if feedback.is_win(self.game.rules.length()) {
            return self.over(judge, &WON, GameOutcome::Won);
        }
        if self.game.played >= TURNS {
            return self.over(judge, &LOST, GameOutcome::Lost);
        }
        self.next_turn(judge, &TURN)
    }

    /// A wrong number breaks `rule`.
    fn next_turn(&mut self, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
        let (wanted, hints) = (self.game.played + 1, self.game.turn.hints);
        self.game.turn = self.expect(judge, rule, &format!("TURN {wanted}"), |message| match *message {
            ServerMessage::Turn(turn) if (turn.turn, turn.hints) == (wanted, hints) => Some(turn),
            _ => None,
        })?;
        let right = Turn { lifelines: self.game.expected_lifelines(), ..self.game.turn };
        judge.check(&AVAILABILITY, self.game.turn == right, || {
            let [came, right] = [self.game.turn, right].map(ServerMessage::Turn);
            format!("expected '{right}', received '{came}'")
        });
        Ok(())
    }

    fn lifeline(&mut self, judge: &mut Judge, lifeline: Lifeline) -> ScenarioResult {
        let (number, turn) = (lifeline.number(), self.game.turn.turn);
        let rule = if number == 1 { &LIFELINE_1 } else { &LIFELINE_2 };
        let received = self.receive(judge, self.seat)?;
        if matches!(received, Ok(ServerMessage::No(_))) {
            // A server without this lifeline must not break the rule about counting.
            let rule = if turn <= 2 { rule } else { &BLOCKED };
            return judge.broken(rule, || format!("expected LIFELINE {number} in turn {turn}, received NO"));
        }
        let revealed = match received {
            Ok(ServerMessage::Line(
                _,
                TurnRecord::Lifeline { turn: of, lifeline: which, revealed: Some(revealed) },
            )) if (of, which) == (turn, lifeline) => Ok(revealed),
            received => Err(format!(
                "expected LIFELINE with its digit after LIFELINE {number}, received {}",
                describe(&received)
            )),
        };
        self.game.revealed = Some(judge.expect(rule, revealed)?);
        self.game.played += lifeline.cost(Style::Panel);
        self.next_turn(judge, rule)
    }

    /// Checks that the code matches all revealed information.
    fn over(&mut self, judge: &mut Judge, rule: &'static Rule, how: GameOutcome) -> ScenarioResult {
        let (played, hints, rules) = (self.game.played, self.game.turn.hints, self.game.rules);
        let wanted = format!("OVER {} {} {played} {hints} and the code", self.seat, how.word());
        let code = self.expect(judge, rule, &wanted, |message| match *message {
            ServerMessage::Over(_, GameResult { how: of, turns, hints: told, code: MaskedCode::Code(code) }) => {
                ((of, turns, told) == (how, played, hints)).then_some(code)
            }
            _ => None,
        })?;
        judge
            .require(&CODES, rules.allows_secret(code), || format!("expected a code with {rules}, received {code}"))?;
        check_answers(judge, &FEEDBACK, code, &self.game.rows);
        match self.game.revealed {
            Some(Revealed::Colour(peg)) => {
                judge.check(&LIFELINE_1, code.pegs().any(|of| of == peg), || {
                    format!("expected a digit of the code {code}, received {peg}")
                });
            }
            Some(Revealed::Place { place, peg }) => {
                judge.check(&LIFELINE_2, code.peg(place) == Some(peg), || {
                    format!("expected the digit at place {} of the code {code}, received {peg}", place + 1)
                });
            }
            None => {}
        }
        self.game.code = Some(code);
        Ok(())
    }

    /// Expects a message about another player's seat. `wanted` has its kind and the text after the seat.
    pub(super) fn see(&mut self, judge: &mut Judge, seat: u8, rule: &'static Rule, wanted: &str) -> ScenarioResult {
        let (kind, rest) = wanted.split_once(' ').unwrap_or((wanted, ""));
        let text = loop {
            match self.receive(judge, seat)? {
                Ok(message @ (ServerMessage::Ok(_) | ServerMessage::Turn(_) | ServerMessage::No(_))) => {
                    judge.check(&OWN_TURN, false, || {
                        format!(
                            "expected OK, TURN and NO only at their player, but another client received '{message}'"
                        )
                    });
                }
                // Messages about the first game may precede LEFT.
                Ok(ServerMessage::Game { .. }) if kind == "LEFT" => {}
                received => break received.map(|message| message.to_string()),
            }
        };
        // A solo room hides no digit of a lifeline.
        let is_right =
            |text: &String| format!("{text} ").starts_with(&format!("{kind} {seat} {rest}")) && !text.ends_with(" *");
        judge.require(rule, text.as_ref().is_ok_and(is_right), || {
            format!("expected {kind} {seat} at another client, received {}", describe(&text))
        })
    }

    /// Names are unique per scenario, since the seat may have belonged to another player.
    pub(super) fn see_seat(&mut self, judge: &mut Judge, seat: u8, name: &str) -> ScenarioResult {
        loop {
            match self.receive(judge, seat)? {
                Ok(ServerMessage::Seat(_, other)) if other.as_str() == name => return Ok(()),
                Ok(_) => {}
                received => {
                    return judge
                        .broken(&SEEN, || format!("expected SEAT at an observer, received {}", describe(&received)));
                }
            }
        }
    }

    /// The kinds of messages about `seat` before the response to the client's own next message.
    pub(super) fn state_of(&mut self, judge: &mut Judge, seat: u8) -> ScenarioResult<String> {
        self.lines.send("RESIGN");
        let mut kinds = Vec::new();
        loop {
            match self.lines.receive(judge)? {
                Ok(ServerMessage::No(_)) => return Ok(kinds.join(", ")),
                Ok(message) if seat_of(&message) == Some(seat) => {
                    kinds.extend(message.to_string().split(' ').next().map(str::to_owned));
                }
                Ok(message) if seat_of(&message).is_some() => {}
                received => {
                    return judge.broken(&STATE, || {
                        format!("expected the state of the room after connecting, received {}", describe(&received))
                    });
                }
            }
        }
    }
}
