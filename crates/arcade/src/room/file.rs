//! What a room is, on disk.

use netcore::HostId;
use serde::{Deserialize, Serialize};

use super::{bots::Seating, info::Row};
use crate::games::Options;

/// A room as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
        }
    }
}
