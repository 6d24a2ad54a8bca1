use std::{
    fs::File,
    io,
    os::{
        fd::AsRawFd as _,
        unix::net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
};

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
    Class {
        name: String,
        players: u32,
    },
    EndClass {
        code: String,
    },
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

/// The longest path of a Unix socket in bytes.
const MAX_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

pub(super) fn bind(path: &Path) -> io::Result<UnixListener> {
    with_short(path, |path| UnixListener::bind(path))
}

pub(super) fn connect(path: &Path) -> io::Result<UnixStream> {
    with_short(path, |path| UnixStream::connect(path))
}

// Replaces a long path by one through the open directory of the socket.
fn with_short<T>(path: &Path, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return work(path) };
    if path.as_os_str().len() <= MAX_PATH {
        return work(path);
    }
    if !cfg!(target_os = "linux") {
        let text = format!("the path of a socket has at most {MAX_PATH} bytes; choose a shorter --data");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let directory = File::open(parent)?;
    work(&PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name))
}
