mod held_outputs;

use std::{
    collections::BTreeMap,
    fmt, io,
    net::SocketAddr,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use netcore::{
    DisconnectReason, Framing, GameEvent, Hold, Input, Leave, Link, Outbox, Outcome, Output, PeerId, Progress, Role,
    Room, Status, Time, To,
};
use tracing::warn;

use self::held_outputs::{Delivered, HeldOutputs};
use crate::{
    Answer, ConnectionEvent, ConnectionId, Delivery, LogLimit, Observer, Transport, Warden, WardenRequest,
    quotas::{Account, RecordingQuota},
    sockets::canonical,
};

pub use self::held_outputs::{MAX_HELD, SLOW_HOLD};

/// Connects a room with any number of transports: numbers the peers, passes received bytes to the room, and routes the
/// outputs.
///
/// It has no clock, socket or task, so a simulation drives the same code as [`serve`](crate::serve).
pub struct Host {
    room: Box<dyn Room + Send>,
    endpoints: Vec<Endpoint>,
    peers: BTreeMap<PeerId, Route>,
    next_peer: u64,
    now: Time,
    // Counts connections and reconnections.
    generation: u64,
    status: Status,
    out: Outbox,
    observer: Box<dyn Observer + Send>,
    held: Option<HeldOutputs>,
    warden: Option<Box<dyn Warden + Send>>,
    recording: RecordingQuota,
    refused_log: LogLimit,
    request: Option<WardenRequest>,
    // Later events may refer to the addresses of peers closed by the current outputs.
    closed: BTreeMap<PeerId, String>,
    next_endpoint: usize,
    gathering: Gathering,
}

#[derive(Debug)]
struct Route {
    endpoint: usize,
    connection: ConnectionId,
    // Outputs of an earlier generation precede the (re)connection of the peer, and are not sent to it.
    since: u64,
    link: Link,
    address: String,
    account: Account,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { endpoints, peers, now, .. } = self;
        f.debug_struct("Host").field("transports", &endpoints.len()).field("peers", peers).field("now", now).finish()
    }
}

impl Host {
    /// Creates a host for `room`, without transports.
    pub fn new(room: impl Room + Send + 'static) -> Self {
        Self {
            status: room.status(),
            room: Box::new(room),
            endpoints: vec![],
            peers: BTreeMap::new(),
            next_peer: 0,
            now: Time::ZERO,
            generation: 0,
            out: Outbox::new(),
            observer: Box::new(()),
            held: None,
            warden: None,
            recording: RecordingQuota::new(Time::ZERO),
            refused_log: LogLimit::new(Time::ZERO),
            request: None,
            closed: BTreeMap::new(),
            next_endpoint: 0,
            gathering: Gathering::default(),
        }
    }

    /// Adds a transport.
    #[must_use]
    pub fn with_transport(mut self, transport: impl Transport + Send + 'static) -> Self {
        self.endpoints.push(Endpoint::new(Box::new(transport)));
        self
    }

    /// Replaces the observer.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observer + Send + 'static) -> Self {
        self.observer = Box::new(observer);
        self
    }

    /// Holds outputs back until `hold` has reached their position.
    #[must_use]
    pub fn with_hold(mut self, hold: impl Hold + Send + 'static) -> Self {
        self.held = Some(HeldOutputs::new(Box::new(hold)));
        self
    }

    /// Sets the warden. Without one, all addresses are admitted.
    #[must_use]
    pub fn with_warden(mut self, warden: impl Warden + Send + 'static) -> Self {
        self.warden = Some(Box::new(warden));
        self
    }

    /// Delays inputs after each deadline of the room, and then processes them together. The delay is `most`, but at
    /// most a fifth of the time to the next deadline. This suits rooms that respond only at deadlines: all players of a
    /// turn act shortly after it, and waking the room for each would take more time than the turn.
    #[must_use]
    pub const fn with_gathering(mut self, most: Duration) -> Self {
        self.gathering = Gathering::at_most(most);
        self
    }

    /// Sets the number of the first peer, above those that a resumed room has used.
    #[must_use]
    pub const fn with_first_peer(mut self, first: PeerId) -> Self {
        self.next_peer = first.0;
        self
    }

    /// The room.
    pub fn room(&self) -> &(dyn Room + Send) {
        &*self.room
    }

    /// The number of peers.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// Why the room ended, once no output is held back.
    pub fn outcome(&self) -> Option<Outcome> {
        self.room.outcome().filter(|_| self.held.as_ref().is_none_or(HeldOutputs::is_empty))
    }

    /// The deadline of the room. `None` while too many outputs are held back, which stops the room's time.
    pub fn deadline(&self) -> Option<Time> {
        self.room.deadline().filter(|_| !self.is_full())
    }

    /// When [`Host::work`] is due even without an event.
    pub fn wake_at(&self) -> Option<Time> {
        let transports = self.endpoints.iter().filter_map(|endpoint| endpoint.transport.wake_at());
        let look = self.held.as_ref().and_then(HeldOutputs::wake_at);
        let gathered = self.gathering.ends_at(self.now);
        transports.filter(|_| !self.is_full()).chain(self.deadline()).chain(look).chain(gathered).min()
    }

    /// Ready when [`Host::work`] may have something to do.
    pub fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(held) = &mut self.held
            && held.poll_reached(context).is_ready()
        {
            return Poll::Ready(Ok(()));
        }
        if self.is_full() {
            return Poll::Pending;
        }
        if let Some(warden) = &mut self.warden
            && self.request.is_none()
            && let Poll::Ready(request) = warden.poll_request(context)
        {
            self.request = Some(request);
        }
        if self.request.is_some() {
            return Poll::Ready(Ok(()));
        }
        if self.gathering.ends_at(self.now).is_some() {
            return Poll::Pending;
        }
        for endpoint in &mut self.endpoints {
            if let Poll::Ready(ready) = endpoint.transport.poll_ready(context) {
                return Poll::Ready(ready);
            }
        }
        Poll::Pending
    }

    /// Passes the next event of a transport to the room and delivers the outputs. Returns `false` if there was no
    /// event. `clock` is read again after the work, whose duration is charged to the connection.
    ///
    /// # Errors
    /// If a transport fails, or outputs that are held back will never be sent.
    pub fn work(&mut self, clock: impl Fn() -> Time) -> io::Result<bool> {
        let now = self.at(clock());
        if let Some(held) = &mut self.held {
            held.check(now)?;
        }
        self.release(now);
        if self.is_full() {
            return Ok(false);
        }
        if let Some(request) = self.request.take() {
            self.carry_out(now, request);
            return Ok(true);
        }
        for _ in 0..self.endpoints.len() {
            let index = self.next_endpoint;
            self.next_endpoint = (index + 1) % self.endpoints.len();
            if self.work_at(index, now, &clock)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Notifies the room if its deadline has passed. Returns whether it has.
    pub fn elapse(&mut self, now: Time) -> bool {
        let now = self.at(now);
        let due = self.deadline().is_some_and(|deadline| deadline <= now);
        if due {
            self.input(now, Input::Elapsed);
            self.gathering.begin(now, self.deadline());
        }
        due
    }

    /// Makes the room shut down.
    pub fn stop(&mut self, now: Time, leave: Leave) {
        let now = self.at(now);
        self.input(now, Input::Stop(leave));
    }

    /// Sends the peer at a connection the full state that it may see. `endpoint` is the index of the transport, in the
    /// order of [`Host::with_transport`]. Returns `false` if there is no such peer.
    pub fn refresh(&mut self, now: Time, endpoint: usize, connection: ConnectionId) -> bool {
        let peer = self.endpoints.get(endpoint).and_then(|endpoint| endpoint.peers.get(&connection).copied());
        if let Some(peer) = peer {
            let now = self.at(now);
            self.input_of(now, peer, Input::Refresh { peer });
        }
        peer.is_some()
    }

    /// At shutdown: ready when all queued output has been sent or cannot be sent.
    pub fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        let mut all = Poll::Ready(());
        for endpoint in &mut self.endpoints {
            if endpoint.transport.poll_flush(now, context).is_pending() {
                all = Poll::Pending;
            }
        }
        all
    }

    fn is_full(&self) -> bool {
        self.room.outcome().is_some() || self.held.as_ref().is_some_and(HeldOutputs::is_full)
    }

    // Never decreases, even if the clock is set back.
    fn at(&mut self, now: Time) -> Time {
        self.now = self.now.max(now);
        self.now
    }

    fn work_at(&mut self, index: usize, now: Time, clock: &impl Fn() -> Time) -> io::Result<bool> {
        let Self { room, endpoints, peers, out, observer, next_peer, recording, .. } = self;
        let Some(endpoint) = endpoints.get_mut(index) else { return Ok(false) };
        let Endpoint { transport, peers: at, .. } = endpoint;
        let Some(event) = transport.next(now)? else { return Ok(false) };
        match event {
            ConnectionEvent::Internal => {}
            ConnectionEvent::Bytes { ticket, bytes } => {
                let progress = if let Some(&peer) = at.get(&ticket.id()) {
                    let account = peers.get_mut(&peer).map(|route| &mut route.account);
                    if let Some(until) = account.and_then(|account| recording.paused_until(now, account)) {
                        transport.answer(clock(), Answer::Paused(ticket, until));
                        return Ok(true);
                    }
                    let progress = room.receive(now, peer, bytes, out);
                    if let (Progress::Malformed(why), Some(route)) = (&progress, peers.get(&peer)) {
                        observer.malformed(now, peer, &route.address, why);
                    }
                    self.charge(now, peer);
                    progress
                } else {
                    bytes.clear();
                    Progress::Ignored
                };
                self.deliver(now);
                self.endpoints[index].transport.answer(clock(), Answer::Processed(ticket, progress));
            }
            ConnectionEvent::UnknownPeer { ticket, address, datagram } => {
                let is_accepted = recording.accepts_datagram(now, address.into());
                let admission = is_accepted.then(|| room.admits(datagram));
                transport.answer(now, Answer::UnknownPeer(ticket, admission));
            }
            ConnectionEvent::Opened { id, address, .. }
                if self.warden.as_mut().is_some_and(|warden| !warden.admits(address)) =>
            {
                endpoint.refuse(now, id);
            }
            ConnectionEvent::Opened { id, role, link, address } => {
                let room_address = self.warden.as_mut().map_or(address, |warden| warden.room_address(link, address));
                if !recording.accepts_connection(now, room_address.into()) {
                    endpoint.refuse(now, id);
                    if let Some(held_back) = self.refused_log.admit(now) {
                        let address = canonical(address);
                        warn!(%address, held_back, "rejected a connection, since there is too much input to record \
                            from this host");
                    }
                    return Ok(true);
                }
                let peer = PeerId(*next_peer);
                *next_peer += 1;
                at.insert(id, peer);
                self.connect(now, peer, (index, id), (role, link), room_address);
            }
            ConnectionEvent::Refreshed { id } => {
                if let Some(&peer) = at.get(&id) {
                    self.refresh_peer(now, peer);
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

    // For inputs whose recorded bytes are charged to no peer.
    fn input(&mut self, now: Time, input: Input<'_, &[u8]>) {
        self.room.input(now, input, &mut self.out);
        self.out.take_recorded();
        self.deliver(now);
    }

    fn input_of(&mut self, now: Time, peer: PeerId, input: Input<'_, &[u8]>) {
        self.room.input(now, input, &mut self.out);
        self.charge(now, peer);
        self.deliver(now);
    }

    fn charge(&mut self, now: Time, peer: PeerId) {
        let recorded = self.out.take_recorded();
        if let Some(route) = self.peers.get_mut(&peer) {
            self.recording.charge(now, &mut route.account, recorded);
        }
    }
}

struct Endpoint {
    transport: Box<dyn Transport + Send>,
    peers: BTreeMap<ConnectionId, PeerId>,
    touched: bool,
}

impl Endpoint {
    fn new(transport: Box<dyn Transport + Send>) -> Self {
        Self { transport, peers: BTreeMap::new(), touched: false }
    }

    fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        self.touched = true;
        self.transport.deliver(now, delivery);
    }

    fn flush(&mut self, now: Time) {
        if std::mem::take(&mut self.touched) {
            self.transport.flush(now);
        }
    }

    fn refuse(&mut self, now: Time, id: ConnectionId) {
        self.deliver(now, Delivery::Close(id));
        self.flush(now);
    }
}

// Gathers inputs after a deadline, so that they are processed together.

const PART: u32 = 5;

#[derive(Debug, Clone, Copy, Default)]
struct Gathering {
    most: Duration,
    until: Time,
}

impl Gathering {
    const fn at_most(most: Duration) -> Self {
        Self { most, until: Time::ZERO }
    }

    fn begin(&mut self, now: Time, next: Option<Time>) {
        let left = next.map_or(Duration::ZERO, |next| next.since(now));
        self.until = now.plus(self.most.min(left / PART));
    }

    /// `None` if no inputs gather.
    fn ends_at(&self, now: Time) -> Option<Time> {
        (now < self.until).then_some(self.until)
    }
}

impl Host {
    fn connect(
        &mut self,
        now: Time,
        peer: PeerId,
        (endpoint, connection): (usize, ConnectionId),
        (role, link): (Role, Link),
        address: SocketAddr,
    ) {
        let account = Account::new(now, address.into());
        let address = canonical(address).to_string();
        self.observer.connected(now, peer, role, &address);
        self.room.input(now, Input::Connected { peer, role, link, address: (&address).into() }, &mut self.out);
        self.generation += 1;
        let since = self.generation;
        self.peers.insert(peer, Route { endpoint, connection, since, link, address, account });
        self.charge(now, peer);
        self.deliver(now);
    }

    fn disconnect(&mut self, now: Time, peer: PeerId, why: DisconnectReason) {
        if let Some(route) = self.peers.get(&peer) {
            self.observer.disconnected(now, peer, &route.address, why);
        }
        self.input_of(now, peer, Input::Disconnected { peer, why });
        // A peer that shut down its sending half can receive until the room closes it.
        if why != DisconnectReason::Left {
            // Closed through the outbox, so after outputs that are held back.
            self.out.close(peer);
            self.deliver(now);
        }
    }

    /// Sends the full state to a peer that lost it. Earlier outputs are not sent.
    fn refresh_peer(&mut self, now: Time, peer: PeerId) {
        let Some(route) = self.peers.get_mut(&peer) else { return };
        self.generation += 1;
        route.since = self.generation;
        self.input_of(now, peer, Input::Refresh { peer });
    }

    fn carry_out(&mut self, now: Time, request: WardenRequest) {
        match request {
            WardenRequest::Remove(peer, why) => self.remove(now, &why, |meant, _| meant == peer),
            WardenRequest::RemoveHost(host, why) => self.remove(now, &why, |_, route| route.account.host == host),
            WardenRequest::Refresh(peer) => self.refresh_peer(now, peer),
        }
    }

    fn remove(&mut self, now: Time, why: &str, is_meant: impl Fn(PeerId, &Route) -> bool) {
        let meant = self.peers.iter().filter(|&(&peer, route)| is_meant(peer, route));
        let meant: Vec<(PeerId, Framing)> = meant.map(|(&peer, route)| (peer, route.link.framing())).collect();
        for (peer, framing) in meant {
            if let Some(farewell) = self.warden.as_ref().and_then(|warden| warden.farewell(why, framing)) {
                // Through the outbox for the same reason.
                self.out.send(peer, farewell);
            }
            self.disconnect(now, peer, DisconnectReason::Broken);
        }
    }

    fn take_route(&mut self, peer: PeerId) -> Option<Route> {
        let route = self.peers.remove(&peer)?;
        self.endpoints[route.endpoint].peers.remove(&route.connection);
        self.closed.insert(peer, route.address.clone());
        Some(route)
    }
}

impl Host {
    /// Resumes a room whose server was killed while `peers` were connected. Peers over datagrams that a transport can
    /// adopt are sent the full state that they may see; others are disconnected.
    pub fn resume(&mut self, now: Time, peers: impl IntoIterator<Item = (PeerId, Link, SocketAddr)>) {
        let now = self.at(now);
        let mut inputs = vec![];
        for (peer, link, address) in peers {
            self.next_peer = self.next_peer.max(peer.0.saturating_add(1));
            match self.adopt(now, link, address) {
                Some((endpoint, connection)) => {
                    self.endpoints[endpoint].peers.insert(connection, peer);
                    let account = Account::new(now, address.into());
                    let address = canonical(address).to_string();
                    let since = self.generation;
                    self.peers.insert(peer, Route { endpoint, connection, since, link, address, account });
                    inputs.push(Input::Refresh { peer });
                }
                None => inputs.push(Input::Disconnected { peer, why: DisconnectReason::Interrupted }),
            }
        }
        // All peers are registered before, because the input of one may cause outputs to another.
        for input in inputs {
            let gone = if let Input::Disconnected { peer, .. } = input { Some(peer) } else { None };
            self.input(now, input);
            // It has no connection to close, but the observer may know it from the earlier run.
            if let Some(peer) = gone {
                self.observer.closed(now, peer);
            }
        }
    }

    /// Repeats the last messages to the `address` of a former peer, which may have been lost. Returns `false` if no
    /// transport can reach it.
    pub fn repeat_farewell(&mut self, now: Time, address: SocketAddr, frames: impl IntoIterator<Item = Bytes>) -> bool {
        let now = self.at(now);
        let Some((endpoint, connection)) = self.adopt(now, Link::Datagram, address) else { return false };
        let endpoint = &mut self.endpoints[endpoint];
        frames.into_iter().for_each(|frame| endpoint.deliver(now, Delivery::Frame(connection, frame)));
        endpoint.refuse(now, connection);
        true
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<(usize, ConnectionId)> {
        let mut endpoints = self.endpoints.iter_mut().enumerate();
        endpoints.find_map(|(endpoint, each)| Some((endpoint, each.transport.adopt(now, link, address)?)))
    }
}

impl Host {
    fn deliver(&mut self, now: Time) {
        let status = self.room.status();
        let changed = (status != self.status).then_some(status);
        if self.out.is_empty() && changed.is_none() {
            return;
        }
        self.status = status;
        if let Some(held) = &mut self.held {
            let status = changed.into_iter().map(Delivered::Status);
            held.extend(now, status.chain(self.out.drain().map(Delivered::Output)), self.generation);
            self.release(now);
            return;
        }
        if let Some(status) = changed {
            self.observer.status(now, status);
        }
        let mut out = std::mem::take(&mut self.out);
        for output in out.drain() {
            self.route(now, output, self.generation);
        }
        self.out = out;
        self.flush(now);
    }

    fn release(&mut self, now: Time) {
        let mut released = false;
        while let Some((delivered, generation)) = self.held.as_mut().and_then(|held| held.pop_reached(now)) {
            match delivered {
                Delivered::Status(status) => self.observer.status(now, status),
                Delivered::Output(output) => self.route(now, output, generation),
            }
            released = true;
        }
        if released {
            self.flush(now);
        }
    }

    fn flush(&mut self, now: Time) {
        self.closed.clear();
        for endpoint in &mut self.endpoints {
            endpoint.flush(now);
        }
    }

    fn route(&mut self, now: Time, output: Output, generation: u64) {
        let Self { endpoints, peers, closed, observer, .. } = self;
        let connection_of = |peer| {
            let route = peers.get(&peer).filter(|route| route.since <= generation)?;
            Some((route.endpoint, route.connection))
        };
        match output {
            Output::Send { to: To::Peer(peer), frame } => {
                if let Some((endpoint, connection)) = connection_of(peer) {
                    endpoints[endpoint].deliver(now, Delivery::Frame(connection, frame));
                }
            }
            Output::Send { to: To::Everyone, frame } if generation < self.generation => {
                for route in peers.values().filter(|route| route.since <= generation) {
                    endpoints[route.endpoint].deliver(now, Delivery::Frame(route.connection, frame.clone()));
                }
            }
            Output::Send { to: To::Everyone, frame } => {
                for endpoint in endpoints {
                    endpoint.deliver(now, Delivery::Everyone(&frame));
                }
            }
            Output::Replay { to, history } => {
                if let Some((endpoint, connection)) = connection_of(to) {
                    endpoints[endpoint].deliver(now, Delivery::History(connection, &history));
                }
            }
            Output::Close { peer } => {
                if let Some(route) = self.take_route(peer) {
                    self.endpoints[route.endpoint].deliver(now, Delivery::Close(route.connection));
                    self.observer.closed(now, peer);
                }
            }
            Output::Event(event) => {
                let address = |peer| peers.get(&peer).map(|route| &route.address).or_else(|| closed.get(&peer));
                observer.event(now, &event, about(&event).and_then(address).map(String::as_str));
            }
        }
    }
}

fn about(event: &GameEvent) -> Option<PeerId> {
    match *event {
        GameEvent::Waiting { peer, .. } | GameEvent::Joined { peer, .. } | GameEvent::Left { peer, .. } => Some(peer),
        GameEvent::Notice { peer, .. } => peer,
        GameEvent::Started { .. } | GameEvent::Progress { .. } | GameEvent::Ended { .. } | GameEvent::Summary(_) => {
            None
        }
    }
}
