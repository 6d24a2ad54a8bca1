use std::{
    mem::{Discriminant, discriminant},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket},
    time::{Duration, Instant},
};

use bytes::{Buf as _, BytesMut};
use robots::{Client, ClientMessage, DrawMessage, GamePicture, Parameters, Player, ServerMessage};

use super::picture::{encoded, frame, read, read_front, sorted};
use super::script::{players, turns};
use super::{
    BAD_INPUT, BLAST_BEFORE, BLAST_EDGE, BLAST_ON_BLOCK, BLAST_OVER, BLAST_STOPS, BLOCK_AGAIN, BLOCKS, BOMBS, CONNECTS,
    EXPLOSIONS, FORWARDS, GAME, HELLO_PICTURE, JOIN, LARGE_POSITIONS, MANY_PLAYERS, MAP_ORDER, NO_CRASH, NO_PICTURE,
    OBSERVES, PICTURE_FORMAT, POSITIONS, RADIUS_0, RADIUS_MAX, SCORE_ONCE, SCORES, SECOND_GAME, SILENT, TWIN_BOMBS,
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    launch::Run,
    net::{Connection, datagram},
    ports::free_udp_port,
    robots::{context::Context, show},
    rule::Rule,
    tape::Channel,
};

/// Between repetitions of an input, since the client may not listen for its GUI yet.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

const LOBBY_INPUTS: [&[u8]; 3] = [&[0], &[0], &[1]];

/// Without a message for this time, no further message is expected for an input.
const QUIET: Duration = Duration::from_millis(100);

/// Pictures that are skipped before the expected one.
const MAX_UNEXPECTED: usize = 20;

const NAME: &str = "Ela Żółw";

const PARTS: [&Rule; 6] = [&GAME, &POSITIONS, &BLOCKS, &BOMBS, &EXPLOSIONS, &SCORES];

/// Rules whose scenarios differ from others only in these parts of a picture. An error in one breaks the scenario's
/// rule: always (`true`), or unless the part was wrong in another scenario too.
const OWN_PARTS: [(&Rule, &[&Rule], bool); 14] = [
    (&SECOND_GAME, &PARTS, false),
    (&LARGE_POSITIONS, &PARTS, false),
    (&MANY_PLAYERS, &PARTS, false),
    (&MAP_ORDER, &[&GAME, &POSITIONS, &SCORES], false),
    (&BLOCK_AGAIN, &[&BLOCKS], true),
    (&TWIN_BOMBS, &[&BOMBS], true),
    (&SCORE_ONCE, &[&SCORES], true),
    (&BLAST_OVER, &[&EXPLOSIONS], true),
    (&BLAST_STOPS, &[&EXPLOSIONS], true),
    (&BLAST_EDGE, &[&EXPLOSIONS], true),
    (&BLAST_ON_BLOCK, &[&EXPLOSIONS], true),
    (&BLAST_BEFORE, &[&EXPLOSIONS], true),
    (&RADIUS_0, &[&EXPLOSIONS], true),
    (&RADIUS_MAX, &[&EXPLOSIONS], true),
];

fn owner(scene: &'static Rule, part: &'static Rule, is_known: bool) -> &'static Rule {
    let is_own = |(rule, parts, always): &(&Rule, &[&Rule], bool)| {
        *rule == scene && parts.contains(&part) && (*always || !is_known)
    };
    if OWN_PARTS.iter().any(is_own) { scene } else { part }
}

fn part<T: PartialEq>(name: &str, received: &T, right: &T, show: impl Fn(&T) -> String) -> (bool, String, String) {
    (received == right, show(received), format!("the {name} {}", show(right)))
}

#[derive(Clone, Copy)]
pub(super) struct CommandLine {
    pub(super) name: &'static str,
    pub(super) gui: &'static str,
    pub(super) server: &'static str,
    /// Unset if the task leaves open what a client does with an input.
    pub(super) crash_counts: bool,
}

pub(super) const USUAL: CommandLine =
    CommandLine { name: NAME, gui: "127.0.0.1", server: "127.0.0.1", crash_counts: true };

impl CommandLine {
    pub(super) fn values(self, gui: String, port: u16, server: String) -> [(&'static str, String); 4] {
        [("gui", gui), ("name", self.name.to_owned()), ("port", port.to_string()), ("server", server)]
    }

    // A name may resolve to either address family.
    fn address(host: &str) -> IpAddr {
        match host {
            "[::1]" | "::1" => Ipv6Addr::LOCALHOST.into(),
            "localhost" => Ipv6Addr::UNSPECIFIED.into(),
            _ => Ipv4Addr::LOCALHOST.into(),
        }
    }
}

pub(super) struct Session<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) judge: &'a mut Judge,
    pub(super) run: Box<dyn Run>,
    pub(super) server: Connection,
    pub(super) gui: UdpSocket,
    screen: Channel,
    name: &'static str,
    pub(super) port: u16,
    model: Client,
    // None of the last messages leads to a picture.
    quiet: bool,
    // Missing after these kinds of messages, so these pictures may be late.
    without_picture: Vec<Discriminant<ServerMessage>>,
    missing: Vec<DrawMessage>,
    // Arrived too early.
    ahead: Option<DrawMessage>,
    // Inputs in the lobby that may still lead to a Join.
    joins: u32,
    // The client has reacted to an input.
    listens: bool,
    crash_counts: bool,
}

impl<'a> Session<'a> {
    pub(super) fn launch(
        context: &'a Context<'a>,
        judge: &'a mut Judge,
        command_line: CommandLine,
    ) -> ScenarioResult<Self> {
        let gui = UdpSocket::bind((CommandLine::address(command_line.gui), 0))?;
        let to = format!("{}:{}", command_line.gui, gui.local_addr()?.port());
        Self::launch_with_gui(context, judge, command_line, gui, to)
    }

    /// Does not judge the client's end. Returns whether it sent any picture after Hello and an `AcceptedPlayer`, too.
    pub(super) fn attempt(
        context: &Context<'_>,
        command_line: CommandLine,
        messages: &[ServerMessage],
    ) -> ScenarioResult<Result<bool, String>> {
        let gui = UdpSocket::bind((CommandLine::address(command_line.gui), 0))?;
        let listener = TcpListener::bind((CommandLine::address(command_line.server), 0))?;
        let to = format!("{}:{}", command_line.gui, gui.local_addr()?.port());
        let server = format!("{}:{}", command_line.server, listener.local_addr()?.port());
        let spelling = format!("with -s {server} and -d {to}");
        let mut run = context.launcher.start(&command_line.values(to, free_udp_port()?, server))?;
        let Some(mut server) = Connection::accept(&listener, &mut *run, context.options.start_deadline())? else {
            return Ok(Err(format!("{spelling}: expected a connection, received none{}", run.exit_clause())));
        };
        for message in messages {
            server.send(&encoded(message));
        }
        Ok(Ok(datagram(&gui, &mut *run, context.options.deadline()).is_some()))
    }

    pub(super) fn launch_with_gui(
        context: &'a Context<'a>,
        judge: &'a mut Judge,
        command_line: CommandLine,
        gui: UdpSocket,
        to: String,
    ) -> ScenarioResult<Self> {
        let listener = TcpListener::bind((CommandLine::address(command_line.server), 0))?;
        let port = free_udp_port()?;
        let server = format!("{}:{}", command_line.server, listener.local_addr()?.port());
        let values = command_line.values(to, port, server);
        let mut run =
            if command_line.crash_counts { context.start(judge, &values)? } else { context.launcher.start(&values)? };
        // The first scenario has shown that the client waits for its first input.
        let by = if judge.has_failed(&CONNECTS) {
            Instant::now() + RETRY_INTERVAL
        } else {
            context.options.start_deadline()
        };
        let mut server = Connection::accept(&listener, &mut *run, by)?;
        if server.is_none() && run.exit(Instant::now()).is_none() {
            judge.check(&CONNECTS, false, || "expected a connection before the first input, received none".to_owned());
            gui.send_to(&[0], (CommandLine::address(USUAL.gui), port))?;
            server = Connection::accept(&listener, &mut *run, context.options.deadline())?;
        }
        let server = server.ok_or_else(|| match run.exit(Instant::now()) {
            Some(exit) => format!("expected a connection, but the client ended with {exit}"),
            None => "expected a connection, received none in time".to_owned(),
        });
        let server = judge.expect(&CONNECTS, server)?.recorded(judge.open_channel("the server", &show::WITH_CLIENT));
        let screen = judge.open_channel("the GUI", &show::WITH_GUI);
        let (model, name) = (Client::new(command_line.name.parse()?, None), command_line.name);
        Ok(Self {
            context,
            judge,
            run,
            server,
            gui,
            screen,
            name,
            port,
            model,
            quiet: false,
            without_picture: Vec::new(),
            missing: Vec::new(),
            ahead: None,
            joins: 0,
            listens: false,
            crash_counts: command_line.crash_counts,
        })
    }

    /// Each `number` selects a different game.
    pub(super) fn turns(&self, parameters: &Parameters, number: u32) -> Vec<ServerMessage> {
        turns(parameters, self.context.options.drawn(number))
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8], message: &ServerMessage, rule: &'static Rule) -> ScenarioResult {
        self.server.send(bytes);
        self.expect_picture(message, rule)
    }

    /// A missing or wrong picture breaks `rule`.
    pub(super) fn send(&mut self, message: &ServerMessage, rule: &'static Rule) -> ScenarioResult {
        self.send_bytes(&encoded(message), message, rule)
    }

    pub(super) fn send_all(&mut self, messages: &[ServerMessage], rule: &'static Rule) -> ScenarioResult {
        messages.iter().try_for_each(|message| self.send(message, rule))
    }

    pub(super) fn expect_picture(&mut self, message: &ServerMessage, rule: &'static Rule) -> ScenarioResult {
        let is_hello = matches!(message, ServerMessage::Hello(_));
        let rule = if is_hello { &HELLO_PICTURE } else { rule };
        let after = show::message(message);
        let before = self.model.picture().and_then(Result::ok).map(sorted);
        self.model.feed(&encoded(message));
        if !matches!(self.model.poll_event(), Ok(Some(event)) if event.is_picture_due()) {
            self.quiet = true;
            return Ok(());
        }
        let Some(Ok(right)) = self.model.picture() else { return Ok(()) };
        let right = sorted(right);
        // The first scenario has shown whether Hello leads to a picture.
        if is_hello && self.judge.has_failed(rule) || self.without_picture.contains(&discriminant(message)) {
            self.missing.push(right);
            return Ok(());
        }
        let by = self.context.options.deadline();
        let mut extra = 0;
        loop {
            self.screen.focus();
            let received = match self.ahead.take() {
                Some(received) => received,
                None => match datagram(&self.gui, &mut *self.run, by) {
                    None => {
                        let exit = self.run.exit(Instant::now());
                        let is_crash = exit.as_ref().is_some_and(|exit| exit.is_crash(&self.run.errors()));
                        if is_crash && self.crash_counts {
                            self.judge.leave_out_for([rule], &NO_CRASH);
                            return Err(Halt::Broken);
                        }
                        self.without_picture.push(discriminant(message));
                        self.judge.check(rule, false, || {
                            let right = show::picture(&right);
                            format!("expected {right} after {after}, received no picture")
                        });
                        self.missing.push(right);
                        return if exit.is_some() { Err(Halt::Broken) } else { Ok(()) };
                    }
                    Some((bytes, _)) => match self.read(&bytes, &after) {
                        Some(received) => received,
                        None => return Ok(()),
                    },
                },
            };
            if is_later(&received, &right) {
                self.judge.check(rule, false, || {
                    let (received, right) = (show::picture(&received), show::picture(&right));
                    format!("expected {right} after {after}, received {received}, which belongs after it")
                });
                self.ahead = Some(received);
                return Ok(());
            }
            if received != right && self.missing.contains(&received) {
                // Already recorded as missing.
                continue;
            }
            let quiet = std::mem::replace(&mut self.quiet, false);
            // A repeated picture of the previous state is unexpected.
            let empty = match &received {
                DrawMessage::Lobby { .. } => true,
                DrawMessage::Game(game) => game.player_positions.is_empty() && game.blocks.is_empty(),
            };
            let again = received != right && (quiet && empty || before.as_ref() == Some(&received));
            if quiet || again {
                self.judge.check(&NO_PICTURE, !again, || {
                    format!(
                        "expected no picture before {} after {after}, received {}",
                        show::picture(&right),
                        show::picture(&received)
                    )
                });
            }
            if again && extra < MAX_UNEXPECTED {
                extra += 1;
                continue;
            }
            let kept = match (&received, &right) {
                (DrawMessage::Game(received), DrawMessage::Game(right)) => self.compare(received, right, &after, rule),
                _ => self.judge.check(rule, received == right, || {
                    format!("expected {} after {after}, received {}", show::picture(&right), show::picture(&received))
                }),
            };
            if kept {
                self.judge.check(rule, true, String::new);
            }
            return Ok(());
        }
    }

    fn read(&mut self, bytes: &[u8], after: &str) -> Option<DrawMessage> {
        self.screen.received(bytes);
        let received = read(bytes);
        self.judge.check(&PICTURE_FORMAT, received.is_ok(), || {
            let wrong = received.as_ref().err().map_or("", |wrong| wrong);
            format!("expected a valid picture after {after}, received the datagram {}: {wrong}", show::bytes(bytes))
        });
        received.ok().or_else(|| read_front(bytes))
    }

    /// Other pictures may precede that of the last message.
    #[expect(clippy::unnecessary_wraps, reason = "uniform with the other steps")]
    pub(super) fn send_batch(&mut self, messages: &[ServerMessage], rule: &'static Rule) -> ScenarioResult {
        let Some((last, front)) = messages.split_last() else { return Ok(()) };
        for message in front {
            self.server.send(&encoded(message));
            self.model.feed(&encoded(message));
            let is_due = matches!(self.model.poll_event(), Ok(Some(event)) if event.is_picture_due());
            self.missing.extend(self.model.picture().and_then(Result::ok).filter(|_| is_due).map(sorted));
        }
        self.server.send(&encoded(last));
        self.model.feed(&encoded(last));
        let Ok(Some(_)) = self.model.poll_event() else { return Ok(()) };
        let Some(Ok(right)) = self.model.picture() else { return Ok(()) };
        let right = sorted(right);
        let by = self.context.options.deadline();
        self.screen.focus();
        let mut latest = None;
        // Earlier pictures have fewer players.
        while let Some((bytes, _)) = datagram(&self.gui, &mut *self.run, by) {
            latest = self.read(&bytes, &show::message(last)).or(latest);
            if latest.as_ref().is_some_and(|received| player_count(received) == player_count(&right)) {
                break;
            }
        }
        self.judge.check(rule, latest.as_ref() == Some(&right), || {
            let received = latest.as_ref().map_or_else(|| "no picture".to_owned(), show::picture);
            format!("expected {} after {}, received {received}", show::picture(&right), show::message(last))
        });
        Ok(())
    }

    /// Includes the client under its own name and address.
    pub(super) fn players(&self, count: u8) -> ScenarioResult<Vec<Player>> {
        let mut all = players(count)?;
        let address = self.server.stream.peer_addr()?;
        if let Some(own) = all.get_mut(usize::from(count / 2)) {
            *own = Player { name: self.name.parse()?, address: address.to_string().parse()? };
        }
        Ok(all)
    }

    // A part that differs breaks its own rule, or that of the scenario.
    fn compare(&mut self, received: &GamePicture, right: &GamePicture, after: &str, scene: &'static Rule) -> bool {
        let known = PARTS.map(|rule| self.judge.has_failed(rule));
        let blocks_are_known = self.judge.has_failed(&BLOCKS);
        let (frame, right_frame) = (frame(received), frame(right));
        let mut all = self.judge.check(owner(scene, &GAME, known[0]), frame == right_frame, || {
            format!("Game after {after}: expected {}, received {}", show::frame(&right_frame), show::frame(&frame))
        });
        let parts = [
            part("positions", &received.player_positions, &right.player_positions, show::value),
            part("blocks", &received.blocks, &right.blocks, |blocks| show::fields(blocks)),
            part("bombs", &received.bombs, &right.bombs, show::value),
            part("explosions", &received.explosions, &right.explosions, |fields| show::fields(fields)),
            part("scores", &received.scores, &right.scores, show::value),
        ];
        for ((rule, is_known), (kept, received, wanted)) in PARTS.into_iter().zip(known).skip(1).zip(parts) {
            // Wrong blocks cause wrong explosions.
            let is_effect = *rule == EXPLOSIONS && !kept && blocks_are_known;
            let blamed = if is_effect { &BLOCKS } else { owner(scene, rule, is_known) };
            all &= self.judge.check(blamed, kept, || {
                format!("Game of turn {}, after {after}: expected {wanted}, received {received}", right.turn)
            });
        }
        all
    }

    /// The earlier turns contain invalid events and need not lead to a picture.
    pub(super) fn expect_later_picture(&mut self, turns: &[ServerMessage], rule: &'static Rule) -> ScenarioResult {
        for turn in turns {
            self.server.send(&encoded(turn));
        }
        let Some(ServerMessage::Turn { turn: last, .. }) = turns.last() else { return Ok(()) };
        let by = self.context.options.deadline();
        self.screen.focus();
        let received = loop {
            let Some((bytes, _)) = datagram(&self.gui, &mut *self.run, by) else { break false };
            self.screen.received(&bytes);
            if matches!(read_front(&bytes), Some(DrawMessage::Game(game)) if game.turn == *last) {
                break true;
            }
        };
        let events = turns.iter().map(show::message).collect::<Vec<_>>().join(", ");
        let ended = if received { String::new() } else { self.run.exit_clause() };
        self.judge.require(rule, received, || {
            format!("expected the Game of turn {last} after {events}, received none{ended}")
        })
    }

    pub(super) fn input(&mut self, bytes: &[u8]) {
        self.screen.sent(bytes);
        // The next wait detects a client that has ended.
        let host: IpAddr = match self.gui.local_addr() {
            Ok(own) if own.ip() == Ipv6Addr::LOCALHOST => own.ip(),
            _ => Ipv4Addr::LOCALHOST.into(),
        };
        let _ = self.gui.send_to(bytes, (host, self.port));
    }

    pub(super) fn input_of_other(&mut self, bytes: &[u8], host: impl Into<IpAddr>) -> ScenarioResult {
        let host = host.into();
        self.screen.sent(bytes);
        let _ = UdpSocket::bind((host, 0))?.send_to(bytes, (host, self.port));
        Ok(())
    }

    pub(super) fn skip_pictures(&mut self, messages: &[ServerMessage]) {
        for message in messages {
            self.model.feed(&encoded(message));
            let _ = self.model.poll_event();
        }
    }

    /// Repeats the input until the client forwards it, since it may not listen yet.
    pub(super) fn input_until(&mut self, input: &[u8], right: &[u8]) {
        let by = self.context.options.deadline();
        while self.server.buffer.is_empty() && !self.server.closed && Instant::now() < by {
            self.input(input);
            self.server.more(by.min(Instant::now() + RETRY_INTERVAL));
        }
        let received = self.server.buffer.to_vec();
        self.judge.check(&OBSERVES, received.first() != Some(&0), || {
            format!("expected no Join after an input during a game, received {}", show::bytes(&received))
        });
        self.judge.check(&FORWARDS, received.starts_with(right), || {
            let received = if received.is_empty() { "nothing".to_owned() } else { show::bytes(&received) };
            format!(
                "expected {} after an input in a game that started earlier, received {received}",
                show::bytes(right)
            )
        });
    }

    pub(super) fn expect_join(&mut self) -> ScenarioResult {
        self.expect_join_for(&JOIN)
    }

    /// Like [`Session::expect_join`], but breaks `rule`.
    pub(super) fn expect_join_for(&mut self, rule: &'static Rule) -> ScenarioResult {
        let right = encoded_join(self.name)?;
        let by = self.context.options.deadline();
        let again = if self.listens { self.context.options.patience } else { RETRY_INTERVAL };
        self.joins = 0;
        loop {
            self.input(&[0]);
            self.joins += 1;
            // At the first input, the client may not listen yet. It may join more than once.
            self.server.more(by.min(Instant::now() + again));
            if !self.server.buffer.is_empty() || self.server.closed || Instant::now() >= by {
                break;
            }
        }
        self.listens = true;
        while self.server.buffer.len() < right.len() && self.server.more(by) {
            let is_join = self.server.buffer.first() == Some(&0);
            let name = self.server.buffer.get(1).copied().map(usize::from);
            if !is_join || name.is_some_and(|length| self.server.buffer.len() >= length + 2) {
                break;
            }
        }
        let received = self.server.buffer.to_vec();
        let kept = received.starts_with(&right);
        let shown = || {
            format!(
                "expected Join, {}, after an input in the lobby, received {}",
                show::bytes(&right),
                if received.is_empty() { "nothing".to_owned() } else { show::bytes(&received) }
            )
        };
        // A Join with another name also counts.
        let length = match *received {
            [0, length, ..] if received.len() >= usize::from(length) + 2 => usize::from(length) + 2,
            _ => return self.judge.require(rule, kept, shown),
        };
        self.judge.check(rule, kept, shown);
        self.server.buffer.advance(length);
        self.joins = self.joins.saturating_sub(1);
        Ok(())
    }

    /// Each further input may lead to a Join, but to no other message.
    pub(super) fn expect_further_joins(&mut self) -> ScenarioResult {
        let join = encoded_join(self.name)?;
        for input in LOBBY_INPUTS {
            self.input(input);
            self.joins += 1;
        }
        let by = Instant::now() + 2 * RETRY_INTERVAL;
        while self.server.buffer.len() < LOBBY_INPUTS.len() * join.len() && self.server.more(by) {}
        let received = self.server.buffer.to_vec();
        let count = received.chunks(join.len()).take_while(|part| **part == *join).count();
        let kept = received.len() == count * join.len();
        // A Join with another name is already recorded and may be repeated.
        let is_known = self.judge.has_failed(&JOIN) && received.first() == Some(&0);
        self.judge.check(&JOIN, kept || is_known, || {
            format!("expected only Joins after further inputs in the lobby, received {}", show::bytes(&received))
        });
        self.joins = self.joins.saturating_sub(u32::try_from(count)?);
        self.server.buffer.clear();
        Ok(())
    }

    pub(super) fn expect_silence(&mut self) {
        // Earlier messages have arrived before the last picture.
        self.server.more(Instant::now() + Duration::from_millis(1));
        let received = self.server.buffer.to_vec();
        self.judge.check(&SILENT, received.is_empty(), || {
            format!("expected nothing before the first input, received {}", show::bytes(&received))
        });
        self.server.buffer.clear();
    }

    pub(super) fn expect_forwarded(&mut self, right: &[u8], rule: &'static Rule, what: &str) -> ScenarioResult {
        let by = self.context.options.deadline();
        let join = encoded_join(self.name)?;
        loop {
            let due = if self.server.buffer.first() == Some(&0) { join.len() } else { right.len() };
            if self.server.buffer.len() < due && self.server.more(by) {
                continue;
            }
            // The client may read a repeated input of the lobby in the game.
            let is_late =
                matches!(self.server.buffer.first(), Some(1 | 2)) && self.server.buffer.first() != right.first();
            if self.joins > 0 && is_late {
                self.joins -= 1;
                self.server.buffer.advance(1);
                continue;
            }
            if !self.server.buffer.starts_with(&join) {
                break;
            }
            // In the lobby, the client may react once per input, and to no other data.
            let blamed = if self.judge.has_failed(&SILENT) { &SILENT } else { &BAD_INPUT };
            self.judge.check(blamed, self.joins > 0, || {
                "expected at most one Join for each valid input in the lobby, received more".to_owned()
            });
            self.joins = self.joins.saturating_sub(1);
            self.server.buffer.advance(join.len());
        }
        let received = self.server.buffer.to_vec();
        let kept = self.judge.check(rule, received.starts_with(right), || {
            let received = if received.is_empty() { "nothing".to_owned() } else { show::bytes(&received) };
            format!("expected {} after {what}, received {received}", show::bytes(right))
        });
        if kept {
            self.server.buffer.advance(right.len());
        } else {
            // Later data shows the next reaction.
            while self.server.more(Instant::now() + QUIET) {}
            self.server.buffer.clear();
        }
        Ok(())
    }

    pub(super) fn expect_only_joins(&mut self, rule: &'static Rule) -> ScenarioResult {
        let join = encoded_join(self.name)?;
        self.server.more(Instant::now() + RETRY_INTERVAL);
        let rest = self.server.buffer.to_vec();
        let kept = rest.chunks(join.len()).all(|part| *part == *join);
        self.judge.check(rule, kept, || format!("expected nothing after Join, received {}", show::bytes(&rest)));
        Ok(())
    }
}

fn is_later(received: &DrawMessage, right: &DrawMessage) -> bool {
    match (received, right) {
        (DrawMessage::Game(received), DrawMessage::Game(right)) => received.turn > right.turn,
        (DrawMessage::Game(_), DrawMessage::Lobby { players, .. }) => !players.is_empty(),
        (DrawMessage::Lobby { .. }, _) => false,
    }
}

fn player_count(picture: &DrawMessage) -> usize {
    match picture {
        DrawMessage::Lobby { players, .. } => players.len(),
        DrawMessage::Game(game) => game.players.len(),
    }
}

fn encoded_join(name: &str) -> anyhow::Result<BytesMut> {
    Ok(encoded(&ClientMessage::Join { name: name.parse()? }))
}
