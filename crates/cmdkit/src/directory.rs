//! Finds the current location of a room in an arcade of several hubs.
//!
//! Each hub serves `GET /api/rooms/ID` for the rooms of all hubs, with the host and the port for native clients.

use std::{
    fmt,
    net::IpAddr,
    str::FromStr,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::bail;
use serde::Deserialize;
use tracing::{info, warn};
use ureq::{Agent, http::StatusCode};

use crate::{
    backoff::Backoff,
    logs,
    values::{HostPort, host_port_or, is_ipv6},
};

/// How long a client searches for its room: a lost hub is detected after 15 seconds, and its rooms resume soon after.
pub const FOLLOW: Duration = Duration::from_secs(60);

/// The time limit for the response of one hub, in seconds.
const PATIENCE: u64 = 4;
/// The maximum size of a response in bytes; a room of 255 players with the longest names needs less.
const MAX_ANSWER: u64 = 1 << 20;
const MAX_ID: usize = 64;
/// The limit of the DNS.
const MAX_HOST: usize = 253;
/// How long all connections of this program reuse a result.
const FRESH: Duration = Duration::from_millis(900);

const RIGHT: &str = "expected the address of a room at a hub, as in http://10.0.0.11:8080/rooms/nuggets-1";

/// The options of a client that follows a room.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct DirectoryArgs {
    /// Address of the room at a hub of an arcade of several hubs, as in `http://10.0.0.11:8080/rooms/nuggets-1`; if the
    /// server is lost, the client queries this hub for the new address; may be repeated, since a hub may be lost too
    #[arg(long, value_name = "URL")]
    pub directory: Vec<RoomUrl>,
}

impl DirectoryArgs {
    /// Returns `None` if no URL was given.
    pub fn of(&self, game: &'static str) -> Option<Directory> {
        let urls = self.directory.clone();
        (!urls.is_empty()).then(|| Directory { game, urls, patience: PATIENCE, last: Mutex::default() })
    }
}

/// The address of a room at a hub: `http://HOST[:PORT]/rooms/ID`, or `/api/rooms/ID` there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomUrl {
    hub: HostPort,
    id: String,
}

impl fmt::Display for RoomUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}/api/rooms/{}", self.hub, self.id)
    }
}

impl FromStr for RoomUrl {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let (scheme, rest) = typed.split_once("://").ok_or_else(|| format!("not a URL; {RIGHT}"))?;
        if scheme.eq_ignore_ascii_case("https") {
            let instead = "use the address at which hubs reach each other, without TLS: http://HOST:PORT/rooms/ID";
            return Err(format!("TLS is not supported; {instead}"));
        }
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(format!("unsupported scheme '{}'; {RIGHT}", scheme.escape_debug()));
        }
        let (place, path) = rest.split_once('/').ok_or_else(|| format!("the room is missing; {RIGHT}"))?;
        if place.contains('@') {
            return Err(format!("a user name is not supported; {RIGHT}"));
        }
        let hub = host_port_or(80)(place)?;
        if !is_host(&hub.host) {
            return Err(format!("invalid host '{}'; {RIGHT}", hub.host.escape_debug()));
        }
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let path = path.strip_prefix("api/").unwrap_or(path).trim_end_matches('/');
        let id = path.strip_prefix("rooms/").filter(|id| is_id(id));
        let id = id.ok_or_else(|| format!("the path '/{}' has no room; {RIGHT}", path.escape_debug()))?;
        Ok(Self { hub, id: id.to_owned() })
    }
}

fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_host(host: &str) -> bool {
    let is_name = || {
        !host.is_empty()
            && host.len() <= MAX_HOST
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    };
    match host.parse::<IpAddr>() {
        Ok(address) => !address.is_unspecified(),
        Err(_) => is_ipv6(host) || is_name(),
    }
}

#[derive(Debug)]
pub struct Directory {
    game: &'static str,
    urls: Vec<RoomUrl>,
    // In seconds.
    patience: u64,
    // The last result, for all connections of this program.
    last: Mutex<Option<(Instant, Result<HostPort, String>)>>,
}

#[derive(Deserialize)]
struct RoomEntry {
    id: String,
    game: String,
    port: u16,
    host: Option<String>,
}

impl Directory {
    /// Queries one hub after the other until one reports the address of the room. Blocks, for a time far below
    /// [`FOLLOW`].
    ///
    /// # Errors
    /// For each hub, its refusal or the reason why it did not respond.
    pub fn find(&self) -> Result<HostPort, String> {
        // Concurrent connections wait for this one's result.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, answer)) = &*last
            && at.elapsed() < FRESH
        {
            return answer.clone();
        }
        let answer = self.query_all();
        if last.as_ref().is_none_or(|(_, before)| *before != answer) {
            match &answer {
                Ok(place) => info!("the directory locates the room at {place}"),
                Err(why) => warn!("the directory does not locate the room: {why}"),
            }
        }
        *last = Some((Instant::now(), answer.clone()));
        answer
    }

    /// Finds the room for a `program` without another address. Retries for up to [`FOLLOW`], and prints the first
    /// error.
    pub fn find_first(&self, program: &str) -> anyhow::Result<HostPort> {
        let (begun, mut backoff, mut told) = (Instant::now(), Backoff::default(), false);
        loop {
            match self.find() {
                Ok(found) => return Ok(found),
                Err(why) if begun.elapsed() > FOLLOW => bail!("cannot locate the room: {why}"),
                Err(why) => {
                    if !std::mem::replace(&mut told, true) {
                        let seconds = FOLLOW.as_secs();
                        logs::print_last(&format!("{program}: {why}; retrying for {seconds} s"));
                    }
                }
            }
            thread::sleep(backoff.next_wait().max(FRESH));
        }
    }

    fn query_all(&self) -> Result<HostPort, String> {
        let mut refusals = vec![];
        for url in &self.urls {
            match self.query(url) {
                Ok(found) => return Ok(found),
                Err(why) => refusals.push(format!("{url} {why}")),
            }
        }
        Err(refusals.join("; "))
    }

    fn query(&self, url: &RoomUrl) -> Result<HostPort, String> {
        let config = Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(self.patience)))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .user_agent(concat!("arcade-client/", env!("CARGO_PKG_VERSION")));
        let agent: Agent = config.build().into();
        let mut answer = agent.get(url.to_string()).call().map_err(|error| self.in_words(&error))?;
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err("has no public room of this name".to_owned()),
            status => return Err(format!("responded with status {status}")),
        }
        let body =
            answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(|error| self.in_words(&error))?;
        self.read(url, &body)
    }

    fn in_words(&self, error: &ureq::Error) -> String {
        match error {
            ureq::Error::Timeout(_) => format!("did not respond within {} s", self.patience),
            ureq::Error::BodyExceedsLimit(_) => format!("sent a response of more than {} MiB", MAX_ANSWER >> 20),
            error => format!("cannot be queried: {error}"),
        }
    }

    fn read(&self, url: &RoomUrl, body: &[u8]) -> Result<HostPort, String> {
        let RoomEntry { id, game, port, host } = serde_json::from_slice(body)
            .map_err(|error| format!("sent an invalid description of the room: {error}"))?;
        if id != url.id {
            return Err(format!("described another room, '{}'", id.escape_debug()));
        }
        if game != self.game {
            return Err(format!("reports a room of {}, but this program plays {}", game.escape_debug(), self.game));
        }
        if port == 0 {
            return Err("reports no port of the room: it is not public".to_owned());
        }
        let host = host.unwrap_or_else(|| url.hub.host.clone());
        if !is_host(&host) {
            let shown: String = host.chars().take(MAX_HOST).collect();
            return Err(format!("reports an invalid host: '{}'", shown.escape_debug()));
        }
        Ok(HostPort { host, port })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::{Ipv4Addr, TcpListener},
        thread,
    };

    use super::*;

    #[test]
    fn room_url_is_that_of_its_page_or_of_its_api() {
        for (typed, read) in [
            ("http://10.0.0.11:8080/rooms/nuggets-1", "http://10.0.0.11:8080/api/rooms/nuggets-1"),
            ("HTTP://hub.example/api/rooms/friday/", "http://hub.example:80/api/rooms/friday"),
            ("http://[::1]:81/rooms/a?x=1#y", "http://[::1]:81/api/rooms/a"),
        ] {
            assert_eq!(typed.parse::<RoomUrl>().unwrap().to_string(), read);
        }
        let long = format!("http://h/rooms/{}", "x".repeat(MAX_ID + 1));
        for (wrong, why) in [
            ("localhost:2000", "not a URL"),
            ("ftp://h/rooms/a", "unsupported scheme"),
            ("http://h", "the room is missing"),
            ("http://h/", "has no room"),
            ("http://h/rooms/", "has no room"),
            ("http://h/rooms/a/b", "has no room"),
            ("http://h/rooms/a%20b", "has no room"),
            ("http://h/j/CODE", "has no room"),
            ("http:///rooms/a", "the host is missing"),
            ("http://h:0/rooms/a", "invalid port"),
            ("http://u:p@h/rooms/a", "a user name is not supported"),
            ("http://h\r\nX: y/rooms/a", "invalid port"),
            (&*long, "has no room"),
        ] {
            let error = wrong.parse::<RoomUrl>().unwrap_err();
            assert!(error.contains(why) && error.contains("as in"), "{wrong}: {error}");
        }
        let error = "https://h/rooms/a".parse::<RoomUrl>().unwrap_err();
        assert!(error.contains("TLS is not supported") && error.contains("http://HOST:PORT/rooms/ID"), "{error}");
    }

    fn hub(answer: impl Into<Vec<u8>>) -> RoomUrl {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/rooms/nuggets-1", listener.local_addr().unwrap()).parse().unwrap();
        let answer = answer.into();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut heard = vec![];
            while !heard.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).unwrap() == 0 {
                    return;
                }
                heard.extend(byte);
            }
            assert!(heard.starts_with(b"GET /api/rooms/nuggets-1 HTTP/1.1\r\n"), "{}", heard.escape_ascii());
            let _ = stream.write_all(&answer);
        });
        url
    }

    fn ok(body: &str) -> Vec<u8> {
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    fn directory(urls: Vec<RoomUrl>) -> Directory {
        DirectoryArgs { directory: urls }.of("nuggets").unwrap()
    }

    #[test]
    fn first_answering_hub_locates_the_room() {
        let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let urls = vec![
            format!("http://{gone}/rooms/nuggets-1").parse().unwrap(),
            hub("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"),
            hub(ok(r#"{"id":"nuggets-1","game":"nuggets","port":2101,"host":"10.0.0.12","more":[1]}"#)),
        ];
        let directory = directory(urls);
        let place = HostPort { host: "10.0.0.12".into(), port: 2101 };
        assert_eq!(directory.find(), Ok(place.clone()));
        assert_eq!(directory.find(), Ok(place));
        // A single hub does not report its host.
        let place = self::directory(vec![hub(ok(r#"{"id":"nuggets-1","game":"nuggets","port":2101}"#))]).find();
        assert_eq!(place, Ok(HostPort { host: "127.0.0.1".into(), port: 2101 }));
        assert!(DirectoryArgs::default().of("nuggets").is_none());
    }

    #[test]
    fn invalid_answers_are_refused_with_a_reason() {
        let room = |id: &str, game: &str, rest: &str| ok(&format!(r#"{{"id":"{id}","game":"{game}",{rest}}}"#));
        let long = format!("HTTP/1.1 200 OK\r\ncontent-length: {0}\r\n\r\n{1}", (2 << 20), " ".repeat(2 << 20));
        for (answer, why) in [
            (ok("[]"), "sent an invalid description of the room"),
            (ok("{\"id\":"), "sent an invalid description of the room"),
            (room("nuggets-2", "nuggets", r#""port":1"#), "another room, 'nuggets-2'"),
            (room("nuggets-1", "robots", r#""port":1"#), "a room of robots, but this program plays nuggets"),
            (room("nuggets-1", "nuggets", r#""port":0"#), "it is not public"),
            (room("nuggets-1", "nuggets", r#""port":65536"#), "sent an invalid description of the room"),
            (room("nuggets-1", "nuggets", r#""port":1,"host":"""#), "an invalid host"),
            (room("nuggets-1", "nuggets", r#""port":1,"host":"0.0.0.0""#), "an invalid host"),
            (room("nuggets-1", "nuggets", r#""port":1,"host":"a b""#), "an invalid host"),
            (long.into_bytes(), "more than 1 MiB"),
            (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(), "has no public room of this name"),
            (
                b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_vec(),
                "status 302",
            ),
            (b"SSH-2.0-x\r\n\r\n".to_vec(), "cannot be queried"),
            (b"".to_vec(), "cannot be queried"),
        ] {
            let url = hub(answer);
            let told = directory(vec![url.clone()]).find().unwrap_err();
            assert!(told.starts_with(&url.to_string()) && told.contains(why) && told.lines().count() == 1, "{told}");
        }
    }

    #[test]
    fn wait_for_a_silent_hub_is_bounded() {
        let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url: RoomUrl = format!("http://{}/rooms/nuggets-1", silent.local_addr().unwrap()).parse().unwrap();
        let directory = Directory { patience: 1, ..directory(vec![url]) };
        assert!(directory.find().unwrap_err().contains("did not respond within 1 s"));
    }
}
