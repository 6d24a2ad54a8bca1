//! A game with one server: clients that know what each of them must be told.

mod entering;

use std::time::{Duration, Instant};

use nuggets::{Letter, Name, ServerMessage};

use super::{
    displays::{is_shaped, shown},
    rules,
    wire::{Arrival, Wire},
    world::{Effect, World},
};
use crate::{
    judge::{Judge, Played},
    report::Sender,
    rule::Rule,
    tape::Line,
    tester::Options,
    words::nuggets::WITH_SERVER,
};

/// The nuggets of a game.
pub(super) const GOLD: u32 = 250;
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

/// The kinds of messages that came, in their order.
pub(super) fn kinds(log: &[Kind]) -> String {
    let words: Vec<_> = log.iter().map(|kind| kind.word()).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    Stranger,
    Spectator,
    Player(Letter),
}

/// One client and what it was told.
#[derive(Default)]
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
    /// Whether it has quit before the game was over.
    pub(super) has_left: bool,
    /// Whether it may be sent QUIT now.
    pub(super) leaving: bool,
    pub(super) line: Option<Line>,
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

pub(super) struct Party<'a> {
    pub(super) judge: &'a mut Judge,
    pub(super) options: &'a Options,
    pub(super) doubts: &'a mut Doubts,
    wire: Wire,
    pub(super) world: Option<World>,
    pub(super) clients: Vec<Client>,
    /// Who joined, in this order.
    pub(super) joined: Vec<(Letter, Name, usize)>,
    /// What was sent since the last deed and must do nothing.
    pub(super) idle: Option<(&'static Rule, String)>,
    refused: bool,
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
        let line = Some(self.judge.line(&format!("client {number}"), &WITH_SERVER));
        self.clients.push(Client { line, ..Client::default() });
        Ok(number)
    }

    pub(super) fn world(&self) -> Played<&World> {
        self.world.as_ref().ok_or_else(|| anyhow::anyhow!("the map is not known yet").into())
    }

    pub(super) fn letter(&self, number: usize) -> Played<Letter> {
        match self.clients[number].role {
            Role::Player(letter) => Ok(letter),
            Role::Stranger | Role::Spectator => Err(anyhow::anyhow!("client {number} does not play").into()),
        }
    }

    /// Closes a client's port without a word to the server.
    pub(super) fn lose(&mut self, number: usize) {
        self.wire.close(number);
        self.clients[number].role = Role::Stranger;
        self.record(number, |line| line.note(Sender::Tester, "closes its port"));
    }

    /// Sends anything. What comes from now on is what follows from it.
    pub(super) fn send(&mut self, number: usize, datagram: &[u8]) {
        for client in &mut self.clients {
            client.log.clear();
        }
        self.record(number, |line| line.sent(datagram));
        self.attend(number);
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
        // What was sent before the port was closed is not reported, so something is sent again.
        if !self.refused
            && let Ok(probe) = self.stranger()
        {
            self.wire.send(probe, b"?");
            self.wait_until(Instant::now() + PROBE, |_| false);
        }
        if self.refused {
            return self
                .judge
                .broken(&rules::RUNS, || format!("{}; nobody listens at the server's port any more", wrong()));
        }
        self.judge.broken(rule, wrong)
    }

    /// Who a client is, in a report.
    pub(super) fn who(&self, number: usize) -> String {
        match self.clients[number].role {
            Role::Player(letter) => format!("player {letter}"),
            Role::Spectator => "the spectator".to_owned(),
            Role::Stranger => format!("client {number}, who does not play"),
        }
    }

    // Tells the recording of what a client sends or gets.
    fn record(&self, number: usize, what: impl Fn(&Line)) {
        self.clients[number].line.iter().for_each(what);
    }

    /// What is judged next is about this client.
    pub(super) fn attend(&self, number: usize) {
        self.record(number, Line::attend);
    }

    /// Gives a client its part in the game.
    pub(super) fn cast(&mut self, number: usize, role: Role) {
        self.clients[number].role = role;
        let who = self.who(number);
        self.record(number, |line| line.rename(&who));
    }

    fn take(&mut self, number: usize, bytes: &[u8]) {
        self.record(number, |line| line.came(bytes));
        self.attend(number);
        let who = self.who(number);
        let size = self.world.as_ref().map(|world| (world.grid.rows(), world.grid.cols()));
        let client = &mut self.clients[number];
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
            let own = self.idle.as_ref().map(|(rule, _)| *rule);
            let rule =
                own.filter(|rule| [&rules::RETURN, &rules::WATCH_AGAIN].contains(rule)).unwrap_or(&rules::SILENT);
            self.judge.check(rule, false, || format!("{who} got {} after QUIT {text}", shown(bytes)));
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
                let known = client.purse;
                let (rule, fits) = match client.role {
                    Role::Spectator => (&rules::OTHERS, purse == 0 && collected == 0),
                    Role::Player(_) | Role::Stranger => (&rules::COLLECT, known.checked_add(collected) == Some(purse)),
                };
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
                let fits = size.or(client.size).is_none_or(|(rows, cols)| {
                    self.judge.check(&rules::SHAPE, is_shaped(text, rows, cols), || {
                        let expected = usize::from(rows) * (usize::from(cols) + 1);
                        format!("{who} got a DISPLAY whose text has {} bytes ({}); {rows} rows of {cols} columns, each with a newline, have {expected}",
                            text.len(), shown(text))
                    })
                });
                if fits {
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
}
