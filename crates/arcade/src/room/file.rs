//! What a room is, on disk.

use std::collections::BTreeSet;

use netcore::HostId;
use serde::{Deserialize, Serialize};

use super::{access::Access, bots::Seating, info::Row, owner::Owner};
use crate::games::Options;

/// A room as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "they do not depend on each other")]
pub(crate) struct RoomFile {
    pub(crate) id: String,
    pub(crate) options: Options,
    /// The port for native clients; 0 for a room that has none yet.
    pub(crate) port: u16,
    /// The file name of its journal in the directory of journals; none for a room that begins.
    pub(crate) journal: Option<String>,
    /// When the journal began, in seconds since the Unix epoch.
    pub(crate) begun: u64,
    /// Whether it stays open though nobody is in it.
    pub(crate) permanent: bool,
    /// Who opened it, unless the hub did.
    pub(crate) maker: Option<HostId>,
    pub(crate) bots: Vec<Seating>,
    /// The result of the last game.
    pub(crate) result: Option<Vec<Row>>,
    /// Who owns it. A room of the house has no owner, nor has one of an earlier version.
    #[serde(default)]
    pub(crate) owner: Option<Owner>,
    /// What its owner calls it.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Who may enter.
    #[serde(default)]
    pub(crate) access: Access,
    /// Whether it takes no new players.
    #[serde(default)]
    pub(crate) locked: bool,
    /// Hosts, as their pseudonyms have them, that are not let in until the match is over.
    #[serde(default)]
    pub(crate) barred: BTreeSet<HostId>,
    /// Whether it is a match of the ladder, which does not come back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) ladder: bool,
    /// Whether other hubs of the arcade know it, so that it may go on there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) shared: bool,
}

impl RoomFile {
    /// A room that begins.
    pub(crate) const fn new(id: String, options: Options) -> Self {
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
            name: None,
            access: Access::Public,
            locked: false,
            barred: BTreeSet::new(),
            ladder: false,
            shared: false,
        }
    }
}
