use std::path::{Path, PathBuf};

use netcore::HostId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::data::CONTROL;
use crate::games::Options;

/// Names of players must not control the terminal.
pub(super) fn pretty(value: &Value) -> String {
    cmdkit::printable_json(&serde_json::to_string_pretty(value).unwrap_or_default()).into_owned() + "\n"
}

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
        #[serde(default, rename = "move")]
        moving: bool,
    },
    Backup,
    Reports,
    ClearReport {
        id: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    Done(Value),
    Error(String),
}

pub(crate) fn path(data: &Path) -> PathBuf {
    data.join(CONTROL)
}
