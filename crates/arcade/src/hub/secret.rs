//! Tokens by which a browser returns to its seat: journal, random address of the seat, and a message authentication
//! code over both and the room. So the hub needs no storage per seat, and tokens survive a restart that resumes the
//! journal. The address contains the host that the seat counts for; see [`Mask`].

use std::{
    io::Write as _,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    path::Path,
};

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use rand::{TryRng as _, rngs::SysRng};
use sha2::Sha256;
use unicode_normalization::UnicodeNormalization as _;

use crate::room::pseudonyms::{HostCodes, Keys, Mask};

const FILE: &str = "secret";

#[derive(Clone)]
pub(crate) struct Secret {
    key: [u8; 32],
    // Earlier keys, whose tokens and words stay valid: that of this hub before it joined an arcade, and those of an
    // arcade.
    before: Vec<[u8; 32]>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The file is created when it is first needed.
    pub(crate) fn open(directory: &Path) -> anyhow::Result<Self> {
        let path = &directory.join(FILE);
        match std::fs::read(path) {
            Ok(bytes) => {
                let key =
                    bytes.try_into().ok().with_context(|| format!("'{}' is damaged; remove it", path.display()))?;
                Ok(Self { key, before: vec![] })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let mut key = [0; 32];
                SysRng.try_fill_bytes(&mut key)?;
                // Readable by its owner only.
                let written = cmdkit::NewFile::create(path).and_then(|mut file| {
                    file.write_all(&key)?;
                    file.finish()
                });
                written.with_context(|| format!("cannot write '{}'", path.display()))?;
                Ok(Self { key, before: vec![] })
            }
            Err(error) => Err(error).with_context(|| format!("cannot read '{}'", path.display())),
        }
    }

    /// The text for other hubs of the same arcade.
    pub(crate) fn to_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.key)
    }

    /// The common secret of all hubs of an arcade. Tokens of earlier secrets stay valid. An invalid text has no
    /// effect.
    #[must_use]
    pub(crate) fn shared(self, text: &str, former: &[String]) -> Self {
        let read = |text: &str| URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok();
        let Some(key) = read(text) else { return self };
        let mut before: Vec<[u8; 32]> = former.iter().filter_map(|former| read(former)).collect();
        before.push(self.key);
        before.retain(|before| *before != key);
        Self { key, before }
    }

    fn keys_of_all_times(&self) -> impl Iterator<Item = &[u8; 32]> {
        [&self.key].into_iter().chain(&self.before)
    }

    pub(crate) fn keys(&self, room: &str) -> Keys {
        let key = |text: &str| mac(&self.key, text.as_bytes()).finalize().into_bytes().into();
        // The name of a room is not empty.
        Keys {
            mask: Mask::new(key(&format!("mask\n{room}"))),
            hosts: HostCodes::new(key("hosts\n")),
            days: key("days\n"),
        }
    }

    pub(crate) fn token(&self, room: &str, ticket: Ticket) -> String {
        let ticket = ticket.to_bytes();
        let code = ticket_mac(&self.key, room, &ticket).finalize().into_bytes();
        format!("{}.{}", URL_SAFE_NO_PAD.encode(ticket), URL_SAFE_NO_PAD.encode(code))
    }

    pub(crate) fn verify(&self, room: &str, token: &str) -> Option<Ticket> {
        let (ticket, code) = token.split_once('.')?;
        let ticket: [u8; TICKET] = URL_SAFE_NO_PAD.decode(ticket).ok()?.try_into().ok()?;
        let code = URL_SAFE_NO_PAD.decode(code).ok()?;
        let mut keys = self.keys_of_all_times();
        let is_genuine = keys.any(|key| ticket_mac(key, room, &ticket).verify_slice(&code).is_ok());
        is_genuine.then(|| Ticket::from_bytes(&ticket))
    }

    /// The token with which the teachers of a class own this room.
    pub(crate) fn class_owner(&self, room: &str) -> String {
        let code = mac(&self.key, format!("class\n{room}").as_bytes()).finalize().into_bytes();
        URL_SAFE_NO_PAD.encode(&code[..16])
    }

    /// The hash of a word for storage.
    pub(crate) fn word(&self, room: &str, word: &str) -> String {
        URL_SAFE_NO_PAD.encode(word_mac(&self.key, room, &normalized(word)).finalize().into_bytes())
    }

    /// In constant time. `kept` is the stored hash.
    pub(crate) fn verify_word(&self, room: &str, word: &str, kept: &str) -> bool {
        // Earlier versions stored the hash of the word as it was typed.
        let forms = [&*normalized(word), word];
        let is_it = |key, kept: &[u8]| forms.iter().any(|word| word_mac(key, room, word).verify_slice(kept).is_ok());
        URL_SAFE_NO_PAD.decode(kept).is_ok_and(|kept| self.keys_of_all_times().any(|key| is_it(key, &kept)))
    }
}

/// A word without differences between keyboards: blanks at its ends, case, and the composition of letters.
pub(crate) fn normalized(word: &str) -> String {
    word.trim().to_lowercase().nfc().collect()
}

fn word_mac(key: &[u8; 32], room: &str, word: &str) -> Hmac<Sha256> {
    mac(key, format!("word\n{room}\n{word}").as_bytes())
}

fn ticket_mac(key: &[u8; 32], room: &str, ticket: &[u8; TICKET]) -> Hmac<Sha256> {
    // The name of a room contains no line feed.
    mac(key, &[b"seat\n", room.as_bytes(), b"\n", ticket].concat())
}

fn mac(key: &[u8; 32], text: &[u8]) -> Hmac<Sha256> {
    // A key of any length is possible; this one has the size of the hash.
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).unwrap_or_else(|_| unreachable!());
    mac.update(text);
    mac
}

/// In bytes.
const TICKET: usize = 26;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// The number of the journal with the seat.
    pub(crate) journal: u64,
    /// Never assigned to another seat.
    pub(crate) seat: SocketAddr,
}

impl Ticket {
    fn to_bytes(self) -> [u8; TICKET] {
        let mut bytes = [0; TICKET];
        bytes[..8].copy_from_slice(&self.journal.to_be_bytes());
        let ip = match self.seat.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        bytes[8..24].copy_from_slice(&ip.octets());
        bytes[24..].copy_from_slice(&self.seat.port().to_be_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; TICKET]) -> Self {
        let (mut journal, mut ip) = ([0; 8], [0; 16]);
        journal.copy_from_slice(&bytes[..8]);
        ip.copy_from_slice(&bytes[8..24]);
        let port = u16::from_be_bytes([bytes[24], bytes[25]]);
        Self { journal: u64::from_be_bytes(journal), seat: SocketAddr::new(Ipv6Addr::from(ip).to_canonical(), port) }
    }
}

#[cfg(test)]
impl Secret {
    pub(crate) fn of_byte(byte: u8) -> Self {
        Self { key: [byte; 32], before: vec![] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret_of(byte: u8) -> Secret {
        Secret { key: [byte; 32], before: vec![] }
    }

    #[test]
    fn tokens_of_other_nodes_and_former_secrets_are_valid() {
        let (ann, bob) = (secret_of(1), secret_of(2));
        let ticket = Ticket { journal: 9, seat: "[fd00::1]:4000".parse().unwrap() };
        let (before, word) = (bob.token("nuggets-1", ticket), bob.word("nuggets-1", "owl"));
        let bob = bob.shared(&ann.to_text(), &[]);
        assert_eq!(bob.verify("nuggets-1", &ann.token("nuggets-1", ticket)), Some(ticket));
        assert_eq!(ann.verify("nuggets-1", &bob.token("nuggets-1", ticket)), Some(ticket));
        assert_eq!(bob.verify("nuggets-1", &before), Some(ticket));
        assert!(bob.verify_word("nuggets-1", "owl", &word) && !bob.verify_word("nuggets-1", "cat", &word));
        assert_eq!(ann.verify("nuggets-1", &before), None);
        let moved = secret_of(2).shared(&secret_of(5).to_text(), &[ann.to_text()]);
        for token in [&before, &ann.token("nuggets-1", ticket), &secret_of(5).token("nuggets-1", ticket)] {
            assert_eq!(moved.verify("nuggets-1", token), Some(ticket));
        }
        assert_eq!(secret_of(3).shared("nonsense", &[]).to_text(), secret_of(3).to_text());
    }

    #[test]
    fn password_is_verified_by_its_hash() {
        let secret = secret_of(7);
        let kept = secret.word("nuggets-1", "żółw");
        for typed in ["żółw", " Żółw ", "z\u{307}o\u{301}łw"] {
            assert!(secret.verify_word("nuggets-1", typed, &kept) && !kept.contains("żółw"), "{typed}");
        }
        let earlier = URL_SAFE_NO_PAD.encode(word_mac(&secret.key, "nuggets-1", "Owl ").finalize().into_bytes());
        assert!(secret.verify_word("nuggets-1", "Owl ", &earlier));
        for (room, word, kept) in
            [("nuggets-2", "żółw", &*kept), ("nuggets-1", "zolw", &*kept), ("nuggets-1", "żółw", "")]
        {
            assert!(!secret.verify_word(room, word, kept), "{room} {word} {kept}");
        }
    }

    #[test]
    fn token_is_valid_for_one_seat_of_one_journal() {
        let secret = secret_of(7);
        let ticket = |seat: &str| Ticket { journal: 9, seat: seat.parse().unwrap() };
        let own = ticket("[fd00::1]:4000");
        let token = secret.token("nuggets-1", own);
        assert_eq!(secret.verify("nuggets-1", &token), Some(own));
        assert_eq!(
            secret.verify("nuggets-1", &secret.token("nuggets-1", ticket("10.0.0.1:5"))),
            Some(ticket("10.0.0.1:5"))
        );
        assert_eq!(secret.verify("nuggets-2", &token), None);
        assert_eq!(secret_of(8).verify("nuggets-1", &token), None);
        for other in [ticket("[fd00::1]:4001"), Ticket { journal: 10, ..own }] {
            let other = secret.token("nuggets-1", other);
            let forged = format!("{}.{}", token.split_once('.').unwrap().0, other.split_once('.').unwrap().1);
            assert_eq!(secret.verify("nuggets-1", &forged), None);
        }
        for wrong in ["", ".", "x", "x.y", &token[1..], &format!("{token}A")] {
            assert_eq!(secret.verify("nuggets-1", wrong), None, "{wrong}");
        }
    }
}
