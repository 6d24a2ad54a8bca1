use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use mastermind::{ClientMessage, Code, Feedback, Lifeline, Rules, game::TURNS, protocol::MAX_MESSAGE};

use super::rules::{COLOURS, FITS, GRAMMAR, JOINS, LENGTH, NAME, PLAYS, QUIET};
use crate::{
    judge::{Judge, ScenarioResult},
    launch::{Launcher, Run},
    mastermind::{
        answers::answer,
        lines::{Received, excerpt, normalized, read_line},
        permutation::permuted,
    },
    net::Connection,
    rule::Rule,
    tester::Options,
    words::mastermind::WITH_CLIENT,
};

const GAMES: usize = 2;
/// How long to wait for messages that a client must not send.
const POLL: Duration = Duration::from_millis(2);
/// The maximum number of hints and rejected lifelines in a game.
const MOST_REFUSED: usize = 2 * TURNS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    Whole,
    /// Lines end with a carriage return and a line feed.
    Returns,
    Bytes,
    /// All messages up to the next question in one write.
    Merged,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClientAction {
    Sends(ClientMessage),
    Closes,
}

pub(super) struct Game {
    code: Code,
    rules: Rules,
    played: usize,
    lifeline: Option<Lifeline>,
    rows: Vec<(Code, Feedback)>,
}

pub(super) struct Host {
    pub(super) connection: Connection,
    pub(super) run: Box<dyn Run>,
    pub(super) options: Options,
    delivery: Delivery,
    // Bytes that are sent with the next question.
    waiting: Vec<u8>,
    pub(super) seat: u8,
    pub(super) name: String,
    /// The rule that is broken if the client does not answer.
    pub(super) blamed: &'static Rule,
    games: u32,
    game: Option<Game>,
}

impl Host {
    /// Starts a client, sends it `lines`, which begin with ROOM, and receives its PLAY.
    pub(super) fn start(
        judge: &mut Judge,
        launcher: &dyn Launcher,
        options: Options,
        delivery: Delivery,
        name: &str,
        lines: &[&str],
    ) -> ScenarioResult<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let values = [
            ("name", name.to_owned()),
            ("host", "127.0.0.1".to_owned()),
            ("port", port.to_string()),
            ("games", GAMES.to_string()),
        ];
        let mut run = judge.start(launcher, &values)?;
        let Some(connection) = Connection::accept(&listener, &mut *run, options.start_deadline())? else {
            let ended = run.exit_clause();
            return judge.broken(&JOINS, || format!("expected a connection to 127.0.0.1:{port}, received none{ended}"));
        };
        let name = name.to_owned();
        let mut host = Self {
            connection: connection.recorded(judge.open_channel("the room", &WITH_CLIENT)),
            run,
            options,
            delivery,
            waiting: Vec::new(),
            seat: 1,
            name,
            blamed: &PLAYS,
            games: 0,
            game: None,
        };
        for line in lines {
            host.send(line);
        }
        host.flush();
        let joined = host.receive(judge, &JOINS)?;
        let ClientAction::Sends(ClientMessage::Play(joined)) = joined else {
            return judge.broken(&JOINS, || format!("expected PLAY, received {}", describe(&joined)));
        };
        judge.check(&JOINS, true, String::new);
        if launcher.takes("name") {
            let wanted = &host.name;
            judge.check(&NAME, joined.as_str() == wanted, || format!("expected PLAY {wanted}, received PLAY {joined}"));
        }
        host.name = joined.to_string();
        Ok(host)
    }

    /// Sends the line immediately or with the next question, depending on the delivery.
    pub(super) fn send(&mut self, line: impl AsRef<str>) {
        self.waiting.extend_from_slice(line.as_ref().as_bytes());
        self.waiting.extend_from_slice(if self.delivery == Delivery::Returns { b"\r\n" } else { b"\n" });
        if self.delivery != Delivery::Merged {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.waiting);
        if self.delivery == Delivery::Bytes {
            self.connection.send_in_bytes(&bytes);
        } else {
            self.connection.send(&bytes);
        }
    }

    pub(super) fn seat(&mut self, seat: u8) {
        self.seat = seat;
        self.send(format!("OK {seat}"));
        self.send(format!("SEAT {seat} {}", self.name));
    }

    pub(super) fn begin(&mut self, judge: &mut Judge, code: &str, colours: usize, repeats: bool) -> ScenarioResult {
        let code = permuted(code.parse()?, colours, &self.options);
        let rules = Rules::new(code.len(), colours, repeats)?;
        self.games += 1;
        self.game = Some(Game { code, rules, played: 0, lifeline: None, rows: Vec::new() });
        let repeats = if repeats { "yes" } else { "no" };
        self.send(format!("GAME {} {} {} {repeats}", self.seat, 6 + self.games, code.len()));
        self.send_turn(judge)
    }

    pub(super) fn receive(&mut self, judge: &mut Judge, blamed: &'static Rule) -> ScenarioResult<ClientAction> {
        let by = self.options.deadline();
        loop {
            let wrong = match read_line(&mut self.connection, MAX_MESSAGE, by) {
                Received::Line(line) => {
                    let (right, loose) = (exact(&line), exact(&normalized(&line)));
                    judge.check(&GRAMMAR, right.is_some(), || {
                        format!("expected a message of a player, received {}", excerpt(&line))
                    });
                    match right.or(loose) {
                        Some(message) => return Ok(ClientAction::Sends(message)),
                        None => continue,
                    }
                }
                Received::TooLong(bytes) => {
                    format!("expected a line feed within {MAX_MESSAGE} bytes, received {}", excerpt(&bytes))
                }
                Received::Truncated(bytes) => format!(
                    "expected the rest of a message before the end of the connection, received only {}",
                    excerpt(&bytes)
                ),
                Received::Closed => return Ok(ClientAction::Closes),
                Received::Timeout => {
                    return judge.broken(blamed, || "expected a message, received nothing in time".to_owned());
                }
            };
            return judge.broken(&GRAMMAR, || wrong);
        }
    }

    /// The client must not send any message during the pause.
    pub(super) fn pause(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        long: Duration,
        when: &str,
    ) -> ScenarioResult {
        self.flush();
        self.connection.more(Instant::now() + long);
        let early = self.connection.rest();
        judge.require(rule, early.is_empty(), || format!("expected nothing {when}, received {}", excerpt(&early)))
    }

    pub(super) fn send_turn(&mut self, judge: &mut Judge) -> ScenarioResult {
        if self.delivery != Delivery::Merged {
            // Data that arrives before the question cannot be its answer.
            self.pause(judge, &QUIET, POLL, "before TURN")?;
        }
        let Some(Game { played, lifeline, .. }) = &self.game else { return Ok(()) };
        let words = [1, 2].map(|cost| match lifeline {
            Some(_) => "used",
            None if played + cost >= TURNS => "blocked",
            None => "available",
        });
        self.send(format!("TURN {} {} {} 0", played + 1, words[0], words[1]));
        self.flush();
        Ok(())
    }

    /// Returns whether the guess is the code.
    pub(super) fn answer(&mut self, judge: &mut Judge, guess: Code) -> ScenarioResult<bool> {
        let Some(game) = &mut self.game else { return Ok(false) };
        let (turn, reported) = (game.played + 1, game.guess(judge, guess)?);
        let won = reported.is_win(game.rules.length());
        self.send(format!("ROW {} {turn} {guess} {} {}", self.seat, reported.red, reported.white));
        Ok(won)
    }

    /// Responds to the client's action, up to the next TURN or OVER. Returns whether the game continues.
    pub(super) fn turn(&mut self, judge: &mut Judge) -> ScenarioResult<bool> {
        for _ in 0..MOST_REFUSED {
            let next = self.receive(judge, self.blamed)?;
            let Some(game) = &mut self.game else { return Ok(false) };
            let (seat, turn) = (self.seat, game.played + 1);
            let acts = !matches!(
                next,
                ClientAction::Closes
                    | ClientAction::Sends(ClientMessage::Play(_) | ClientMessage::New(_) | ClientMessage::Quit)
            );
            judge.require(self.blamed, acts, || {
                format!("turn {turn}: expected an answer to TURN, received {}", describe(&next))
            })?;
            match next {
                ClientAction::Sends(ClientMessage::Guess(guess)) => {
                    let won = self.answer(judge, guess)?;
                    let over = won || turn >= TURNS;
                    if over {
                        self.over(if won { "won" } else { "lost" });
                    } else {
                        self.send_turn(judge)?;
                    }
                    return Ok(!over);
                }
                ClientAction::Sends(ClientMessage::Lifeline(lifeline)) => match game.lifeline(lifeline) {
                    Some(reported) => {
                        self.send(format!("LIFELINE {seat} {turn} {reported}"));
                        self.send_turn(judge)?;
                        return Ok(true);
                    }
                    None => self.refuse("that lifeline cannot be used now"),
                },
                ClientAction::Sends(ClientMessage::Hint) => self.refuse("this room gives no hints"),
                ClientAction::Sends(ClientMessage::Resign) => {
                    self.over("resigned");
                    return Ok(false);
                }
                _ => return Ok(false),
            }
        }
        judge.broken(self.blamed, || format!("expected a guess after TURN, received {MOST_REFUSED} other messages"))
    }

    fn refuse(&mut self, why: &str) {
        self.send(format!("NO {why}"));
        self.flush();
    }

    pub(super) fn over(&mut self, how: &str) {
        if let Some(Game { code, played, .. }) = self.game.take() {
            self.send(format!("OVER {} {how} {played} 0 {code}", self.seat));
        }
        self.flush();
    }

    pub(super) fn game(&mut self, judge: &mut Judge) -> ScenarioResult {
        while self.turn(judge)? {}
        Ok(())
    }

    pub(super) fn state(&self) -> Vec<String> {
        let Some(game) = &self.game else { return Vec::new() };
        let repeats = if game.rules.repeats() { "yes" } else { "no" };
        let head = format!("GAME {} {} {} {repeats}", self.seat, 6 + self.games, game.code.len());
        let rows = (1..).zip(&game.rows).map(|(turn, (guess, reported))| {
            format!("ROW {} {turn} {guess} {} {}", self.seat, reported.red, reported.white)
        });
        [format!("SEAT {} {}", self.seat, self.name), head].into_iter().chain(rows).collect()
    }

    pub(super) fn leave(mut self, judge: &mut Judge, rule: &'static Rule, after: &str) -> ScenarioResult {
        self.flush();
        // The client's last messages have arrived, so closing the connection loses no data that it should read.
        self.connection.end_sending();
        let by = self.options.deadline();
        while self.connection.more(by) {}
        let exit = self.run.exit(by);
        judge.require(rule, exit.is_some(), || {
            format!("expected the client to exit after {after}, but it is still running")
        })
    }
}

impl Game {
    fn guess(&mut self, judge: &mut Judge, guess: Code) -> ScenarioResult<Feedback> {
        let (length, colours) = (self.rules.length(), self.rules.colours());
        judge.require(&LENGTH, guess.len() == length, || {
            format!("expected a guess of {length} digits, received GUESS {guess}")
        })?;
        judge.require(&COLOURS, self.rules.allows_guess(guess), || {
            format!("expected a guess with {colours} colours, received GUESS {guess}")
        })?;
        let reported = answer(self.code, guess)?;
        for (before, of) in &self.rows {
            let fits = answer(guess, *before)? == *of;
            judge.check(&FITS, fits, || {
                format!("expected a guess that fits all answers, received {guess}, although {before} got {of}")
            });
        }
        self.rows.push((guess, reported));
        self.played += 1;
        Ok(reported)
    }

    /// `1 * 5` or `2 3 5`. `None` if the lifeline is rejected.
    fn lifeline(&mut self, lifeline: Lifeline) -> Option<String> {
        let cost = lifeline.number();
        if self.lifeline.is_some() || self.played + cost >= TURNS {
            return None;
        }
        let place = self.played % self.code.len();
        let peg = self.code.peg(place)?;
        self.played += cost;
        self.lifeline = Some(lifeline);
        Some(match lifeline {
            Lifeline::Colour => format!("1 * {peg}"),
            Lifeline::Place => format!("2 {} {peg}", place + 1),
        })
    }
}

/// Parses a message that is written exactly as in the protocol, except that its first word may be in lower case.
fn exact(line: &[u8]) -> Option<ClientMessage> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let message = ClientMessage::parse(line).ok()?;
    message.to_string().as_bytes().eq_ignore_ascii_case(line).then_some(message)
}

pub(super) fn describe(next: &ClientAction) -> String {
    match next {
        ClientAction::Sends(message) => message.to_string(),
        ClientAction::Closes => "the end of the connection".to_owned(),
    }
}
