//! One room and the transports by which it is reached.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt, io,
    net::SocketAddr,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use netcore::{
    GameEvent, Gone, Leave, Link, Outbox, Outcome, Output, PeerId, Progress, Role, Room, RoomInput, Time, To,
};

use crate::{ConnectionEvent, ConnectionId, Hold, MAX_HOLD, Observer, Transport};

/// Bytes of frames that are held back at a time; beyond that nothing more is taken in until some have left.
pub const MAX_HELD: usize = 16 << 20;
/// How often what is held back is looked at, at least.
const LOOK: Duration = Duration::from_secs(1);
/// What a held output counts besides its bytes.
const ENTRY: usize = 64;

/// A room with its doors: gives peers their numbers, hands the room what arrives, and routes what follows from it over any
/// number of transports.
///
/// It has no clock, no socket and no task, so that a simulation drives the same code as [`serve`](crate::serve).
pub struct Host {
    room: Box<dyn Room + Send>,
    doors: Vec<Door>,
    peers: BTreeMap<PeerId, Place>,
    next_peer: u64,
    // The newest time that the room was told: it never goes back.
    now: Time,
    out: Outbox,
    observer: Box<dyn Observer + Send>,
    hold: Option<Held>,
    // Where those are who were closed just now: what follows may be about them.
    parted: BTreeMap<PeerId, String>,
    // Which transport has its turn next.
    turn: usize,
}

/// A transport, and which peer is at which of its connections.
struct Door {
    transport: Box<dyn Transport + Send>,
    peers: BTreeMap<ConnectionId, PeerId>,
    // Something was handed to it since it was last told that all is delivered.
    touched: bool,
}

/// Where a peer is.
#[derive(Debug)]
struct Place {
    door: usize,
    connection: ConnectionId,
    address: String,
}

/// Outputs that wait for their mark, oldest first, each with the number of the first peer that came after it.
struct Held {
    hold: Box<dyn Hold + Send>,
    outputs: VecDeque<(u64, Output, PeerId)>,
    bytes: usize,
    // How long the oldest of them has waited, as of when.
    waited: Duration,
    looked: Time,
}

impl Held {
    // When to look at it again although nothing has happened.
    fn wake_at(&self) -> Option<Time> {
        (!self.outputs.is_empty()).then(|| self.looked.plus(LOOK))
    }

    // Whether the host has to go on without it. Time in which the host itself stood still does not count: then the hold
    // had no chance either.
    fn is_overdue(&mut self, now: Time) -> bool {
        if self.outputs.is_empty() {
            return false;
        }
        self.waited += now.since(self.looked).min(LOOK);
        self.looked = now;
        self.waited >= MAX_HOLD
    }

    fn wait_anew(&mut self, now: Time) {
        self.waited = Duration::ZERO;
        self.looked = now;
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { doors, peers, now, .. } = self;
        f.debug_struct("Host").field("transports", &doors.len()).field("peers", peers).field("now", now).finish()
    }
}

impl Host {
    /// A room that nobody can reach yet.
    pub fn new(room: impl Room + Send + 'static) -> Self {
        Self {
            room: Box::new(room),
            doors: vec![],
            peers: BTreeMap::new(),
            next_peer: 0,
            now: Time::ZERO,
            out: Outbox::new(),
            observer: Box::new(()),
            hold: None,
            parted: BTreeMap::new(),
            turn: 0,
        }
    }

    /// Lets the room be reached by `transport` too.
    #[must_use]
    pub fn with_transport(mut self, transport: impl Transport + Send + 'static) -> Self {
        self.doors.push(Door { transport: Box::new(transport), peers: BTreeMap::new(), touched: false });
        self
    }

    /// Tells `observer` what happens, and nobody else.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observer + Send + 'static) -> Self {
        self.observer = Box::new(observer);
        self
    }

    /// Holds outputs back as `hold` says.
    #[must_use]
    pub fn with_hold(mut self, hold: impl Hold + Send + 'static) -> Self {
        self.hold = Some(Held {
            hold: Box::new(hold),
            outputs: VecDeque::new(),
            bytes: 0,
            waited: Duration::ZERO,
            looked: Time::ZERO,
        });
        self
    }

    /// Gives the first peer this number: a room that goes on has given the lower ones away.
    #[must_use]
    pub const fn with_first_peer(mut self, first: PeerId) -> Self {
        self.next_peer = first.0;
        self
    }

    /// The room.
    pub fn room(&self) -> &(dyn Room + Send) {
        &*self.room
    }

    /// How many peers there are.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// How it ended, once it has and nothing is held back any more.
    pub fn outcome(&self) -> Option<Outcome> {
        self.room.outcome().filter(|_| self.hold.as_ref().is_none_or(|held| held.outputs.is_empty()))
    }

    /// When the room wants to be woken. Not while too much is held back: then its time stands still with its peers.
    pub fn deadline(&self) -> Option<Time> {
        self.room.deadline().filter(|_| !self.is_full())
    }

    /// When something is to be done although nothing has arrived: the room's deadline, or a transport's.
    pub fn wake_at(&self) -> Option<Time> {
        let transports = self.doors.iter().filter_map(|door| door.transport.wake_at());
        let look = self.hold.as_ref().and_then(Held::wake_at);
        transports.filter(|_| !self.is_full()).chain(self.deadline()).chain(look).min()
    }

    /// Ready when [`Host::work`] may have something to do; otherwise the task is woken once it has.
    ///
    /// # Errors
    /// When a transport is broken.
    pub fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(held) = &mut self.hold {
            held.hold.flush();
        }
        if let Some(held) = &mut self.hold
            && let Some(&(mark, ..)) = held.outputs.front()
            && (held.hold.reached() >= mark || held.hold.poll_reached(mark - 1, context).is_ready())
        {
            return Poll::Ready(Ok(()));
        }
        if self.is_full() {
            return Poll::Pending;
        }
        for door in &mut self.doors {
            if let Poll::Ready(ready) = door.transport.poll_ready(context) {
                return Poll::Ready(ready);
            }
        }
        Poll::Pending
    }

    /// Does one piece of work: hands the room what one of the transports has next and delivers what follows. `false` when
    /// there is nothing to do just now. `clock` tells the time, twice for each piece.
    ///
    /// # Errors
    /// When a transport is broken.
    pub fn work(&mut self, clock: impl Fn() -> Time) -> io::Result<bool> {
        let now = self.at(clock());
        if let Some(held) = &mut self.hold
            && held.is_overdue(now)
        {
            held.hold.give_up();
            held.wait_anew(now);
        }
        self.release(now);
        if self.is_full() {
            return Ok(false);
        }
        for _ in 0..self.doors.len() {
            let index = self.turn;
            self.turn = (index + 1) % self.doors.len();
            if self.work_at(index, now, &clock)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tells the room that its deadline has come, if it has. Whether it had.
    pub fn elapse(&mut self, now: Time) -> bool {
        let now = self.at(now);
        let due = self.deadline().is_some_and(|deadline| deadline <= now);
        if due {
            self.input(now, RoomInput::Elapsed);
        }
        due
    }

    /// Tells the room to take leave.
    pub fn stop(&mut self, now: Time, leave: Leave) {
        let now = self.at(now);
        self.input(now, RoomInput::Stop(leave));
    }

    /// Has the peer at a connection told all that it may know. `door` counts transports in the order in which they were
    /// given. `false` if nobody is there.
    pub fn refresh(&mut self, now: Time, door: usize, connection: ConnectionId) -> bool {
        let peer = self.doors.get(door).and_then(|door| door.peers.get(&connection).copied());
        if let Some(peer) = peer {
            let now = self.at(now);
            self.input(now, RoomInput::Refresh { peer });
        }
        peer.is_some()
    }

    /// Goes on with a room whose server was killed. `peers` are those who were there, with their addresses. Those whose
    /// connection a transport can take up again, which is a matter of datagrams, are told all that they may know; the others are
    /// gone.
    pub fn resume(&mut self, now: Time, peers: impl IntoIterator<Item = (PeerId, Link, SocketAddr)>) {
        let now = self.at(now);
        let mut inputs = vec![];
        for (peer, link, address) in peers {
            self.next_peer = self.next_peer.max(peer.0.saturating_add(1));
            match self.adopt(now, link, address) {
                Some((door, connection)) => {
                    self.doors[door].peers.insert(connection, peer);
                    self.peers.insert(peer, Place { door, connection, address: plain(address).to_string() });
                    inputs.push(RoomInput::Refresh { peer });
                }
                None => inputs.push(RoomInput::Disconnected { peer, why: Gone::Interrupted }),
            }
        }
        // Only now: what follows from the one may be about the other.
        for input in inputs {
            self.input(now, input);
        }
    }

    /// Sends the last messages again to somebody at `address` who is no peer any more: it may not have heard them when its
    /// server was killed. `false` if no transport can reach it.
    pub fn repeat_farewell(&mut self, now: Time, address: SocketAddr, frames: impl IntoIterator<Item = Bytes>) -> bool {
        let now = self.at(now);
        let Some((door, connection)) = self.adopt(now, Link::Datagram, address) else { return false };
        let transport = &mut self.doors[door].transport;
        frames.into_iter().for_each(|frame| transport.send(now, connection, frame));
        transport.close(now, connection);
        transport.delivered(now);
        true
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<(usize, ConnectionId)> {
        let mut doors = self.doors.iter_mut().enumerate();
        doors.find_map(|(door, each)| Some((door, each.transport.adopt(now, link, address)?)))
    }

    /// At the end: ready when everything queued is out or it makes no sense to wait for it any longer.
    pub fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        let mut all = Poll::Ready(());
        for door in &mut self.doors {
            if door.transport.poll_flush(now, context).is_pending() {
                all = Poll::Pending;
            }
        }
        all
    }

    // Whether nothing is taken in: not before what is held back has left, or never again.
    fn is_full(&self) -> bool {
        self.room.outcome().is_some() || self.hold.as_ref().is_some_and(|held| held.bytes > MAX_HELD)
    }

    // The time that the room is told: a clock that goes back is not followed.
    fn at(&mut self, now: Time) -> Time {
        self.now = self.now.max(now);
        self.now
    }

    fn work_at(&mut self, index: usize, now: Time, clock: &impl Fn() -> Time) -> io::Result<bool> {
        let Self { room, doors, peers, out, observer, next_peer, .. } = self;
        let Some(Door { transport, peers: at, .. }) = doors.get_mut(index) else { return Ok(false) };
        let Some(event) = transport.next(now)? else { return Ok(false) };
        match event {
            ConnectionEvent::Worked => {}
            ConnectionEvent::Bytes { id, bytes } => {
                let progress = if let Some(&peer) = at.get(&id) {
                    let progress = room.input(now, RoomInput::Bytes { peer, bytes }, out);
                    if let (Progress::Malformed(why), Some(place)) = (progress, peers.get(&peer)) {
                        observer.malformed(now, peer, &place.address, why);
                    }
                    progress
                } else {
                    bytes.clear();
                    Progress::Unheard
                };
                self.deliver(now);
                self.doors[index].transport.took(clock(), id, progress);
            }
            ConnectionEvent::Stranger { datagram } => {
                let admission = room.admits(datagram);
                transport.admit(now, admission);
            }
            ConnectionEvent::Opened { id, role, link, address } => {
                let peer = PeerId(*next_peer);
                *next_peer += 1;
                at.insert(id, peer);
                self.connect(now, peer, (index, id), (role, link), address);
            }
            ConnectionEvent::Refreshed { id } => {
                if let Some(&peer) = at.get(&id) {
                    self.input(now, RoomInput::Refresh { peer });
                }
            }
            ConnectionEvent::Closed { id, why } => {
                if let Some(&peer) = at.get(&id) {
                    self.disconnect(now, peer, why);
                }
            }
        }
        Ok(true)
    }

    fn connect(
        &mut self,
        now: Time,
        peer: PeerId,
        (door, connection): (usize, ConnectionId),
        (role, link): (Role, Link),
        address: SocketAddr,
    ) {
        let address = plain(address).to_string();
        self.observer.connected(now, peer, role, &address);
        self.room.input(now, RoomInput::Connected { peer, role, link, address: &address }, &mut self.out);
        self.peers.insert(peer, Place { door, connection, address });
        self.deliver(now);
    }

    fn disconnect(&mut self, now: Time, peer: PeerId, why: Gone) {
        if let Some(place) = self.peers.get(&peer) {
            self.observer.gone(now, peer, &place.address, why);
        }
        self.input(now, RoomInput::Disconnected { peer, why });
        // Whoever has only closed its sending half is still told things until the room closes it.
        if why != Gone::Left {
            // Not before what is held back: that may be about it.
            self.out.close(peer);
            self.deliver(now);
        }
    }

    fn forget(&mut self, peer: PeerId) -> Option<Place> {
        let place = self.peers.remove(&peer)?;
        self.doors[place.door].peers.remove(&place.connection);
        self.parted.insert(peer, place.address.clone());
        Some(place)
    }

    fn input(&mut self, now: Time, input: RoomInput<'_>) {
        self.room.input(now, input, &mut self.out);
        self.deliver(now);
    }

    // Carries out what the room has put into the outbox, or holds it back.
    fn deliver(&mut self, now: Time) {
        if self.out.is_empty() {
            return;
        }
        let next_peer = PeerId(self.next_peer);
        if let Some(held) = &mut self.hold {
            let mark = held.hold.mark();
            if held.outputs.is_empty() {
                held.wait_anew(now);
            }
            for output in self.out.drain() {
                held.bytes += cost(&output);
                held.outputs.push_back((mark, output, next_peer));
            }
            self.release(now);
            return;
        }
        let mut out = std::mem::take(&mut self.out);
        for output in out.drain() {
            self.route(now, output, next_peer);
        }
        self.out = out;
        self.delivered(now);
    }

    // Carries out what was held back and may leave by now.
    fn release(&mut self, now: Time) {
        let mut released = false;
        while let Some(held) = &mut self.hold
            && held.outputs.front().is_some_and(|&(mark, ..)| mark <= held.hold.reached())
            && let Some((_, output, next_peer)) = held.outputs.pop_front()
        {
            held.bytes -= cost(&output);
            held.wait_anew(now);
            self.route(now, output, next_peer);
            released = true;
        }
        if released {
            self.delivered(now);
        }
    }

    fn delivered(&mut self, now: Time) {
        self.parted.clear();
        for door in &mut self.doors {
            if std::mem::take(&mut door.touched) {
                door.transport.delivered(now);
            }
        }
    }

    // `next_peer` is the first peer that came after this output was made: it and those after it are not sent it.
    fn route(&mut self, now: Time, output: Output, next_peer: PeerId) {
        let Self { doors, peers, parted, observer, .. } = self;
        match output {
            Output::Send { to: To::Peer(peer), frame } => {
                if let Some(&Place { door, connection, .. }) = peers.get(&peer) {
                    let door = &mut doors[door];
                    door.touched = true;
                    door.transport.send(now, connection, frame);
                }
            }
            Output::Send { to: To::Everyone, frame } if peers.range(next_peer..).next().is_some() => {
                for &Place { door, connection, .. } in peers.range(..next_peer).map(|(_, place)| place) {
                    let door = &mut doors[door];
                    door.touched = true;
                    door.transport.send(now, connection, frame.clone());
                }
            }
            Output::Send { to: To::Everyone, frame } => {
                for door in doors {
                    door.touched = true;
                    door.transport.send_everyone(now, &frame);
                }
            }
            Output::Replay { to, log } => {
                if let Some(&Place { door, connection, .. }) = peers.get(&to) {
                    let door = &mut doors[door];
                    door.touched = true;
                    door.transport.replay(now, connection, &log);
                }
            }
            Output::Close { peer } => {
                if let Some(place) = self.forget(peer) {
                    let door = &mut self.doors[place.door];
                    door.touched = true;
                    door.transport.close(now, place.connection);
                }
            }
            Output::Event(event) => {
                let address = |peer| peers.get(&peer).map(|place| &place.address).or_else(|| parted.get(&peer));
                observer.event(now, &event, about(&event).and_then(address).map(String::as_str));
            }
        }
    }
}

// Whom an event is about.
fn about(event: &GameEvent) -> Option<PeerId> {
    match *event {
        GameEvent::Waiting { peer, .. } | GameEvent::Joined { peer, .. } | GameEvent::Left { peer, .. } => Some(peer),
        GameEvent::Notice { peer, .. } => peer,
        GameEvent::Started { .. } | GameEvent::Progress { .. } | GameEvent::Ended { .. } | GameEvent::Summary(_) => {
            None
        }
    }
}

// What an output counts while it is held back. Histories are shared, and cost nothing while they wait.
fn cost(output: &Output) -> usize {
    ENTRY
        + match output {
            Output::Send { frame, .. } => frame.len(),
            Output::Event(GameEvent::Summary(text) | GameEvent::Notice { text, .. }) => text.len(),
            Output::Event(GameEvent::Ended { standings, .. }) => standings.len() * ENTRY,
            Output::Replay { .. } | Output::Close { .. } | Output::Event(_) => 0,
        }
}

/// An address as people and rooms are shown it: an IPv4 one as such, also where it came in over an IPv6 socket.
pub(crate) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
