use std::{
    collections::VecDeque,
    future,
    io::{self, ErrorKind},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use anyhow::Context;
use bytes::BytesMut;
use netcore::{
    Time,
    wire::{Encode, Writer},
};
use robots::InputMessage;
use tokio::{net::UdpSocket, time::sleep};
use tracing::{debug, warn};

/// After a system error, so that a persistent one does not use up processor time.
const TROUBLE: Duration = Duration::from_millis(20);

/// The socket is connected to one address at a time, so that the system reports a refusal, at which the sender switches
/// to the next.
#[derive(Debug)]
pub(crate) struct Sender {
    addresses: Vec<SocketAddr>,
    current: usize,
    way: SocketPair,
    // The newest key, and the number of addresses that have refused it.
    newest: Option<InputMessage>,
    refusals: usize,
}

/// Two handles of one socket: one waits for refusals, the other sends. Sending bypasses the runtime, which detects late
/// that a new socket is writable.
#[derive(Debug)]
struct SocketPair {
    waiting: UdpSocket,
    sending: std::net::UdpSocket,
}

impl Sender {
    /// Connects to the first of `addresses` that the system can route to.
    pub(crate) fn new(addresses: Vec<SocketAddr>) -> anyhow::Result<Self> {
        let mut trouble = anyhow::anyhow!("the client has no address");
        for (current, &address) in addresses.iter().enumerate() {
            match connect(address).with_context(|| format!("cannot reach {address}")) {
                Ok(way) => return Ok(Self { addresses, current, way, newest: None, refusals: 0 }),
                Err(error) => trouble = error,
            }
        }
        Err(trouble)
    }

    pub(crate) fn send(&mut self, message: InputMessage) {
        // After all addresses have refused, each may be tried again.
        if self.is_refused() {
            self.refusals = 0;
        }
        self.newest = Some(message);
        self.send_newest();
    }

    pub(crate) const fn is_refused(&self) -> bool {
        self.refusals >= self.addresses.len()
    }

    /// A picture shows that the client is reachable.
    pub(crate) const fn record_picture(&mut self) {
        self.refusals = 0;
    }

    /// Cancel safe.
    pub(crate) async fn refused(&self) {
        loop {
            match self.way.waiting.recv(&mut [0; 1]).await {
                // Pictures arrive on other sockets.
                Ok(_) => {}
                Err(error) if is_refused(&error) => return,
                Err(error) => {
                    debug!(%error, "cannot reach the client");
                    sleep(TROUBLE).await;
                }
            }
        }
    }

    /// Sends the newest key to the next address, unless all have refused it.
    pub(crate) fn try_next(&mut self) {
        self.refusals = (self.refusals + 1).min(self.addresses.len());
        for step in 1..self.addresses.len() {
            let next = (self.current + step) % self.addresses.len();
            match connect(self.addresses[next]) {
                Ok(way) => {
                    debug!(refused = %self.addresses[self.current], next = %self.addresses[next], "trying another \
                        address");
                    (self.current, self.way) = (next, way);
                    break;
                }
                Err(error) => debug!(address = %self.addresses[next], %error, "no route to this address"),
            }
        }
        if !self.is_refused() {
            self.send_newest();
        }
    }

    fn send_newest(&mut self) {
        let Some(message) = self.newest else { return };
        let mut datagram = BytesMut::new();
        message.encode(&mut Writer::new(&mut datagram));
        let sent = match self.way.sending.send(&datagram) {
            // Linux reports the error of an earlier datagram here without sending this one.
            Err(error) if is_refused(&error) => self.way.sending.send(&datagram),
            sent => sent,
        };
        match sent {
            Ok(_) => {}
            Err(error) => warn!(%error, ?message, to = %self.addresses[self.current], "cannot send a key"),
        }
    }
}

/// Never completes without sockets.
pub(crate) async fn readable(sockets: &[UdpSocket]) {
    future::poll_fn(|context| {
        let ready = sockets.iter().filter(|socket| socket.poll_recv_ready(context).is_ready()).count();
        if ready > 0 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

fn connect(address: SocketAddr) -> io::Result<SocketPair> {
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = std::net::UdpSocket::bind(any)?;
    socket.connect(address)?;
    socket.set_nonblocking(true)?;
    Ok(SocketPair { waiting: UdpSocket::from_std(socket.try_clone()?)?, sending: socket })
}

// Windows reports a refusal as a reset.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

/// The client's connection to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Server {
    /// Connected, or unknown.
    #[default]
    There,
    /// The client reconnects.
    Lost,
    /// Closed.
    Gone,
}

/// The connection to the client, for display.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contact {
    /// As typed by the user.
    pub(crate) client: String,
    pub(crate) port: u16,
    /// The time since the last picture, if it is suspiciously long.
    pub(crate) silence: Option<Duration>,
    /// `None` until it has been measured.
    pub(crate) turn_duration: Option<Duration>,
    /// All addresses of the client refuse datagrams.
    pub(crate) refused: bool,
    pub(crate) server: Server,
    pub(crate) keys_ignored: bool,
    pub(crate) unreadable: u64,
}

/// The silence in a game that is reported, unless two of its turns take longer.
const IN_GAME: Duration = Duration::from_secs(3);
/// The same in the lobby, where pictures arrive only when a player joins.
const IN_LOBBY: Duration = Duration::from_secs(30);

/// Turns measured before their length is shown, and turns in the median.
const MEASURED: usize = 3;
const REMEMBERED: usize = 9;
/// Turns of a game's history arrive without pauses. The first live one exceeds the median by this factor.
const SLOWER: u32 = 10;
const NOTICEABLE: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub(crate) struct Pulse {
    last: Time,
    // Of the last picture, if it showed a game.
    turn: Option<u16>,
    turns: VecDeque<Duration>,
    heard: bool,
}

impl Pulse {
    pub(crate) fn new(now: Time) -> Self {
        Self { last: now, turn: None, turns: VecDeque::new(), heard: false }
    }

    /// `turn` is `None` for a lobby.
    pub(crate) fn record_picture(&mut self, now: Time, turn: Option<u16>) {
        let passed = match (self.turn, turn) {
            (Some(before), Some(turn)) => turn.checked_sub(before).filter(|&turns| turns > 0),
            _ => None,
        };
        match passed {
            Some(turns) => self.took(now.since(self.last) / u32::from(turns)),
            // A repeated picture gives no information about turns.
            None if turn == self.turn => {}
            None => self.turns.clear(),
        }
        (self.last, self.turn, self.heard) = (now, turn, true);
    }

    fn took(&mut self, turn: Duration) {
        if self.median().is_some_and(|median| turn > median * SLOWER + NOTICEABLE) {
            self.turns.clear();
        }
        self.turns.push_back(turn);
        if self.turns.len() > REMEMBERED {
            self.turns.pop_front();
        }
    }

    fn median(&self) -> Option<Duration> {
        let mut turns: Vec<Duration> = self.turns.iter().copied().collect();
        turns.sort_unstable();
        turns.get(turns.len() / 2).copied()
    }

    pub(crate) fn turn_duration(&self) -> Option<Duration> {
        self.median().filter(|_| self.turns.len() >= MEASURED)
    }

    pub(crate) fn silence(&self, now: Time) -> Option<Duration> {
        let allowed = match (self.heard, self.turn) {
            (true, None) => IN_LOBBY,
            (false, _) => IN_GAME,
            (true, Some(_)) => self.turns.back().map_or(IN_GAME, |&turn| IN_GAME.max(turn * 2)),
        };
        Some(now.since(self.last)).filter(|&silence| silence >= allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener() -> (std::net::UdpSocket, SocketAddr) {
        let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    #[tokio::test]
    async fn refused_key_is_sent_to_the_next_address() {
        let (gone, closed) = listener();
        drop(gone);
        let (client, open) = listener();
        let mut sender = Sender::new(vec![closed, open]).unwrap();
        sender.send(InputMessage::PlaceBlock);
        sender.refused().await;
        sender.try_next();
        assert!(!sender.is_refused());
        let mut buffer = [0; 9];
        assert_eq!((client.recv(&mut buffer).unwrap(), buffer[0]), (1, 1));
    }

    #[tokio::test]
    async fn undelivered_key_is_reported_and_the_next_is_tried() {
        let (gone, closed) = listener();
        drop(gone);
        let mut sender = Sender::new(vec![closed]).unwrap();
        sender.send(InputMessage::PlaceBomb);
        sender.refused().await;
        sender.try_next();
        assert!(sender.is_refused());
        sender.send(InputMessage::PlaceBomb);
        assert!(!sender.is_refused());
    }

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    #[test]
    fn silence_is_reported_earlier_in_a_game_than_in_a_lobby() {
        let mut pulse = Pulse::new(at(0));
        assert_eq!((pulse.silence(at(2)), pulse.silence(at(3))), (None, Some(Duration::from_secs(3))));
        pulse.record_picture(at(10), None);
        assert_eq!((pulse.silence(at(39)), pulse.silence(at(40))), (None, Some(Duration::from_secs(30))));
        pulse.record_picture(at(50), Some(0));
        assert_eq!((pulse.silence(at(52)), pulse.silence(at(53))), (None, Some(Duration::from_secs(3))));
    }

    #[test]
    fn silence_is_reported_later_with_slow_turns() {
        let mut pulse = Pulse::new(at(0));
        pulse.record_picture(at(0), Some(0));
        pulse.record_picture(at(10), Some(1));
        assert_eq!((pulse.silence(at(29)), pulse.silence(at(30))), (None, Some(Duration::from_secs(20))));
        pulse.record_picture(at(30), None);
        pulse.record_picture(at(90), Some(0));
        assert_eq!(pulse.silence(at(93)), Some(Duration::from_secs(3)));
    }

    #[test]
    fn the_length_of_a_turn_is_measured_and_the_history_of_a_game_does_not_count() {
        let mut pulse = Pulse::new(at(0));
        let mut now = 0;
        let mut hear = |pulse: &mut Pulse, after: u64, turn| {
            now += after;
            pulse.record_picture(Time::from_millis(now), Some(turn));
            pulse.turn_duration().map(|turn| turn.as_millis())
        };
        for turn in 0..100 {
            hear(&mut pulse, 0, turn);
        }
        assert_eq!(hear(&mut pulse, 150, 100), None);
        assert_eq!(hear(&mut pulse, 200, 101), None);
        assert_eq!(hear(&mut pulse, 210, 102), Some(200));
        // Two pictures were lost, and one was late.
        assert_eq!(hear(&mut pulse, 600, 105), Some(200));
        assert_eq!(hear(&mut pulse, 900, 106), Some(200));
        assert_eq!(hear(&mut pulse, 100, 0), None, "another game");
    }
}
