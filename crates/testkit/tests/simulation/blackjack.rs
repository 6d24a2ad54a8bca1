//! Players who return to their seats after a restart, and a watcher.

use std::{net::SocketAddr, time::Duration};

use blackjack::{
    Client, Config, Dialect, Name, PlayerMessage, Policy, Score, Seed, Server, StateSpace,
    client::{ClientError, MessageEffect},
    learn::Choice,
};
use bytes::Bytes;
use netcore::{DisconnectReason, Framing, Role, Time};
use testkit::{
    net::{Net, StreamConditions},
    simulation::Game,
};

const PLAYERS: u8 = 3;
const WATCHER: u8 = PLAYERS;
/// A client that sends unrequested messages.
const HOSTILE: u8 = PLAYERS + 1;
const AWAY: Duration = Duration::from_millis(200);
/// Longer than all clock changes.
const NEVER: Duration = Duration::from_secs(1_000 * 86_400);

#[derive(Debug, Default)]
pub(super) struct BlackjackClient {
    /// `None` for a client that only receives.
    player: Option<(Client, Policy)>,
    score: Score,
    gone: bool,
    /// Whether a client that only receives has received something.
    has_output: bool,
    /// The first bytes that it sends.
    first: Option<Bytes>,
}

impl netcore::Client for BlackjackClient {
    type Action = Choice;
    type Error = ClientError;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), ClientError> {
        let Some((client, policy)) = &mut self.player else {
            self.has_output |= !bytes.is_empty();
            return Ok(());
        };
        client.receive(now, bytes)?;
        while let Some(event) = client.poll_event() {
            assert!(event.anomaly.is_none(), "{event:?}");
            match event.effect {
                MessageEffect::DecisionDue => {
                    let state = client.state().expect("a decision was requested");
                    client.act(now, Choice::sure(policy.action(state)));
                }
                MessageEffect::Ended { verdict, .. } => self.score.add(verdict),
                _ => {}
            }
        }
        Ok(())
    }

    fn act(&mut self, now: Time, choice: Choice) {
        if let Some((client, _)) = &mut self.player {
            client.act(now, choice);
        }
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.first.take().or_else(|| self.player.as_mut()?.0.take_outgoing())
    }

    fn disconnected(&mut self, now: Time, why: DisconnectReason) {
        self.gone = true;
        if let Some((client, _)) = &mut self.player {
            client.disconnected(now, why);
        }
    }

    fn is_over(&self) -> bool {
        self.player.as_ref().map_or(self.gone, |(client, _)| client.is_over())
    }
}

fn client(number: u8, score: Score) -> BlackjackClient {
    let dialect = if number.is_multiple_of(2) { Dialect::Text } else { Dialect::Binary };
    match number {
        WATCHER => BlackjackClient::default(),
        HOSTILE => {
            let messages = [PlayerMessage::Join(name(number)), PlayerMessage::Hit];
            let first = messages.map(|message| message.to_bytes(Dialect::Binary)).concat();
            BlackjackClient { first: Some(first.into()), ..BlackjackClient::default() }
        }
        _ => {
            let client = Client::new(name(number), dialect, Framing::Stream, StateSpace::Coarse);
            BlackjackClient { player: Some((client, Policy::mimic())), score, ..BlackjackClient::default() }
        }
    }
}

fn name(number: u8) -> Name {
    Name::new(format!("P{number}").as_bytes()).unwrap()
}

/// Each has its own host, and another port for each connection.
fn address(number: u8, time: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 1_000 + time))
}

pub(super) struct Blackjack {
    // Connections of each client, and when it reconnects.
    guests: Vec<(u16, Option<Time>)>,
    // Messages were delivered that the dealer lost.
    forked: bool,
}

impl Game for Blackjack {
    type Server = Server;
    type Client = BlackjackClient;

    fn begin(seed: u64) -> (Self, Server) {
        let rounds = if seed.is_multiple_of(4) { 30 } else { 100_000 };
        let config = Config {
            players: usize::from(PLAYERS),
            delay: Duration::from_millis(20),
            timeout: NEVER,
            ..Config::new(rounds, Seed::from_number(seed))
        };
        (Self { guests: vec![], forked: false }, Server::new(config).unwrap())
    }

    fn enter(&mut self, net: &mut Net<Server, BlackjackClient>) {
        // A random reset would cost a hand, and the seat.
        net.set_stream_conditions(StreamConditions { reset_permille: 0, stall_percent: 0, ..StreamConditions::ROUGH });
        for number in 0..=HOSTILE {
            self.guests.push((0, None));
            Self::connect(net, number, 0, Score::default());
        }
    }

    fn step(&mut self, net: &mut Net<Server, BlackjackClient>) {
        self.check(net);
        let now = net.now();
        for number in 0..=HOSTILE {
            let (times, back_at) = self.guests[usize::from(number)];
            let client = net.client(address(number, times));
            if !client.gone {
                continue;
            }
            match back_at {
                None => self.guests[usize::from(number)].1 = Some(now.plus(AWAY)),
                Some(at) if at <= now => {
                    let score = client.score;
                    net.remove(address(number, times));
                    let times = (times + 1) % 50_000;
                    self.guests[usize::from(number)] = (times, None);
                    Self::connect(net, number, times, score);
                }
                Some(_) => {}
            }
        }
    }

    fn wake(&self) -> Option<Time> {
        self.guests.iter().filter_map(|&(_, back_at)| back_at).min()
    }

    fn is_current(&self, net: &Net<Server, BlackjackClient>, client: &BlackjackClient) -> bool {
        let Some((client, _)) = &client.player else { return client.has_output };
        let engine = net.engine();
        let seats = engine.tables().flat_map(|table| table.view().seats);
        match seats.flatten().find(|seat| seat.name == *client.name()) {
            Some(seat) => seat.hand.is_none_or(|(hand, _)| !client.in_round() || hand == *client.hand()),
            // A player who has lost its seat has no state to compare.
            None => true,
        }
    }

    fn resumed(&mut self, _: &mut Net<Server, BlackjackClient>, forked: bool) {
        self.forked |= forked;
    }
}

impl Blackjack {
    fn connect(net: &mut Net<Server, BlackjackClient>, number: u8, times: u16, score: Score) {
        let role = if number == WATCHER { Role::Watcher } else { Role::Player };
        net.add_stream(address(number, times), role, client(number, score));
    }

    // Checks that the dealer has all results that were delivered to a player.
    fn check(&self, net: &Net<Server, BlackjackClient>) {
        let engine = net.engine();
        let Some(table) = engine.tables().next().filter(|_| !self.forked) else { return };
        for seat in table.view().seats.into_iter().flatten() {
            let Some(number) = (0..PLAYERS).find(|&number| name(number) == seat.name) else { continue };
            let (times, _) = self.guests[usize::from(number)];
            let (received, truth) = (net.client(address(number, times)).score, seat.score);
            let fits = received.wins <= truth.wins
                && received.pushes <= truth.pushes
                && received.losses <= truth.losses
                && received.busts <= truth.busts;
            assert!(fits, "player {number} received {received:?}, and the dealer has {truth:?}");
            assert_eq!(seat.forfeits, 0, "player {number} lost a hand because the server was away");
        }
    }
}
