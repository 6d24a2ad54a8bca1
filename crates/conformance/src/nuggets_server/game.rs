//! The clients of a game. They derive its state from any messages, so that a deviation breaks only its own rule.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use nuggets::{
    Cell, Letter, Name, ServerMessage,
    game::MAX_PLAYERS,
    grid::{Grid, ROOM},
};

use super::{
    model::{Effect, Model, cells},
    rules,
    wire::{Arrival, LenientMessage, Wire, differences, fitted, key_message, misshape, parse_leniently, quoted_bytes},
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    report::Sender,
    rule::Rule,
    tape::Channel,
    tester::Options,
    words::nuggets::WITH_SERVER,
};

pub(super) const GOLD: u32 = 250;
/// How long the system may take to report a closed port.
const PROBE: Duration = Duration::from_millis(200);
/// How long to wait for further messages when a known deviation prevents the expected ones.
const GRACE: Duration = Duration::from_millis(150);
/// `GRACE` as a multiple of the longest recent response time, since games with many deviations wait often.
const LATENCIES: u32 = 8;
const MAX_GRACE: Duration = Duration::from_secs(1);
/// A long answer may take this multiple of the patience.
const SLOW: u32 = 4;
const DRAIN: Duration = Duration::from_secs(2);
const DRAIN_POLL: Duration = Duration::from_millis(5);
pub(super) const STEPS: &[u8] = b"hjklyubn";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ok,
    Grid,
    Gold,
    Display,
    Quit,
    Error,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Grid => "GRID",
            Self::Gold => "GOLD",
            Self::Display => "DISPLAY",
            Self::Quit => "QUIT",
            Self::Error => "ERROR",
        }
    }
}

pub(super) fn kinds(log: &[Kind]) -> String {
    let words: Vec<_> = log.iter().map(|kind| kind.word()).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    Unjoined,
    Spectator,
    Player(Letter),
}

#[derive(Default)]
pub(super) struct Client {
    pub(super) role: Role,
    /// Messages since the last action.
    pub(super) log: Vec<Kind>,
    pub(super) display: Vec<u8>,
    pub(super) letter: Option<Letter>,
    pub(super) size: Option<(u16, u16)>,
    pub(super) purse: u32,
    pub(super) collected: u32,
    pub(super) left: Option<u32>,
    pub(super) quit: Option<Vec<u8>>,
    pub(super) has_left: bool,
    /// The server may send it QUIT now.
    pub(super) leaving: bool,
    pub(super) channel: Option<Channel>,
}

impl Client {
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.log.contains(&kind)
    }

    pub(super) fn is_shown(&self) -> bool {
        self.has(Kind::Display) && !self.display.is_empty()
    }
}

pub(super) struct Action<'a> {
    pub(super) text: &'a str,
    pub(super) rule: &'static Rule,
    /// Broken by a single step of this kind.
    pub(super) step: &'static Rule,
    pub(super) mover: Option<Letter>,
    pub(super) pushed: Vec<Letter>,
    pub(super) left: Option<Cell>,
    pub(super) effect: Effect,
}

impl<'a> Action<'a> {
    pub(super) fn of(text: &'a str, rule: &'static Rule) -> Self {
        Self { text, rule, step: rule, mover: None, pushed: Vec::new(), left: None, effect: Effect::default() }
    }
}

/// A datagram that must have no effect. The next move of a player shows whether it had one.
#[derive(Clone)]
pub(super) struct IgnoredDatagram {
    pub(super) rule: &'static Rule,
    pub(super) text: String,
    pub(super) by: Option<Letter>,
    /// The datagram had an effect, so the scenario cannot show anything new.
    pub(super) is_broken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Open,
    /// No pile is left, if the server counts like the model.
    Due,
    Judged,
}

pub(super) struct Game<'a> {
    pub(super) judge: &'a mut Judge,
    pub(super) options: &'a Options,
    wire: Wire,
    pub(super) model: Option<Model>,
    pub(super) size: Option<(u16, u16)>,
    pub(super) clients: Vec<Client>,
    pub(super) joined: Vec<(Letter, Name, usize)>,
    pub(super) idle: Option<IgnoredDatagram>,
    pub(super) end: End,
    /// A leave after which no client received a DISPLAY.
    pub(super) unseen_leave: Option<String>,
    /// A key that took a pile without a GOLD to any client.
    pub(super) unpaid: Option<String>,
    refused: bool,
    // The last unanswered datagram, and the longest recent response time.
    asked: Option<Instant>,
    slowest: Duration,
    pub(super) unanswered: u32,
    pub(super) last_sender: Option<usize>,
    pub(super) collector: Option<usize>,
    /// Also judges the form of messages.
    pub(super) is_strict: bool,
    /// All purses and the remaining gold.
    pub(super) total: Option<u32>,
    pub(super) received: u64,
    pub(super) letters: usize,
    // The server was started for this game.
    pub(super) fresh: bool,
}

impl<'a> Game<'a> {
    pub(super) fn new(judge: &'a mut Judge, options: &'a Options, wire: Wire, fresh: bool) -> Self {
        Self {
            judge,
            options,
            wire,
            model: None,
            size: None,
            clients: Vec::new(),
            joined: Vec::new(),
            idle: None,
            end: End::Open,
            unseen_leave: None,
            unpaid: None,
            refused: false,
            asked: None,
            slowest: Duration::ZERO,
            unanswered: 0,
            last_sender: None,
            collector: None,
            is_strict: true,
            total: None,
            received: 0,
            letters: 0,
            fresh,
        }
    }

    pub(super) fn into_wire(self) -> Wire {
        self.wire
    }

    pub(super) fn open_client(&mut self) -> ScenarioResult<usize> {
        let number = self.wire.open()?;
        let channel = Some(self.judge.open_channel(&format!("client {number}"), &WITH_SERVER));
        self.clients.push(Client { channel, ..Client::default() });
        Ok(number)
    }

    pub(super) fn model(&self) -> ScenarioResult<&Model> {
        self.model.as_ref().ok_or_else(|| anyhow::anyhow!("the map is not known yet").into())
    }

    pub(super) fn letter(&self, number: usize) -> ScenarioResult<Letter> {
        match self.clients[number].role {
            Role::Player(letter) => Ok(letter),
            Role::Unjoined | Role::Spectator => Err(anyhow::anyhow!("client {number} does not play").into()),
        }
    }

    pub(super) fn close_port(&mut self, number: usize) {
        self.wire.close(number);
        self.clients[number].role = Role::Unjoined;
        self.record(number, |channel| channel.note(Sender::Tester, "closes its port"));
    }

    /// Messages from now on count as effects of the datagram.
    pub(super) fn send(&mut self, number: usize, datagram: &[u8]) {
        for client in &mut self.clients {
            client.log.clear();
            client.collected = 0;
        }
        self.record(number, |channel| channel.sent(datagram));
        self.focus(number);
        self.wire.send(number, datagram);
        self.asked = Some(Instant::now());
        (self.last_sender, self.collector) = (Some(number), None);
    }

    pub(super) fn grace(&self) -> Duration {
        (self.slowest * LATENCIES).clamp(GRACE, MAX_GRACE)
    }

    /// Waits until `enough` returns true, or until messages pause for the time that the program may take. Returns the
    /// result of `enough`.
    pub(super) fn wait(&mut self, mut enough: impl FnMut(&Self) -> bool) -> bool {
        let limit = self.limit();
        loop {
            let known = self.received;
            let is_new = self.wait_until(self.deadline(limit), |game| game.received > known || enough(game));
            if !is_new || enough(self) {
                return is_new;
            }
        }
    }

    pub(super) fn limit(&self) -> Instant {
        Instant::now() + SLOW * self.options.patience
    }

    pub(super) fn deadline(&self, limit: Instant) -> Instant {
        limit.min(self.options.deadline())
    }

    pub(super) fn wait_until(&mut self, by: Instant, mut enough: impl FnMut(&Self) -> bool) -> bool {
        loop {
            if enough(self) {
                return true;
            }
            // A flood of messages must not extend the wait.
            if self.refused || Instant::now() >= by {
                return false;
            }
            match self.wire.next(by) {
                Some((number, Arrival::Datagram(bytes))) => {
                    if let Some(asked) = self.asked.take() {
                        // The weight of a slow answer decreases with each further one.
                        self.slowest = asked.elapsed().max(self.slowest * 3 / 4);
                    }
                    self.take(number, &bytes);
                }
                Some((_, Arrival::Refused)) => self.refused = true,
                None => {}
            }
        }
    }

    pub(super) fn drain(&mut self) -> bool {
        let (before, by, mut came) = (self.wire.pauses(), Instant::now() + DRAIN, false);
        let is_read = |game: &Self| game.wire.pauses().iter().zip(&before).all(|(now, before)| now > before);
        while !is_read(self) && Instant::now() < by && !self.refused {
            let logged = |game: &Self| game.clients.iter().map(|client| client.log.len()).sum::<usize>();
            let known = logged(self);
            self.wait_until(Instant::now() + DRAIN_POLL, |_| false);
            came |= logged(self) > known;
        }
        came
    }

    pub(super) fn answers(&mut self) -> bool {
        let Ok(probe) = self.open_client() else { return true };
        self.send(probe, b"PLAY Probe");
        self.wait(|game| !game.clients[probe].log.is_empty())
    }

    pub(super) fn is_gone(&mut self) -> bool {
        // The system reports no closed port for earlier datagrams, so another is sent.
        if !self.refused
            && let Ok(probe) = self.open_client()
        {
            self.wire.send(probe, b"?");
            self.wait_until(Instant::now() + PROBE, |_| false);
        }
        self.refused
    }

    /// Ends the scenario. If the server has ended, this breaks the rule that it survives any input instead.
    pub(super) fn break_missing<T>(
        &mut self,
        rule: &'static Rule,
        wrong: impl FnOnce() -> String,
    ) -> ScenarioResult<T> {
        if self.is_gone() {
            let idle = self.idle.take();
            let after = idle.as_ref().map_or_else(String::new, |idle| format!(" after {}", idle.text));
            // A client whose port was closed has sent nothing.
            let lost = idle.map(|idle| idle.rule).filter(|rule| **rule == rules::LOST);
            return self.judge.broken(lost.unwrap_or(&rules::RUNS), || {
                format!("{}; no process listens on the server's port any more{after}", wrong())
            });
        }
        self.judge.broken(rule, wrong)
    }

    /// Like [`Game::break_missing`], but continues if the server still runs.
    pub(super) fn missing(&mut self, rule: &'static Rule, wrong: impl FnOnce() -> String) -> ScenarioResult {
        match self.break_missing::<()>(rule, wrong) {
            Err(Halt::Broken) if !self.refused => Ok(()),
            ended => ended,
        }
    }

    pub(super) fn who(&self, number: usize) -> String {
        match self.clients[number].role {
            Role::Player(letter) => format!("player {letter}"),
            Role::Spectator => "the spectator".to_owned(),
            Role::Unjoined => format!("client {number}, which has not joined"),
        }
    }

    fn record(&self, number: usize, what: impl Fn(&Channel)) {
        self.clients[number].channel.iter().for_each(what);
    }

    pub(super) fn focus(&self, number: usize) {
        self.record(number, Channel::focus);
    }

    pub(super) fn set_role(&mut self, number: usize, role: Role) {
        self.clients[number].role = role;
        let who = self.who(number);
        self.record(number, |channel| channel.rename(&who));
    }

    fn take(&mut self, number: usize, bytes: &[u8]) {
        self.received += 1;
        self.record(number, |channel| channel.received(bytes));
        self.focus(number);
        let who = self.who(number);
        let size = self.model.as_ref().map(|model| (model.grid.rows(), model.grid.cols())).or(self.size);
        self.judge_form(&who, bytes);
        let Some(reading) = parse_leniently(bytes) else { return };
        let is_over = self.end != End::Open || self.clients.iter().any(|client| client.left == Some(0));
        let client = &mut self.clients[number];
        if let Some(text) = &client.quit
            && !matches!(reading, LenientMessage::Error | LenientMessage::Quit(_))
        {
            // A client that received it by mistake may continue to play.
            if !client.leaving && !is_over {
                return;
            }
            let text = quoted_bytes(text);
            let own = self.idle.as_ref().map(|idle| idle.rule);
            let own = own.filter(|rule| [&rules::RETURN, &rules::WATCH_AGAIN].contains(rule));
            if let Some(idle) = &mut self.idle {
                idle.is_broken |= own.is_some();
            }
            self.judge.check(own.unwrap_or(&rules::SILENT), false, || {
                format!("{who}: expected nothing after QUIT {text}, received {}", quoted_bytes(bytes))
            });
            return;
        }
        let kind = match reading {
            LenientMessage::Ok(letter) => {
                self.letters += 1;
                let first = *client.letter.get_or_insert(letter);
                if first != letter {
                    self.idle.iter_mut().for_each(|idle| idle.is_broken = true);
                    self.judge.check(&rules::ONCE, false, || {
                        format!("{who}: expected no second player, received {}", quoted_bytes(bytes))
                    });
                }
                Kind::Ok
            }
            LenientMessage::Grid { rows, cols } => {
                let is_player = matches!(client.role, Role::Player(_));
                if let Some(idle) = self.idle.as_mut().filter(|idle| is_player && *idle.rule == rules::PLAYER_WATCHES) {
                    idle.is_broken = true;
                    self.judge.check(&rules::PLAYER_WATCHES, false, || {
                        format!("{who}: expected to remain a player after SPECTATE, received {}", quoted_bytes(bytes))
                    });
                }
                client.size = Some((rows, cols));
                if let Some((true_rows, true_cols)) = size.filter(|_| self.is_strict) {
                    self.judge.check(&rules::GRID, (rows, cols) == (true_rows, true_cols), || {
                        format!("{who}: expected GRID {true_rows} {true_cols}, received GRID {rows} {cols}")
                    });
                }
                Kind::Grid
            }
            LenientMessage::Gold { collected, purse, remaining } => {
                self.take_gold(number, bytes, (collected, purse, remaining));
                Kind::Gold
            }
            LenientMessage::Display(text) => {
                let size = size.or(client.size);
                if let Some((rows, cols)) = size.filter(|_| self.is_strict) {
                    let wrong = misshape(text, rows, cols);
                    self.judge.check(&rules::SHAPE, wrong.is_none(), || {
                        let wrong = wrong.unwrap_or_default();
                        format!("{who}: expected a DISPLAY of {rows} rows of {cols} bytes, each with a newline, received {}, which {wrong}", quoted_bytes(text))
                    });
                }
                client.display = size.map_or_else(|| text.to_vec(), |(rows, cols)| fitted(text, rows, cols));
                Kind::Display
            }
            LenientMessage::Quit(text) => {
                if client.quit.is_none() && client.role != Role::Unjoined && !client.leaving && !is_over {
                    let (rule, after) = match &mut self.idle {
                        Some(idle) => {
                            idle.is_broken = true;
                            (idle.rule, format!(" after {}", idle.text))
                        }
                        None => (&rules::EARLY, String::new()),
                    };
                    self.judge.check(rule, false, || {
                        format!("{who}: expected no QUIT{after} during the game, received {}", quoted_bytes(bytes))
                    });
                }
                client.quit = Some(text.to_vec());
                Kind::Quit
            }
            LenientMessage::Error => Kind::Error,
        };
        self.clients[number].log.push(kind);
    }

    // The numbers must match those of the previous GOLD.
    fn take_gold(&mut self, number: usize, bytes: &[u8], (collected, purse, remaining): (u32, u32, u32)) {
        let who = self.who(number);
        let client = &mut self.clients[number];
        let known = client.purse;
        let is_right = known.checked_add(collected) == Some(purse);
        // A datagram that must have no effect breaks its own rule if it moves its sender.
        let by = self.idle.as_ref().and_then(|idle| idle.by);
        let may_collect = self.last_sender == Some(number) || by.is_some() && client.letter == by;
        let is_own = may_collect && (is_right || self.collector == Some(number) || purse != known);
        let (rule, fits) = match client.role {
            Role::Spectator => (&rules::OTHERS, purse == 0 && collected == 0),
            Role::Player(_) if !is_own => (&rules::OTHERS, collected == 0 && purse == known),
            Role::Player(_) | Role::Unjoined => (&rules::COLLECT, is_right),
        };
        self.judge.check(rule, fits, || {
            let right =
                if is_own { "the old purse plus the collected nuggets" } else { "0 collected and the old purse" };
            format!("{who}: expected {right}, after a purse of {known}, received {}", quoted_bytes(bytes))
        });
        if let Some(before) = client.left {
            self.judge.check(&rules::TOTAL, remaining <= before, || {
                format!("{who}: expected at most {before} nuggets left, as before, received {}", quoted_bytes(bytes))
            });
        }
        (client.purse, client.left) = (purse, Some(remaining));
        client.collected = client.collected.saturating_add(collected);
    }

    fn judge_form(&mut self, who: &str, bytes: &[u8]) {
        if !self.is_strict {
            return;
        }
        let exact = match &ServerMessage::parse(bytes) {
            // Newlines at the end of a text belong to the text.
            Ok(ServerMessage::Quit(_) | ServerMessage::Error(_)) => bytes.contains(&b' ') && !bytes.contains(&0),
            Ok(message) if !matches!(message, ServerMessage::Display(_)) => message.to_bytes() == bytes,
            // Another rule covers its shape.
            Ok(_) | Err(_) => bytes.starts_with(b"DISPLAY\n") && !bytes.contains(&0),
        };
        self.judge.check(&rules::FORM, exact, || {
            format!("{who}: expected a message of a server, received {}", quoted_bytes(bytes))
        });
    }
}

/// Before SPECTATE is repeated.
const PAUSE: Duration = Duration::from_millis(500);

impl Game<'_> {
    pub(super) fn unwatched(&mut self, map: &Grid) {
        self.total = self.fresh.then_some(GOLD);
        self.model = Some(Model::new(map.clone(), BTreeSet::new()));
    }

    /// Without a DISPLAY, the game continues without a spectator.
    pub(super) fn spectate(&mut self, number: usize, map: Option<&Grid>) -> ScenarioResult {
        let all = [Kind::Grid, Kind::Gold, Kind::Display];
        let before = self.spectator();
        if let Some(before) = before {
            self.clients[before].leaving = true;
        }
        self.size = self.size.or(map.map(|map| (map.rows(), map.cols())));
        let by = self.options.deadline();
        loop {
            self.send(number, b"SPECTATE");
            self.wait_until(by, |game| {
                let client = &game.clients[number];
                all.iter().all(|&kind| client.has(kind)) || client.has(Kind::Quit) || client.has(Kind::Error)
            });
            // A server may limit how often spectators are replaced.
            let client = &self.clients[number];
            if !client.has(Kind::Error) || client.has(Kind::Grid) || Instant::now() >= by {
                break;
            }
            self.wait_until(by.min(Instant::now() + PAUSE), |_| false);
        }
        self.answered(number, &all, &rules::WATCH, "SPECTATE", "GRID, GOLD and DISPLAY")?;
        let client = &self.clients[number];
        let (display, size, left) = (client.display.clone(), client.size, client.left);
        if display.is_empty() {
            return match (map, &self.model) {
                (Some(map), None) => {
                    self.unwatched(map);
                    Ok(())
                }
                (None, None) => Err(Halt::Broken),
                (_, Some(_)) => Ok(()),
            };
        }
        self.set_role(number, Role::Spectator);
        if self.model.is_none() {
            self.begin(map, number, &display, size, left)?;
        } else {
            let board = self.model()?.board();
            self.judge.check(&rules::BOARD, display == board, || {
                format!(
                    "first DISPLAY of a new spectator: {}",
                    self.model.as_ref().map_or_else(String::new, |model| differences(&model.grid, &board, &display))
                )
            });
        }
        if let Some(before) = before {
            let is_told = self.wait(|game| game.clients[before].quit.is_some());
            if !self.judge.check(&rules::REPLACED, is_told, || {
                "the spectator: expected QUIT after SPECTATE of another client, received none".to_owned()
            }) {
                self.set_role(before, Role::Unjoined);
            }
            self.text(before, "You have been replaced by a new spectator.");
        }
        Ok(())
    }

    // The messages must arrive in this order, with only ERRORs between them.
    fn answered(
        &mut self,
        number: usize,
        all: &[Kind],
        rule: &'static Rule,
        what: &str,
        wanted: &str,
    ) -> ScenarioResult {
        let log: Vec<Kind> = self.clients[number].log.iter().copied().filter(|&kind| kind != Kind::Error).collect();
        if log.starts_with(all) {
            self.judge.check(rule, true, String::new);
            return Ok(());
        }
        self.missing(rule, || format!("expected {wanted}, in this order, after {what}, received {}", kinds(&log)))
    }

    fn begin(
        &mut self,
        map: Option<&Grid>,
        number: usize,
        display: &[u8],
        size: Option<(u16, u16)>,
        left: Option<u32>,
    ) -> ScenarioResult {
        let grid = match map {
            Some(map) => {
                let right = (map.rows(), map.cols());
                if let Some((rows, cols)) = size.filter(|_| self.is_strict) {
                    self.judge.check(&rules::GRID, (rows, cols) == right, || {
                        let (true_rows, true_cols) = right;
                        format!("expected GRID {true_rows} {true_cols}, received GRID {rows} {cols}")
                    });
                }
                map.clone()
            }
            None => self.drawn(display, size.unwrap_or_default())?,
        };
        // In the shape that GRID announced.
        let display = fitted(display, grid.rows(), grid.cols());
        self.clients[number].display.clone_from(&display);
        let piles: BTreeSet<Cell> =
            (0..=u16::MAX).map(Cell).zip(&display).filter(|&(_, &byte)| byte == b'*').map(|(cell, _)| cell).collect();
        let model = Model::new(grid, piles);
        let misplaced =
            model.piles.iter().find(|&&cell| model.grid.at(cell) != ROOM).map(|&cell| model.grid.position(cell));
        self.judge.check(&rules::PILES_IN_ROOMS, misplaced.is_none(), || {
            format!(
                "expected piles on room spots, received one at {}",
                misplaced.map_or_else(String::new, |at| at.to_string())
            )
        });
        let board = model.board();
        self.judge.check(&rules::BOARD, board == display, || {
            format!("first DISPLAY of the spectator: {}", differences(&model.grid, &board, &display))
        });
        let count = model.piles.len();
        if map.is_some() && self.is_strict {
            self.judge.check(&rules::PILES, (10..=30).contains(&count), || {
                format!("expected 10 to 30 piles at the start, received {count}")
            });
            self.judge.check(&rules::TOTAL, left.is_none_or(|left| left == GOLD), || {
                format!("expected 250 nuggets at the start, received {}", left.unwrap_or(0))
            });
        }
        self.total = left;
        self.model = Some(model);
        Ok(())
    }

    fn drawn(&mut self, display: &[u8], size: (u16, u16)) -> ScenarioResult<Grid> {
        if display.iter().any(u8::is_ascii_uppercase) {
            if self.judge.has_failed(&rules::LEAVE) || self.judge.has_failed(&rules::LEFT) {
                // Already recorded: players of an earlier scenario could not leave.
                return Err(Halt::Broken);
            }
            let text = "the server's game already has players: use a server with an empty game";
            return Err(anyhow::anyhow!(text).into());
        }
        let text: Vec<u8> = display.iter().map(|&byte| if byte == b'*' { ROOM } else { byte }).collect();
        match Grid::parse(&text) {
            Ok((grid, _)) if (grid.rows(), grid.cols()) == size => Ok(grid),
            _ => self.judge.broken(&rules::BOARD, || {
                format!("expected a map, received GRID {} {} and the DISPLAY {}", size.0, size.1, quoted_bytes(display))
            }),
        }
    }

    pub(super) fn join(&mut self, name: &str) -> ScenarioResult<usize> {
        self.join_as(name.as_bytes(), &rules::WELCOME)
    }

    /// Like [`Game::join`], but breaks `rule` if the player is not accepted.
    pub(super) fn join_as(&mut self, name: &[u8], rule: &'static Rule) -> ScenarioResult<usize> {
        let number = self.open_client()?;
        let all = [Kind::Ok, Kind::Grid, Kind::Gold, Kind::Display];
        let text = format!("PLAY {}", quoted_bytes(name));
        self.send(number, &[b"PLAY ", name].concat());
        self.wait(|game| {
            let client = &game.clients[number];
            all.iter().all(|&kind| client.has(kind)) || client.has(Kind::Quit)
        });
        let client = &self.clients[number];
        if let Some(text) = client.quit.as_ref().filter(|_| !self.fresh)
            && (self.letters >= MAX_PLAYERS || text.to_ascii_lowercase().windows(4).any(|word| word == b"full"))
        {
            // Earlier players may have letters too.
            self.letters = self.letters.max(MAX_PLAYERS);
            return Err(Halt::Broken);
        }
        if client.quit.is_some() || !client.has(Kind::Ok) && !client.display.contains(&b'@') {
            let log = client.log.clone();
            let wrong = || format!("expected OK after {text}, received {}", kinds(&log));
            // If the server ends, the name is to blame.
            return if rule == &rules::WELCOME {
                self.break_missing(rule, wrong)
            } else {
                self.judge.broken(rule, wrong)
            };
        }
        self.answered(number, &all, &rules::WELCOME, &text, "OK, GRID, GOLD and DISPLAY")?;
        let letter = self.lettered(number, &text)?;
        self.set_role(number, Role::Player(letter));
        let Ok(name) = Name::new(name) else { return Err(Halt::Broken) };
        self.joined.push((letter, name, number));
        let is_placed = self.wait(|game| game.place(letter).is_some() || game.are_shown());
        if self.place(letter).is_none() {
            self.drain();
        }
        if let Some(cell) = self.place(letter) {
            let model = self.model()?;
            let (at, is_free) = (model.grid.position(cell), model.board().get(cell.index()) == Some(&ROOM));
            self.judge.check(&rules::PLACE, is_free, || {
                format!("expected player {letter} on an empty room spot, received {at}")
            });
            if let Some(model) = &mut self.model {
                model.place(letter, cell);
            }
        } else if is_placed {
            // Gold or another player may hide the player.
            self.judge.check(&rules::PLACE, false, || {
                format!("expected player {letter} in the DISPLAYs after {text}, received none")
            });
            // A later key of the player may reveal it.
            return self.reveal(number, letter).or(Ok(())).map(|()| number);
        } else {
            self.missing(&rules::ALL, || {
                format!("expected the place of player {letter} in a DISPLAY after {text}, received none")
            })?;
        }
        self.judge_effects(&Action::of(&text, &rules::BOARD))?;
        Ok(number)
    }

    fn are_shown(&self) -> bool {
        self.active().into_iter().all(|number| self.clients[number].is_shown())
    }

    pub(super) fn reveal(&mut self, number: usize, letter: Letter) -> ScenarioResult {
        for &key in STEPS {
            self.send(number, &key_message(key));
            self.wait_until(Instant::now() + self.grace(), |game| game.place(letter).is_some());
            if let Some(cell) = self.place(letter) {
                let mut model = self.model()?.clone();
                model.place(letter, cell);
                self.drain();
                self.adopt(&model, true);
                return Ok(());
            }
        }
        Err(Halt::Broken)
    }

    // The letter of a new player must be unused.
    fn lettered(&mut self, number: usize, text: &str) -> ScenarioResult<Letter> {
        let expected = self.joined.last().map(|(before, ..)| before.byte().wrapping_add(1));
        // A running server may have had players before.
        let expected = expected.or_else(|| self.fresh.then_some(b'A'));
        let Some(letter) = self.clients[number].letter.or_else(|| expected.and_then(Letter::from_byte)) else {
            return Err(Halt::Broken);
        };
        let is_new = self.joined.iter().all(|(other, ..)| *other != letter);
        self.judge.require(&rules::LETTER_KEPT, is_new, || {
            format!("expected an unused letter after {text}, received {letter}")
        })?;
        self.judge.check(&rules::LETTERS, expected.is_none_or(|expected| expected == letter.byte()), || {
            format!("expected the letter {} after {text}, received {letter}", char::from(expected.unwrap_or(b'A')))
        });
        Ok(letter)
    }

    pub(super) fn spectator(&self) -> Option<usize> {
        self.clients.iter().position(|client| client.role == Role::Spectator && client.quit.is_none())
    }

    /// According to the spectator's last DISPLAY, or else to the player's own.
    pub(super) fn place(&self, letter: Letter) -> Option<Cell> {
        let board = self.true_board().unwrap_or_default();
        let shown = cells(board).find(|(_, byte)| *byte == letter.byte()).map(|(cell, _)| cell);
        shown.or_else(|| self.own_place(letter))
    }
}
