//! Signatures for requests of clients that a node relays: the time, the client and a message authentication code over
//! both and the request. The key is never sent.

use std::{
    io,
    net::SocketAddr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::body::{Body, to_bytes};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use hyper::{Request, StatusCode, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use mesh::{Holder, LeaseGrant, LeaseRequest, Name, Revision};
use netshell::tune_stream;
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use tokio::{net::TcpStream, time::timeout};
use tracing::debug;

/// The name of the key in the directory.
pub(super) const KEY: &str = "relay";
pub(crate) const HEADER: &str = "arcade-relay";
/// The validity in seconds, and how much the clocks of nodes may differ.
const HOLDS: u64 = 60;

#[derive(Clone)]
pub(super) struct RelayKey([u8; 32]);

impl std::fmt::Debug for RelayKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RelayKey")
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SealedRequest<'a> {
    pub(crate) method: &'a str,
    /// Includes the query.
    pub(crate) path: &'a str,
    pub(crate) relayed: Relayed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relayed {
    pub(crate) client: SocketAddr,
    /// Whether the client uses TLS.
    pub(crate) secure: bool,
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl RelayKey {
    pub(super) fn draw() -> anyhow::Result<String> {
        let mut key = [0; 32];
        SysRng.try_fill_bytes(&mut key)?;
        Ok(URL_SAFE_NO_PAD.encode(key))
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        Some(Self(URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?))
    }

    pub(super) fn seal(&self, now: u64, request: &SealedRequest<'_>) -> String {
        let &SealedRequest { method, path, relayed: Relayed { client, secure } } = request;
        let front = format!("{now} {client} {}", u8::from(secure));
        let code = self.mac(&front, (method, path)).finalize().into_bytes();
        format!("{front} {}", URL_SAFE_NO_PAD.encode(code))
    }

    pub(super) fn unseal(&self, now: u64, text: &str, request: (&str, &str)) -> Option<Relayed> {
        let (front, code) = text.rsplit_once(' ')?;
        self.mac(front, request).verify_slice(&URL_SAFE_NO_PAD.decode(code).ok()?).ok()?;
        let mut parts = front.split(' ');
        let at: u64 = parts.next()?.parse().ok()?;
        let client = parts.next()?.parse().ok()?;
        let secure = parts.next()? == "1";
        (now.abs_diff(at) <= HOLDS).then_some(Relayed { client, secure })
    }

    fn mac(&self, front: &str, (method, path): (&str, &str)) -> Hmac<Sha256> {
        // HMAC accepts keys of any length.
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.0).unwrap_or_else(|_| unreachable!());
        // The parts contain no line feeds.
        mac.update(format!("{front}\n{method}\n{path}").as_bytes());
        mac
    }
}

/// The timeout of a connection to another node.
const CONNECT: Duration = Duration::from_secs(2);

/// Connects to `HOST:PORT`. If the node refuses the connection, the cause is an [`std::io::Error`] of that kind.
pub(crate) async fn dial<B>(address: &str) -> anyhow::Result<http1::SendRequest<B>>
where
    B: hyper::body::Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    let stream = timeout(CONNECT, TcpStream::connect(address)).await??;
    tune_stream(&stream);
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection.with_upgrades());
    Ok(sender)
}

pub(crate) const PATH: &str = "/fleet/promise";
/// The timeout of a reply.
const PATIENCE: Duration = Duration::from_millis(2_500);
/// The largest reply, in bytes.
const MAX_ANSWER: usize = 1 << 10;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeaseQuery {
    to: Name,
    identity: Name,
    life: Revision,
    from: Name,
    since: Option<Revision>,
}

impl From<LeaseQuery> for LeaseRequest {
    fn from(LeaseQuery { to, identity, life, from, since }: LeaseQuery) -> Self {
        Self { to: Holder { node: to, identity, life }, from: (from, since) }
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LeaseReply {
    /// In milliseconds.
    Promised(u64),
    /// The life of the node is over.
    Gone,
}

impl From<LeaseGrant> for LeaseReply {
    fn from(grant: LeaseGrant) -> Self {
        match grant {
            LeaseGrant::For(time) => Self::Promised(u64::try_from(time.as_millis()).unwrap_or(0)),
            LeaseGrant::Gone => Self::Gone,
        }
    }
}

impl From<LeaseReply> for LeaseGrant {
    fn from(reply: LeaseReply) -> Self {
        match reply {
            LeaseReply::Promised(millis) => Self::For(Duration::from_millis(millis)),
            LeaseReply::Gone => Self::Gone,
        }
    }
}

/// Returns `None` if the node does not reply.
pub(super) async fn request_lease(address: &str, key: &RelayKey, request: &LeaseRequest) -> Option<LeaseGrant> {
    match timeout(PATIENCE, try_request_lease(address, key, request)).await {
        Ok(Ok(grant)) => Some(grant),
        // A refused connection means that the process has ended.
        Ok(Err(error)) if is_refused(&error) => Some(LeaseGrant::Gone),
        Ok(Err(error)) => {
            debug!("the node {} does not respond: {error:#}", request.to.node);
            None
        }
        Err(_) => None,
    }
}

fn is_refused(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

async fn try_request_lease(address: &str, key: &RelayKey, request: &LeaseRequest) -> anyhow::Result<LeaseGrant> {
    let LeaseRequest { to: Holder { node, identity, life: Revision(life) }, from: (from, since) } = request;
    let since = since.map_or_else(String::new, |Revision(since)| format!("&since={since}"));
    let path = format!("{PATH}?to={node}&identity={identity}&life={life}&from={from}{since}");
    let relayed = Relayed { client: SocketAddr::from(([0; 4], 0)), secure: false };
    let proof = key.seal(now(), &SealedRequest { method: "POST", path: &path, relayed });
    let request = Request::post(&path).header(header::HOST, address).header(HEADER, proof).body(Body::empty())?;
    let answer = dial(address).await?.send_request(request).await?;
    anyhow::ensure!(answer.status() == StatusCode::OK, "it responds with {}", answer.status());
    let body = to_bytes(Body::new(answer.into_body()), MAX_ANSWER).await?;
    Ok(serde_json::from_slice::<LeaseReply>(&body)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_valid_for_one_request_of_one_client_for_a_minute() {
        let key = RelayKey::read(&RelayKey::draw().unwrap()).unwrap();
        let relayed = Relayed { client: "[2001:db8::1]:7".parse().unwrap(), secure: true };
        let request = SealedRequest { method: "GET", path: "/rooms/a-1/socket?watch=true", relayed };
        let proof = key.seal(1_000, &request);
        let opened = |now, proof: &str, method, path| key.unseal(now, proof, (method, path));
        for now in [940, 1_000, 1_060] {
            assert_eq!(opened(now, &proof, request.method, request.path), Some(relayed));
        }
        assert_eq!(opened(1_061, &proof, request.method, request.path), None);
        assert_eq!(opened(1_000, &proof, "POST", request.path), None);
        assert_eq!(opened(1_000, &proof, request.method, "/rooms/a-2/socket"), None);
        let forged = proof.replace("2001:db8::1", "2001:db8::2");
        assert_eq!(opened(1_000, &forged, request.method, request.path), None);
        let other = RelayKey::read(&RelayKey::draw().unwrap()).unwrap();
        assert_eq!(other.unseal(1_000, &proof, (request.method, request.path)), None);
        for junk in ["", " ", "1 2 3 4", "1000 [::1]:1 1"] {
            assert_eq!(opened(1_000, junk, request.method, request.path), None, "{junk}");
        }
        assert!(RelayKey::read("short").is_none());
    }
}
