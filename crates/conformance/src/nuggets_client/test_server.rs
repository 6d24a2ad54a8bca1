use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use nuggets::ClientMessage;

use super::{
    ADDRESS, FAREWELL, FIRST, FORM, HOST_NAME, INPUT, KEYS, LEAVES, NO_CRASH, ONCE, QUIT, SILENT, TEXT, WATCHES,
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    launch::{Exit, Launcher, Run},
    net::datagram,
    rule::Rule,
    tape::Channel,
    terminal::Terminal,
    tester::Options,
    words::nuggets::WITH_CLIENT,
};

pub(super) const NAME: &str = "Tess T whose name is just as long as servers keeps";
pub(super) const HOST: &str = "127.0.0.1";
/// Of a message in a report, in bytes.
const SHOWN: usize = 60;
const LOOK: Duration = Duration::from_millis(500);
const EARLY: Duration = Duration::from_secs(1);
/// Additional time for a client to start, and to show the text of QUIT.
const LINGER: Duration = Duration::from_secs(10);
/// How long to wait for forbidden messages.
const REST: Duration = Duration::from_millis(300);
/// Typed until the client accepts keys.
const WAKE: u8 = b'h';

pub(super) fn quoted_bytes(bytes: &[u8]) -> String {
    let text = bytes.get(..SHOWN).unwrap_or(bytes).escape_ascii();
    if bytes.len() > SHOWN { format!("'{text}...' ({} bytes)", bytes.len()) } else { format!("'{text}'") }
}

pub(super) struct TestServer<'a> {
    pub(super) judge: &'a mut Judge,
    pub(super) run: Box<dyn Run>,
    pub(super) options: &'a Options,
    socket: UdpSocket,
    channel: Channel,
    other_address: Channel,
    client: Option<SocketAddr>,
    is_at_terminal: bool,
    name: Option<&'static str>,
    // KEYs that may still arrive for a key that was typed more than once.
    spare: usize,
    // PLAY must not follow.
    has_sent_key: bool,
}

impl<'a> TestServer<'a> {
    pub(super) fn new(
        judge: &'a mut Judge,
        terminal: Terminal,
        launcher: &dyn Launcher,
        options: &'a Options,
        (name, host): (Option<&'static str>, &str),
    ) -> ScenarioResult<Self> {
        // A name may resolve to either address family.
        let both = (host != HOST).then(|| UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).ok()).flatten();
        let socket = both.map_or_else(|| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)), Ok)?;
        let port = socket.local_addr()?.port();
        let mut values = vec![("host", host.to_owned()), ("port", port.to_string())];
        values.extend(name.map(|name| ("name", name.to_owned())));
        let run = judge.start_at(terminal, launcher, &values)?;
        let channel = judge.open_channel("the server", &WITH_CLIENT);
        let other_address = judge.open_channel("another address", &WITH_CLIENT);
        let name = name.filter(|_| launcher.takes("name"));
        let is_at_terminal = launcher.chooses_terminal() && terminal == Terminal::Shell;
        Ok(Self {
            judge,
            run,
            options,
            socket,
            channel,
            other_address,
            client: None,
            is_at_terminal,
            name,
            spare: 0,
            has_sent_key: false,
        })
    }

    pub(super) fn send(&self, message: &[u8]) {
        if let Some(client) = self.client {
            self.channel.sent(message);
            // The missing response detects a client that has ended.
            let _ = self.socket.send_to(message, client);
        }
    }

    pub(super) fn send_from_other_address(&self, message: &[u8]) -> ScenarioResult {
        if let Some(client) = self.client {
            self.other_address.sent(message);
            let _ = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.send_to(message, client);
        }
        Ok(())
    }

    pub(super) fn next(&mut self, by: Instant) -> Option<Vec<u8>> {
        loop {
            self.channel.focus();
            let (bytes, from) = datagram(&self.socket, &mut *self.run, by)?;
            self.channel.received(&bytes);
            let client = *self.client.get_or_insert(from);
            let known = self.judge.check(&ADDRESS, client == from, || {
                format!("expected all messages from {client}, received {} from {from}", quoted_bytes(&bytes))
            });
            if known {
                let is_message = ClientMessage::parse(&bytes).is_ok();
                self.judge.check(&FORM, is_message, || {
                    format!("expected a message of a client, received {}", quoted_bytes(&bytes))
                });
                return Some(bytes);
            }
        }
    }

    pub(super) fn receive_first(&mut self) -> ScenarioResult<Vec<u8>> {
        self.receive_first_as(&FIRST)
    }

    /// Any other first message breaks this rule, unless the usual one is wrong too.
    pub(super) fn receive_first_as(&mut self, rule: &'static Rule) -> ScenarioResult<Vec<u8>> {
        let Some(first) = self.first() else { return self.no_first_message(rule) };
        let wanted = self.name.map_or_else(|| "SPECTATE".to_owned(), |name| format!("PLAY {name}"));
        let is_right = first == wanted.as_bytes();
        if is_right || self.name.is_none() || !self.is_hidden(rule, &FIRST) {
            self.judge.check(rule, is_right, || {
                format!("expected '{wanted}' as the first message, received {}", quoted_bytes(&first))
            });
        }
        Ok(first)
    }

    pub(super) fn receive_first_by_name(&mut self) -> ScenarioResult {
        match self.first() {
            Some(_) => self.judge.require(&HOST_NAME, true, String::new),
            None => self.no_first_message(&HOST_NAME),
        }
    }

    fn first(&mut self) -> Option<Vec<u8>> {
        let start = if self.judge.has_failed(&FIRST) { Duration::ZERO } else { LINGER };
        self.next(self.options.deadline() + start)
    }

    fn no_first_message<T>(&mut self, rule: &'static Rule) -> ScenarioResult<T> {
        if rule != &FIRST && self.judge.has_failed(&FIRST) {
            self.judge.ended_by(&FIRST);
            return Err(Halt::Broken);
        }
        self.break_missing(rule, "expected a first message, received nothing")
    }

    // Leaves out `rule` if `by`, broken in any game, hides it.
    fn is_hidden(&mut self, rule: &'static Rule, by: &'static Rule) -> bool {
        let is_hidden = rule != by && self.judge.has_failed(by);
        if is_hidden {
            self.judge.leave_out_for([rule], by);
        }
        is_hidden
    }

    /// Returns whether the client sends typed keys.
    pub(super) fn start_session(&mut self) -> ScenarioResult<bool> {
        self.receive_first()?;
        self.enter(b"GRID 3 14", &display(0))?;
        self.await_keys(&KEYS)
    }

    pub(super) fn enter(&mut self, grid: &[u8], display: &[u8]) -> ScenarioResult {
        if self.name.is_some() {
            self.send(b"OK A");
        }
        self.send(grid);
        self.send(b"GOLD 0 0 250");
        self.send(display);
        let (sent, by) = (Instant::now(), self.options.deadline());
        loop {
            let until = self.run.first_output().map_or(sent, |shown| shown.max(sent)) + LOOK;
            if Instant::now() >= until.min(by) {
                return Ok(());
            }
            self.receive_until(until.min(by));
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "uniform with the other steps")]
    pub(super) fn await_keys(&mut self, rule: &'static Rule) -> ScenarioResult<bool> {
        let by = self.options.deadline();
        let mut typed = 0;
        while Instant::now() < by && self.run.exit(Instant::now()).is_none() {
            self.run.type_bytes(&[WAKE]);
            typed += 1;
            let until = by.min(Instant::now() + EARLY);
            while let Some(message) = self.next(until) {
                if typed_key(&message) == Some(WAKE) {
                    (self.spare, self.has_sent_key) = (typed - 1, true);
                    self.judge.check(rule, true, String::new);
                    return Ok(true);
                }
                self.judge_unexpected(&message);
            }
        }
        let wrong = format!("expected KEY '{}' for a key typed {typed} times, received none", char::from(WAKE));
        let wrong = format!("{wrong}; {}", self.state());
        self.judge.check(rule, false, || wrong);
        Ok(false)
    }

    /// Types a key, which the client must send even after the event in `after`.
    pub(super) fn key(&mut self, key: u8, rule: &'static Rule, after: &str) -> ScenarioResult {
        self.run.type_bytes(&[key]);
        let by = self.options.deadline();
        loop {
            let Some(message) = self.next(by) else {
                if *rule == WATCHES && self.is_hidden(rule, &ADDRESS) {
                    return Ok(());
                }
                return self
                    .break_missing(rule, &format!("expected KEY '{}'{after}, received nothing", key.escape_ascii()));
            };
            if typed_key(&message) == Some(key) {
                self.has_sent_key = true;
                self.judge.check(&KEYS, true, String::new);
                return self.judge.require(rule, true, String::new);
            }
            if !self.is_spare(&message) {
                self.judge_unexpected(&message);
            }
        }
    }

    fn is_spare(&mut self, message: &[u8]) -> bool {
        let is_spare = typed_key(message) == Some(WAKE) && self.spare > 0;
        self.spare -= usize::from(is_spare);
        is_spare
    }

    // The client may repeat its first message until it has read the acceptance.
    fn judge_unexpected(&mut self, message: &[u8]) {
        let asks = message.starts_with(b"PLAY") || message.starts_with(b"SPECTATE");
        if asks {
            self.judge.check(&ONCE, !self.has_sent_key, || {
                format!(
                    "expected no repetition after the server has accepted the client, received {}",
                    quoted_bytes(message)
                )
            });
        } else if typed_key(message).is_some() {
            self.judge.check(&KEYS, false, || {
                format!("expected KEY for typed keys only, received {}", quoted_bytes(message))
            });
        }
    }

    /// Returns whether KEY Q arrived.
    pub(super) fn end_input(&mut self) -> ScenarioResult<bool> {
        if self.next(self.options.deadline()).is_none() {
            let why = "the client does not play if its standard input is a pipe";
            self.judge.leave_out([&INPUT, &LEAVES], why);
            return Ok(false);
        }
        self.enter(b"GRID 3 14", &display(0))?;
        if !self.run.end_input() {
            return Ok(false);
        }
        let by = self.options.deadline();
        loop {
            match self.next(by) {
                Some(message) if typed_key(&message) == Some(b'Q') => {
                    self.judge.check(&INPUT, true, String::new);
                    return Ok(true);
                }
                Some(message) if typed_key(&message).is_none() => {}
                Some(message) => {
                    return self.judge.broken(&INPUT, || {
                        format!("expected 'KEY Q' at the end of standard input, received {}", quoted_bytes(&message))
                    });
                }
                None if self.is_hidden(&INPUT, &ADDRESS) => return Ok(false),
                None => {
                    return self
                        .break_missing(&INPUT, "expected 'KEY Q' at the end of standard input, received nothing");
                }
            }
        }
    }

    pub(super) fn receive_until(&mut self, by: Instant) {
        while let Some(message) = self.next(by) {
            if !self.is_spare(&message) {
                self.judge_unexpected(&message);
            }
        }
        thread::sleep(by.saturating_duration_since(Instant::now()));
    }

    /// The client must exit and have printed the text, or it breaks `rule`, unless any QUIT shows the breach.
    pub(super) fn quit_as(&mut self, message: &[u8], text: &str, rule: &'static Rule) -> ScenarioResult {
        if self.run.exit(Instant::now()).is_some() {
            return self.break_missing(rule, "expected the client to wait for QUIT");
        }
        self.send(message);
        let by = self.options.deadline() + LINGER;
        let exit = self.run.exit(by);
        if exit.is_none() && self.judge.has_failed(&QUIT) {
            self.judge.leave_out_for([rule], &QUIT);
            return Ok(());
        }
        let missing = self.run.missing(text.lines(), by);
        if missing.is_some() && self.judge.has_failed(&TEXT) {
            self.judge.leave_out_for([rule], &TEXT);
            return Ok(());
        }
        self.judge.require(rule, exit.is_some() && missing.is_none(), || {
            let told = Exit::describe(exit.as_ref(), "the client");
            let missing =
                missing.map_or_else(String::new, |row| format!(", and standard output lacks the line '{row}'"));
            format!("expected an exit and the text after a QUIT of {} bytes, but {told}{missing}", message.len())
        })
    }

    /// The text of QUIT for a client that waits for it after KEY Q.
    pub(super) fn farewell(&mut self, text: &str) -> ScenarioResult {
        self.send(format!("QUIT {text}").as_bytes());
        let by = self.options.deadline() + LINGER;
        let exit = self.run.exit(by);
        self.judge.require(&QUIT, exit == Some(Exit::with(0)), || {
            format!("expected exit status 0 after KEY Q and QUIT, but {}", Exit::describe(exit.as_ref(), "the client"))
        })?;
        let missing = self.run.missing(text.lines(), by);
        if missing.is_some() && self.judge.has_failed(&TEXT) {
            self.judge.leave_out_for([&FAREWELL], &TEXT);
            return Ok(());
        }
        self.judge.require(&FAREWELL, missing.is_none(), || {
            "expected the text of the QUIT that answers KEY Q on standard output, received none".to_owned()
        })
    }

    /// The client must exit with the text printed, and without another message.
    pub(super) fn quit(&mut self, text: &str) -> ScenarioResult {
        if self.run.exit(Instant::now()).is_some() {
            return self.break_missing(&QUIT, "expected the client to wait for QUIT");
        }
        if self.judge.has_failed(&KEYS) {
            // First, so that extra messages for a key are not attributed to QUIT.
            self.receive_until(Instant::now() + REST);
        }
        self.send(format!("QUIT {text}").as_bytes());
        let by = self.options.deadline() + LINGER;
        let exit = self.run.exit(by);
        self.judge.check(&QUIT, exit == Some(Exit::with(0)), || {
            format!("expected exit status 0 after QUIT, but {}", Exit::describe(exit.as_ref(), "the client"))
        });
        let missing = self.run.missing(text.lines(), by);
        self.judge.check(&TEXT, missing.is_none(), || {
            format!("expected the line '{}' of QUIT on standard output, received none", missing.unwrap_or_default())
        });
        if exit.is_some() {
            let more = self.next(Instant::now() + REST);
            self.judge.check(&SILENT, more.is_none(), || {
                format!(
                    "expected nothing after QUIT, received {}",
                    more.as_deref().map_or_else(String::new, quoted_bytes)
                )
            });
        }
        Ok(())
    }

    pub(super) fn survives(&mut self, rule: &'static Rule, after: &str) -> ScenarioResult {
        self.receive_until(Instant::now() + REST);
        match self.run.exit(Instant::now()) {
            Some(_) => self.break_missing(rule, &format!("expected the client to continue{after}")),
            None => self.judge.require(rule, true, String::new),
        }
    }

    pub(super) fn keys(&mut self, keys: &[u8], rule: &'static Rule) -> ScenarioResult {
        self.run.type_bytes(keys);
        let by = self.options.deadline();
        for &key in keys {
            let came = loop {
                match self.next(by) {
                    Some(message) if typed_key(&message) != Some(key) && self.is_spare(&message) => {}
                    came => break came,
                }
            };
            self.judge.require(rule, came.as_deref().and_then(typed_key) == Some(key), || {
                let came = came.as_deref().map_or_else(|| "nothing".to_owned(), quoted_bytes);
                let wanted = quoted_bytes(&[b'K', b'E', b'Y', b' ', key]);
                format!("expected {wanted} for one of {} keys typed in one batch, received {came}", keys.len())
            })?;
        }
        Ok(())
    }

    fn break_missing<T>(&mut self, rule: &'static Rule, wrong: &str) -> ScenarioResult<T> {
        let exit = self.run.exit(Instant::now() + REST);
        if rule != &NO_CRASH && exit.is_some_and(|exit| exit.is_crash(&self.run.errors())) {
            // The crash is recorded at the end of the scenario.
            self.judge.leave_out_for([rule], &NO_CRASH);
            return Err(Halt::Broken);
        }
        let state = self.state();
        self.judge.broken(rule, || format!("{wrong}; {state}"))
    }

    fn state(&mut self) -> String {
        let hint = if self.is_at_terminal {
            ""
        } else {
            "; its standard input or output is a pipe: if it needs a terminal, run it by hand to see its errors"
        };
        match self.run.exit(Instant::now() + REST) {
            Some(exit) => format!("the client ended with {exit}{hint}"),
            None => "the client is still running".to_owned(),
        }
    }
}

// Bytes after the key are ignored.
fn typed_key(message: &[u8]) -> Option<u8> {
    message.strip_prefix(b"KEY ").and_then(|rest| rest.first()).copied()
}

/// Fits any window. The player has made `gone` moves.
pub(super) fn display(gone: usize) -> Vec<u8> {
    let mut row = *b"|............|";
    row[1 + gone % 12] = b'@';
    [b"DISPLAY\n+------------+\n", &row[..], b"\n+------------+\n"].concat()
}
