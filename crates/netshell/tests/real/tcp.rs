//! Over TCP.

use std::{
    io::{ErrorKind, Read, Write},
    net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use netcore::{
    DecodeError, Engine, Framing, Gone, Input, LogWriter, Outbox, Outcome, Phase, Protocol, Rate, Status, Time,
    framing::{NulDecoder, put_nul_frame},
};
use netshell::{ConnectionBudget, Limits, MAX_LAG, Tcp, bind_tcp};

use socket2::{Domain, Socket, Type};

use super::support::{self, Served};

const PATIENCE: Duration = Duration::from_secs(20);
const MAX: usize = 10_000;

/// Messages are ASCII texts that end with a NUL.
struct Words;

impl Protocol for Words {
    type Request = Bytes;
    type Decoder = ();
    const MAX_MESSAGE: usize = MAX;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        NulDecoder::new(usize::MAX).length(bytes)
    }

    fn decode((): &mut (), message: &[u8], _: Framing) -> Result<Bytes, DecodeError> {
        let word = NulDecoder::new(usize::MAX).whole(message)?;
        if word.is_ascii() { Ok(Bytes::copy_from_slice(word)) } else { Err(DecodeError::NotUtf8 { at: 0 }) }
    }

    fn encode_request(request: &Bytes, out: &mut BytesMut) {
        put_nul_frame(request, out);
    }
}

/// Broadcasts what peers send, and sends new peers everything said before.
struct Parrot {
    events: Sender<String>,
    // Counts words that are not broadcast.
    quiet: Arc<AtomicUsize>,
    // Ends a stall.
    go_on: Mutex<Receiver<()>>,
    said: LogWriter,
    tick: Option<Time>,
    rush: bool,
    outcome: Option<Outcome>,
}

impl Parrot {
    fn say(&mut self, word: &[u8], out: &mut Outbox) {
        let frame = self.said.append(|out| put_nul_frame(word, out));
        out.send_everyone(frame);
    }
}

impl Engine for Parrot {
    type Protocol = Words;

    fn input(&mut self, now: Time, input: Input<'_, Bytes>, out: &mut Outbox) {
        let event = match &input {
            Input::Connected { peer, link, address, .. } => {
                out.send(*peer, "hello\0".into());
                out.replay(*peer, self.said.snapshot());
                format!("{peer} by {link:?} from {address}")
            }
            Input::Message { message, .. } if message.starts_with(b"quiet") => {
                self.quiet.fetch_add(1, Ordering::SeqCst);
                return;
            }
            Input::Message { peer, message: request } => {
                match &request[..] {
                    b"bye" => {
                        out.send(*peer, vec![b'.'; 700 << 10].into());
                        out.send(*peer, "farewell\0".into());
                        out.close(*peer);
                    }
                    b"big" => out.send_everyone(vec![b'.'; 1 << 20].into()),
                    b"history" => (0..100).for_each(|_| {
                        self.said.append(|out| put_nul_frame(&[b'h'; 10_000], out));
                    }),
                    b"stall" => {
                        let _ = self.events.send(format!("{peer}: stall"));
                        // Blocks like a stopped process until the test continues it.
                        let _ = self.go_on.lock().unwrap().recv_timeout(PATIENCE);
                    }
                    b"rush" => self.rush = true,
                    b"halt" => self.rush = false,
                    b"tick" => self.tick = Some(now.plus(Duration::from_millis(20))),
                    b"end" => {
                        out.summary("it was nice".into());
                        out.send_everyone("the end\0".into());
                        self.outcome = Some(Outcome::Finished);
                    }
                    word => self.say(word, out),
                }
                format!("{peer}: {}", String::from_utf8_lossy(&request[..request.len().min(20)]))
            }
            Input::Malformed { peer, why } => {
                out.close(*peer);
                format!("{peer} malformed: {why}")
            }
            Input::Elapsed if self.rush => return,
            Input::Elapsed => {
                assert!(self.tick.take().is_some_and(|due| now >= due), "never early and never for nothing");
                self.say(b"tock", out);
                return;
            }
            Input::Stop(_) => {
                out.send_everyone("stopped\0".into());
                self.outcome = Some(Outcome::Stopped);
                return;
            }
            Input::Disconnected { peer, why } => {
                if *why == Gone::Left {
                    out.send(*peer, "goodbye\0".into());
                }
                out.close(*peer);
                format!("{peer} gone: {why:?}")
            }
            Input::Refresh { .. } => return,
        };
        let _ = self.events.send(event);
    }

    fn deadline(&self) -> Option<Time> {
        if self.rush { Some(Time::ZERO) } else { self.tick }
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn digest(&self) -> u64 {
        0
    }

    fn status(&self) -> Status {
        Status { phase: Phase::Playing, taken: 0, seats: 0 }
    }
}

struct Running {
    address: SocketAddr,
    events: Receiver<String>,
    quiet: Arc<AtomicUsize>,
    go_on: Sender<()>,
    served: Served,
}

impl Running {
    fn start() -> Self {
        Self::with(Rate { per_second: 1 << 30, burst: 1 << 30 }, Limits::of(None))
    }

    fn with(rate: Rate, budget: impl Into<ConnectionBudget>) -> Self {
        let budget = budget.into();
        let listeners = bind_tcp(&[IpAddr::V4(Ipv4Addr::LOCALHOST)], 0).unwrap();
        let address = listeners[0].local_addr().unwrap();
        let (sender, events) = channel();
        let (go_on, going_on) = channel();
        let quiet = Arc::new(AtomicUsize::new(0));
        let parrot = Parrot {
            events: sender,
            quiet: Arc::clone(&quiet),
            go_on: Mutex::new(going_on),
            said: LogWriter::new(),
            tick: None,
            rush: false,
            outcome: None,
        };
        let served = support::start(parrot, move || Tcp::new(listeners, rate, budget).unwrap());
        Self { address, events, quiet, go_on, served }
    }

    fn peer(&self) -> Peer {
        let peer = Peer::connect(self.address);
        self.await_event(" by Stream from ");
        peer
    }

    /// The next event that contains this text.
    fn await_event(&self, text: &str) -> String {
        loop {
            let event = self.events.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no event with {text:?}"));
            if event.contains(text) {
                return event;
            }
        }
    }
}

struct Peer {
    stream: TcpStream,
}

impl Peer {
    fn connect(server: SocketAddr) -> Self {
        Self::over(TcpStream::connect(server).unwrap())
    }

    /// A connection from another address of this machine.
    fn from(address: &str, server: SocketAddr) -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let from: IpAddr = address.parse().unwrap();
        socket.bind(&SocketAddr::new(from, 0).into()).unwrap();
        socket.connect(&server.into()).unwrap();
        Self::over(socket.into())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut peer = Self { stream };
        assert_eq!(peer.read(), "hello");
        peer
    }

    fn say(&mut self, words: &[&str]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
        self.stream.write_all(&bytes).unwrap();
    }

    /// The next message.
    fn read(&mut self) -> String {
        let mut word = vec![];
        loop {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            if byte == [0] {
                return String::from_utf8(word).unwrap();
            }
            word.push(byte[0]);
        }
    }

    /// All bytes until the end, including a reset.
    fn rest(mut self) -> Vec<u8> {
        let mut rest = vec![];
        if let Err(error) = self.stream.read_to_end(&mut rest) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "the stream ends in time");
        }
        rest
    }
}

#[test]
fn messages_are_decoded_however_the_stream_is_cut() {
    let server = Running::start();
    let (mut ann, mut bob) = (server.peer(), server.peer());
    ann.say(&["one", "two", "three"]);
    for byte in b"four\0" {
        bob.stream.write_all(&[*byte]).unwrap();
    }
    bob.say(&["five"]);
    let heard: Vec<String> = (0..5).map(|_| ann.read()).collect();
    assert_eq!(heard.iter().filter(|word| ["one", "two", "three"].contains(&word.as_str())).count(), 3);
    let place = |word: &str| heard.iter().position(|other| other == word).unwrap();
    assert!(place("one") < place("two") && place("two") < place("three") && place("four") < place("five"));
    assert_eq!((0..5).map(|_| bob.read()).collect::<Vec<_>>(), heard, "everybody hears the same");
}

#[test]
fn a_new_peer_receives_the_history_and_then_new_messages() {
    let server = Running::start();
    let mut ann = server.peer();
    ann.say(&["history", "one"]);
    assert_eq!(ann.read(), "one");
    let mut bob = server.peer();
    ann.say(&["two"]);
    for _ in 0..100 {
        assert_eq!(bob.read().len(), 10_000);
    }
    assert_eq!((bob.read(), bob.read()), ("one".to_owned(), "two".to_owned()));
}

#[test]
fn malformed_bytes_drop_only_their_sender_and_earlier_messages_count() {
    let server = Running::start();
    let (mut ann, mut bob) = (server.peer(), server.peer());
    bob.stream.write_all(b"good\0b\xffd\0never heard\0").unwrap();
    assert!(server.await_event("malformed").contains("peer 1"));
    assert_eq!(bob.read(), "good");
    assert_eq!(bob.rest(), b"");
    ann.say(&["still here"]);
    assert_eq!((ann.read(), ann.read()), ("good".to_owned(), "still here".to_owned()));
}

#[test]
fn a_message_without_an_end_is_malformed_once_it_is_too_long() {
    let server = Running::start();
    let (mut ann, mut bob) = (server.peer(), server.peer());
    ann.stream.write_all(&[b'a'; MAX]).unwrap();
    bob.say(&["in between"]);
    server.await_event("in between");
    let _ = ann.stream.write_all(&[b'a'; MAX]);
    server.await_event("peer 0 malformed");
}

#[test]
fn leaving_and_breaking_are_distinguished() {
    let server = Running::start();
    let (ann, bob) = (server.peer(), server.peer());
    ann.stream.shutdown(Shutdown::Write).unwrap();
    server.await_event("peer 0 gone: Left");
    assert_eq!(ann.rest(), b"goodbye\0", "a half-closed peer still receives");
    // Closing with unread input resets the connection.
    let mut carol = server.peer();
    carol.say(&["heard by nobody"]);
    server.await_event("heard by nobody");
    bob.stream.peek(&mut [0]).unwrap();
    drop(bob);
    server.await_event("peer 1 gone: Broken");
}

#[test]
fn a_peer_that_does_not_read_is_dropped_and_delays_nobody() {
    let server = Running::start();
    let (mut ann, bob) = (server.peer(), server.peer());
    let mut sent = 0;
    let gone = loop {
        ann.say(&["big"]);
        sent += 1;
        // Ann receives every message although Bob reads none.
        let mut frame = vec![0; 1 << 20];
        ann.stream.read_exact(&mut frame).unwrap();
        let event = server.await_event("");
        if event.contains("gone") {
            break event;
        }
        assert!(sent < 200, "what waits is bounded");
    };
    assert_eq!(gone, "peer 1 gone: Lagging");
    assert!(sent > MAX_LAG >> 20);
    let mut rest = vec![];
    let end = (&bob.stream).read_to_end(&mut rest).map_err(|error| error.kind());
    assert_eq!(
        end,
        Err(ErrorKind::ConnectionReset),
        "the system keeps nothing for Bob, who can detect that something is missing"
    );
    assert!(rest.len() < sent << 20);
    ann.say(&["alone"]);
    assert_eq!(ann.read(), "alone");
}

#[test]
fn a_closed_peer_receives_earlier_messages_even_if_it_keeps_sending() {
    let server = Running::start();
    let mut ann = server.peer();
    ann.say(&["bye"]);
    for _ in 0..100 {
        ann.say(&["quiet now"]);
    }
    let rest = ann.rest();
    assert_eq!(rest.len(), (700 << 10) + 9);
    assert!(rest.ends_with(b"farewell\0"));
}

#[test]
fn a_deadline_is_kept_while_somebody_floods() {
    let server = Running::start();
    let mut ann = server.peer();
    let flooder = server.peer();
    let mut stream = flooder.stream.try_clone().unwrap();
    let flood = thread::spawn(move || {
        let words = b"quiet\0".repeat(2_000);
        while stream.write_all(&words).is_ok() {}
    });
    for _ in 0..5 {
        ann.say(&["tick"]);
        assert_eq!(ann.read(), "tock");
    }
    flooder.stream.shutdown(Shutdown::Both).unwrap();
    flood.join().unwrap();
}

#[test]
fn peers_are_served_even_if_a_deadline_is_always_due() {
    let server = Running::start();
    let mut ann = server.peer();
    ann.say(&["rush", "one"]);
    assert_eq!(ann.read(), "one");
    let mut bob = server.peer();
    assert_eq!(bob.read(), "one");
    bob.say(&["halt", "two"]);
    assert_eq!((ann.read(), bob.read()), ("two".to_owned(), "two".to_owned()));
}

#[test]
fn a_flood_is_read_at_the_rate() {
    // The bucket is not refilled, so the number of bytes read does not depend on time.
    let (burst, word) = (8 << 10, b"quiet\0");
    let server = Running::with(Rate { per_second: 0, burst }, Limits::of(None));
    let (mut ann, mut flooder) = (server.peer(), server.peer());
    flooder.stream.set_nonblocking(true).unwrap();
    let mut sent = 0;
    while sent < 1_000_000
        && let Ok(count) = flooder.stream.write(&word.repeat(1_000))
    {
        sent += count;
    }
    assert!(sent > 4 * burst as usize, "more than may be read");
    // Ann is served although the flood is pending; her own bucket lasts longer.
    for round in 0..100 {
        ann.say(&["x"]);
        assert_eq!(ann.read(), "x", "round {round}");
    }
    let heard = server.quiet.load(Ordering::SeqCst) * word.len();
    assert!(heard > 0 && heard <= burst as usize + 4_096, "{heard} bytes of the flood were read");
}

#[test]
fn one_host_leaves_connections_for_others() {
    let server = Running::with(Rate { per_second: 1 << 20, burst: 1 << 20 }, Limits { connections: 6 });
    let mut ours: Vec<Peer> = (0..3).map(|_| server.peer()).collect();
    let mut refused = TcpStream::connect(server.address).unwrap();
    refused.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(refused.read(&mut [0]).unwrap_or(0), 0, "closed without a word");
    let mut other = Peer::from("127.0.0.2", server.address);
    other.say(&["hello from elsewhere"]);
    assert_eq!(ours[0].read(), "hello from elsewhere");
    // A peer that leaves makes space for others of its host.
    drop(ours.pop());
    server.await_event(" gone: ");
    drop(server.peer());
}

#[test]
fn servers_with_one_budget_share_its_connections() {
    let budget = ConnectionBudget::from(Limits { connections: 6 });
    let servers = [(); 2].map(|()| Running::with(Rate { per_second: 1 << 20, burst: 1 << 20 }, budget.clone()));
    let mut ours: Vec<Peer> = [0, 1, 0].iter().map(|&server: &usize| servers[server].peer()).collect();
    for server in &servers {
        let mut refused = TcpStream::connect(server.address).unwrap();
        refused.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(refused.read(&mut [0]).unwrap_or(0), 0, "the host has its half of all, wherever it comes");
    }
    let mut other = Peer::from("127.0.0.2", servers[1].address);
    other.say(&["hello from elsewhere"]);
    assert_eq!(ours[1].read(), "hello from elsewhere");
    assert_eq!(budget.count(), 4);
    // One that leaves a room makes space in the other.
    drop(ours.pop());
    let since = Instant::now();
    while budget.count() > 3 {
        assert!(since.elapsed() < PATIENCE, "its connection still counts");
        thread::yield_now();
    }
    drop(servers[1].peer());
}

#[test]
fn messages_that_arrived_during_a_stall_are_processed_before_deadlines() {
    let server = Running::start();
    let (mut ann, mut bob) = (server.peer(), server.peer());
    for round in 0..5 {
        // Both the deadline and Bob's message arrive during the stall.
        ann.say(&["tick", "stall"]);
        server.await_event(": stall");
        let late = format!("in time {round}");
        bob.say(&[&late]);
        // Until 20 ms after the tick plus a stall have passed.
        let stalled = Instant::now();
        while stalled.elapsed() < Duration::from_millis(200) {
            thread::yield_now();
        }
        server.go_on.send(()).unwrap();
        assert_eq!((ann.read(), ann.read()), (late, "tock".to_owned()));
        assert_eq!((bob.read().len(), bob.read().len()), (9, 4));
    }
}

#[test]
fn many_come_and_go_at_once() {
    let server = Running::start();
    let mut ann = server.peer();
    let crowd: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    for _ in &crowd {
        server.await_event(" by Stream from ");
    }
    drop(crowd);
    for _ in 0..200 {
        server.await_event(" gone: ");
    }
    ann.say(&["alone again"]);
    assert_eq!(ann.read(), "alone again");
}

#[test]
fn at_the_end_everybody_is_notified_and_the_summary_is_printed() {
    let server = Running::start();
    let (mut ann, mut bob) = (server.peer(), server.peer());
    bob.say(&["quiet", "unread"]);
    ann.say(&["end"]);
    let (outcome, summaries) = server.served.join();
    assert_eq!((outcome, summaries), (Outcome::Finished, vec!["it was nice".to_owned()]));
    assert!(ann.rest().ends_with(b"the end\0"));
    assert!(bob.rest().ends_with(b"the end\0"));
}

#[test]
fn a_stopped_server_notifies_its_peers() {
    let mut server = Running::start();
    let ann = server.peer();
    server.served.stop();
    assert_eq!(server.served.join().0, Outcome::Stopped);
    assert_eq!(ann.rest(), b"stopped\0");
}
