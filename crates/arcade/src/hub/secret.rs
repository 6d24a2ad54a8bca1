//! Tokens by which a browser comes back to its seat.
//!
//! A token names the room and the address that the seat has had from the start, and carries a message authentication code over both.
//! So the hub keeps nothing for each seat, and tokens stay valid when it is started again with the same secret.

use std::{io::Write as _, net::SocketAddr, path::Path};

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use rand::{TryRng as _, rngs::SysRng};
use sha2::Sha256;

/// The file of the key, in the directory of the hub.
const FILE: &str = "secret";

/// The key that all tokens are made with.
#[derive(Clone)]
pub(crate) struct Secret([u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The secret of the hub with this directory, which is made when it is first needed.
    ///
    /// # Errors
    /// When it can be neither read nor made.
    pub(crate) fn open(directory: &Path) -> anyhow::Result<Self> {
        let path = &directory.join(FILE);
        match std::fs::read(path) {
            Ok(bytes) => {
                let key =
                    bytes.try_into().ok().with_context(|| format!("'{}' is damaged; remove it", path.display()))?;
                Ok(Self::new(key))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let mut key = [0; 32];
                SysRng.try_fill_bytes(&mut key)?;
                // Only its owner can read it.
                let written = cmdkit::NewFile::create(path).and_then(|mut file| {
                    file.write_all(&key)?;
                    file.finish()
                });
                written.with_context(|| format!("cannot write '{}'", path.display()))?;
                Ok(Self::new(key))
            }
            Err(error) => Err(error).with_context(|| format!("cannot read '{}'", path.display())),
        }
    }

    /// The token for the seat at `address` in `room`.
    pub(crate) fn token(&self, room: &str, address: SocketAddr) -> String {
        let code = self.mac(room, address).finalize().into_bytes();
        format!("{}.{}", URL_SAFE_NO_PAD.encode(address.to_string()), URL_SAFE_NO_PAD.encode(code))
    }

    /// The address of the seat in `room` that `token` is for, if it is genuine.
    pub(crate) fn verify(&self, room: &str, token: &str) -> Option<SocketAddr> {
        let (address, code) = token.split_once('.')?;
        let address = String::from_utf8(URL_SAFE_NO_PAD.decode(address).ok()?).ok()?.parse().ok()?;
        self.mac(room, address).verify_slice(&URL_SAFE_NO_PAD.decode(code).ok()?).ok()?;
        Some(address)
    }

    fn mac(&self, room: &str, address: SocketAddr) -> Hmac<Sha256> {
        // A key of any length is possible; this one has the size of the hash.
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.0).unwrap_or_else(|_| unreachable!());
        // A room's name holds no line feed.
        mac.update(format!("seat\n{room}\n{address}").as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_one_seat_in_one_room() {
        let secret = Secret::new([7; 32]);
        let address: SocketAddr = "[::1]:4000".parse().unwrap();
        let token = secret.token("nuggets-1", address);
        assert_eq!(secret.verify("nuggets-1", &token), Some(address));
        assert_eq!(secret.verify("nuggets-2", &token), None);
        assert_eq!(Secret::new([8; 32]).verify("nuggets-1", &token), None);
        let other = secret.token("nuggets-1", "[::1]:4001".parse().unwrap());
        let forged = format!("{}.{}", token.split_once('.').unwrap().0, other.split_once('.').unwrap().1);
        assert_eq!(secret.verify("nuggets-1", &forged), None);
        for wrong in ["", ".", "x", "x.y", &token[1..], &format!("{token}A")] {
            assert_eq!(secret.verify("nuggets-1", wrong), None, "{wrong}");
        }
    }
}
