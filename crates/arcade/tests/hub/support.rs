use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Command,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use journal_core::{Head, Journalled, MAX_SIZE, Scribe, SyncPolicy, SystemDisk, Writing};
use netcore::{EngineRoom, Hold as _, Input, Link, Outbox, PeerId, Recorded, Role, Room as _, Time};
use serde_json::Value;
use testkit::{
    PATIENCE, TempDir,
    process::{Finished, Process},
    stream::connect,
};
use tungstenite::{ClientRequestBuilder, Error, HandshakeError, Message, WebSocket, client};

use crate::openapi::Description;

pub(crate) struct Hub {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    pub(crate) data: Arc<TempDir>,
}

impl Hub {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(options: &[&str]) -> Self {
        Self::again(Arc::new(TempDir::new()), options)
    }

    pub(crate) fn with_variable(name: &str, value: &str, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
        command.env(name, value);
        Self::run(command, Arc::new(TempDir::new()), options)
    }

    pub(crate) fn again(data: Arc<TempDir>, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
        // Arenas per thread would distort measurements of memory.
        command.env("MALLOC_ARENA_MAX", "1");
        Self::run(command, data, options)
    }

    pub(crate) fn run(mut command: Command, data: Arc<TempDir>, options: &[&str]) -> Self {
        let process = Process::start(command.args(["--port", "0", "--data"]).arg(data.path()).args(options));
        let address = SocketAddr::from(([127, 0, 0, 1], process.port()));
        Self { process, address, data }
    }

    /// With SIGKILL. Returns the data.
    pub(crate) fn kill(self) -> Arc<TempDir> {
        let Self { process, data, .. } = self;
        process.kill();
        process.wait();
        data
    }

    /// With SIGTERM. Returns the output and the data.
    pub(crate) fn end(self) -> (Finished, Arc<TempDir>) {
        let Self { process, data, .. } = self;
        process.terminate();
        (process.wait(), data)
    }

    /// Head and body.
    pub(crate) fn get(&self, path: &str) -> (String, String) {
        self.request("GET", path, "")
    }

    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> (String, String) {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        let kind = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        let answer = self.raw(&format!("{head}{kind}\r\n{body}"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    /// Checks the response against `openapi.json`. A null body is none.
    pub(crate) fn request_json(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (head, text) = self.request(method, path, &body);
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let is_empty = text.is_empty();
        let answer = if is_empty { Value::Null } else { serde_json::from_str(&text).unwrap_or(Value::String(text)) };
        Description::of_this_hub().check(method, path.split('?').next().unwrap(), status, &answer);
        (status, answer)
    }

    pub(crate) fn add_bots(&self, room: &Value, wanted: &Value) -> (u16, Value) {
        self.request_json("POST", &format!("/api/rooms/{}/bots", id(room)), wanted)
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        let (status, answer) = self.request_json("GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    pub(crate) fn raw(&self, request: &str) -> String {
        raw(self.address, request)
    }

    /// Polls the list of rooms.
    pub(crate) fn wait<T>(&self, what: &str, mut found: impl FnMut(&[Value]) -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            let rooms = self.rooms();
            if let Some(found) = found(&rooms) {
                return found;
            }
            assert!(Instant::now() < until, "no {what} in {rooms:?}\n{}", self.process.stderr());
            // The rate limit is 50 requests per second and host, and `found` may send another one.
            thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn live(&self) -> Browser {
        let mut live = self.socket("/live", None).unwrap();
        live.send(r#"{"look":{}}"#);
        live
    }

    pub(crate) fn await_room(&self, room: &Value, is_so: impl Fn(&Value) -> bool) -> Value {
        self.wait(id(room), |rooms| rooms.iter().find(|listed| listed["id"] == room["id"] && is_so(listed)).cloned())
    }

    /// Counts players with a seat, or waiting for one.
    pub(crate) fn seated(&self, room: &Value, count: usize) {
        self.await_room(room, |room| room["players"].as_array().is_some_and(|players| players.len() == count));
    }

    /// Waits for at least `count` matches; the oldest is first.
    pub(crate) fn matches(&self, count: usize) -> Vec<Value> {
        self.wait("stored matches", |_| {
            let mut matches = self.json("/api/matches?limit=100")["matches"].as_array().unwrap().clone();
            matches.reverse();
            (matches.len() >= count).then_some(matches)
        })
    }

    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    pub(crate) fn rooms(&self) -> Vec<Value> {
        self.json("/api/rooms")["rooms"].as_array().unwrap().clone()
    }

    pub(crate) fn room(&self, game: &str) -> Value {
        self.rooms().into_iter().find(|room| room["game"] == game).unwrap()
    }

    pub(crate) fn make(&self, options: &Value) -> Value {
        let (status, room) = self.request_json("POST", "/api/rooms", options);
        assert_eq!(status, 201, "{room}");
        room
    }

    /// The match starts with the first player.
    pub(crate) fn nuggets(&self) -> Value {
        self.make(&serde_json::json!({ "game": "nuggets", "countdown": 0 }))
    }

    /// Returns the socket and the seat token.
    pub(crate) fn enter(&self, room: &Value) -> (Browser, String) {
        let mut browser = self.socket(&format!("/rooms/{}/socket", id(room)), None).unwrap();
        let hello: Value = serde_json::from_str(&browser.until("{")).unwrap();
        (browser, hello["seat"].as_str().unwrap().to_owned())
    }

    pub(crate) fn enter_as(&self, room: &Value, entry: &Value) -> Browser {
        let path = format!("/rooms/{}/socket?enter=true", id(room));
        let mut browser = self.socket(&path, None).unwrap();
        browser.send(&entry.to_string());
        browser
    }

    pub(crate) fn reconnect(&self, room: &Value, token: &str) -> Browser {
        self.enter_as(room, &serde_json::json!({ "seat": token }))
    }

    /// As a proxy forwards it for a browser at `host`.
    pub(crate) fn from(&self, host: &str, room: &Value) -> Result<Browser, Error> {
        self.socket_with(&format!("/rooms/{}/socket", id(room)), &[("X-Forwarded-For", host)])
    }

    pub(crate) fn socket(&self, path: &str, origin: Option<&str>) -> Result<Browser, Error> {
        let origin = origin.map(|origin| ("Origin", origin));
        self.socket_with(path, origin.as_slice())
    }

    /// `Host` defaults to the address of the hub.
    pub(crate) fn socket_with(&self, path: &str, headers: &[(&str, &str)]) -> Result<Browser, Error> {
        let host = headers.iter().find(|(name, _)| *name == "Host").map(|(_, host)| (*host).to_owned());
        let host = host.unwrap_or_else(|| self.address.to_string());
        let mut request = ClientRequestBuilder::new(format!("ws://{host}{path}").parse().unwrap());
        for (name, value) in headers.iter().filter(|(name, _)| *name != "Host") {
            request = request.with_header(*name, *value);
        }
        match client(request, self.connect()) {
            Ok((socket, _)) => Ok(Browser(socket)),
            Err(HandshakeError::Failure(error)) => Err(error),
            Err(error @ HandshakeError::Interrupted(_)) => panic!("{error}"),
        }
    }
}

pub(crate) fn raw(server: SocketAddr, request: &str) -> String {
    let mut stream = connect(server);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

pub(crate) fn id(room: &Value) -> &str {
    room["id"].as_str().unwrap()
}

pub(crate) fn key(number: u8) -> String {
    URL_SAFE_NO_PAD.encode([number; 32])
}

pub(crate) fn native(room: &Value) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], u16::try_from(room["port"].as_u64().unwrap()).unwrap()))
}

/// Records a room with one player, for whom `play` acts. Returns the id of the journal.
pub(crate) fn record<E: Recorded>(
    journals: &Path,
    engine: E,
    play: impl FnOnce(&mut Journalled<E>, PeerId, &mut Outbox),
) -> u64 {
    let (disk, scribe) = (Arc::new(SystemDisk), Scribe::by_hand());
    let writing = Writing { disk, scribe: scribe.clone(), sync: SyncPolicy::Always, max: MAX_SIZE, copy: None };
    let head = Head::new(&engine, "test", vec![], 99);
    let id = head.id;
    let (_, (mut room, mut hold, end)) = writing.create(journals, EngineRoom::new(engine), head).unwrap();
    let (peer, mut out) = (PeerId(1), Outbox::new());
    let connected = Input::Connected { peer, role: Role::Player, link: Link::Message, address: "10.0.0.1:1".into() };
    room.input(Time::ZERO, connected, &mut out);
    play(&mut room, peer, &mut out);
    end.close();
    hold.flush();
    while scribe.write() || scribe.keep() {}
    id
}

#[derive(Debug)]
pub(crate) struct Browser(pub(crate) WebSocket<TcpStream>);

impl Browser {
    pub(crate) fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }

    pub(crate) fn join(&mut self, name: &str) {
        let join = [&[0, u8::try_from(name.len()).unwrap()][..], name.as_bytes()].concat();
        self.0.send(Message::binary(join)).unwrap();
    }

    pub(crate) fn binary(&mut self) -> Bytes {
        loop {
            if let Message::Binary(bytes) = self.0.read().unwrap() {
                return bytes;
            }
        }
    }

    pub(crate) fn until(&mut self, front: &str) -> String {
        self.find(|text| text.starts_with(front))
    }

    /// Code and reason.
    pub(crate) fn ending(&mut self) -> (u16, String) {
        loop {
            if let Message::Close(Some(close)) = self.0.read().unwrap() {
                return (close.code.into(), close.reason.to_string());
            }
        }
    }

    pub(crate) fn find(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            // The text "{}" contains no data.
            if let Message::Text(text) = self.0.read().unwrap()
                && text != "{}"
                && wanted(&text)
            {
                return text.to_string();
            }
        }
    }
}
