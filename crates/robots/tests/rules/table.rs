//! A server and its clients, identified by name, with a simulated network.

use std::{collections::BTreeMap, mem::take, time::Duration};

use bytes::{Bytes, BytesMut};
use netcore::{
    Client as _, DisconnectReason, Engine, Framing, GameEvent, Input, Leave, Link, Outbox, Outcome, Output, PeerId,
    Protocol, Recorded, Role, Time, To, wire::ShortText,
};
use robots::{
    Action, Bomb, Client, ClientMessage, Config, Direction, DrawMessage, Event, GamePicture, InputMessage, MAX_HISTORY,
    Parameters, Position, Server, ServerMessage,
    protocol::{Robots, ServerDecoder},
};

use crate::{streams::bytes, transcript};

pub(crate) fn text(text: &str) -> ShortText {
    ShortText::try_from(text).unwrap()
}

/// Two players, 10 x 10, three turns of 100 ms, radius 2, timer 2, no blocks, seed 1234.
pub(crate) fn config() -> Config {
    let parameters = Parameters {
        server_name: text("here"),
        players_count: 2,
        size_x: 10,
        size_y: 10,
        game_length: 3,
        explosion_radius: 2,
        bomb_timer: 2,
    };
    Config {
        parameters,
        turn_duration: Duration::from_millis(100),
        initial_blocks: 0,
        seed: 1234,
        max_history: MAX_HISTORY,
    }
}

pub(crate) fn with(mut config: Config, change: impl FnOnce(&mut Config)) -> Config {
    change(&mut config);
    config
}

/// One player on a single field.
pub(crate) fn alone() -> Config {
    with(config(), |Config { parameters, .. }| {
        (parameters.players_count, parameters.size_x, parameters.size_y) = (1, 1, 1);
    })
}

pub(crate) fn request(client: &mut Client, input: InputMessage) -> ClientMessage {
    client.act(Time::ZERO, input);
    let frame = client.take_outgoing().unwrap();
    assert_eq!(client.take_outgoing(), None);
    Robots::decode(&mut (), &frame, Framing::Whole).unwrap()
}

/// Returns whether a picture is due.
pub(crate) fn deliver(client: &mut Client, message: &ServerMessage) -> bool {
    client.feed(&bytes(message));
    let event = client.poll_event().unwrap().expect("a whole message");
    assert_eq!((&event.message, client.poll_event()), (message, Ok(None)));
    event.is_picture_due()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    All(ServerMessage),
    Sent(String, ServerMessage),
    Replayed(String, ServerMessage),
    Closed(String),
}

#[derive(Debug)]
struct Connection {
    name: String,
    client: Client,
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) server: Server,
    pub(crate) now: Time,
    /// Published to observers.
    pub(crate) events: Vec<GameEvent>,
    connections: BTreeMap<PeerId, Connection>,
    next_peer: u64,
}

impl Table {
    pub(crate) fn new(config: Config) -> Self {
        let server = Server::new(config).unwrap();
        Self { server, now: Time::ZERO, events: vec![], connections: BTreeMap::new(), next_peer: 0 }
    }

    pub(crate) fn joined(config: Config, names: &[&str]) -> Self {
        let mut table = Self::new(config);
        for name in names {
            table.connect(name, Role::Player, None);
            table.send(name, &ClientMessage::Join { name: text(name) });
        }
        table
    }

    fn peer(&self, name: &str) -> PeerId {
        let found = self.connections.iter().find(|(_, connection)| connection.name == name);
        *found.unwrap_or_else(|| panic!("nobody here is called {name}")).0
    }

    pub(crate) fn client(&self, name: &str) -> &Client {
        &self.connections[&self.peer(name)].client
    }

    /// Replaces the client, as after a restart.
    pub(crate) fn reset_client(&mut self, name: &str) -> PeerId {
        let peer = self.peer(name);
        let connection = self.connections.get_mut(&peer).unwrap();
        assert!(!connection.client.incoming().is_within_message(), "whole messages have come");
        connection.client = Client::new(text(name), None);
        peer
    }

    pub(crate) fn restart_client(&mut self, name: &str) -> Vec<Effect> {
        let peer = self.reset_client(name);
        self.input(Input::Refresh { peer })
    }

    pub(crate) fn connect(&mut self, name: &str, role: Role, address: Option<&str>) -> Vec<Effect> {
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        let address = address.map_or_else(|| format!("10.0.0.1:{}", 4_000 + peer.0), str::to_owned);
        let client = Client::new(text(name), address.parse().ok());
        let connection = Connection { name: name.into(), client };
        self.connections.insert(peer, connection);
        self.input(Input::Connected { peer, role, link: Link::Stream, address: (&address).into() })
    }

    pub(crate) fn send(&mut self, name: &str, message: &ClientMessage) -> Vec<Effect> {
        self.send_bytes(name, &bytes(message))
    }

    /// Sends bytes as the shell of a stream does.
    pub(crate) fn send_bytes(&mut self, name: &str, bytes: &[u8]) -> Vec<Effect> {
        let peer = self.peer(name);
        let (mut buffer, mut effects) = (BytesMut::from(bytes), vec![]);
        loop {
            match Robots::take(&mut (), &mut buffer) {
                Ok(Some(request)) => effects.extend(self.input(Input::Message { peer, message: request })),
                Ok(None) => return effects,
                Err(why) => {
                    effects.extend(self.input(Input::Malformed { peer, why }));
                    return effects;
                }
            }
        }
    }

    pub(crate) fn leave(&mut self, name: &str) -> Vec<Effect> {
        let peer = self.peer(name);
        self.connections.remove(&peer);
        self.input(Input::Disconnected { peer, why: DisconnectReason::Left })
    }

    pub(crate) fn state(&self) -> String {
        serde_json::to_string(&self.server.state()).unwrap()
    }

    /// Kills the server and restores it from its state, without connections.
    pub(crate) fn kill(&mut self) -> Vec<Effect> {
        let state = self.state();
        let again = Server::restore(self.server.setup(), serde_json::from_str(&state).unwrap()).unwrap();
        self.server = again;
        assert_eq!(self.state(), state);
        let gone = take(&mut self.connections).into_keys();
        gone.flat_map(|peer| self.input_alone(Input::Disconnected { peer, why: DisconnectReason::Interrupted }))
            .collect()
    }

    pub(crate) fn turn(&mut self) -> Vec<Effect> {
        self.now = self.server.deadline().expect("a game is played").max(self.now);
        self.input(Input::Elapsed)
    }

    /// Advances the time and wakes the server at its deadlines.
    pub(crate) fn wait(&mut self, time: Duration) -> Vec<Effect> {
        let (end, mut effects) = (self.now.plus(time), vec![]);
        while self.server.deadline().is_some_and(|deadline| deadline <= end) {
            effects.extend(self.turn());
        }
        self.now = end;
        effects
    }

    /// Passes an input to the server. Like a shell, plays turn 0 if it starts a game.
    pub(crate) fn input(&mut self, input: Input<'_, ClientMessage>) -> Vec<Effect> {
        let lobby = self.server.game().is_none();
        let mut effects = self.input_alone(input);
        if lobby && self.server.game().is_some() {
            effects.extend(self.input_alone(Input::Elapsed));
        }
        if !effects.is_empty() {
            self.assert_clients_agree();
        }
        effects
    }

    pub(crate) fn input_alone(&mut self, input: Input<'_, ClientMessage>) -> Vec<Effect> {
        let mut out = Outbox::new();
        self.server.input(self.now, input, &mut out);
        let mut effects = vec![];
        for output in out.drain() {
            match output {
                Output::Send { to: To::Everyone, frame } => {
                    let message = whole(&frame);
                    let peers: Vec<_> = self.connections.keys().copied().collect();
                    for peer in peers {
                        self.deliver_to(peer, &frame);
                    }
                    effects.push(Effect::All(message));
                }
                Output::Send { to: To::Peer(peer), frame } => {
                    self.deliver_to(peer, &frame);
                    effects.push(Effect::Sent(self.connections[&peer].name.clone(), whole(&frame)));
                }
                Output::Replay { to, history } => {
                    for segment in history.segments() {
                        self.deliver_to(to, segment);
                        let (mut buffer, mut decoder) = (BytesMut::from(&segment[..]), ServerDecoder::default());
                        while let Some(message) = decoder.decode(&mut buffer).unwrap() {
                            effects.push(Effect::Replayed(self.connections[&to].name.clone(), message));
                        }
                        assert!(buffer.is_empty(), "a segment holds whole messages");
                    }
                }
                Output::Close { peer } => {
                    effects.extend(self.connections.remove(&peer).map(|connection| Effect::Closed(connection.name)));
                }
                Output::Event(event) => self.events.push(event),
            }
        }
        effects
    }

    fn deliver_to(&mut self, peer: PeerId, bytes: &Bytes) {
        let connection = self.connections.get_mut(&peer).expect("only those who are connected are spoken to");
        connection.client.feed(bytes);
        loop {
            let scores = connection.client.game().map(|game| game.scores().clone());
            let Some(event) = connection.client.poll_event().unwrap() else { break };
            if let (ServerMessage::GameEnded { scores }, Some(added)) = (&event.message, scores) {
                assert_eq!(*scores, added, "the last scores are those that a client has added up");
            }
            let quiet = matches!(event.message, ServerMessage::GameStarted { .. });
            assert_eq!(event.is_picture_due(), !quiet, "every message but GameStarted has a picture");
        }
    }

    // Compares the clients' pictures, or some of many, with the server's state.
    fn assert_clients_agree(&self) {
        for connection in self.connections.values().step_by(1 + self.connections.len() / 16) {
            let Some(picture) = connection.client.picture() else { panic!("{} was not greeted", connection.name) };
            match (picture.expect("a picture that fits"), self.server.game()) {
                (DrawMessage::Lobby { parameters, players }, None) => {
                    assert_eq!(parameters, self.server.config().parameters);
                    assert_eq!(&players, self.server.players());
                }
                (DrawMessage::Game(picture), Some(game)) => {
                    let GamePicture { turn, players, player_positions, mut blocks, mut bombs, scores, .. } = picture;
                    assert_eq!((turn, &players), (game.turn(), self.server.players()));
                    assert!(player_positions.values().eq(game.robots().iter().map(|robot| &robot.position)));
                    assert!(scores.values().eq(game.robots().iter().map(|robot| &robot.score)));
                    blocks.sort_unstable();
                    assert!(blocks.iter().copied().eq(game.board().blocks()));
                    let timer = |turns| u16::try_from(turns).expect("no timer is longer than it was");
                    let mut lying: Vec<_> =
                        game.bombs().map(|(_, position, turns)| Bomb { position, timer: timer(turns) }).collect();
                    lying.sort_unstable();
                    bombs.sort_unstable();
                    assert_eq!(bombs, lying);
                }
                (picture, _) => panic!("{} is shown {picture:?}", connection.name),
            }
        }
    }

    /// Plays a transcript and compares. Indented lines are outputs, other lines inputs:
    ///
    /// | line | meaning |
    /// |------|---------|
    /// | `ann comes`, `ann comes from [::1]:9`, `ann watches` | a client connects; the last one as a watcher |
    /// | `ann > Join Ann`, `ann > PlaceBomb`, `ann > Move Up` | a message |
    /// | `ann > bytes 03 04` | bytes |
    /// | `ann leaves` | the connection ends |
    /// | `killed` | the server is killed and resumed, and all connections are lost |
    /// | `ann asks again` | the shell requests a refresh for a peer |
    /// | `turn`, `wait 50 ms`, `too early`, `stop` | the next turn is due; time passes; an early wake-up; the end |
    ///
    /// `all <` is sent to all connected peers, `ann <` to one peer, and `ann <<` is history. Hello, the first message
    /// to each peer that connects, watches or refreshes, is omitted.
    #[track_caller]
    pub(crate) fn check(&mut self, transcript: &str) {
        transcript::check(transcript, |line| {
            let words: Vec<&str> = line.split(' ').collect();
            let mut effects = match words[..] {
                [name, "comes"] => self.connect(name, Role::Player, None),
                [name, "comes", "from", address] => self.connect(name, Role::Player, Some(address)),
                [name, "watches"] => self.connect(name, Role::Watcher, None),
                [name, ">", "Join", joining] => self.send(name, &ClientMessage::Join { name: text(joining) }),
                [name, ">", "bytes", ref hex @ ..] => {
                    let bytes: Vec<u8> = hex.iter().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
                    self.send_bytes(name, &bytes)
                }
                [name, ">", ref words @ ..] => self.send(name, &ClientMessage::Action(action(words))),
                [name, "leaves"] => self.leave(name),
                [name, "asks", "again"] => {
                    let peer = self.peer(name);
                    self.input(Input::Refresh { peer })
                }
                ["killed"] => self.kill(),
                ["turn"] => self.turn(),
                ["wait", time, "ms"] => self.wait(Duration::from_millis(time.parse().unwrap())),
                ["too", "early"] => self.input(Input::Elapsed),
                ["stop"] => {
                    let effects = self.input(Input::Stop(Leave::Over));
                    assert_eq!((self.server.outcome(), self.server.deadline()), (Some(Outcome::Stopped), None));
                    effects
                }
                _ => return None,
            };
            if let [name, "comes" | "watches", ..] | [name, "asks", "again"] = words[..] {
                let hello = ServerMessage::Hello(self.server.config().parameters.clone());
                assert_eq!(effects.remove(0), Effect::Sent(name.to_owned(), hello));
            }
            let outputs = effects.into_iter().map(|effect| match effect {
                Effect::All(message) => format!("all < {}", shown(&message)),
                Effect::Sent(name, message) => format!("{name} < {}", shown(&message)),
                Effect::Replayed(name, message) => format!("{name} << {}", shown(&message)),
                Effect::Closed(name) => format!("{name} closed"),
            });
            Some(outputs.collect())
        });
    }
}

fn whole(frame: &[u8]) -> ServerMessage {
    let (mut buffer, mut decoder) = (BytesMut::from(frame), ServerDecoder::default());
    let message = decoder.decode(&mut buffer).unwrap().expect("a frame is a whole message");
    assert!(buffer.is_empty(), "and one only");
    message
}

pub(crate) fn action(words: &[&str]) -> Action {
    match words {
        ["PlaceBomb"] => Action::PlaceBomb,
        ["PlaceBlock"] => Action::PlaceBlock,
        ["Move", "Up"] => Action::Move(Direction::Up),
        ["Move", "Right"] => Action::Move(Direction::Right),
        ["Move", "Down"] => Action::Move(Direction::Down),
        ["Move", "Left"] => Action::Move(Direction::Left),
        _ => panic!("{words:?} is no message"),
    }
}

fn at(position: Position) -> String {
    format!("({},{})", position.x, position.y)
}

pub(crate) fn shown(message: &ServerMessage) -> String {
    match message {
        ServerMessage::Hello(_) => "Hello".to_owned(),
        ServerMessage::AcceptedPlayer { id, player } => {
            format!("AcceptedPlayer {} {} {}", id.0, player.name, player.address)
        }
        ServerMessage::GameStarted { players } => {
            let players: Vec<_> = players.iter().map(|(id, player)| format!(" {} {}", id.0, player.name)).collect();
            "GameStarted".to_owned() + &players.join(",")
        }
        ServerMessage::Turn { turn, events } => {
            let events: Vec<_> = events.iter().map(event).collect();
            format!("Turn {turn}{}", events.concat())
        }
        ServerMessage::GameEnded { scores } => {
            let scores: Vec<_> = scores.iter().map(|(id, score)| format!(" {}: {score}", id.0)).collect();
            "GameEnded".to_owned() + &scores.join(",")
        }
    }
}

fn event(event: &Event) -> String {
    match event {
        Event::BombPlaced { id, position } => format!("; bomb {} {}", id.0, at(*position)),
        Event::BombExploded { id, robots_destroyed, blocks_destroyed } => {
            let robots = robots_destroyed.iter().map(|id| format!(" robot {}", id.0));
            let blocks = blocks_destroyed.iter().map(|&position| format!(" block {}", at(position)));
            format!("; boom {}{}", id.0, robots.chain(blocks).collect::<String>())
        }
        Event::PlayerMoved { id, position } => format!("; robot {} {}", id.0, at(*position)),
        Event::BlockPlaced { position } => format!("; block {}", at(*position)),
    }
}
