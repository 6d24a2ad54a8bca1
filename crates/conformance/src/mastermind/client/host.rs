use std::{
    fmt::Display,
    net::TcpListener,
    time::{Duration, Instant},
};

use mastermind::{
    ClientMessage, Code, Feedback, Game, Lifeline, Rules, ServerMessage, Style,
    game::{Action, Entry, Outcome, TURNS},
    protocol::{MAX_MESSAGE, Turn},
    view::{GameOutcome, Visibility},
};
use rand::{SeedableRng as _, rngs::ChaCha12Rng};

use super::{COLOURS, FITS, GRAMMAR, JOINS, LENGTH, NAME, PLAYS, QUIET};
use crate::{
    judge::{Judge, ScenarioResult},
    launch::{Launcher, Run},
    mastermind::{
        lines::{Delivery, Grammar, Lines, excerpt},
        permuted,
    },
    net::Connection,
    rule::Rule,
    tester::Options,
    words::mastermind::WITH_CLIENT,
};

const GAMES: usize = 2;
/// How long to wait for forbidden messages.
const POLL: Duration = Duration::from_millis(2);
/// The limit of hints and rejected lifelines in a game.
const MOST_REFUSED: usize = 2 * TURNS;

static OF_CLIENT: Grammar<ClientMessage> =
    Grammar { rule: &GRAMMAR, sender: "player", most: MAX_MESSAGE, parse: exact };

/// The first word may be in lower case.
fn exact(line: &[u8]) -> Option<ClientMessage> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let message = ClientMessage::parse(line).ok()?;
    message.to_string().as_bytes().eq_ignore_ascii_case(line).then_some(message)
}

pub(super) struct Host {
    pub(super) lines: Lines<ClientMessage>,
    pub(super) run: Box<dyn Run>,
    seat: u8,
    name: String,
    games: u32,
    game: Option<Game>,
    rng: ChaCha12Rng,
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
        let connection = connection.recorded(judge.open_channel("the room", &WITH_CLIENT));
        let mut host = Self {
            lines: Lines::new(connection, options, &OF_CLIENT),
            run,
            seat: 1,
            name: name.to_owned(),
            games: 0,
            game: None,
            rng: ChaCha12Rng::seed_from_u64(options.drawn(1).into()),
        };
        host.lines.delivery = delivery;
        host.send_all(lines);
        host.lines.flush();
        let joined = match host.receive(judge, &JOINS)? {
            Some(ClientMessage::Play(joined)) => Ok(joined.to_string()),
            other => Err(format!("expected PLAY, received {}", describe(other.as_ref()))),
        };
        let joined = judge.expect(&JOINS, joined)?;
        if launcher.takes("name") {
            judge.check(&NAME, joined == name, || format!("expected PLAY {name}, received PLAY {joined}"));
        }
        host.name = joined;
        Ok(host)
    }

    pub(super) fn send(&mut self, line: impl Display) {
        self.lines.send(line.to_string());
    }

    pub(super) fn send_all(&mut self, lines: &[&str]) {
        for line in lines {
            self.send(line);
        }
    }

    pub(super) fn take_seat(&mut self, seat: u8) {
        self.seat = seat;
        self.send(ServerMessage::Ok(seat));
        self.send(format!("SEAT {seat} {}", self.name));
    }

    pub(super) fn begin(&mut self, judge: &mut Judge, code: &str, colours: usize, repeats: bool) -> ScenarioResult {
        let code = permuted(code.parse()?, colours, &self.lines.options);
        let rules = Rules::new(code.len(), colours, repeats)?;
        self.games += 1;
        self.game = Some(Game::with_code(rules, Style::Panel, code)?);
        self.send_game(rules);
        self.send_turn(judge)
    }

    fn send_game(&mut self, rules: Rules) {
        self.send(ServerMessage::Game { seat: self.seat, number: 6 + self.games, rules });
    }

    /// `None` if the client closes the connection.
    pub(super) fn receive(
        &mut self,
        judge: &mut Judge,
        blamed: &'static Rule,
    ) -> ScenarioResult<Option<ClientMessage>> {
        match self.lines.receive(judge)? {
            Ok(message) => Ok(Some(message)),
            Err(_) if self.lines.connection.closed => Ok(None),
            Err(what) => judge.broken(blamed, || format!("expected a message, received {what}")),
        }
    }

    /// The client must not send any message meanwhile.
    pub(super) fn pause(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        long: Duration,
        when: &str,
    ) -> ScenarioResult {
        self.lines.flush();
        self.lines.connection.more(Instant::now() + long);
        let early = self.lines.connection.rest();
        judge.require(rule, early.is_empty(), || format!("expected nothing {when}, received {}", excerpt(&early)))
    }

    pub(super) fn send_turn(&mut self, judge: &mut Judge) -> ScenarioResult {
        if self.lines.delivery != Delivery::Merged {
            // Data that precedes the question cannot be its answer.
            self.pause(judge, &QUIET, POLL, "before TURN")?;
        }
        if let Some(game) = &self.game {
            let lifelines = Lifeline::ALL.map(|lifeline| game.availability(lifeline));
            self.send(ServerMessage::Turn(Turn { turn: game.turn(), lifelines, hints: 0 }));
        }
        self.lines.flush();
        Ok(())
    }

    fn apply(&mut self, action: Action) -> bool {
        let Some(game) = &mut self.game else { return false };
        let is_valid = game.apply(action, &mut self.rng).is_ok();
        let line = game.view(self.games, None, Visibility::All).lines.pop();
        if let Some(line) = line.filter(|_| is_valid) {
            self.send(ServerMessage::Line(self.seat, line));
        }
        is_valid
    }

    pub(super) fn answer(&mut self, judge: &mut Judge, guess: Code) -> ScenarioResult<Option<Outcome>> {
        let Some(game) = &self.game else { return Ok(None) };
        let (length, colours) = (game.rules().length(), game.rules().colours());
        judge.require(&LENGTH, guess.len() == length, || {
            format!("expected a guess of {length} digits, received GUESS {guess}")
        })?;
        judge.require(&COLOURS, game.rules().allows_guess(guess), || {
            format!("expected a guess with {colours} colours, received GUESS {guess}")
        })?;
        for entry in game.history() {
            let Entry::Guess(before, reported) = *entry else { continue };
            judge.check(&FITS, Feedback::of(before, guess) == reported, || {
                format!("expected a guess that fits all answers, received {guess}, although {before} got {reported}")
            });
        }
        self.apply(Action::Guess(guess));
        Ok(self.game.as_ref().and_then(Game::outcome))
    }

    /// Responds to the client until the next TURN or OVER. Returns whether the game continues.
    pub(super) fn turn(&mut self, judge: &mut Judge) -> ScenarioResult<bool> {
        for _ in 0..MOST_REFUSED {
            let next = self.receive(judge, &PLAYS)?;
            let turn = self.game.as_ref().map_or(0, Game::turn);
            let acts = matches!(
                next,
                Some(
                    ClientMessage::Guess(_) | ClientMessage::Lifeline(_) | ClientMessage::Hint | ClientMessage::Resign
                )
            );
            judge.require(&PLAYS, acts, || {
                format!("turn {turn}: expected an answer to TURN, received {}", describe(next.as_ref()))
            })?;
            let refusal = match next {
                Some(ClientMessage::Guess(guess)) => {
                    match self.answer(judge, guess)? {
                        None => self.send_turn(judge)?,
                        Some(Outcome::Won(_)) => self.over(GameOutcome::Won),
                        Some(Outcome::Lost(_)) => self.over(GameOutcome::Lost),
                    }
                    return Ok(self.game.is_some());
                }
                Some(ClientMessage::Lifeline(lifeline)) if self.apply(Action::Lifeline(lifeline)) => {
                    self.send_turn(judge)?;
                    return Ok(true);
                }
                Some(ClientMessage::Resign) => {
                    self.over(GameOutcome::Resigned);
                    return Ok(false);
                }
                Some(ClientMessage::Lifeline(_)) => "NO that lifeline cannot be used now",
                _ => "NO this room gives no hints",
            };
            self.send(refusal);
            self.lines.flush();
        }
        judge.broken(&PLAYS, || format!("expected a guess after TURN, received {MOST_REFUSED} other messages"))
    }

    pub(super) fn over(&mut self, how: GameOutcome) {
        if let Some(over) = self.game.take().and_then(|game| game.view(self.games, Some(how), Visibility::All).over) {
            self.send(ServerMessage::Over(self.seat, over));
        }
        self.lines.flush();
    }

    pub(super) fn play_on(&mut self, judge: &mut Judge) -> ScenarioResult {
        while self.turn(judge)? {}
        Ok(())
    }

    pub(super) fn send_state(&mut self) {
        let Some(board) = self.game.as_ref().map(|game| game.view(self.games, None, Visibility::All)) else { return };
        self.take_seat(self.seat);
        self.send_game(board.rules);
        board.lines.into_iter().for_each(|line| self.send(ServerMessage::Line(self.seat, line)));
    }

    /// Ends the connection, whereupon the client must exit.
    pub(super) fn leave(&mut self, judge: &mut Judge, rule: &'static Rule, after: &str) -> ScenarioResult {
        self.lines.flush();
        // The client's last messages have arrived, so closing loses no data that it should read.
        self.lines.connection.end_sending();
        let by = self.lines.options.deadline();
        while self.lines.connection.more(by) {}
        let exit = self.run.exit(by);
        judge.require(rule, exit.is_some(), || {
            format!("expected the client to exit after {after}, but it is still running")
        })
    }
}

pub(super) fn describe(message: Option<&ClientMessage>) -> String {
    message.map_or_else(|| "the end of the connection".to_owned(), |message| format!("'{message}'"))
}
