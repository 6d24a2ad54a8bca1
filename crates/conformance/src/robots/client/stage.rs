//! A client under test between a server and a GUI that the tester plays.

use std::{
    mem::{Discriminant, discriminant},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket},
    time::{Duration, Instant},
};

use bytes::{Buf as _, BytesMut};
use robots::{Client, ClientMessage, DrawMessage, GamePicture, Parameters, Player, ServerMessage};

use super::picture::{encoded, frame, read, read_front, sorted};
use super::rules::{
    BAD_INPUT, BLAST_OVER, BLOCK_AGAIN, BLOCKS, BOMBS, CONNECTS, EXPLOSIONS, FORWARDS, GAME, HELLO_PICTURE, JOIN,
    LARGE_POSITIONS, MANY_PLAYERS, MAP_ORDER, NO_CRASH, NO_PICTURE, OBSERVES, PICTURE_FORMAT, POSITIONS, SCORE_ONCE,
    SCORES, SECOND_GAME, SILENT, TWIN_BOMBS,
};
use super::script::{players, turns};
use crate::{
    judge::{Halt, Judge, Played},
    launch::Run,
    net::{Connection, datagram},
    ports::free_udp_port,
    robots::{context::Context, show},
    rule::Rule,
    tape::Channel,
};

/// The interval at which the first input is repeated, since the client may not listen for its GUI yet.
const AGAIN: Duration = Duration::from_millis(250);

/// Inputs that follow the first one in the lobby.
const LOBBY_INPUTS: [&[u8]; 3] = [&[0], &[0], &[1]];

/// After this time without a message, no further message is expected for an input.
const QUIET: Duration = Duration::from_millis(100);

/// The maximum number of unexpected pictures that are skipped in place of the expected one.
const EXTRA: usize = 20;

/// The name of the player in the usual scenarios.
const NAME: &str = "Ela Żółw";

/// How a client is started.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) name: &'static str,
    /// The hosts of the GUI and the server on the command line.
    pub(super) gui: &'static str,
    pub(super) server: &'static str,
    /// Whether a crash breaks the rule about crashes. The task leaves open what a client does with some inputs.
    pub(super) crash_counts: bool,
}

/// The usual way.
pub(super) const CALL: Call = Call { name: NAME, gui: "127.0.0.1", server: "127.0.0.1", crash_counts: true };

impl Call {
    // The address at which the tester listens for a host of the command line. A name may resolve to either address
    // family.
    fn address(host: &str) -> IpAddr {
        match host {
            "[::1]" | "::1" => Ipv6Addr::LOCALHOST.into(),
            "localhost" => Ipv6Addr::UNSPECIFIED.into(),
            _ => Ipv4Addr::LOCALHOST.into(),
        }
    }
}

pub(super) fn start(
    context: &Context<'_>,
    judge: &mut Judge,
    gui: &UdpSocket,
    port: &str,
    server: SocketAddr,
) -> Played<Box<dyn Run>> {
    let gui = gui.local_addr()?.to_string();
    let (name, port, server) = (NAME.to_owned(), port.to_owned(), server.to_string());
    context.start(judge, &[("gui", gui), ("name", name), ("port", port), ("server", server)])
}

pub(super) struct Stage<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) judge: &'a mut Judge,
    pub(super) run: Box<dyn Run>,
    pub(super) server: Connection,
    pub(super) gui: UdpSocket,
    screen: Channel,
    name: &'static str,
    /// The port at which the client listens for its GUI.
    pub(super) port: u16,
    // The reference client, which computes the expected pictures.
    oracle: Client,
    // None of the last messages leads to a picture.
    quiet: bool,
    // Kinds of messages after which no picture arrived, and the pictures that are therefore late or missing.
    without_picture: Vec<Discriminant<ServerMessage>>,
    missing: Vec<DrawMessage>,
    // A picture that arrived too early.
    ahead: Option<DrawMessage>,
    // The number of inputs in the lobby that may still lead to a Join.
    joins: u32,
    // Whether the client has reacted to an input.
    listens: bool,
    crash_counts: bool,
}

impl<'a> Stage<'a> {
    /// Starts a client, which must connect.
    pub(super) fn open(context: &'a Context<'a>, judge: &'a mut Judge) -> Played<Self> {
        Self::called(context, judge, CALL)
    }

    /// Like [`Stage::open`], with other arguments.
    pub(super) fn called(context: &'a Context<'a>, judge: &'a mut Judge, call: Call) -> Played<Self> {
        let gui = UdpSocket::bind((Call::address(call.gui), 0))?;
        let to = format!("{}:{}", call.gui, gui.local_addr()?.port());
        Self::shown_at(context, judge, call, gui, to)
    }

    /// Starts a client whose end is not judged. Returns whether it connected and, if it did, sent any picture after Hello and an
    /// `AcceptedPlayer`.
    pub(super) fn attempt(
        context: &Context<'_>,
        call: Call,
        messages: &[ServerMessage],
    ) -> Played<Result<bool, String>> {
        let gui = UdpSocket::bind((Call::address(call.gui), 0))?;
        let listener = TcpListener::bind((Call::address(call.server), 0))?;
        let to = format!("{}:{}", call.gui, gui.local_addr()?.port());
        let server = format!("{}:{}", call.server, listener.local_addr()?.port());
        let spelling = format!("with -s {server} and -d {to}");
        let port = free_udp_port()?.to_string();
        let values = [("gui", to), ("name", call.name.to_owned()), ("port", port), ("server", server)];
        let mut run = context.launcher.start(&values)?;
        let by = context.options.deadline();
        let Some(mut server) = Connection::accept(&listener, &mut *run, by)? else {
            return Ok(Err(format!("{spelling}: expected a connection, received none{}", run.obituary())));
        };
        for message in messages {
            server.send(&encoded(message));
        }
        Ok(Ok(datagram(&gui, &mut *run, by).is_some()))
    }

    /// Like [`Stage::called`], with this GUI address on the command line.
    pub(super) fn shown_at(
        context: &'a Context<'a>,
        judge: &'a mut Judge,
        call: Call,
        gui: UdpSocket,
        to: String,
    ) -> Played<Self> {
        let listener = TcpListener::bind((Call::address(call.server), 0))?;
        let port = free_udp_port()?;
        let server = format!("{}:{}", call.server, listener.local_addr()?.port());
        let values = [("gui", to), ("name", call.name.to_owned()), ("port", port.to_string()), ("server", server)];
        let mut run =
            if call.crash_counts { context.start(judge, &values)? } else { context.launcher.start(&values)? };
        // The first scenario has already shown that the client waits for its first input.
        let patience = if judge.has_failed(&CONNECTS) { AGAIN } else { context.options.patience };
        let mut server = Connection::accept(&listener, &mut *run, Instant::now() + patience)?;
        if server.is_none() && run.exit(Instant::now()).is_none() {
            judge.check(&CONNECTS, false, || "expected a connection before the first input, received none".to_owned());
            gui.send_to(&[0], (Call::address(CALL.gui), port))?;
            server = Connection::accept(&listener, &mut *run, context.options.deadline())?;
        }
        let server = server.ok_or_else(|| match run.exit(Instant::now()) {
            Some(exit) => format!("expected a connection, but the client ended with {exit}"),
            None => "expected a connection, received none in time".to_owned(),
        });
        let server = judge.expect(&CONNECTS, server)?.recorded(judge.line("the server", &show::WITH_CLIENT));
        let screen = judge.line("the GUI", &show::WITH_GUI);
        let (oracle, name) = (Client::new(call.name.parse()?, None), call.name);
        Ok(Self {
            context,
            judge,
            run,
            server,
            gui,
            screen,
            name,
            port,
            oracle,
            quiet: false,
            without_picture: Vec::new(),
            missing: Vec::new(),
            ahead: None,
            joins: 0,
            listens: false,
            crash_counts: call.crash_counts,
        })
    }

    /// The turns of a game with these parameters. Each `number` selects a different game.
    pub(super) fn turns(&self, parameters: &Parameters, number: u32) -> Vec<ServerMessage> {
        turns(parameters, self.context.options.drawn(number))
    }

    /// Sends bytes that represent a message, and expects its picture.
    pub(super) fn tell_bytes(&mut self, bytes: &[u8], message: &ServerMessage, rule: &'static Rule) -> Played {
        self.server.send(bytes);
        self.picture_of(message, rule)
    }

    /// Sends a message and expects its picture. If no picture or a wrong one arrives, `rule` is broken.
    pub(super) fn tell(&mut self, message: &ServerMessage, rule: &'static Rule) -> Played {
        self.tell_bytes(&encoded(message), message, rule)
    }

    /// Sends messages one after another, each as [`Stage::tell`] does.
    pub(super) fn tell_all(&mut self, messages: &[ServerMessage], rule: &'static Rule) -> Played {
        messages.iter().try_for_each(|message| self.tell(message, rule))
    }

    /// Expects the picture for a message that was sent. Errors in the picture are recorded, and the scenario continues.
    pub(super) fn picture_of(&mut self, message: &ServerMessage, rule: &'static Rule) -> Played {
        let is_hello = matches!(message, ServerMessage::Hello(_));
        let rule = if is_hello { &HELLO_PICTURE } else { rule };
        let after = show::message(message);
        let before = self.oracle.picture().and_then(Result::ok).map(sorted);
        self.oracle.feed(&encoded(message));
        if !matches!(self.oracle.poll_event(), Ok(Some(event)) if event.is_picture_due()) {
            self.quiet = true;
            return Ok(());
        }
        let Some(Ok(right)) = self.oracle.picture() else { return Ok(()) };
        let right = sorted(right);
        // The first scenario has shown whether Hello leads to a picture.
        if is_hello && self.judge.has_failed(rule) || self.without_picture.contains(&discriminant(message)) {
            self.missing.push(right);
            return Ok(());
        }
        let by = self.context.options.deadline();
        let mut extra = 0;
        loop {
            self.screen.attend();
            let came = match self.ahead.take() {
                Some(came) => came,
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
                        Some(came) => came,
                        None => return Ok(()),
                    },
                },
            };
            if is_later(&came, &right) {
                self.judge.check(rule, false, || {
                    let (came, right) = (show::picture(&came), show::picture(&right));
                    format!("expected {right} after {after}, received {came}, which belongs after it")
                });
                self.ahead = Some(came);
                return Ok(());
            }
            if came != right && self.missing.contains(&came) {
                // The picture belongs to an earlier message, and its absence was recorded.
                continue;
            }
            let quiet = std::mem::replace(&mut self.quiet, false);
            // A repeated picture of the previous state is unexpected.
            let empty = match &came {
                DrawMessage::Lobby { .. } => true,
                DrawMessage::Game(game) => game.player_positions.is_empty() && game.blocks.is_empty(),
            };
            let again = came != right && (quiet && empty || before.as_ref() == Some(&came));
            if quiet || again {
                self.judge.check(&NO_PICTURE, !again, || {
                    format!(
                        "expected no picture before {} after {after}, received {}",
                        show::picture(&right),
                        show::picture(&came)
                    )
                });
            }
            if again && extra < EXTRA {
                extra += 1;
                continue;
            }
            let kept = match (&came, &right) {
                (DrawMessage::Game(came), DrawMessage::Game(right)) => self.compare(came, right, &after, rule),
                _ => self.judge.check(rule, came == right, || {
                    format!("expected {} after {after}, received {}", show::picture(&right), show::picture(&came))
                }),
            };
            if kept {
                self.judge.check(rule, true, String::new);
            }
            return Ok(());
        }
    }

    // Decodes the picture in a datagram, even if further bytes follow it.
    fn read(&mut self, bytes: &[u8], after: &str) -> Option<DrawMessage> {
        self.screen.came(bytes);
        let came = read(bytes);
        self.judge.check(&PICTURE_FORMAT, came.is_ok(), || {
            let wrong = came.as_ref().err().map_or("", |wrong| wrong);
            format!("expected a valid picture after {after}, received the datagram {}: {wrong}", show::bytes(bytes))
        });
        came.ok().or_else(|| read_front(bytes))
    }

    /// Sends messages and expects the picture for the last of them. Other pictures may precede it.
    #[expect(clippy::unnecessary_wraps, reason = "uniform with the other steps")]
    pub(super) fn tell_last(&mut self, messages: &[ServerMessage], rule: &'static Rule) -> Played {
        let Some((last, front)) = messages.split_last() else { return Ok(()) };
        for message in front {
            self.server.send(&encoded(message));
            self.oracle.feed(&encoded(message));
            let is_due = matches!(self.oracle.poll_event(), Ok(Some(event)) if event.is_picture_due());
            self.missing.extend(self.oracle.picture().and_then(Result::ok).filter(|_| is_due).map(sorted));
        }
        self.server.send(&encoded(last));
        self.oracle.feed(&encoded(last));
        let Ok(Some(_)) = self.oracle.poll_event() else { return Ok(()) };
        let Some(Ok(right)) = self.oracle.picture() else { return Ok(()) };
        let right = sorted(right);
        let by = self.context.options.deadline();
        self.screen.attend();
        let mut latest = None;
        // Pictures before the last one have fewer players.
        while let Some((bytes, _)) = datagram(&self.gui, &mut *self.run, by) {
            latest = self.read(&bytes, &show::message(last)).or(latest);
            if latest.as_ref().is_some_and(|came| people(came) == people(&right)) {
                break;
            }
        }
        self.judge.check(rule, latest.as_ref() == Some(&right), || {
            let came = latest.as_ref().map_or_else(|| "no picture".to_owned(), show::picture);
            format!("expected {} after {}, received {came}", show::picture(&right), show::message(last))
        });
        Ok(())
    }

    /// A list of players that includes the client under its own name and address.
    pub(super) fn party(&self, count: u8) -> Played<Vec<Player>> {
        let mut all = players(count)?;
        let address = self.server.stream.peer_addr()?;
        if let Some(own) = all.get_mut(usize::from(count / 2)) {
            *own = Player { name: self.name.parse()?, address: address.to_string().parse()? };
        }
        Ok(all)
    }

    // Compares pictures of games, so that each difference is assigned to the rule that it breaks.
    fn compare(&mut self, came: &GamePicture, right: &GamePicture, after: &str, scene: &'static Rule) -> bool {
        // Scenes of these rules differ from others only in this respect.
        let whole = [&SECOND_GAME, &LARGE_POSITIONS, &MANY_PLAYERS].contains(&scene);
        // Errors that occur in any game do not count against these rules.
        let known: Vec<_> = [&GAME, &POSITIONS, &BLOCKS, &BOMBS, &EXPLOSIONS, &SCORES]
            .into_iter()
            .filter(|rule| self.judge.has_failed(rule))
            .collect();
        let of = |rule: &'static Rule| {
            let whole = whole || scene == &MAP_ORDER && [&GAME, &POSITIONS, &SCORES].contains(&rule);
            if whole && !known.contains(&rule) { scene } else { rule }
        };
        let (frame, other) = (frame(came), frame(right));
        let turn = right.turn;
        let mut all = self.judge.check(of(&GAME), frame == other, || {
            format!("Game after {after}: expected {}, received {}", show::frame(&other), show::frame(&frame))
        });
        let mut differ = |rule, kept, came: String, right: String| {
            all &= self.judge.check(of(rule), kept, || {
                format!("Game of turn {turn}, after {after}: expected {right}, received {came}")
            });
        };
        let (a, b) = (&came.player_positions, &right.player_positions);
        differ(&POSITIONS, a == b, show::positions(a), format!("the positions {}", show::positions(b)));
        let (a, b) = (&came.blocks, &right.blocks);
        let blocks = if scene == &BLOCK_AGAIN { scene } else { &BLOCKS };
        differ(blocks, a == b, show::fields(a), format!("the blocks {}", show::fields(b)));
        let (a, b) = (&came.bombs, &right.bombs);
        let bombs = if scene == &TWIN_BOMBS { scene } else { &BOMBS };
        differ(bombs, a == b, show::bombs(a), format!("the bombs {}", show::bombs(b)));
        let (a, b) = (&came.explosions, &right.explosions);
        let explosions = if a != b && known.contains(&&BLOCKS) {
            // Wrong blocks lead to wrong explosions.
            &BLOCKS
        } else if scene.page.ends_with("#the-board-and-explosions") || scene == &BLAST_OVER {
            scene
        } else {
            &EXPLOSIONS
        };
        differ(explosions, a == b, show::fields(a), format!("the explosions {}", show::fields(b)));
        let (a, b) = (&came.scores, &right.scores);
        let scores = if scene == &SCORE_ONCE { scene } else { &SCORES };
        differ(scores, a == b, show::scores_of(a), format!("the scores {}", show::scores_of(b)));
        all
    }

    /// Sends turns and expects a picture for the last of them. The earlier turns contain invalid events and need not
    /// lead to a picture.
    pub(super) fn goes_on(&mut self, turns: &[ServerMessage], rule: &'static Rule) -> Played {
        for turn in turns {
            self.server.send(&encoded(turn));
        }
        let Some(ServerMessage::Turn { turn: last, .. }) = turns.last() else { return Ok(()) };
        let by = self.context.options.deadline();
        self.screen.attend();
        let came = loop {
            let Some((bytes, _)) = datagram(&self.gui, &mut *self.run, by) else { break false };
            self.screen.came(&bytes);
            if matches!(read_front(&bytes), Some(DrawMessage::Game(game)) if game.turn == *last) {
                break true;
            }
        };
        let events = turns.iter().map(show::message).collect::<Vec<_>>().join(", ");
        let ended = if came { String::new() } else { self.run.obituary() };
        self.judge
            .require(rule, came, || format!("expected the Game of turn {last} after {events}, received none{ended}"))
    }

    pub(super) fn input(&mut self, bytes: &[u8]) {
        self.screen.sent(bytes);
        // If the client has ended, the next wait detects it.
        let host: IpAddr = match self.gui.local_addr() {
            Ok(own) if own.ip() == Ipv6Addr::LOCALHOST => own.ip(),
            _ => Ipv4Addr::LOCALHOST.into(),
        };
        let _ = self.gui.send_to(bytes, (host, self.port));
    }

    /// Sends a datagram to the client from and to this address, not from the GUI.
    pub(super) fn input_of_other(&mut self, bytes: &[u8], host: impl Into<IpAddr>) -> Played {
        let host = host.into();
        self.screen.sent(bytes);
        let _ = UdpSocket::bind((host, 0))?.send_to(bytes, (host, self.port));
        Ok(())
    }

    /// Updates the expected state by messages whose pictures no GUI received.
    pub(super) fn missed(&mut self, messages: &[ServerMessage]) {
        for message in messages {
            self.oracle.feed(&encoded(message));
            // The reference client handles the messages.
            let _ = self.oracle.poll_event();
        }
    }

    /// Sends an input of the GUI in a game until the client forwards it. The client may not listen yet.
    pub(super) fn input_until(&mut self, input: &[u8], right: &[u8]) {
        let by = self.context.options.deadline();
        while self.server.buffer.is_empty() && !self.server.closed && Instant::now() < by {
            self.input(input);
            self.server.more(by.min(Instant::now() + AGAIN));
        }
        let came = self.server.buffer.to_vec();
        self.judge.check(&OBSERVES, came.first() != Some(&0), || {
            format!("expected no Join after an input during a game, received {}", show::bytes(&came))
        });
        self.judge.check(&FORWARDS, came.starts_with(right), || {
            let came = if came.is_empty() { "nothing".to_owned() } else { show::bytes(&came) };
            format!("expected {} after an input in a game that started earlier, received {came}", show::bytes(right))
        });
    }

    /// Sends inputs of the GUI in the lobby until the client joins.
    pub(super) fn joins(&mut self) -> Played {
        self.joins_for(&JOIN)
    }

    /// Like [`Stage::joins`]. If the client does not join, `rule` is broken.
    pub(super) fn joins_for(&mut self, rule: &'static Rule) -> Played {
        let right = encoded_join(self.name)?;
        let by = self.context.options.deadline();
        let again = if self.listens { self.context.options.patience } else { AGAIN };
        self.joins = 0;
        loop {
            self.input(&[0]);
            self.joins += 1;
            // The client may not listen yet when it receives the first input. It may join more than once.
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
        let came = self.server.buffer.to_vec();
        let kept = came.starts_with(&right);
        let shown = || {
            format!(
                "expected Join, {}, after an input in the lobby, received {}",
                show::bytes(&right),
                if came.is_empty() { "nothing".to_owned() } else { show::bytes(&came) }
            )
        };
        // A Join with another name also counts.
        let length = match *came {
            [0, length, ..] if came.len() >= usize::from(length) + 2 => usize::from(length) + 2,
            _ => return self.judge.require(rule, kept, shown),
        };
        self.judge.check(rule, kept, shown);
        self.server.buffer.advance(length);
        self.joins = self.joins.saturating_sub(1);
        Ok(())
    }

    /// Sends further inputs of the GUI in the lobby. Each may lead to a Join, but to no other message.
    pub(super) fn joins_again(&mut self) -> Played {
        let join = encoded_join(self.name)?;
        for input in LOBBY_INPUTS {
            self.input(input);
            self.joins += 1;
        }
        let by = Instant::now() + 2 * AGAIN;
        while self.server.buffer.len() < LOBBY_INPUTS.len() * join.len() && self.server.more(by) {}
        let came = self.server.buffer.to_vec();
        let count = came.chunks(join.len()).take_while(|part| **part == *join).count();
        let kept = came.len() == count * join.len();
        // A Join with another name was recorded and may be repeated.
        let is_known = self.judge.has_failed(&JOIN) && came.first() == Some(&0);
        self.judge.check(&JOIN, kept || is_known, || {
            format!("expected only Joins after further inputs in the lobby, received {}", show::bytes(&came))
        });
        self.joins = self.joins.saturating_sub(u32::try_from(count)?);
        self.server.buffer.clear();
        Ok(())
    }

    /// Requires that the client has not sent any message yet.
    #[expect(clippy::unnecessary_wraps, reason = "uniform with the other steps")]
    pub(super) fn silent(&mut self) -> Played {
        // Earlier messages have arrived by now, since a picture has arrived later.
        self.server.more(Instant::now() + Duration::from_millis(1));
        let came = self.server.buffer.to_vec();
        self.judge.check(&SILENT, came.is_empty(), || {
            format!("expected nothing before the first input, received {}", show::bytes(&came))
        });
        self.server.buffer.clear();
        Ok(())
    }

    /// Requires that the next bytes to the server are exactly these.
    pub(super) fn passes_on(&mut self, right: &[u8], rule: &'static Rule, what: &str) -> Played {
        let by = self.context.options.deadline();
        let join = encoded_join(self.name)?;
        loop {
            let due = if self.server.buffer.first() == Some(&0) { join.len() } else { right.len() };
            if self.server.buffer.len() < due && self.server.more(by) {
                continue;
            }
            // A repeated input of the lobby may be read in the game.
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
            // In the lobby, the client may react to each input once and to no other data.
            let blamed = if self.judge.has_failed(&SILENT) { &SILENT } else { &BAD_INPUT };
            self.judge.check(blamed, self.joins > 0, || {
                "expected at most one Join for each valid input in the lobby, received more".to_owned()
            });
            self.joins = self.joins.saturating_sub(1);
            self.server.buffer.advance(join.len());
        }
        let came = self.server.buffer.to_vec();
        let kept = self.judge.check(rule, came.starts_with(right), || {
            let came = if came.is_empty() { "nothing".to_owned() } else { show::bytes(&came) };
            format!("expected {} after {what}, received {came}", show::bytes(right))
        });
        if kept {
            self.server.buffer.advance(right.len());
        } else {
            // The next input is judged by the data that arrives after it.
            while self.server.more(Instant::now() + QUIET) {}
            self.server.buffer.clear();
        }
        Ok(())
    }

    /// Requires that only further Joins follow a Join.
    pub(super) fn only_joins(&mut self, rule: &'static Rule) -> Played {
        let join = encoded_join(self.name)?;
        self.server.more(Instant::now() + AGAIN);
        let rest = self.server.buffer.to_vec();
        let kept = rest.chunks(join.len()).all(|part| *part == *join);
        self.judge.check(rule, kept, || format!("expected nothing after Join, received {}", show::bytes(&rest)));
        Ok(())
    }
}

// Whether a picture belongs to a later message than the expected picture.
fn is_later(came: &DrawMessage, right: &DrawMessage) -> bool {
    match (came, right) {
        (DrawMessage::Game(came), DrawMessage::Game(right)) => came.turn > right.turn,
        (DrawMessage::Game(_), DrawMessage::Lobby { players, .. }) => !players.is_empty(),
        (DrawMessage::Lobby { .. }, _) => false,
    }
}

// The number of players in a picture.
fn people(picture: &DrawMessage) -> usize {
    match picture {
        DrawMessage::Lobby { players, .. } => players.len(),
        DrawMessage::Game(game) => game.players.len(),
    }
}

fn encoded_join(name: &str) -> anyhow::Result<BytesMut> {
    Ok(encoded(&ClientMessage::Join { name: name.parse()? }))
}
