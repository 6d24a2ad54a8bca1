//! The hub as a process, with browsers' sockets and native clients.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::Command,
};

use serde_json::Value;
use testkit::{PATIENCE, TempDir, peer::Peer, process::Process};
use tungstenite::{ClientRequestBuilder, Error, HandshakeError, Message, WebSocket, client};

/// A hub of its own for a test.
struct Hub {
    process: Process,
    address: SocketAddr,
    _data: TempDir,
}

impl Hub {
    fn start() -> Self {
        let data = TempDir::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
        let process = Process::start(command.args(["--port", "0", "--data"]).arg(data.path()));
        let port = process.port();
        Self { process, address: SocketAddr::from(([127, 0, 0, 1], port)), _data: data }
    }

    /// The status line, the headers and the body of an answer.
    fn get(&self, path: &str) -> (String, String) {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn rooms(&self) -> Vec<Value> {
        let lobby: Value = serde_json::from_str(&self.get("/api/rooms").1).unwrap();
        lobby["rooms"].as_array().unwrap().clone()
    }

    fn room(&self, game: &str) -> Value {
        self.rooms().into_iter().find(|room| room["game"] == game).unwrap()
    }

    fn socket(&self, path: &str, origin: Option<&str>) -> Result<Browser, Error> {
        let mut request = ClientRequestBuilder::new(format!("ws://{}{path}", self.address).parse().unwrap());
        if let Some(origin) = origin {
            request = request.with_header("Origin", origin);
        }
        match client(request, self.connect()) {
            Ok((socket, _)) => Ok(Browser(socket)),
            Err(HandshakeError::Failure(error)) => Err(error),
            Err(error @ HandshakeError::Interrupted(_)) => panic!("{error}"),
        }
    }
}

struct Browser(WebSocket<TcpStream>);

impl Browser {
    fn say(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }

    /// The next text that begins with `front`.
    fn until(&mut self, front: &str) -> String {
        loop {
            let message = self.0.read().unwrap();
            if let Message::Text(text) = message
                && text.starts_with(front)
            {
                return text.to_string();
            }
        }
    }
}

#[test]
fn a_browser_and_a_native_client_play_nuggets_in_the_same_match() {
    let hub = Hub::start();
    let room = hub.room("nuggets");
    let id = room["id"].as_str().unwrap();
    let mut browser = hub.socket(&format!("/rooms/{id}/socket"), Some(&format!("http://{}", hub.address))).unwrap();
    let hello: Value = serde_json::from_str(&browser.until("{")).unwrap();
    browser.say("PLAY <script>");
    assert_eq!(browser.until("OK"), "OK A");
    browser.until("DISPLAY");
    let port = u16::try_from(room["port"].as_u64().unwrap()).unwrap();
    let native = Peer::new(SocketAddr::from(([127, 0, 0, 1], port)));
    assert_eq!(native.play("Bob").letter, 'B');
    // A new player is a new display for everybody.
    browser.until("DISPLAY");
    browser.say("KEY h");
    browser.say("KEY l");
    native.expect("DISPLAY");
    // The lobby and the page know both; no name can become markup.
    let (head, page) = hub.get("/");
    assert!(page.contains("Bob") && page.contains("\\u003cscript>") && !page.contains("<script>\""), "{page}");
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{head}");
    // A reload: the same seat, by its token.
    drop(browser);
    let token = hello["seat"].as_str().unwrap();
    let mut again = hub.socket(&format!("/rooms/{id}/socket?seat={token}"), None).unwrap();
    assert_eq!(again.until("OK"), "OK A");
    again.until("DISPLAY");
    let stolen = hub.socket(&format!("/rooms/{id}/socket?seat={token}x"), None);
    assert!(matches!(&stolen, Err(Error::Http(answer)) if answer.status() == 403));
}

#[test]
fn pages_of_other_sites_open_no_sockets() {
    let hub = Hub::start();
    let id = hub.room("robots")["id"].as_str().unwrap().to_owned();
    for path in ["/live".to_owned(), format!("/rooms/{id}/socket")] {
        let refused = hub.socket(&path, Some("http://example.com"));
        assert!(matches!(&refused, Err(Error::Http(answer)) if answer.status() == 403), "{path}");
        hub.socket(&path, Some(&format!("http://{}", hub.address))).unwrap();
    }
    assert!(hub.get("/rooms/nowhere-9/socket").0.starts_with("HTTP/1.1 4"));
    assert!(hub.get("/js/main.js").0.contains("text/javascript"));
    assert!(hub.get("/js/../../Cargo.toml").0.starts_with("HTTP/1.1 404"));
    hub.process.terminate();
    assert_eq!(hub.process.wait().code, Some(0));
}
