//! A server of which every word is scripted.

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

use nuggets::ClientMessage;

use super::rules;
use crate::{
    judge::{Judge, Played},
    launch::{Exit, Launcher, Run},
    net::datagram,
    rule::Rule,
    tape::Line,
    terminal::Terminal,
    tester::Options,
    words::nuggets::WITH_CLIENT,
};

/// The name that clients are given: the longest one that servers keep.
pub(super) const NAME: &str = "Tess T whose name is just as long as servers keeps";
/// The host that clients are given.
pub(super) const HOST: &str = "127.0.0.1";
/// Bytes of a message that a report shows.
const SHOWN: usize = 60;
/// How long to wait for the answer to a key that may have been typed too early.
const EARLY: Duration = Duration::from_millis(300);
/// The key that is typed until the client is ready for keys.
const WAKE: u8 = b'h';

/// A message as a report shows it.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = bytes.get(..SHOWN).unwrap_or(bytes).escape_ascii();
    if bytes.len() > SHOWN { format!("'{text}...' ({} bytes)", bytes.len()) } else { format!("'{text}'") }
}

/// A client under test, and the server that it talks to.
pub(super) struct Host<'a> {
    pub(super) judge: &'a mut Judge,
    pub(super) run: Box<dyn Run>,
    pub(super) options: &'a Options,
    socket: UdpSocket,
    line: Line,
    // What comes to the client from elsewhere.
    stranger: Line,
    client: Option<SocketAddr>,
    // The name that it was given.
    name: Option<&'static str>,
    // KEYs of the key that was typed more than once.
    spare: usize,
    // Whether a KEY has come, after which PLAY may not.
    settled: bool,
}

impl<'a> Host<'a> {
    /// Starts a client with the usual name and host.
    pub(super) fn new(
        judge: &'a mut Judge,
        terminal: Terminal,
        launcher: &dyn Launcher,
        options: &'a Options,
    ) -> Played<Self> {
        Self::called(judge, terminal, launcher, options, (Some(NAME), HOST))
    }

    /// As [`Host::new`], with this name, if any, and this host.
    pub(super) fn called(
        judge: &'a mut Judge,
        terminal: Terminal,
        launcher: &dyn Launcher,
        options: &'a Options,
        (name, host): (Option<&'static str>, &str),
    ) -> Played<Self> {
        // A name may stand for an address of either family.
        let both = (host != HOST).then(|| UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).ok()).flatten();
        let socket = both.map_or_else(|| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)), Ok)?;
        let port = socket.local_addr()?.port();
        let mut values = vec![("host", host.to_owned()), ("port", port.to_string())];
        values.extend(name.map(|name| ("name", name.to_owned())));
        let run = judge.start_at(terminal, launcher, &values)?;
        let line = judge.line("the server", &WITH_CLIENT);
        let stranger = judge.line("another address", &WITH_CLIENT);
        let name = name.filter(|_| launcher.takes("name"));
        Ok(Self { judge, run, options, socket, line, stranger, client: None, name, spare: 0, settled: false })
    }

    pub(super) fn send(&self, message: &[u8]) {
        if let Some(client) = self.client {
            self.line.sent(message);
            // A client that is gone is found when it does not answer.
            let _ = self.socket.send_to(message, client);
        }
    }

    /// Sends a message from an address that is not the server's.
    pub(super) fn send_as_stranger(&self, message: &[u8]) -> Played {
        if let Some(client) = self.client {
            self.stranger.sent(message);
            let _ = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.send_to(message, client);
        }
        Ok(())
    }

    pub(super) fn next(&mut self, by: Instant) -> Option<Vec<u8>> {
        loop {
            self.line.attend();
            let (bytes, from) = datagram(&self.socket, &mut *self.run, by)?;
            self.line.came(&bytes);
            let client = *self.client.get_or_insert(from);
            let known = self.judge.check(&rules::ADDRESS, client == from, || {
                format!("{} came from {from}, the messages before from {client}", shown(&bytes))
            });
            if known {
                let is_message = ClientMessage::parse(&bytes).is_ok();
                self.judge.check(&rules::FORM, is_message, || format!("the client sent {}", shown(&bytes)));
                return Some(bytes);
            }
        }
    }

    /// Waits for the first message and judges it.
    pub(super) fn greeted(&mut self) -> Played<Vec<u8>> {
        let first = self.next(self.options.deadline());
        let Some(first) = first else { return self.lacking(&rules::FIRST, "the client sent nothing") };
        let wanted = self.name.map_or_else(|| "SPECTATE".to_owned(), |name| format!("PLAY {name}"));
        self.judge.check(&rules::FIRST, first == wanted.as_bytes(), || {
            format!("the first message was {}; '{wanted}' would be right", shown(&first))
        });
        Ok(first)
    }

    /// Lets the client in, and waits until it sends what is typed.
    pub(super) fn welcome(&mut self) -> Played {
        self.greeted()?;
        self.let_in(&rules::KEYS)
    }

    /// As [`Host::welcome`], of a client that has asked. `rule` is broken if it does not send what is typed.
    pub(super) fn let_in(&mut self, rule: &'static Rule) -> Played {
        if self.name.is_some() {
            self.send(b"OK A");
        }
        self.send(b"GRID 3 14");
        self.send(b"GOLD 0 0 250");
        self.send(&display(0));
        // A key that is typed before the client has read all this may be lost, so it is typed again.
        let by = self.options.deadline();
        let mut typed = 0;
        while Instant::now() < by {
            self.run.type_bytes(&[WAKE]);
            typed += 1;
            let until = by.min(Instant::now() + EARLY);
            while let Some(message) = self.next(until) {
                if message == [b'K', b'E', b'Y', b' ', WAKE] {
                    (self.spare, self.settled) = (typed - 1, true);
                    self.judge.check(rule, true, String::new);
                    return Ok(());
                }
                self.unasked(&message)?;
            }
        }
        let key = char::from(WAKE);
        self.lacking(rule, &format!("'{key}' was typed on standard input {typed} times and no KEY came"))
    }

    /// Types a key and waits for its KEY. `rule` is broken when none comes, since it must have done no harm that `after`.
    pub(super) fn key(&mut self, key: u8, rule: &'static Rule, after: &str) -> Played {
        self.run.type_bytes(&[key]);
        let by = self.options.deadline();
        loop {
            let Some(message) = self.next(by) else {
                return self.lacking(rule, &format!("'{}' was typed{after} and no KEY came", key.escape_ascii()));
            };
            if message == [b'K', b'E', b'Y', b' ', key] {
                self.judge.check(&rules::KEYS, true, String::new);
                return self.judge.require(rule, true, String::new);
            }
            if message == [b'K', b'E', b'Y', b' ', WAKE] && self.spare > 0 {
                self.spare -= 1;
                continue;
            }
            if message.starts_with(b"KEY ") {
                return self.judge.broken(&rules::KEYS, || {
                    format!("'{}' was typed{after} and {} came", key.escape_ascii(), shown(&message))
                });
            }
            self.unasked(&message)?;
        }
    }

    // Judges a message that answers no key. The first one may be sent again until the client has read that it is let in.
    fn unasked(&mut self, message: &[u8]) -> Played {
        let asks = message.starts_with(b"PLAY") || message == b"SPECTATE";
        if asks {
            self.judge.check(&rules::ONCE, !self.settled, || {
                format!("{} came although the client was let in", shown(message))
            });
        } else if message.starts_with(b"KEY ") {
            return self.judge.broken(&rules::KEYS, || format!("{} came, which was not typed", shown(message)));
        }
        Ok(())
    }

    /// Ends the input and waits for KEY Q.
    pub(super) fn end_input(&mut self) -> Played<bool> {
        if !self.run.end_input() {
            return Ok(false);
        }
        let by = self.options.deadline();
        loop {
            match self.next(by) {
                Some(message) if message == b"KEY Q" => {
                    self.judge.check(&rules::INPUT, true, String::new);
                    return Ok(true);
                }
                Some(message) if message == [b'K', b'E', b'Y', b' ', WAKE] && self.spare > 0 => self.spare -= 1,
                Some(message) => {
                    return self.judge.broken(&rules::INPUT, || {
                        format!("{} came when standard input ended; 'KEY Q' would be right", shown(&message))
                    });
                }
                None => return self.lacking(&rules::INPUT, "no KEY Q came when standard input ended"),
            }
        }
    }

    /// Judges what comes until then.
    pub(super) fn listen(&mut self, by: Instant) -> Played {
        while let Some(message) = self.next(by) {
            if message == [b'K', b'E', b'Y', b' ', WAKE] && self.spare > 0 {
                self.spare -= 1;
            } else {
                self.unasked(&message)?;
            }
        }
        Ok(())
    }

    /// Sends this QUIT, after which the client must end with status 0 and have printed the text. All of it is one rule.
    pub(super) fn quit_as(&mut self, message: &[u8], text: &str, rule: &'static Rule) -> Played {
        self.send(message);
        let by = self.options.deadline();
        let exit = self.run.exit(by);
        let missing = self.run.missing(text.lines(), by, |line, row| line.contains(row));
        let kept = exit == Some(Exit::with(0)) && missing.is_none();
        self.judge.require(rule, kept, || {
            let told = Exit::told(exit.as_ref(), "the client");
            let missing = missing.map_or_else(String::new, |row| format!(", and did not print '{row}'"));
            format!("after a QUIT of {} bytes {told}{missing}", message.len())
        })
    }

    /// Sends QUIT, after which the client must end, send nothing and have printed the text.
    pub(super) fn quit(&mut self, text: &str) {
        self.send(format!("QUIT {text}").as_bytes());
        let by = self.options.deadline();
        let exit = self.run.exit(by);
        self.judge.check(&rules::QUIT, exit == Some(Exit::with(0)), || {
            format!("after QUIT {}", Exit::told(exit.as_ref(), "the client"))
        });
        // What a screen needs may stand around it.
        let missing = self.run.missing(text.lines(), by, |line, row| line.contains(row));
        self.judge.check(&rules::TEXT, missing.is_none(), || {
            format!("after QUIT the line '{}' was not printed on standard output", missing.unwrap_or_default())
        });
        if exit.is_some() {
            let more = self.next(Instant::now() + EARLY);
            self.judge.check(&rules::SILENT, more.is_none(), || {
                format!("{} came after QUIT", more.as_deref().map_or_else(String::new, shown))
            });
        }
    }

    /// Types keys at once and waits for the KEY of each.
    pub(super) fn keys(&mut self, keys: &[u8], rule: &'static Rule) -> Played {
        self.run.type_bytes(keys);
        let by = self.options.deadline();
        for &key in keys {
            let wanted = [b'K', b'E', b'Y', b' ', key];
            let came = loop {
                match self.next(by) {
                    Some(message)
                        if message == [b'K', b'E', b'Y', b' ', WAKE] && message != wanted && self.spare > 0 =>
                    {
                        self.spare -= 1;
                    }
                    came => break came,
                }
            };
            self.judge.require(rule, came.as_deref() == Some(&wanted), || {
                let came = came.as_deref().map_or_else(|| "nothing".to_owned(), shown);
                format!("{} keys were typed at once, and {came} came where {} is due", keys.len(), shown(&wanted))
            })?;
        }
        Ok(())
    }

    // Breaks a rule because nothing came, and says whether the client still runs.
    fn lacking<T>(&mut self, rule: &'static Rule, wrong: &str) -> Played<T> {
        let how = match self.run.exit(Instant::now() + EARLY) {
            Some(exit) => format!(
                "it has ended with {exit}; standard input and output are pipes here: if it needs a terminal, see what it says by hand"
            ),
            None => "it still runs".to_owned(),
        };
        self.judge.broken(rule, || format!("{wrong}; {how}"))
    }
}

/// A DISPLAY in which the player has gone that many spots. It is small, so that it fits any window.
pub(super) fn display(gone: usize) -> Vec<u8> {
    let mut row = *b"|............|";
    row[1 + gone % 12] = b'@';
    [b"DISPLAY\n+------------+\n", &row[..], b"\n+------------+\n"].concat()
}
