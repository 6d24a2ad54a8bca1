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
    host_port::{HostPort, host_port_or, is_ipv6},
    stderr,
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
                        stderr::print_last(&format!("{program}: {why}; retrying for {seconds} s"));
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
mod tests;
