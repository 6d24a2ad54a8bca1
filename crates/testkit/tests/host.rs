//! A host with scripted transports that record their calls.

mod gathering;
mod holding;
mod recording;
mod routing;
mod warden;

use std::{
    collections::VecDeque,
    future::pending,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{
    Admission, DecodeError, Departure, DisconnectReason, GameEvent, HistoryWriter, Hold, Input, Link, Outbox, Outcome,
    PeerId, Phase, Progress, Role, Room, Severity, Split, Status, Time,
};
use netshell::{
    Answer, BytesTicket, ConnectionEvent, ConnectionId, Delivery, Host, Observer, Transport, UnknownPeerTicket, serve,
};
use testkit::machine::Machine;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Delivered {
    Frame(String),
    Closed,
}

/// Clones share the state.
#[derive(Debug, Clone, Default)]
struct Script {
    state: Arc<Mutex<ScriptState>>,
    buffer: BytesMut,
}

#[derive(Debug, Default)]
struct ScriptState {
    events: VecDeque<Event>,
    open: Vec<ConnectionId>,
    delivered: Vec<(u64, Delivered)>,
    // Admissions of addresses without a connection.
    admissions: Vec<Option<Admission>>,
    // Connections that the host has paused, until when, and their messages.
    paused: Vec<(u64, Time)>,
    unprocessed: Vec<(u64, Bytes)>,
    wake_at: Option<Time>,
    waker: Option<Waker>,
}

#[derive(Debug)]
enum Event {
    Opened { id: u64, link: Link, address: SocketAddr },
    Bytes { id: u64, bytes: Bytes },
    Refreshed { id: u64 },
    Gone { id: u64, why: DisconnectReason },
    UnknownPeer { address: SocketAddr },
}

impl Script {
    fn lock(&self) -> MutexGuard<'_, ScriptState> {
        self.state.lock().unwrap()
    }

    fn push(&self, event: Event) {
        let mut state = self.lock();
        state.events.push_back(event);
        state.waker.take().into_iter().for_each(Waker::wake);
    }

    fn open(&self, id: u64, address: &str) {
        self.push(Event::Opened { id, link: Link::Message, address: address.parse().unwrap() });
    }

    fn send(&self, id: u64, message: &'static str) {
        self.push(Event::Bytes { id, bytes: Bytes::from_static(message.as_bytes()) });
    }

    /// The peer returns to its seat without its state.
    fn refresh(&self, id: u64) {
        self.push(Event::Refreshed { id });
    }

    fn disconnect(&self, id: u64, why: DisconnectReason) {
        self.push(Event::Gone { id, why });
    }

    fn take_delivered(&self) -> Vec<(u64, Delivered)> {
        std::mem::take(&mut self.lock().delivered)
    }

    /// Like `take_delivered`, for connections that received only frames.
    fn frames(&self) -> Vec<(u64, String)> {
        let frame = |(id, delivered)| match delivered {
            Delivered::Frame(frame) => (id, frame),
            Delivered::Closed => panic!("{id} was closed"),
        };
        self.take_delivered().into_iter().map(frame).collect()
    }

    fn waiting(&self) -> usize {
        self.lock().events.len()
    }
}

fn text(frame: &[u8]) -> String {
    if frame.len() == BULK { String::from("bulk") } else { frame.escape_ascii().to_string() }
}

impl Transport for Script {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.lock();
        if !state.events.is_empty() {
            return Poll::Ready(Ok(()));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn wake_at(&self) -> Option<Time> {
        self.lock().wake_at
    }

    fn next(&mut self, _: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        let Self { state, buffer } = self;
        let mut state = state.lock().unwrap();
        state.wake_at = None;
        Ok(state.events.pop_front().map(|event| match event {
            Event::Opened { id, link, address } => {
                let id = ConnectionId(id);
                state.open.push(id);
                ConnectionEvent::Opened { id, role: Role::Player, link, address }
            }
            Event::Bytes { id, bytes } => {
                *buffer = bytes.into();
                ConnectionEvent::Bytes { ticket: BytesTicket::new(ConnectionId(id)), bytes: buffer }
            }
            Event::UnknownPeer { address } => {
                ConnectionEvent::UnknownPeer { ticket: UnknownPeerTicket::new(), address, datagram: b"" }
            }
            Event::Refreshed { id } => ConnectionEvent::Refreshed { id: ConnectionId(id) },
            Event::Gone { id, why } => {
                let id = ConnectionId(id);
                if why != DisconnectReason::Left {
                    state.open.retain(|&open| open != id);
                }
                ConnectionEvent::Closed { id, why }
            }
        }))
    }

    fn answer(&mut self, _: Time, answer: Answer) {
        let mut state = self.state.lock().unwrap();
        match answer {
            Answer::Processed(..) => {}
            Answer::Paused(ticket, until) => {
                let id = ticket.id().0;
                state.paused.push((id, until));
                state.unprocessed.push((id, self.buffer.split().freeze()));
            }
            Answer::UnknownPeer(_, admission) => state.admissions.push(admission),
        }
    }

    fn deliver(&mut self, _: Time, delivery: Delivery<'_>) {
        let mut state = self.lock();
        match delivery {
            Delivery::Frame(to, frame) if state.open.contains(&to) => {
                state.delivered.push((to.0, Delivered::Frame(text(&frame))));
            }
            Delivery::History(to, log) if state.open.contains(&to) => {
                state.delivered.extend(log.frames().map(|frame| (to.0, Delivered::Frame(text(&frame)))));
            }
            Delivery::Everyone(frame) => {
                let told: Vec<_> = state.open.iter().map(|id| (id.0, Delivered::Frame(text(frame)))).collect();
                state.delivered.extend(told);
            }
            Delivery::Close(id) if state.open.contains(&id) => {
                state.open.retain(|&open| open != id);
                state.delivered.push((id.0, Delivered::Closed));
            }
            _ => {}
        }
    }

    fn flush(&mut self, _: Time) {}

    fn poll_flush(&mut self, _: Time, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

/// Obeys its peers' messages and counts its inputs.
#[derive(Debug, Default)]
struct Parrot {
    gate: Gate,
    // Bytes that each input adds to the recording.
    records: u32,
    deadline: Option<Time>,
    // The interval of further deadlines; without it, there is only one deadline.
    every: Option<Duration>,
    outcome: Option<Outcome>,
}

/// Marks are the number of inputs.
#[derive(Debug, Clone, Default)]
struct Gate(Arc<Mutex<Marks>>);

#[derive(Debug, Default)]
struct Marks {
    mark: u64,
    reached: u64,
    full: bool,
    lost: bool,
    stalls: Vec<bool>,
    waker: Option<Waker>,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Marks> {
        self.0.lock().unwrap()
    }

    fn position(&self) -> u64 {
        self.lock().mark
    }

    fn reach(&self, mark: u64) {
        let mut marks = self.lock();
        marks.reached = mark;
        marks.waker.take().into_iter().for_each(Waker::wake);
    }
}

impl Hold for Gate {
    fn position(&self) -> u64 {
        self.lock().mark
    }

    fn reached(&self) -> u64 {
        self.lock().reached
    }

    fn poll_reached(&mut self, reached: u64, context: &mut Context<'_>) -> Poll<()> {
        let mut marks = self.lock();
        if marks.reached > reached {
            return Poll::Ready(());
        }
        marks.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn set_stalled(&mut self, is_stalled: bool) {
        self.lock().stalls.push(is_stalled);
    }

    fn is_full(&self) -> bool {
        self.lock().full
    }

    fn failure(&self) -> Option<String> {
        self.lock().lost.then(|| "the disk is gone".to_owned())
    }
}

/// The length of the answer to `bulk`.
const BULK: usize = 1 << 20;

impl Room for Parrot {
    fn split(&mut self, _: PeerId, bytes: &[u8]) -> Split {
        Split::Message(bytes.len())
    }

    fn input(&mut self, _: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        self.gate.lock().mark += 1;
        out.charge_recorded(self.records);
        match input {
            Input::Connected { peer, .. } => out.send(peer, format!("hello {}", peer.0).into()),
            Input::Refresh { peer } => out.send(peer, format!("again {}", peer.0).into()),
            Input::Malformed { .. } => {}
            Input::Message { peer, message } => match message {
                b"all" => out.send_everyone(format!("all {}", peer.0).into()),
                b"log" => {
                    let mut log = HistoryWriter::new();
                    for frame in [&b"one"[..], b"two"] {
                        log.append(|out| out.extend_from_slice(frame));
                    }
                    out.replay(peer, log.snapshot());
                }
                b"notice" => {
                    let text = format!("notice {}", peer.0);
                    out.event(GameEvent::Notice { severity: Severity::Info, peer: Some(peer), text });
                }
                b"bulk" => out.send(peer, vec![b'.'; BULK].into()),
                b"bye" => {
                    out.send(peer, Bytes::from_static(b"bye"));
                    out.close(peer);
                }
                b"?" => {
                    let why = DecodeError::Incomplete;
                    return Progress::Malformed(why);
                }
                b"out" => {
                    out.close(peer);
                    let why = Departure::Quit;
                    out.event(GameEvent::Left { peer, name: "name".into(), seat: "seat".into(), why });
                }
                _ => out.send(peer, Bytes::copy_from_slice(message)),
            },
            Input::Disconnected { peer, why } => {
                let why = Departure::Disconnected(why);
                out.event(GameEvent::Left { peer, name: "name".into(), seat: "seat".into(), why });
                out.send_everyone(format!("gone {}", peer.0).into());
            }
            Input::Elapsed => {
                self.deadline = self.deadline.zip(self.every).map(|(at, every)| at.plus(every));
                out.send_everyone(Bytes::from_static(b"elapsed"));
            }
            Input::Stop(_) => {
                out.send_everyone(Bytes::from_static(b"stop"));
                self.outcome = Some(Outcome::Stopped);
            }
        }
        Progress::Decoded
    }

    fn admits(&self, _: &[u8]) -> Admission {
        Admission::Ignored
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn status(&self) -> Status {
        let phase = if self.outcome.is_some() { Phase::Over } else { Phase::Lobby };
        Status { phase, taken: 0, seats: 0 }
    }
}

const NOW: Time = Time::ZERO;

fn served(host: Host) -> Machine {
    let mut machine = Machine::new(1);
    let clock = machine.clock();
    machine.spawn("server", async move {
        serve(host, clock, pending()).await.unwrap();
    });
    machine
}

fn work(host: &mut Host) {
    while host.work(|| NOW).unwrap() {}
}

fn is_ready(host: &mut Host) -> bool {
    host.poll_ready(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn frames<const N: usize>(frames: [(u64, &str); N]) -> Vec<(u64, String)> {
    frames.into_iter().map(|(id, frame)| (id, frame.to_owned())).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RecordedEvent {
    Connected(PeerId, Role, String),
    Status(Status),
    /// An event with the address of the peer concerned.
    Event(GameEvent, Option<String>),
    Malformed(PeerId, String, DecodeError),
    Gone(PeerId, String, DisconnectReason),
}

/// Clones share the record.
#[derive(Debug, Clone, Default)]
struct EventRecorder(Arc<Mutex<Vec<(Time, RecordedEvent)>>>);

impl EventRecorder {
    fn observed(&self) -> Vec<(Time, RecordedEvent)> {
        self.lock().clone()
    }

    /// Events of the game, each with the address of the peer concerned.
    fn events(&self) -> Vec<(GameEvent, Option<String>)> {
        let event = |(_, observed): &(Time, RecordedEvent)| match observed {
            RecordedEvent::Event(event, address) => Some((event.clone(), address.clone())),
            _ => None,
        };
        self.lock().iter().filter_map(event).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Time, RecordedEvent)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, now: Time, observed: RecordedEvent) {
        self.lock().push((now, observed));
    }
}

impl Observer for EventRecorder {
    fn connected(&mut self, now: Time, peer: PeerId, role: Role, address: &str) {
        self.note(now, RecordedEvent::Connected(peer, role, address.into()));
    }

    fn status(&mut self, now: Time, status: Status) {
        self.note(now, RecordedEvent::Status(status));
    }

    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>) {
        self.note(now, RecordedEvent::Event(event.clone(), address.map(Into::into)));
    }

    fn malformed(&mut self, now: Time, peer: PeerId, address: &str, why: &DecodeError) {
        self.note(now, RecordedEvent::Malformed(peer, address.into(), why.clone()));
    }

    fn disconnected(&mut self, now: Time, peer: PeerId, address: &str, why: DisconnectReason) {
        self.note(now, RecordedEvent::Gone(peer, address.into(), why));
    }
}
