//! A client under test between a server and a GUI that the tester plays.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use bytes::{Buf as _, BytesMut};
use robots::{Client, ClientMessage, DrawMessage, GamePicture, Parameters, ServerMessage};

use super::picture::{encoded, frame, read, sorted};
use super::rules::{
    BAD_INPUT, BLAST_OVER, BLOCK_AGAIN, BLOCKS, BOMBS, CONNECTS, EXPLOSIONS, GAME, JOIN, LARGE_POSITIONS, MANY_PLAYERS,
    MAP_ORDER, NO_PICTURE, OBSERVES, PICTURE_FORMAT, POSITIONS, SCORE_ONCE, SCORES, SECOND_GAME, SILENT, TWIN_BOMBS,
};
use super::script::turns;
use crate::{
    judge::{Judge, Played},
    launch::Run,
    net::{Connection, datagram},
    ports::free_udp_port,
    robots::{context::Context, show},
    rule::Rule,
    tape::Line,
};

/// How often the first input is repeated, since the client may not listen for its GUI yet.
const AGAIN: Duration = Duration::from_millis(250);

/// The name of the player in all scenarios, with the 255 bytes that one may have.
const NAME: &str = concat!(
    "Żółć! a name as long as the protocol allows, a name as long as the protocol allows, a name as long as the prot",
    "ocol allows, a name as long as the protocol allows, a name as long as the protocol allows, a name as long as the protocol allows,............"
);

/// How a client is started.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) name: &'static str,
    /// The hosts of the GUI and the server on the command line.
    pub(super) gui: &'static str,
    pub(super) server: &'static str,
}

/// The usual way.
pub(super) const CALL: Call = Call { name: NAME, gui: "127.0.0.1", server: "127.0.0.1" };

impl Call {
    // Where a host on the command line is listened for. A name may stand for an address of either family.
    fn address(host: &str) -> IpAddr {
        match host {
            "[::1]" => Ipv6Addr::LOCALHOST.into(),
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
    screen: Line,
    name: &'static str,
    /// Where the client listens for its GUI.
    pub(super) port: u16,
    // What the client must make of the server's messages.
    oracle: Client,
    // Of the last messages none leads to a picture.
    quiet: bool,
    // Inputs in the lobby that may still be answered by a Join.
    joins: u32,
    // It has answered an input.
    listens: bool,
}

impl<'a> Stage<'a> {
    /// Starts a client, which must connect.
    pub(super) fn open(context: &'a Context<'a>, judge: &'a mut Judge) -> Played<Self> {
        Self::called(context, judge, CALL)
    }

    /// As [`Stage::open`], of a client that is started like this.
    pub(super) fn called(context: &'a Context<'a>, judge: &'a mut Judge, call: Call) -> Played<Self> {
        let gui = UdpSocket::bind((Call::address(call.gui), 0))?;
        let to = format!("{}:{}", call.gui, gui.local_addr()?.port());
        Self::shown_at(context, judge, call, gui, to)
    }

    /// As [`Stage::called`], with this address of the GUI on the command line.
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
        let mut run = context.start(judge, &values)?;
        let server = Connection::accept(&listener, &mut *run, context.options.deadline())?;
        if call.server == CALL.server {
            context.hopeless.store(server.is_none(), Ordering::Relaxed);
        }
        let server = server.ok_or_else(|| match run.exit(Instant::now()) {
            Some(exit) => format!("the client ended with {exit} and did not connect"),
            None => "the client did not connect in time".to_owned(),
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
            joins: 0,
            listens: false,
        })
    }

    /// The turns of a game with these parameters. Other numbers give other games.
    pub(super) fn turns(&self, parameters: &Parameters, number: u32) -> Vec<ServerMessage> {
        turns(parameters, self.context.options.drawn(number))
    }

    /// Sends bytes that stand for a message, and expects the picture that is due.
    pub(super) fn tell_bytes(&mut self, bytes: &[u8], message: &ServerMessage, rule: &'static Rule) -> Played {
        self.server.send(bytes);
        self.picture_of(message, rule)
    }

    /// Sends a message, and expects the picture that is due. `rule` is broken if none comes or another one than is right.
    pub(super) fn tell(&mut self, message: &ServerMessage, rule: &'static Rule) -> Played {
        self.tell_bytes(&encoded(message), message, rule)
    }

    /// Sends messages one after the other, as [`Stage::tell`] does.
    pub(super) fn tell_all(&mut self, messages: &[ServerMessage], rule: &'static Rule) -> Played {
        messages.iter().try_for_each(|message| self.tell(message, rule))
    }

    /// Expects the picture that is due after a message that was sent.
    pub(super) fn picture_of(&mut self, message: &ServerMessage, rule: &'static Rule) -> Played {
        let after = show::message(message);
        let before = self.oracle.picture().and_then(Result::ok);
        self.oracle.feed(&encoded(message));
        if !matches!(self.oracle.poll_event(), Ok(Some(event)) if event.is_picture_due()) {
            self.quiet = true;
            return Ok(());
        }
        let Some(Ok(right)) = self.oracle.picture() else { return Ok(()) };
        let right = sorted(right);
        let by = self.context.options.deadline();
        self.screen.attend();
        let Some((bytes, _)) = datagram(&self.gui, &mut *self.run, by) else {
            return self.judge.broken(rule, || {
                let right = show::picture(&right);
                format!("no picture came after {after}; {right} would be right")
            });
        };
        self.screen.came(&bytes);
        let came =
            read(&bytes).map_err(|wrong| format!("the datagram {} came after {after}: {wrong}", show::bytes(&bytes)));
        let came = self.judge.expect(&PICTURE_FORMAT, came)?;
        let quiet = std::mem::replace(&mut self.quiet, false);
        // A picture of what was before is one too many.
        let empty = match &came {
            DrawMessage::Lobby { .. } => true,
            DrawMessage::Game(game) => game.player_positions.is_empty() && game.blocks.is_empty(),
        };
        let again = came != right && (quiet && empty || before.map(sorted).as_ref() == Some(&came));
        if quiet || again {
            self.judge.require(&NO_PICTURE, !again, || {
                format!(
                    "{} came after {after}, before which no picture was due; {} would be right",
                    show::picture(&came),
                    show::picture(&right)
                )
            })?;
        }
        match (&came, &right) {
            (DrawMessage::Game(came), DrawMessage::Game(right)) => self.compare(came, right, &after, rule)?,
            _ => self.judge.require(rule, came == right, || {
                format!("{} came after {after}; {} would be right", show::picture(&came), show::picture(&right))
            })?,
        }
        self.judge.require(rule, true, String::new)
    }

    // Compares pictures of games, so that what differs says which rule is broken.
    fn compare(&mut self, came: &GamePicture, right: &GamePicture, after: &str, scene: &'static Rule) -> Played {
        // Scenes of these rules differ from others in nothing else.
        let whole = [&SECOND_GAME, &MAP_ORDER, &LARGE_POSITIONS, &MANY_PLAYERS].contains(&scene);
        // What is wrong in any game says nothing of theirs.
        let known: Vec<_> = [&GAME, &POSITIONS, &BLOCKS, &BOMBS, &EXPLOSIONS, &SCORES]
            .into_iter()
            .filter(|rule| self.judge.has_failed(rule))
            .collect();
        let of = |rule: &'static Rule| if whole && !known.contains(&rule) { scene } else { rule };
        let (frame, other) = (frame(came), frame(right));
        let turn = right.turn;
        self.judge.require(of(&GAME), frame == other, || {
            format!("the Game after {after} has {}; {} would be right", show::frame(&frame), show::frame(&other))
        })?;
        let mut differ = |rule, kept, came: String, right: String| {
            self.judge.require(of(rule), kept, || {
                format!("the Game of turn {turn}, after {after}, has {came}; {right} would be right")
            })
        };
        let (a, b) = (&came.player_positions, &right.player_positions);
        differ(&POSITIONS, a == b, format!("the positions {}", show::positions(a)), show::positions(b))?;
        let (a, b) = (&came.blocks, &right.blocks);
        let blocks = if scene == &BLOCK_AGAIN { scene } else { &BLOCKS };
        differ(blocks, a == b, format!("the blocks {}", show::fields(a)), show::fields(b))?;
        let (a, b) = (&came.bombs, &right.bombs);
        let bombs = if scene == &TWIN_BOMBS { scene } else { &BOMBS };
        differ(bombs, a == b, format!("the bombs {}", show::bombs(a)), show::bombs(b))?;
        let (a, b) = (&came.explosions, &right.explosions);
        let explosions =
            if scene.page.ends_with("#the-board-and-explosions") || scene == &BLAST_OVER { scene } else { &EXPLOSIONS };
        differ(explosions, a == b, format!("the explosions {}", show::fields(a)), show::fields(b))?;
        let (a, b) = (&came.scores, &right.scores);
        let scores = if scene == &SCORE_ONCE { scene } else { &SCORES };
        differ(scores, a == b, format!("the scores {}", show::scores_of(a)), show::scores_of(b))
    }

    /// Sends turns of which the first need lead to no picture, since its events make no sense. The last must lead to one.
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
            if matches!(read(&bytes), Ok(DrawMessage::Game(game)) if game.turn == *last) {
                break true;
            }
        };
        let events = turns.iter().map(show::message).collect::<Vec<_>>().join(", ");
        let ended = if came { String::new() } else { self.run.obituary() };
        self.judge.require(rule, came, || format!("no Game of turn {last} came after {events}{ended}"))
    }

    pub(super) fn input(&mut self, bytes: &[u8]) {
        self.screen.sent(bytes);
        // A client that has ended is found when one waits for it.
        let host: IpAddr = match self.gui.local_addr() {
            Ok(own) if own.ip() == Ipv6Addr::LOCALHOST => own.ip(),
            _ => Ipv4Addr::LOCALHOST.into(),
        };
        let _ = self.gui.send_to(bytes, (host, self.port));
    }

    /// Somebody else than the GUI sends a datagram, to and from this address.
    pub(super) fn input_of_other(&mut self, bytes: &[u8], host: impl Into<IpAddr>) -> Played {
        let host = host.into();
        self.screen.sent(bytes);
        let _ = UdpSocket::bind((host, 0))?.send_to(bytes, (host, self.port));
        Ok(())
    }

    /// Nobody was there to get the pictures of these messages.
    pub(super) fn missed(&mut self, messages: &[ServerMessage]) {
        for message in messages {
            self.oracle.feed(&encoded(message));
            // The right client makes something of it.
            let _ = self.oracle.poll_event();
        }
    }

    /// The GUI sends an input in a game until the client, which may not listen yet, passes it on.
    pub(super) fn input_until(&mut self, input: &[u8], right: &[u8], rule: &'static Rule) -> Played {
        let by = self.context.options.deadline();
        while self.server.buffer.is_empty() && !self.server.closed && Instant::now() < by {
            self.input(input);
            self.server.more(by.min(Instant::now() + AGAIN));
        }
        self.passes_on(right, rule, "the first input in a game that had begun before")
    }

    /// The GUI sends inputs in the lobby until the client joins.
    pub(super) fn joins(&mut self) -> Played {
        self.joins_for(&JOIN)
    }

    /// As [`Stage::joins`]. `rule` is broken if it does not.
    pub(super) fn joins_for(&mut self, rule: &'static Rule) -> Played {
        let right = encoded_join(self.name)?;
        let by = self.context.options.deadline();
        let again = if self.listens { self.context.options.patience } else { AGAIN };
        self.joins = 0;
        loop {
            self.input(&[0]);
            self.joins += 1;
            // The client may not listen yet when it is asked for the first time. Joining more than once is allowed.
            self.server.more(by.min(Instant::now() + again));
            if !self.server.buffer.is_empty() || self.server.closed || Instant::now() >= by {
                break;
            }
        }
        self.listens = true;
        while self.server.buffer.len() < right.len() && self.server.more(by) {}
        let came = self.server.buffer.to_vec();
        let kept = came.starts_with(&right);
        self.judge.require(rule, kept, || {
            format!(
                "{} came after an input in the lobby; {}, a Join, would be right",
                show::bytes(&came),
                show::bytes(&right)
            )
        })?;
        self.server.buffer.advance(right.len());
        self.joins = self.joins.saturating_sub(1);
        Ok(())
    }

    /// Nothing may have come from the client yet.
    pub(super) fn silent(&mut self) -> Played {
        // What was sent before is there by now, since a picture has come since.
        self.server.more(Instant::now() + Duration::from_millis(1));
        let came = self.server.buffer.to_vec();
        self.judge.require(&SILENT, came.is_empty(), || {
            format!("{} came from the client before any input", show::bytes(&came))
        })
    }

    /// The next bytes to the server are exactly these.
    pub(super) fn passes_on(&mut self, right: &[u8], rule: &'static Rule, what: &str) -> Played {
        let by = self.context.options.deadline();
        let join = encoded_join(self.name)?;
        loop {
            let due = if self.server.buffer.first() == Some(&0) { join.len() } else { right.len() };
            if self.server.buffer.len() < due && self.server.more(by) {
                continue;
            }
            // A repeated input of the lobby may be read in the game.
            if self.joins > 0 && self.server.buffer.first() == Some(&1) && right.first() != Some(&1) {
                self.joins -= 1;
                self.server.buffer.advance(1);
                continue;
            }
            if !self.server.buffer.starts_with(&join) {
                break;
            }
            // Inputs in the lobby may be answered one by one, and no others.
            let blamed = if *rule == OBSERVES { rule } else { &BAD_INPUT };
            self.judge.require(blamed, self.joins > 0, || {
                "the client sent more Joins than there were valid inputs in the lobby".to_owned()
            })?;
            self.joins -= 1;
            self.server.buffer.advance(join.len());
        }
        let came = self.server.buffer.to_vec();
        self.judge.require(rule, came.starts_with(right), || {
            let came = if came.is_empty() { "nothing".to_owned() } else { show::bytes(&came) };
            format!("{came} came from the client after {what}; {} would be right", show::bytes(right))
        })?;
        self.server.buffer.advance(right.len());
        Ok(())
    }
}

fn encoded_join(name: &str) -> anyhow::Result<BytesMut> {
    Ok(encoded(&ClientMessage::Join { name: name.parse()? }))
}
