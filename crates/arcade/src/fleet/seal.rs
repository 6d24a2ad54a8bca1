//! How a node proves to another one that it passes on the request of somebody else, and whose.
//!
//! A header carries when, for whom, and a message authentication code over that and the request, by a key that lies in the directory.
//! The key itself is never sent.

use std::{
    net::SocketAddr,
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use rand::{TryRng as _, rngs::SysRng};
use sha2::Sha256;

/// What the key is called in the directory.
pub(super) const KEY: &str = "relay";
/// The header with the proof.
pub(crate) const HEADER: &str = "arcade-relay";
/// For how many seconds a proof holds, and by how many clocks of nodes may differ.
const HOLDS: u64 = 60;

/// The key by which nodes know each other.
#[derive(Clone)]
pub(super) struct RelayKey([u8; 32]);

impl std::fmt::Debug for RelayKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RelayKey")
    }
}

/// A request that is passed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// The path with the query.
    pub(crate) path: &'a str,
    pub(crate) relayed: Relayed,
}

/// Whose request another node passes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relayed {
    /// The client.
    pub(crate) client: SocketAddr,
    /// Whether it uses TLS.
    pub(crate) secure: bool,
}

/// The time in seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl RelayKey {
    /// A new key as text.
    pub(super) fn draw() -> anyhow::Result<String> {
        let mut key = [0; 32];
        SysRng.try_fill_bytes(&mut key)?;
        Ok(URL_SAFE_NO_PAD.encode(key))
    }

    /// A key that was drawn.
    pub(super) fn read(text: &str) -> Option<Self> {
        Some(Self(URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?))
    }

    /// The proof of a request.
    pub(super) fn seal(&self, now: u64, request: &Request<'_>) -> String {
        let &Request { method, path, relayed: Relayed { client, secure } } = request;
        let front = format!("{now} {client} {}", u8::from(secure));
        let code = self.mac(&front, (method, path)).finalize().into_bytes();
        format!("{front} {}", URL_SAFE_NO_PAD.encode(code))
    }

    /// What a proof says, if it is one.
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
        // A key of any length is possible; this one has the size of the hash.
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.0).unwrap_or_else(|_| unreachable!());
        // None of the parts has a line feed.
        mac.update(format!("{front}\n{method}\n{path}").as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_for_one_request_of_one_client_and_a_minute() {
        let key = RelayKey::read(&RelayKey::draw().unwrap()).unwrap();
        let relayed = Relayed { client: "[2001:db8::1]:7".parse().unwrap(), secure: true };
        let request = Request { method: "GET", path: "/rooms/a-1/socket?watch=true", relayed };
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
