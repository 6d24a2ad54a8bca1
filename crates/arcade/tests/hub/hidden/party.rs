//! A room and its connections, and a check that each connection received only outputs of the engine.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{SocketAddr, TcpStream, UdpSocket},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use journal_core::{Entry, Replay};
use netcore::{Input, Outbox, Output, PeerId, Recorded, Role, To};
use serde_json::{Value, json};
use testkit::PATIENCE;
use tungstenite::{Message, WebSocket, protocol::Role as Side};

use crate::support::{Browser, Hub, native};

/// Placeholder for the address of a watcher, which is not published.
const WATCHER: &str = "watcher";

/// Returns the address in the seat token.
fn seat_in(token: &str) -> SocketAddr {
    let ticket = URL_SAFE_NO_PAD.decode(token.split_once('.').unwrap().0).unwrap();
    let ip: [u8; 16] = ticket[8..24].try_into().unwrap();
    SocketAddr::new(ip.into(), u16::from_be_bytes([ticket[24], ticket[25]]))
}

/// A connection, with its sending side and the thread that receives.
struct Connection {
    // The address that the room uses for the connection.
    address: String,
    mouth: Mouth,
    ear: JoinHandle<Vec<Vec<u8>>>,
}

enum Mouth {
    Browser(Box<WebSocket<TcpStream>>),
    Datagrams(UdpSocket),
    Nobody,
}

/// A received message: the number of the connection, and the bytes.
type Heard = (usize, Vec<u8>);

/// A hub with one room, the connections of a test, and the messages that they receive.
pub(super) struct Party {
    hub: Hub,
    room: Value,
    connections: Vec<Connection>,
    told: Sender<Heard>,
    hear: Receiver<Heard>,
    over: Arc<AtomicBool>,
}

impl Party {
    pub(super) fn new(options: &Value) -> Self {
        let hub = Hub::with(&["--drain", "0", "--no-default-rooms"]);
        let room = hub.make(options);
        let (told, hear) = channel();
        Self { hub, room, connections: vec![], told, hear, over: Arc::default() }
    }

    /// Connects a player's browser, and returns its number.
    pub(super) fn browser(&mut self) -> usize {
        self.socket(false)
    }

    /// Connects a watcher and a page that receives pictures of the room. Returns the address of the watcher, and the page.
    pub(super) fn watcher(&mut self) -> (String, Drawn) {
        let watcher = self.socket(true);
        (self.connections[watcher].address.clone(), Drawn::new(&self.hub, &self.room))
    }

    fn socket(&mut self, watch: bool) -> usize {
        let query = if watch { "?watch=true" } else { "" };
        let path = format!("/rooms/{}/socket{query}", self.room["id"].as_str().unwrap());
        let mut browser = self.hub.socket(&path, None).unwrap();
        let hello: Value = serde_json::from_str(&browser.until("{")).unwrap();
        // The token contains the address that the room uses for the seat.
        let address = hello["seat"].as_str().map_or_else(|| WATCHER.into(), |token| seat_in(token).to_string());
        let Browser(socket) = browser;
        let copy = socket.get_ref().try_clone().unwrap();
        let mouth = if watch {
            Mouth::Nobody
        } else {
            Mouth::Browser(Box::new(WebSocket::from_raw_socket(copy, Side::Client, None)))
        };
        self.listen(address, mouth, |tell| {
            let mut socket = socket;
            while let Ok(message) = socket.read() {
                match message {
                    // Messages of the hub itself are ignored.
                    Message::Text(text) if text.starts_with('{') => {}
                    Message::Text(text) => tell(text.as_bytes().to_vec()),
                    Message::Binary(bytes) => tell(bytes.to_vec()),
                    _ => {}
                }
            }
        })
    }

    pub(super) fn datagrams(&mut self) -> usize {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        socket.connect(native(&self.room)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let (address, mouth) =
            (socket.local_addr().unwrap().to_string(), Mouth::Datagrams(socket.try_clone().unwrap()));
        let over = Arc::clone(&self.over);
        self.listen(address, mouth, move |tell| {
            let mut bytes = vec![0; 65_536];
            while !over.load(Ordering::Acquire) {
                if let Ok(length) = socket.recv(&mut bytes) {
                    tell(bytes[..length].to_vec());
                }
            }
        })
    }

    fn listen(
        &mut self,
        address: String,
        mouth: Mouth,
        listen: impl FnOnce(&mut dyn FnMut(Vec<u8>)) + Send + 'static,
    ) -> usize {
        let (number, told) = (self.connections.len(), self.told.clone());
        let ear = thread::spawn(move || {
            let mut heard = vec![];
            listen(&mut |bytes| {
                // The receiver may be gone at the end of the test.
                let _ = told.send((number, bytes.clone()));
                heard.push(bytes);
            });
            heard
        });
        self.connections.push(Connection { address, mouth, ear });
        number
    }

    pub(super) fn say(&mut self, number: usize, bytes: &[u8]) {
        match &mut self.connections[number].mouth {
            Mouth::Browser(socket) => {
                let is_text = bytes.iter().all(u8::is_ascii_graphic) || bytes.contains(&b' ');
                let message = if is_text {
                    Message::text(String::from_utf8_lossy(bytes).into_owned())
                } else {
                    Message::binary(bytes.to_vec())
                };
                socket.send(message).unwrap();
            }
            Mouth::Datagrams(socket) => drop(socket.send(bytes).unwrap()),
            Mouth::Nobody => panic!("a watcher says nothing"),
        }
    }

    pub(super) fn next(&self) -> Heard {
        self.hear.recv_timeout(PATIENCE).expect("something is heard")
    }

    pub(super) fn until(&self, wanted: impl Fn(usize, &[u8]) -> bool) {
        loop {
            let (number, bytes) = self.next();
            if wanted(number, &bytes) {
                return;
            }
        }
    }

    /// Stops the hub. Returns the journal of the room, and the received messages by address.
    pub(super) fn end(self) -> (PathBuf, BTreeMap<String, Vec<Vec<u8>>>) {
        let (finished, data) = self.hub.end();
        let game = self.room["game"].as_str().unwrap();
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        self.over.store(true, Ordering::Release);
        let mut heard = BTreeMap::new();
        for Connection { address, mouth, ear } in self.connections {
            drop(mouth);
            heard.insert(address, ear.join().unwrap());
        }
        let journals = journal_core::list(&data.path().join("journals")).unwrap();
        let own = |path: &&PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(game);
        let path = journals.iter().find(own).unwrap();
        // The data directory is deleted with the hub, so the journal is copied.
        let kept = std::env::temp_dir().join(format!("hidden-{}-{game}.journal", std::process::id()));
        std::fs::copy(path, &kept).unwrap();
        (kept, heard)
    }
}

/// A page that receives pictures of a room.
pub(super) struct Drawn {
    parts: Receiver<(String, Value)>,
    seen: Vec<(String, Value)>,
}

impl Drawn {
    fn new(hub: &Hub, room: &Value) -> Self {
        let id = room["id"].as_str().unwrap().to_owned();
        let mut page = hub.socket("/live", None).unwrap();
        page.say(&json!({ "pictures": [id] }).to_string());
        let (told, parts) = channel();
        thread::spawn(move || {
            while let Ok(message) = page.0.read() {
                let Message::Text(text) = message else { continue };
                let message: Value = serde_json::from_str(&text).unwrap();
                for (_, picture) in message["pictures"][&id].as_object().into_iter().flatten() {
                    for (name, part) in picture.as_object().unwrap() {
                        // The receiver may be gone at the end of the test.
                        let _ = told.send((name.clone(), part.clone()));
                    }
                }
            }
        });
        Self { parts, seen: vec![] }
    }

    pub(super) fn until(&mut self, wanted: impl Fn(&str, &Value) -> bool) {
        loop {
            let (name, part) = self.parts.recv_timeout(PATIENCE).expect("a picture is sent");
            let found = wanted(&name, &part);
            self.seen.push((name, part));
            if found {
                return;
            }
        }
    }

    /// Returns all parts that the page has received until the hub has stopped.
    pub(super) fn end(mut self) -> Vec<(String, Value)> {
        self.seen.extend(self.parts.iter());
        self.seen
    }
}

/// Replays a journal and calls `judge` with the outputs of the engine after each arrival. Checks that the peers received only
/// these outputs, in order.
pub(super) fn judge<E: Recorded>(
    path: PathBuf,
    heard: BTreeMap<String, Vec<Vec<u8>>>,
    mut judge: impl FnMut(&Replay<E>, &Input<'_, Bytes>, &[Output]),
) {
    let mut reader = journal_core::open(&path).unwrap().reader().unwrap();
    let mut replay = Replay::<E>::start(reader.head()).unwrap();
    let mut given: BTreeMap<PeerId, (String, Vec<Vec<u8>>)> = BTreeMap::new();
    let mut out = Outbox::new();
    while let Some(entry) = reader.next().unwrap() {
        let Entry::Arrival(arrival) = entry else { continue };
        if let Input::Connected { peer, address, role, .. } = &arrival.input {
            let address = if *role == Role::Watcher { WATCHER } else { address };
            given.insert(*peer, (address.to_owned(), vec![]));
        }
        let present: BTreeSet<PeerId> = replay.peers().map(|peer| peer.peer).chain(arrival.input.peer()).collect();
        replay.apply(&arrival, &mut out).unwrap();
        let outputs: Vec<Output> = out.drain().collect();
        judge(&replay, &arrival.input, &outputs);
        for output in outputs {
            let (to, frames): (Vec<PeerId>, Vec<Vec<u8>>) = match output {
                Output::Send { to: To::Peer(peer), frame } => (vec![peer], vec![frame.to_vec()]),
                Output::Send { to: To::Everyone, frame } => (present.iter().copied().collect(), vec![frame.to_vec()]),
                Output::Replay { to, history } => (vec![to], history.frames().map(|frame| frame.to_vec()).collect()),
                _ => continue,
            };
            for peer in to {
                given.entry(peer).or_default().1.extend(frames.iter().cloned());
            }
        }
    }
    std::fs::remove_file(path).unwrap();
    for (address, heard) in heard {
        let given: Vec<Vec<u8>> =
            given.values().filter(|(own, _)| *own == address).flat_map(|(_, frames)| frames.clone()).collect();
        assert!(!heard.is_empty(), "{address} has heard nothing");
        // Browsers receive texts without the final zero byte.
        let bare = |frame: &Vec<u8>| frame.strip_suffix(b"\0").unwrap_or(frame).to_vec();
        let mut rest = given.iter();
        let in_order = heard.iter().all(|frame| rest.any(|given| given == frame || bare(given) == *frame));
        assert!(in_order, "{address} was sent what no engine gave out for it");
    }
}
