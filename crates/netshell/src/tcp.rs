//! Engines over TCP connections.

mod queue;
mod ready;

use std::{
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    io,
    net::{self, SocketAddr},
    task::Poll,
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{
    DecodeError, Engine, Framing, Gone, Input, Link, Outbox, Output, PeerId, Protocol, Rate, Role, Time, To,
    TokenBucket,
};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    net::{TcpListener, TcpStream},
    task::yield_now,
    time::{Interval, MissedTickBehavior, interval, timeout},
};
use tracing::{debug, info, warn};

pub use self::queue::{MAX_CATCH_UP, MAX_LAG, MAX_OWN, MAX_STALL, OVERHEAD, PROGRESS};
use self::{
    queue::{Queue, Shared, Written},
    ready::{ReadyList, Source},
};
use crate::{
    Clock, Transport,
    limits::{Host, LogLimit},
    peers::plain,
};

/// Connections that are kept at a time; whoever comes then is turned away.
pub const MAX_CONNECTIONS: usize = 8_192;
/// Connections from one host, an IPv4 address or an IPv6 network of 64 bits, so that none keeps all others away.
pub const MAX_FROM_A_HOST: usize = MAX_CONNECTIONS / 2;

/// Bytes read from a connection at a time.
const CHUNK: usize = 4 << 10;
/// Chunks taken in before signals and deadlines are looked at again.
const BATCH: usize = 4;
/// Batches after which the system is asked what else has happened.
const BUSY: u32 = 4;
/// Connections taken in before signals and deadlines are looked at again.
const ACCEPTS: usize = 32;
/// How long a connection that the engine has closed may take to read what is left and to close its end.
const LINGER: Duration = Duration::from_secs(2);
/// How long the last messages may take to go out at the end.
const FLUSH: Duration = Duration::from_secs(1);
/// Chunks of what lies unread that are thrown away at the very end, for each connection.
const LAST_CHUNKS: usize = 16;
/// How often what needs time alone is looked at: who lags, lingers or has to pause, and listeners that had to.
const TICK: Duration = Duration::from_millis(50);
/// How long a listener pauses when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);
/// After how long without a word the system asks whether the other machine is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Listener(usize),
    Peer(PeerId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    // Nothing more comes from it, because it has closed its end or sent what is no message. The engine decides what
    // becomes of it, and may still send to it.
    Deaf { left: bool },
    // The engine has closed it: what is queued goes out, then it has until then to close its end, unless it has left.
    Closing { left: bool, until: Time },
}

#[derive(Debug)]
struct Peer<D> {
    stream: TcpStream,
    source: Source,
    address: SocketAddr,
    state: State,
    decoder: D,
    // The front of an unfinished message; holds no memory when there is none.
    unread: BytesMut,
    // A deadline came before all messages in there were taken in.
    held: bool,
    queue: Queue,
    rate: TokenBucket,
    // It has used up its rate.
    paused: bool,
}

#[derive(Debug)]
struct Listener {
    socket: TcpListener,
    source: Source,
    // Until then the system has no room.
    paused: Option<Time>,
}

/// A transport over TCP listeners. Each connection is a peer from its first moment.
///
/// Nobody waits for a peer. What is sent to everybody is kept once for all who have not taken it yet; whoever lags by more
/// than [`MAX_LAG`] (while it is told a history: by [`MAX_CATCH_UP`], or without progress for [`MAX_STALL`]) is dropped.
/// What a peer sends is read at a bounded rate, and never more of it kept than one message. A deadline is looked for
/// between any two pieces of work.
#[derive(Debug)]
pub struct Tcp<P: Protocol> {
    listeners: Vec<Listener>,
    peers: BTreeMap<PeerId, Peer<P::Decoder>>,
    next_id: u32,
    link: Link,
    rate: Rate,
    // What everybody is sent, as far as somebody has not taken it.
    shared: Shared,
    // Connections from each host.
    hosts: BTreeMap<Host, usize>,
    ready: ReadyList<Key>,
    tick: Interval,
    // Whether something changes by the passing of time alone, and whether a tick has come.
    timed: bool,
    ticked: bool,
    last_tick: Option<Time>,
    // The engine wants to be woken all the time, so that there is no use in hurrying.
    relaxed: bool,
    // How often in a row there was something to do without waiting for it.
    busy: u32,
    // Who is gone and whom the engine has still to be told of.
    gone: VecDeque<(PeerId, Gone)>,
    summaries: VecDeque<String>,
    // Read into for whoever has nothing unread.
    buffer: BytesMut,
    malformed_log: LogLimit,
    gone_log: LogLimit,
    accept_log: LogLimit,
}

impl<P: Protocol> Tcp<P> {
    /// A transport over `listeners`, which must be non-blocking. Call it within a tokio runtime.
    ///
    /// `link` is what the engine is told of each connection; `rate` is how many bytes a second are read from one.
    ///
    /// # Errors
    /// When a listener cannot be watched.
    pub fn new(listeners: Vec<net::TcpListener>, link: Link, rate: Rate) -> io::Result<Self> {
        let now = Time::ZERO;
        let ready = ReadyList::new();
        let watched = |(index, listener)| {
            let source = ready.source(Key::Listener(index));
            Ok(Listener { socket: TcpListener::from_std(listener)?, source, paused: None })
        };
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            listeners: listeners.into_iter().enumerate().map(watched).collect::<io::Result<_>>()?,
            peers: BTreeMap::new(),
            next_id: 0,
            link,
            rate: Rate { burst: rate.burst.max(u32::try_from(CHUNK).unwrap_or(u32::MAX)), ..rate },
            shared: Shared::default(),
            hosts: BTreeMap::new(),
            ready,
            tick,
            timed: false,
            ticked: false,
            last_tick: None,
            relaxed: false,
            busy: 0,
            gone: VecDeque::new(),
            summaries: VecDeque::new(),
            buffer: BytesMut::new(),
            malformed_log: LogLimit::new(now),
            gone_log: LogLimit::new(now),
            accept_log: LogLimit::new(now),
        })
    }

    // Whether a deadline has come in the middle of a batch.
    fn must_hurry<E: Engine>(&self, engine: &E, clock: &Clock) -> bool {
        !self.relaxed && is_overdue(engine, clock.now())
    }

    fn accept<E: Engine<Protocol = P>>(&mut self, index: usize, clock: &Clock, engine: &mut E, out: &mut Outbox) {
        for _ in 0..ACCEPTS {
            let now = clock.now();
            let Some(Listener { socket, source, paused }) = self.listeners.get_mut(index) else { return };
            if paused.is_some_and(|until| now < until) {
                return;
            }
            *paused = None;
            match socket.poll_accept(&mut source.context()) {
                Poll::Pending => return,
                Poll::Ready(Ok((stream, address))) => self.connect(now, engine, out, stream, address),
                Poll::Ready(Err(error)) if is_about_one_connection(&error) => {}
                Poll::Ready(Err(error)) => {
                    *paused = Some(now.plus(PAUSE));
                    self.timed = true;
                    if let Some(held_back) = self.accept_log.admit(now) {
                        let open = self.peers.len();
                        warn!(%error, open, held_back, "no further connection can be taken in just now");
                    }
                    return;
                }
            }
            Transport::<E>::deliver(self, clock, out);
            if self.must_hurry(engine, clock) {
                break;
            }
        }
        if let Some(listener) = self.listeners.get(index) {
            listener.source.wake();
        }
    }

    fn connect<E: Engine>(
        &mut self,
        now: Time,
        engine: &mut E,
        out: &mut Outbox,
        stream: TcpStream,
        address: SocketAddr,
    ) {
        let address = plain(address);
        let host = Host::from(address);
        let full = self.peers.len() >= MAX_CONNECTIONS;
        if full || self.hosts.get(&host).is_some_and(|&count| count >= MAX_FROM_A_HOST) {
            if let Some(held_back) = self.accept_log.admit(now) {
                let most = if full { MAX_CONNECTIONS } else { MAX_FROM_A_HOST };
                let whose = if full { "all" } else { "of this host" };
                warn!(%address, most, whose, held_back, "too many connections, one was turned away");
            }
            return;
        }
        *self.hosts.entry(host).or_default() += 1;
        // A connection that is slower or outlives its machine is still a connection.
        let _ = stream.set_nodelay(true);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
        let id = PeerId(self.next_id);
        self.next_id = self.next_id.wrapping_add(1);
        while self.peers.contains_key(&PeerId(self.next_id)) {
            self.next_id = self.next_id.wrapping_add(1);
        }
        let peer = Peer {
            stream,
            source: self.ready.source(Key::Peer(id)),
            address,
            state: State::Open,
            decoder: P::Decoder::default(),
            unread: BytesMut::new(),
            held: false,
            queue: Queue::new(&self.shared),
            rate: TokenBucket::new(self.rate, now),
            paused: false,
        };
        self.peers.insert(id, peer);
        debug!(peer = %id, %address, "connected");
        let connected =
            Input::Connected { peer: id, role: Role::Player, link: self.link, address: &address.to_string() };
        engine.input(now, connected, out);
    }

    // Writes what waits for a peer and reads a chunk from it.
    fn attend<E: Engine<Protocol = P>>(&mut self, id: PeerId, clock: &Clock, engine: &mut E, out: &mut Outbox) {
        let now = clock.now();
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if let Err(why) = peer.write(&self.shared, now) {
            return self.lose(now, id, why);
        }
        match peer.state {
            State::Closing { left: true, .. } => {
                if peer.queue.is_empty(&self.shared) {
                    self.remove(id);
                }
                return;
            }
            State::Deaf { .. } => return,
            State::Closing { left: false, .. } | State::Open => {}
        }
        // It costs a full chunk's tokens only if it sends one, but a chunk must be affordable.
        peer.paused = peer.rate.ready_at(now, u32::try_from(CHUNK).unwrap_or(u32::MAX)) > Some(now);
        if peer.paused {
            self.timed = true;
            return;
        }
        if peer.state != State::Open {
            return self.discard(now, id);
        }
        let mut buffer = std::mem::take(if peer.unread.is_empty() { &mut self.buffer } else { &mut peer.unread });
        buffer.reserve(CHUNK);
        // What was held comes first.
        let read = if std::mem::take(&mut peer.held) { Ok(Some(0)) } else { peer.read(&mut buffer) };
        let Ok(Some(count)) = read else {
            if read == Err(Gone::Left) {
                // It may have closed its end alone, and still read.
                peer.state = State::Deaf { left: true };
                debug!(peer = %id, address = %peer.address, unfinished = buffer.len(), "left");
                self.gone.push_back((id, Gone::Left));
                buffer.clear();
            }
            self.keep(id, buffer);
            if let Err(why @ (Gone::Broken | Gone::Lagging)) = read {
                self.lose(now, id, why);
            }
            return;
        };
        peer.rate.take(now, u32::try_from(count).unwrap_or(u32::MAX));
        // There may be more; the others come first.
        peer.source.wake();
        self.take_in(id, &mut buffer, clock, engine, out);
        self.keep(id, buffer);
    }

    // Hands the messages at the front of the buffer to the engine, for as long as it keeps the peer.
    fn take_in<E: Engine<Protocol = P>>(
        &mut self,
        id: PeerId,
        buffer: &mut BytesMut,
        clock: &Clock,
        engine: &mut E,
        out: &mut Outbox,
    ) {
        loop {
            let Some(peer) = self.peers.get_mut(&id).filter(|peer| peer.state == State::Open) else {
                return buffer.clear();
            };
            let now = clock.now();
            let message = match P::decode(&mut peer.decoder, buffer, Framing::Stream) {
                Ok(None) if buffer.len() <= P::MAX_MESSAGE => return,
                Ok(None) => Err(DecodeError::TooLong { length: buffer.len(), max: P::MAX_MESSAGE }),
                Ok(Some(request)) => Ok(request),
                Err(why) => Err(why),
            };
            match message {
                Ok(request) => engine.input(now, Input::Request { peer: id, request }, out),
                Err(why) => {
                    peer.state = State::Deaf { left: false };
                    if let Some(held_back) = self.malformed_log.admit(now) {
                        info!(peer = %id, address = %peer.address, %why, held_back, "malformed message");
                    }
                    engine.input(now, Input::Malformed { peer: id, why }, out);
                }
            }
            Transport::<E>::deliver(self, clock, out);
            if self.must_hurry(engine, clock) {
                // The rest has its turn when the peer is attended to again, which it is: it was read from just now.
                if let Some(peer) = self.peers.get_mut(&id) {
                    peer.held = true;
                }
                return;
            }
        }
    }

    // Puts what is left in a buffer where it belongs: an unfinished message is kept in as little memory as it needs.
    fn keep(&mut self, id: PeerId, mut buffer: BytesMut) {
        if !buffer.is_empty()
            && let Some(peer) = self.peers.get_mut(&id)
        {
            peer.unread = BytesMut::from(&buffer[..]);
        }
        buffer.clear();
        if buffer.capacity() > self.buffer.capacity() {
            self.buffer = buffer;
        }
    }

    // Reads what a peer sends that nobody listens to any more, so that its end of the connection is not reset under the
    // last messages, until it closes.
    fn discard(&mut self, now: Time, id: PeerId) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if peer.queue.is_empty(&self.shared) {
            // The other end sees the end; whether that works is its business.
            let _ = SockRef::from(&peer.stream).shutdown(net::Shutdown::Write);
        }
        self.buffer.reserve(CHUNK);
        let read = peer.read(&mut self.buffer);
        self.buffer.clear();
        match read {
            Ok(Some(count)) => {
                peer.rate.take(now, u32::try_from(count).unwrap_or(u32::MAX));
                peer.source.wake();
            }
            Ok(None) => {}
            Err(_) => self.remove(id),
        }
    }

    fn remove(&mut self, id: PeerId) {
        let Some(peer) = self.peers.remove(&id) else { return };
        let host = Host::from(peer.address);
        if let Some(count) = self.hosts.get_mut(&host) {
            *count -= 1;
            if *count == 0 {
                self.hosts.remove(&host);
            }
        }
    }

    fn lose(&mut self, now: Time, id: PeerId, why: Gone) {
        let Some(&Peer { state, address, .. }) = self.peers.get(&id) else { return };
        self.remove(id);
        // Of whoever has left or was closed the engine has heard.
        if matches!(state, State::Closing { .. } | State::Deaf { left: true }) {
            return;
        }
        match why {
            Gone::Left | Gone::Broken => debug!(peer = %id, %address, "the connection is broken"),
            Gone::Lagging => {
                if let Some(held_back) = self.gone_log.admit(now) {
                    warn!(peer = %id, %address, held_back, "does not read what is sent to it and was dropped");
                }
            }
        }
        self.gone.push_back((id, why));
    }

    // What time alone has changed.
    fn elapsed(&mut self, now: Time) {
        // A tick that comes very late found the whole server stopped; its peers are not to blame.
        let stopped = self.last_tick.map_or(Duration::ZERO, |last| now.since(last)).saturating_sub(20 * TICK);
        self.timed = false;
        for listener in self.listeners.iter().filter(|listener| listener.paused.is_some()) {
            self.timed = true;
            listener.source.wake();
        }
        let mut late = vec![];
        for (&id, peer) in &mut self.peers {
            peer.queue.forgive(stopped);
            let lost = peer.queue.lags(&self.shared, now);
            let until = if let State::Closing { until, .. } = peer.state { Some(until) } else { None };
            if lost || until.is_some_and(|until| now >= until) {
                late.push(id);
                continue;
            }
            self.timed |= until.is_some() || peer.paused || peer.queue.catches_up();
            if peer.paused {
                peer.source.wake();
            }
        }
        for id in late {
            self.lose(now, id, Gone::Lagging);
        }
        // Without ticks in between, the next is no later than it should be.
        self.last_tick = self.timed.then_some(now);
    }

    // Sends to everybody, and notes who cannot be kept.
    fn send_everyone(&mut self, now: Time, frame: &Bytes, lost: &mut Vec<(PeerId, Gone)>) {
        if frame.is_empty() {
            return;
        }
        self.shared.push(frame.clone());
        let mut needed = self.shared.end();
        for (&id, peer) in &mut self.peers {
            if let Err(why) = peer.hear(&self.shared, now, frame) {
                lost.push((id, why));
            } else if !peer.queue.is_empty(&self.shared) {
                needed = needed.min(peer.queue.place());
            }
        }
        self.shared.forget(needed);
    }
}

impl<D> Peer<D> {
    // Reads once: how many bytes came, none if there are none yet.
    fn read(&self, buffer: &mut BytesMut) -> Result<Option<usize>, Gone> {
        loop {
            match self.stream.try_read_buf(buffer) {
                Ok(0) => return Err(Gone::Left),
                Ok(count) => return Ok(Some(count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match self.stream.poll_read_ready(&mut self.source.context()) {
                        Poll::Pending => return Ok(None),
                        Poll::Ready(Ok(())) => {}
                        Poll::Ready(Err(_)) => return Err(Gone::Broken),
                    }
                }
                Err(_) => return Err(Gone::Broken),
            }
        }
    }

    // Sends a message to this one alone now, or later behind what waits.
    fn send(&mut self, shared: &Shared, now: Time, frame: &Bytes) -> Result<(), Gone> {
        if matches!(self.state, State::Closing { .. }) {
            return Ok(());
        }
        let written = if self.queue.is_empty(shared) { self.try_write(frame)? } else { 0 };
        if written == frame.len() {
            return Ok(());
        }
        self.queue.push(shared, frame.slice(written..));
        self.write(shared, now)?;
        if self.queue.lags(shared, now) { Err(Gone::Lagging) } else { Ok(()) }
    }

    // Sends the newest message to everybody now, or later.
    fn hear(&mut self, shared: &Shared, now: Time, frame: &Bytes) -> Result<(), Gone> {
        if self.queue.is_next(shared) {
            let written = self.try_write(frame)?;
            self.queue.took(shared, written);
            // Unless that was all, the system has to say when it goes on.
            return self.write(shared, now);
        }
        if self.queue.lags(shared, now) { Err(Gone::Lagging) } else { Ok(()) }
    }

    // What the system takes of a message at once.
    fn try_write(&self, frame: &[u8]) -> Result<usize, Gone> {
        match self.stream.try_write(frame) {
            Ok(written) => Ok(written),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(0),
            Err(_) => Err(Gone::Broken),
        }
    }

    // Writes what waits, as far as the connection takes it, and sees to it that it goes on from there.
    fn write(&mut self, shared: &Shared, now: Time) -> Result<(), Gone> {
        let Self { stream, queue, source, .. } = self;
        loop {
            match queue.write(shared, now, |slices| stream.try_write_vectored(slices)) {
                Ok(Written::All) => return Ok(()),
                Ok(Written::Some) => {
                    source.wake();
                    return Ok(());
                }
                Ok(Written::Blocked) => match stream.poll_write_ready(&mut source.context()) {
                    Poll::Pending => return Ok(()),
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(_)) => return Err(Gone::Broken),
                },
                Err(_) => return Err(Gone::Broken),
            }
        }
    }
}

// Whether the engine wants to be woken rather than hear more.
fn is_overdue<E: Engine>(engine: &E, now: Time) -> bool {
    engine.deadline().is_some_and(|deadline| deadline <= now)
}

// Errors that concern the connection that was to be taken in, not the next one.
fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

impl<E: Engine> Transport<E> for Tcp<E::Protocol> {
    async fn ready(&mut self) -> io::Result<()> {
        // Whoever keeps the server busy must not keep it from hearing of signals and of the others.
        self.busy += 1;
        if self.busy >= BUSY {
            self.busy = 0;
            yield_now().await;
        }
        poll_fn(|context| {
            self.ticked |= self.timed && self.tick.poll_tick(context).is_ready();
            if self.ticked || !self.gone.is_empty() || self.ready.poll(context).is_ready() {
                return Poll::Ready(Ok(()));
            }
            self.busy = 0;
            Poll::Pending
        })
        .await
    }

    fn pump(&mut self, clock: &Clock, engine: &mut E, out: &mut Outbox) -> io::Result<()> {
        while let Some((peer, why)) = self.gone.pop_front() {
            engine.input(clock.now(), Input::Disconnected { peer, why }, out);
            Transport::<E>::deliver(self, clock, out);
        }
        let now = clock.now();
        if std::mem::take(&mut self.ticked) {
            self.elapsed(now);
        }
        self.relaxed = is_overdue(engine, now);
        for _ in 0..self.ready.len().min(BATCH) {
            if engine.outcome().is_some() {
                return Ok(());
            }
            match self.ready.next() {
                Some(Key::Listener(index)) => self.accept(index, clock, engine, out),
                Some(Key::Peer(id)) => self.attend(id, clock, engine, out),
                None => break,
            }
            Transport::<E>::deliver(self, clock, out);
            if self.must_hurry(engine, clock) {
                break;
            }
        }
        Ok(())
    }

    fn deliver(&mut self, clock: &Clock, out: &mut Outbox) {
        if out.is_empty() {
            return;
        }
        let now = clock.now();
        let mut lost = vec![];
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(id), frame } => {
                    if let Some(peer) = self.peers.get_mut(&id)
                        && let Err(why) = peer.send(&self.shared, now, &frame)
                    {
                        lost.push((id, why));
                    }
                }
                Output::Send { to: To::Everyone, frame } => self.send_everyone(now, &frame, &mut lost),
                Output::Replay { to, log } => {
                    if let Some(peer) = self.peers.get_mut(&to)
                        && !matches!(peer.state, State::Closing { .. })
                    {
                        // Written when it is this peer's turn: many who come at once hold up nobody.
                        peer.queue.replay(&self.shared, now, &log);
                        peer.source.wake();
                        self.timed = true;
                    }
                }
                Output::Close { peer: id } => {
                    if let Some(peer) = self.peers.get_mut(&id) {
                        debug!(peer = %id, address = %peer.address, "closed");
                        let left = matches!(peer.state, State::Deaf { left: true });
                        peer.state = State::Closing { left, until: now.plus(LINGER) };
                        peer.queue.close(&self.shared);
                        self.timed = true;
                        peer.source.wake();
                    }
                }
                Output::Summary(text) => self.summaries.push_back(text),
            }
        }
        for (id, why) in lost {
            self.lose(now, id, why);
        }
    }

    async fn flush(&mut self) {
        let clock = Clock::start();
        let all = poll_fn(|context| {
            // Everybody once, then whoever wakes.
            while let Some(key) = self.ready.next() {
                if let Key::Peer(id) = key
                    && let Some(peer) = self.peers.get_mut(&id)
                    && peer.write(&self.shared, clock.now()).is_err()
                {
                    self.remove(id);
                }
            }
            if self.peers.values().all(|peer| peer.queue.is_empty(&self.shared)) {
                return Poll::Ready(());
            }
            self.ready.poll(context)
        });
        if timeout(FLUSH, all).await.is_err() {
            warn!("some connections did not take the last messages in time");
        }
        for peer in self.peers.values() {
            let _ = SockRef::from(&peer.stream).shutdown(net::Shutdown::Write);
            // What lies unread would reset the connection under the last messages.
            for _ in 0..LAST_CHUNKS {
                self.buffer.clear();
                self.buffer.reserve(CHUNK);
                if !matches!(peer.stream.try_read_buf(&mut self.buffer), Ok(1..)) {
                    break;
                }
            }
        }
    }

    fn take_summary(&mut self) -> Option<String> {
        self.summaries.pop_front()
    }
}
