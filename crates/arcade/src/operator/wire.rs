//! The messages between the operator's commands and the hub.

use std::path::{Path, PathBuf};

use netcore::HostId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::data::CONTROL;
use crate::games::Options;

/// A command of the operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub(crate) enum Request {
    Status,
    Rooms,
    Open {
        options: Options,
        permanent: bool,
    },
    Close {
        room: String,
        reason: String,
    },
    Restart {
        room: String,
    },
    Kick {
        room: String,
        seat: String,
    },
    Bans,
    Ban {
        host: HostId,
    },
    Unban {
        host: HostId,
    },
    Drain {
        seconds: u64,
        /// Whether rooms move to other hubs.
        #[serde(default, rename = "move")]
        moving: bool,
    },
    Backup,
    Reports,
    ClearReport {
        id: u64,
    },
}

/// The reply of the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    Done(Value),
    Error(String),
}

/// The socket in a data directory.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join(CONTROL)
}
