//! A game with one server: clients that know what each of them must be told.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use nuggets::{
    Letter, Name, ServerMessage,
    grid::{Cell, Grid, ROOM},
    protocol::printable,
};

use super::{
    rules, settle,
    wire::{Arrival, Wire},
    world::{Effect, World},
};
use crate::{
    judge::{Halt, Judge, Played},
    report::Rule,
    tester::Options,
};

/// The nuggets of a game.
pub(super) const GOLD: u32 = 250;
/// Bytes of a message that a report shows.
const SHOWN: usize = 60;
/// How long to wait before SPECTATE is tried again.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the system may take to report that a port is closed.
const PROBE: Duration = Duration::from_millis(200);
/// The keys of single steps.
pub(super) const STEPS: &[u8] = b"hjklyubn";

/// The kinds of messages, for the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ok,
    Grid,
    Gold,
    Display,
    Quit,
    Error,
}

/// What a client is to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Stranger,
    Spectator,
    Player(Letter),
}

/// One client and what it was told.
pub(super) struct Client {
    pub(super) role: Role,
    /// What came since the last thing that somebody did.
    pub(super) log: Vec<Kind>,
    /// What the last DISPLAY showed.
    pub(super) display: Vec<u8>,
    pub(super) letter: Option<Letter>,
    pub(super) size: Option<(u16, u16)>,
    pub(super) purse: u32,
    pub(super) left: Option<u32>,
    pub(super) quit: Option<Vec<u8>>,
    /// Whether it may be sent QUIT now.
    pub(super) leaving: bool,
}

impl Client {
    fn has(&self, kind: Kind) -> bool {
        self.log.contains(&kind)
    }
}

/// What needs no further waiting, since the server is known not to do it right. It spares the patience of all later keys.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is found out by itself")]
pub(super) struct Doubts {
    pub(super) display: bool,
    pub(super) sight: bool,
    pub(super) gold: bool,
    // Whether a game was begun before, in another scenario.
    begun: bool,
}

/// What somebody did, and which rule is broken when it has another effect than it should.
pub(super) struct Deed<'a> {
    pub(super) text: &'a str,
    pub(super) rule: &'static Rule,
    pub(super) mover: Option<Letter>,
    pub(super) effect: Effect,
}

/// The clients of one game.
pub(super) struct Party<'a> {
    pub(super) judge: &'a mut Judge,
    options: &'a Options,
    pub(super) doubts: &'a mut Doubts,
    wire: Wire,
    pub(super) world: Option<World>,
    pub(super) clients: Vec<Client>,
    /// Who joined, in this order.
    pub(super) joined: Vec<(Letter, Name, usize)>,
    /// What was sent since the last deed and must do nothing.
    pub(super) idle: Option<(&'static Rule, String)>,
    pub(super) refused: bool,
    /// Purses and gold that is left together.
    pub(super) total: Option<u32>,
    // Whether the server was started for this game.
    fresh: bool,
}

impl<'a> Party<'a> {
    pub(super) fn new(
        judge: &'a mut Judge,
        options: &'a Options,
        doubts: &'a mut Doubts,
        wire: Wire,
        fresh: bool,
    ) -> Self {
        Self {
            judge,
            options,
            doubts,
            wire,
            world: None,
            clients: Vec::new(),
            joined: Vec::new(),
            idle: None,
            refused: false,
            total: None,
            fresh,
        }
    }

    /// Opens a client that the server does not know yet.
    pub(super) fn stranger(&mut self) -> Played<usize> {
        let number = self.wire.open()?;
        self.clients.push(Client {
            role: Role::Stranger,
            log: Vec::new(),
            display: Vec::new(),
            letter: None,
            size: None,
            purse: 0,
            left: None,
            quit: None,
            leaving: false,
        });
        Ok(number)
    }

    pub(super) fn client(&self, number: usize) -> Played<&Client> {
        self.clients.get(number).ok_or_else(|| anyhow::anyhow!("there is no client {number}").into())
    }

    pub(super) fn world(&self) -> Played<&World> {
        self.world.as_ref().ok_or_else(|| anyhow::anyhow!("the map is not known yet").into())
    }

    fn world_mut(&mut self) -> Played<&mut World> {
        self.world.as_mut().ok_or_else(|| anyhow::anyhow!("the map is not known yet").into())
    }

    /// The letter of a player.
    pub(super) fn letter(&self, number: usize) -> Played<Letter> {
        match self.client(number)?.role {
            Role::Player(letter) => Ok(letter),
            Role::Stranger | Role::Spectator => Err(anyhow::anyhow!("client {number} does not play").into()),
        }
    }

    /// Closes a client's port without a word to the server.
    pub(super) fn lose(&mut self, number: usize) {
        self.wire.close(number);
        if let Some(client) = self.clients.get_mut(number) {
            client.role = Role::Stranger;
        }
    }

    /// Sends anything. What comes from now on is what follows from it.
    pub(super) fn send(&mut self, number: usize, datagram: &[u8]) {
        for client in &mut self.clients {
            client.log.clear();
        }
        self.wire.send(number, datagram);
    }

    /// Takes in what comes until it is enough. Returns whether it was.
    pub(super) fn wait(&mut self, enough: impl FnMut(&Self) -> bool) -> bool {
        self.wait_until(self.options.deadline(), enough)
    }

    fn wait_until(&mut self, by: Instant, mut enough: impl FnMut(&Self) -> bool) -> bool {
        loop {
            if enough(self) {
                return true;
            }
            // A flood of messages must not keep us either.
            if self.refused || Instant::now() >= by {
                return false;
            }
            match self.wire.next(by) {
                Some((number, Arrival::Datagram(bytes))) => self.take(number, &bytes),
                Some((_, Arrival::Refused)) => self.refused = true,
                None => {}
            }
        }
    }

    /// Breaks the rule, or that of a server that runs if it is gone.
    pub(super) fn lacking<T>(&mut self, rule: &'static Rule, wrong: impl FnOnce() -> String) -> Played<T> {
        if self.is_gone() {
            return self
                .judge
                .broken(&rules::RUNS, || format!("{}; nobody listens at the server's port any more", wrong()));
        }
        self.judge.broken(rule, wrong)
    }

    // Whether the server's port is closed. What was sent before it closed is not reported, so something is sent again.
    fn is_gone(&mut self) -> bool {
        if !self.refused
            && let Ok(probe) = self.stranger()
        {
            self.wire.send(probe, b"?");
            self.wait_until(Instant::now() + PROBE, |_| false);
        }
        self.refused
    }

    /// Who a client is, in a report.
    pub(super) fn who(&self, number: usize) -> String {
        match self.clients.get(number).map(|client| client.role) {
            Some(Role::Player(letter)) => format!("player {letter}"),
            Some(Role::Spectator) => "the spectator".to_owned(),
            _ => format!("client {number}, who does not play"),
        }
    }

    fn take(&mut self, number: usize, bytes: &[u8]) {
        let who = self.who(number);
        let size = self.world.as_ref().map(|world| (world.grid.rows(), world.grid.cols()));
        let Some(client) = self.clients.get_mut(number) else { return };
        let parsed = ServerMessage::parse(bytes);
        let exact = match &parsed {
            // Newlines at the end of a text are of the text.
            Ok(ServerMessage::Quit(_) | ServerMessage::Error(_)) => bytes.contains(&b' '),
            Ok(message) => message.to_bytes() == bytes,
            Err(_) => false,
        };
        self.judge
            .check(&rules::FORM, exact, || format!("{who} got {}, which is no message of a server", shown(bytes)));
        let Ok(message) = parsed else { return };
        if let Some(text) = &client.quit
            && !matches!(message, ServerMessage::Error(_) | ServerMessage::Quit(_))
        {
            let text = shown(text);
            self.judge.check(&rules::SILENT, false, || format!("{who} got {} after QUIT {text}", shown(bytes)));
            return;
        }
        let kind = match message {
            ServerMessage::Ok(letter) => {
                client.letter = Some(letter);
                Kind::Ok
            }
            ServerMessage::Grid { rows, cols } => {
                client.size = Some((rows, cols));
                if let Some((true_rows, true_cols)) = size {
                    self.judge.check(&rules::GRID, (rows, cols) == (true_rows, true_cols), || {
                        format!("{who} got GRID {rows} {cols}, but the map has {true_rows} rows of {true_cols} columns")
                    });
                }
                Kind::Grid
            }
            ServerMessage::Gold { collected, purse, remaining } => {
                let grown = client.purse.checked_add(collected);
                let rule = if client.role == Role::Spectator { &rules::OTHERS } else { &rules::COLLECT };
                let known = client.purse;
                let fits =
                    if client.role == Role::Spectator { purse == 0 && collected == 0 } else { grown == Some(purse) };
                self.judge.check(rule, fits, || {
                    format!(
                        "{who} got {}, but had {known} nuggets before, so the second number does not fit",
                        shown(bytes)
                    )
                });
                if let Some(before) = client.left {
                    self.judge.check(&rules::TOTAL, remaining <= before, || {
                        format!("{who} got {}, but only {before} nuggets were left before", shown(bytes))
                    });
                }
                (client.purse, client.left) = (purse, Some(remaining));
                Kind::Gold
            }
            ServerMessage::Display(text) => {
                if let Some((rows, cols)) = size.or(client.size) {
                    let fits = is_shaped(text, rows, cols);
                    self.judge.check(&rules::SHAPE, fits, || {
                        let expected = usize::from(rows) * (usize::from(cols) + 1);
                        format!("{who} got a DISPLAY whose text has {} bytes ({}); {rows} rows of {cols} columns, each with a newline, have {expected}",
                            text.len(), shown(text))
                    });
                    if fits {
                        client.display = text.to_vec();
                    }
                } else {
                    client.display = text.to_vec();
                }
                Kind::Display
            }
            ServerMessage::Quit(text) => {
                if client.quit.is_none() && client.role != Role::Stranger && !client.leaving {
                    let (rule, after) = match &self.idle {
                        Some((rule, after)) => (*rule, format!(" after {after}")),
                        None => (&rules::EARLY, String::new()),
                    };
                    self.judge.check(rule, false, || {
                        format!("{who} got {}{after}, although it did not quit and the game is not over", shown(bytes))
                    });
                }
                client.quit = Some(text.to_vec());
                Kind::Quit
            }
            ServerMessage::Error(_) => Kind::Error,
        };
        client.log.push(kind);
    }

    /// Sends SPECTATE from a client. `map` is the map if it is known.
    pub(super) fn spectate(&mut self, number: usize, map: Option<&Grid>) -> Played {
        let all = [Kind::Grid, Kind::Gold, Kind::Display];
        let before =
            self.clients.iter().position(|client| client.role == Role::Spectator).filter(|&before| before != number);
        if let Some(before) = before.and_then(|before| self.clients.get_mut(before)) {
            before.leaving = true;
        }
        let by = self.options.deadline();
        loop {
            self.send(number, b"SPECTATE");
            self.wait_until(by, |party| {
                let answered = |client: &Client| client.has(Kind::Quit) || client.has(Kind::Error);
                party.client(number).is_ok_and(|client| all.iter().all(|&kind| client.has(kind)) || answered(client))
            });
            // A server may bound how often spectators are replaced.
            if !self.client(number)?.has(Kind::Error) || self.client(number)?.has(Kind::Grid) || Instant::now() >= by {
                break;
            }
            self.wait_until(by.min(Instant::now() + PAUSE), |_| false);
        }
        let log: Vec<Kind> = self.client(number)?.log.iter().copied().filter(|&kind| kind != Kind::Error).collect();
        if !log.starts_with(&all) {
            return self.lacking(&rules::WATCH, || {
                format!("SPECTATE was answered by {log:?}; GRID, GOLD and DISPLAY must come in this order")
            });
        }
        self.judge.check(&rules::WATCH, true, String::new);
        if let Some(client) = self.clients.get_mut(number) {
            client.role = Role::Spectator;
        }
        let client = self.client(number)?;
        let (display, size, left) = (client.display.clone(), client.size, client.left);
        if self.world.is_none() {
            self.begin(map, &display, size, left)?;
        } else {
            let board = self.world()?.board();
            self.judge.check(&rules::BOARD, display == board, || {
                format!(
                    "the DISPLAY of a new spectator is wrong: {}",
                    self.world.as_ref().map_or_else(String::new, |world| settle::differences(
                        &world.grid,
                        &board,
                        &display
                    ))
                )
            });
        }
        if let Some(before) = before {
            let told = self.wait(|party| party.client(before).is_ok_and(|client| client.quit.is_some()));
            self.judge.require(&rules::REPLACED, told, || {
                "the spectator got no QUIT when another client sent SPECTATE".to_owned()
            })?;
            self.text(before, "You have been replaced by a new spectator.");
        }
        Ok(())
    }

    // Makes a model of the game that begins, of what a spectator is shown first.
    fn begin(&mut self, map: Option<&Grid>, display: &[u8], size: Option<(u16, u16)>, left: Option<u32>) -> Played {
        let (rows, cols) = size.unwrap_or_default();
        let piles: BTreeSet<Cell> =
            (0..=u16::MAX).map(Cell).zip(display).filter(|&(_, &byte)| byte == b'*').map(|(cell, _)| cell).collect();
        let grid = if let Some(map) = map {
            let expected = (map.rows(), map.cols());
            self.judge.require(&rules::GRID, (rows, cols) == expected, || {
                let (true_rows, true_cols) = expected;
                format!("the server sent GRID {rows} {cols}, but its map has {true_rows} rows of {true_cols} columns")
            })?;
            map.clone()
        } else {
            self.drawn(display, (rows, cols))?
        };
        self.doubts.begun = true;
        self.judge.require(&rules::SHAPE, is_shaped(display, rows, cols), || {
            format!(
                "GRID {rows} {cols} was followed by a DISPLAY of {} bytes of text; {} would be right",
                display.len(),
                usize::from(rows) * (usize::from(cols) + 1)
            )
        })?;
        let world = World::new(grid, piles);
        let astray =
            world.piles.iter().find(|&&cell| world.grid.at(cell) != ROOM).map(|&cell| world.grid.position(cell));
        self.judge
            .check(&rules::BOARD, astray.is_none(), || format!("a pile lies at {astray:?}, which is no room spot"));
        let board = world.board();
        self.judge.require(&rules::BOARD, board == display, || {
            format!(
                "the first DISPLAY of the spectator is not the map: {}",
                settle::differences(&world.grid, &board, display)
            )
        })?;
        let count = world.piles.len();
        if map.is_some() {
            self.judge
                .check(&rules::PILES, (10..=30).contains(&count), || format!("the game began with {count} piles"));
            self.judge.check(&rules::TOTAL, left == Some(GOLD), || {
                format!("the game began with {} nuggets to be found; 250 would be right", left.unwrap_or(0))
            });
        }
        self.total = left;
        self.world = Some(world);
        Ok(())
    }

    // The map of a server that runs already, as a spectator is shown it.
    fn drawn(&mut self, display: &[u8], size: (u16, u16)) -> Played<Grid> {
        if display.iter().any(u8::is_ascii_uppercase) {
            if self.doubts.begun {
                // Players of an earlier scenario, who could not leave. That is noted.
                return Err(Halt::Broken);
            }
            let text = "somebody plays there; the server must have a game in which nobody plays yet";
            return Err(anyhow::anyhow!(text).into());
        }
        let text: Vec<u8> = display.iter().map(|&byte| if byte == b'*' { ROOM } else { byte }).collect();
        match Grid::parse(&text) {
            Ok((grid, _)) if (grid.rows(), grid.cols()) == size => Ok(grid),
            _ => self.judge.broken(&rules::BOARD, || {
                format!("GRID {} {} and the DISPLAY of the spectator ({}) are no map", size.0, size.1, shown(display))
            }),
        }
    }

    /// Lets a client join, and sees that everybody is told of it.
    pub(super) fn join(&mut self, name: &str) -> Played<usize> {
        self.join_as(name.as_bytes())
    }

    pub(super) fn join_as(&mut self, name: &[u8]) -> Played<usize> {
        let number = self.stranger()?;
        let all = [Kind::Ok, Kind::Grid, Kind::Gold, Kind::Display];
        let text = format!("PLAY {}", printable(name, b""));
        self.send(number, &[b"PLAY ", name].concat());
        self.wait(|party| {
            party.client(number).is_ok_and(|client| all.iter().all(|&kind| client.has(kind)) || client.has(Kind::Quit))
        });
        let log: Vec<Kind> = self.client(number)?.log.iter().copied().filter(|&kind| kind != Kind::Error).collect();
        if !log.starts_with(&all) {
            return self.lacking(&rules::WELCOME, || {
                format!("{text} was answered by {log:?}; OK, GRID, GOLD and DISPLAY must come in this order")
            });
        }
        self.judge.check(&rules::WELCOME, true, String::new);
        let Some(letter) = self.client(number)?.letter else { return Err(Halt::Broken) };
        let expected = self.joined.last().map(|(before, ..)| before.byte().wrapping_add(1));
        // A server that runs already may have had players before.
        let expected = expected.or_else(|| self.fresh.then_some(b'A'));
        self.judge.require(&rules::LETTERS, expected.is_none_or(|expected| expected == letter.byte()), || {
            format!("{text} got the letter {letter}; {} would be right", char::from(expected.unwrap_or(b'A')))
        })?;
        if let Some(client) = self.clients.get_mut(number) {
            client.role = Role::Player(letter);
        }
        let Some(name) = Name::new(name) else { return Err(Halt::Broken) };
        self.joined.push((letter, name, number));
        let watcher = self.spectator();
        self.wait(|party| watcher.is_none_or(|watcher| party.sees(watcher, letter).is_some()));
        let Some(cell) = watcher.and_then(|watcher| self.sees(watcher, letter)) else {
            return self.lacking(&rules::ALL, || {
                format!("{text}: the spectator was sent no DISPLAY that shows player {letter}")
            });
        };
        let world = self.world()?;
        let (at, free) = (world.grid.position(cell), world.board().get(cell.index()) == Some(&ROOM));
        self.judge
            .require(&rules::PLACE, free, || format!("player {letter} was put at {at}, which is no empty room spot"))?;
        self.world_mut()?.place(letter, cell);
        self.settle(&Deed { text: &text, rule: &rules::BOARD, mover: None, effect: Effect::default() })?;
        Ok(number)
    }

    fn spectator(&self) -> Option<usize> {
        self.clients.iter().position(|client| client.role == Role::Spectator && client.quit.is_none())
    }

    // Where a client is shown a letter.
    fn sees(&self, number: usize, letter: Letter) -> Option<Cell> {
        let display = &self.clients.get(number)?.display;
        display.iter().position(|&byte| byte == letter.byte()).and_then(|at| u16::try_from(at).ok()).map(Cell)
    }
}

/// A message as a report shows it.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = printable(bytes.get(..SHOWN).unwrap_or(bytes), b"");
    if bytes.len() > SHOWN { format!("'{text}...' ({} bytes)", bytes.len()) } else { format!("'{text}'") }
}

// Whether a text has that many rows and columns.
fn is_shaped(text: &[u8], rows: u16, cols: u16) -> bool {
    let width = usize::from(cols) + 1;
    text.len() == usize::from(rows) * width
        && text.chunks(width).all(|row| row.last() == Some(&b'\n') && !row[..row.len() - 1].contains(&b'\n'))
}
