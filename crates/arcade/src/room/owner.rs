//! Who owns a room, as it is written down: the hash of the token of the owner.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use netcore::HostId;
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Bytes of a token.
const TOKEN: usize = 16;

/// Who owns a room, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    // The SHA-256 of the token.
    hash: String,
    /// The host from which the token was last used.
    pub(crate) host: HostId,
}

impl Owner {
    /// A new owner at this host, with the token.
    pub(crate) fn draw(host: HostId) -> anyhow::Result<(String, Self)> {
        let mut token = [0; TOKEN];
        SysRng.try_fill_bytes(&mut token)?;
        let token = URL_SAFE_NO_PAD.encode(token);
        let hash = hash(&token);
        Ok((token, Self { hash, host }))
    }

    /// Whether this is the token.
    // Hashes of random tokens are compared, so the time that it takes tells nothing.
    pub(super) fn has(&self, token: &str) -> bool {
        self.hash == hash(token)
    }
}

fn hash(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_random_and_only_its_hash_is_kept() {
        let (token, owner) = Owner::draw(HostId::Other).unwrap();
        let (other, _) = Owner::draw(HostId::Other).unwrap();
        assert!(token != other && token.len() == 22, "{token}");
        assert!(owner.has(&token) && !owner.has(&other) && !owner.has(""));
        let kept = serde_json::to_string(&owner).unwrap();
        assert!(!kept.contains(&token));
        assert!(serde_json::from_str::<Owner>(&kept).unwrap().has(&token));
    }
}
