//! The stored state of a room: what restores it after a restart, its access rules, and its owner.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use netcore::{HostId, Status};
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    bots::Seating,
    info::{Info, Row, Site, phase},
    roster::{Barred, BrowserKey},
};
use crate::games::{Counts, Options, page_state::Show};

/// Without those that resemble another letter or a digit.
const LETTERS: &[u8; 23] = b"abcdefghjkmnpqrstuvwxyz";
/// Letters of the code of a new room: 36 bits with [`LETTERS`].
pub(crate) const CODE: usize = 8;
const TOKEN: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "they do not depend on each other")]
pub(crate) struct RoomFile {
    pub(crate) id: String,
    pub(crate) options: Options,
    /// 0 until one is assigned.
    pub(crate) port: u16,
    /// A file name. `None` for a new room.
    pub(crate) journal: Option<String>,
    /// When the journal began, in seconds since the Unix epoch.
    pub(crate) begun: u64,
    /// Stays open while it is empty.
    pub(crate) permanent: bool,
    /// `None` if the hub has opened it.
    pub(crate) maker: Option<HostId>,
    pub(crate) bots: Vec<Seating>,
    /// The result of the last game.
    pub(crate) result: Option<Vec<Row>>,
    /// `None` for rooms of the house and of an earlier version.
    #[serde(default)]
    pub(crate) owner: Option<Owner>,
    /// An owner too: the one that was away when the hub first handed the room on.
    #[serde(default)]
    pub(crate) first_owner: Option<Owner>,
    /// Given by its owner.
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) access: Access,
    #[serde(default)]
    pub(crate) locked: bool,
    /// Rejected until the match is over.
    #[serde(default, rename = "removed")]
    pub(crate) barred: Barred,
    /// A match of the ladder is not restored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) ladder: bool,
    /// Other hubs know the room, so it may be resumed there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) shared: bool,
}

impl RoomFile {
    pub(crate) fn new(id: String, options: Options) -> Self {
        Self {
            id,
            options,
            port: 0,
            journal: None,
            begun: 0,
            permanent: false,
            maker: None,
            bots: vec![],
            result: None,
            owner: None,
            first_owner: None,
            name: None,
            access: Access::Public,
            locked: false,
            barred: Barred::default(),
            ladder: false,
            shared: false,
        }
    }

    /// Whether only the hub itself connects to the port. Programs of the ladder have a port of their own, and members of
    /// a class and players of a challenge are browsers.
    pub(crate) fn is_for_hub(&self) -> bool {
        self.ladder || self.access.class().is_some() || self.access.challenge().is_some()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Access {
    #[default]
    Public,
    /// Users with this code may enter. Not listed.
    Link(String),
    /// Users with the password of this authentication code may enter. Listed.
    Word(String),
    /// Members of the class with this code may enter. Not listed.
    Class(String),
    /// The browser of a daily challenge may enter, as its only person. Not listed.
    Challenge(Challenge),
}

/// An attempt at a daily challenge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Challenge {
    /// Since 1970.
    pub(crate) day: u32,
    /// The hash of the key of the browser.
    pub(crate) key: BrowserKey,
}

impl Access {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Link(_) => "link",
            Self::Word(_) => "word",
            Self::Class(_) => "class",
            Self::Challenge(_) => "challenge",
        }
    }

    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Link(code) => Some(code),
            _ => None,
        }
    }

    /// The code of the class that the room belongs to.
    pub(crate) fn class(&self) -> Option<&str> {
        match self {
            Self::Class(code) => Some(code),
            _ => None,
        }
    }

    pub(crate) const fn challenge(&self) -> Option<&Challenge> {
        match self {
            Self::Challenge(challenge) => Some(challenge),
            _ => None,
        }
    }

    /// The path of a journal with this file name in the directory of journals. Those of a class have a directory of
    /// their own, which is removed with the class.
    pub(crate) fn journal(&self, file: &str) -> String {
        self.class().map_or_else(|| file.to_owned(), |code| format!("{}/{file}", class_directory(code)))
    }

    pub(crate) const fn is_public(&self) -> bool {
        matches!(self, Self::Public)
    }

    pub(crate) const fn is_listed(&self) -> bool {
        !matches!(self, Self::Link(_) | Self::Class(_) | Self::Challenge(_))
    }
}

/// The directory of the journals of a class, in that of all journals.
pub(crate) fn class_directory(code: &str) -> String {
    format!("{CLASS_DIRECTORY}{code}")
}

pub(crate) const CLASS_DIRECTORY: &str = "class-";

pub(crate) fn draw_code(letters: usize) -> anyhow::Result<String> {
    let mut code = String::new();
    while code.len() < letters {
        let mut bytes = [0; 16];
        SysRng.try_fill_bytes(&mut bytes)?;
        // Bytes above the last multiple of the number of letters would make the first letters more frequent.
        let fair = bytes.iter().map(|&byte| usize::from(byte)).filter(|byte| *byte < 256 - 256 % LETTERS.len());
        code.extend(fair.map(|byte| char::from(LETTERS[byte % LETTERS.len()])).take(letters - code.len()));
    }
    Ok(code)
}

/// Parses a code as typed by a user or at the end of an address. Returns it in the form of [`draw_code`].
pub(crate) fn read_code(typed: &str, letters: usize) -> Option<String> {
    let code = typed.trim_matches(|letter: char| letter.is_whitespace() || letter == '/').to_ascii_lowercase();
    (code.len() == letters && code.bytes().all(|letter| LETTERS.contains(&letter))).then_some(code)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    hash: String,
    /// The host that last used the token.
    pub(crate) host: HostId,
}

impl Owner {
    /// Creates an owner at this host, and returns its token.
    pub(crate) fn draw(host: HostId) -> anyhow::Result<(String, Self)> {
        let mut token = [0; TOKEN];
        SysRng.try_fill_bytes(&mut token)?;
        let token = URL_SAFE_NO_PAD.encode(token);
        let owner = Self::with_token(&token, host);
        Ok((token, owner))
    }

    pub(crate) fn with_token(token: &str, host: HostId) -> Self {
        Self { hash: hash(token), host }
    }

    // Hashes of random tokens are compared, so the duration of the comparison reveals no secret.
    pub(crate) fn has(&self, token: &str) -> bool {
        self.hash == hash(token)
    }
}

fn hash(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}

impl Info {
    pub(crate) fn new(file: &RoomFile, counts: Counts, status: Status, site: Option<Site>) -> Self {
        Self {
            id: file.id.clone(),
            game: file.options.game(),
            title: file.options.title(),
            phase: phase(status.phase),
            taken: status.taken,
            seats: status.seats,
            // Only bots of the hub use the port of such a room.
            port: if file.is_for_hub() && !file.ladder { 0 } else { file.port },
            players: vec![],
            watchers: 0,
            result: file.result.clone(),
            r#match: None,
            permanent: file.permanent,
            name: file.name.clone(),
            visibility: file.access.name(),
            code: file.access.code().map(str::to_owned),
            owned: file.owner.is_some(),
            locked: file.locked,
            options: file.options.without_secrets(),
            counts,
            closing: None,
            bots_in: None,
            show: Show::default(),
            site,
            people: 0,
            elsewhere: 0,
        }
    }
}

#[cfg(test)]
impl Info {
    /// Default options, a match, no players.
    pub(crate) fn usual(game: crate::games::Game) -> Self {
        let id = format!("{}-1", game.name());
        let file = RoomFile { port: 2_100, ..RoomFile::new(id, Options::usual(game)) };
        let status = Status { phase: netcore::Phase::Playing, taken: 0, seats: 26 };
        Self::new(&file, Counts::of(&file.options), status, None)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn code_is_random_and_read_as_it_is_typed() {
        let mut letters = BTreeMap::<char, u32>::new();
        let codes: BTreeSet<String> = (0..1_500).map(|_| draw_code(CODE).unwrap()).collect();
        assert!(codes.len() > 1_495, "{}", codes.len());
        for code in &codes {
            assert_eq!(code.len(), 8);
            assert_eq!(read_code(&format!(" {}/ ", code.to_uppercase()), CODE).as_ref(), Some(code));
            code.chars().for_each(|letter| *letters.entry(letter).or_default() += 1);
        }
        // 522 of each are expected; six deviations are 134.
        assert!(letters.len() == 23 && letters.values().all(|count| (388..656).contains(count)), "{letters:?}");
        for wrong in ["", "abcdef", "abcdefg", "abcdefghj", "abcdefgl", "abcdefg1", "abcde\u{107}g", "../abcde"] {
            assert_eq!(read_code(wrong, CODE), None, "{wrong}");
        }
    }

    #[test]
    fn token_is_random_and_only_its_hash_is_stored() {
        let (token, owner) = Owner::draw(HostId::Other).unwrap();
        let (other, _) = Owner::draw(HostId::Other).unwrap();
        assert!(token != other && token.len() == 22, "{token}");
        assert!(owner.has(&token) && !owner.has(&other) && !owner.has(""));
        let stored = serde_json::to_string(&owner).unwrap();
        assert!(!stored.contains(&token));
        assert!(serde_json::from_str::<Owner>(&stored).unwrap().has(&token));
    }
}
