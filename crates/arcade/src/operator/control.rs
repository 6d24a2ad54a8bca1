//! The socket by which the operator's commands reach a running hub. It lies in the data directory, only its owner can open it, and
//! nothing of this is reachable over the network.
//!
//! A connection carries one request and one reply, each a line of JSON.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, bail};
use netcore::HostId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    sync::Semaphore,
    time::timeout,
};
use tracing::{info, warn};

use crate::{
    games::Options,
    hub::Hub,
    operator::backup::back_up,
    room::guard::host_text,
    room::{Fate, Room},
};

/// The longest request, in bytes.
const MAX_REQUEST: u64 = 64 << 10;
/// Requests that are answered at the same time.
const MAX_COMMANDS: usize = 8;
/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a room may take to end and to begin anew. Its port may have to be waited for.
const RENEWAL: Duration = Duration::from_mins(1);

/// What the operator wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub(crate) enum Request {
    Status,
    Rooms,
    Open { options: Options, permanent: bool },
    Close { room: String, reason: String },
    Restart { room: String },
    Kick { room: String, seat: String },
    Bans,
    Ban { host: HostId },
    Unban { host: HostId },
    Drain { seconds: u64 },
    Backup { file: PathBuf },
    Reports,
    ClearReport { id: u64 },
}

/// What the hub answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    Done(Value),
    Error(String),
}

/// The socket in a data directory.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("control")
}

/// Listens for commands. The caller has locked the data directory, so a socket that is there is left from before.
/// Fails when the socket cannot be made, for example because its path is too long.
pub(crate) fn listen(data: &Path) -> anyhow::Result<UnixListener> {
    listen_after(data, |_| {})
}

// Binds the socket where nobody else can reach it, and moves it once its mode is set. `bound` is called between the two, with its first
// path, which is not longer than the last: the system has a limit on that.
fn listen_after(data: &Path, bound: impl FnOnce(&Path)) -> anyhow::Result<UnixListener> {
    let path = path(data);
    let cannot = || format!("cannot listen for commands at '{}'", path.display());
    let private = data.join(".c");
    let first = private.join("s");
    // Left from a crash.
    match fs::remove_dir_all(&private) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(cannot),
        _ => {}
    }
    DirBuilder::new().mode(0o700).create(&private).with_context(cannot)?;
    let listener = UnixListener::bind(&first).with_context(cannot)?;
    bound(&first);
    fs::set_permissions(&first, Permissions::from_mode(0o600)).with_context(cannot)?;
    fs::rename(&first, &path).with_context(cannot)?;
    fs::remove_dir(&private).with_context(cannot)?;
    Ok(listener)
}

/// Answers commands, for ever.
pub(crate) async fn serve(hub: Arc<Hub>, listener: UnixListener) {
    let places = Arc::new(Semaphore::new(MAX_COMMANDS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of files; the others give some back.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let hub = Arc::clone(&hub);
        tokio::spawn(async move {
            if let Err(error) = converse(&hub, stream).await {
                warn!("a command was not answered: {error:#}");
            }
            drop(place);
        });
    }
}

async fn converse(hub: &Arc<Hub>, stream: UnixStream) -> anyhow::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    timeout(PATIENCE, (&mut stream).take(MAX_REQUEST).read_line(&mut line))
        .await
        .context("it did not arrive in time")??;
    let reply = match serde_json::from_str(&line) {
        Ok(request) => match execute(hub, request).await {
            Ok(value) => Reply::Done(value),
            Err(error) => Reply::Error(format!("{error:#}")),
        },
        Err(error) => Reply::Error(format!("the hub does not know this command; is it of the same version? {error}")),
    };
    let mut text = serde_json::to_string(&reply)?;
    text.push('\n');
    timeout(PATIENCE, stream.write_all(text.as_bytes())).await.context("the reply was not read")??;
    Ok(())
}

async fn execute(hub: &Arc<Hub>, request: Request) -> anyhow::Result<Value> {
    Ok(match request {
        Request::Status => hub.status(),
        Request::Rooms => serde_json::to_value(hub.snapshot(true))?,
        Request::Open { options, permanent } => {
            let room = tokio::task::block_in_place(|| hub.open(&options, None, permanent))?;
            serde_json::to_value(&*room.info.borrow())?
        }
        Request::Close { room, reason } => {
            let room = find(hub, &room)?;
            tokio::task::block_in_place(|| hub.rooms.close(&room, &reason));
            Value::Null
        }
        Request::Restart { room } => {
            let room = find(hub, &room)?;
            room.stop(netcore::Leave::Over, Fate::Renewed);
            // Answered when the new room listens: what is sent to the port before may be lost with the old socket.
            let id = room.file().id.clone();
            timeout(RENEWAL, hub.rooms.replacement(&room))
                .await
                .with_context(|| format!("{id} ends, but has not begun anew within {RENEWAL:?}"))?
                .with_context(|| format!("{id} is closed and has not begun anew; the log of the hub says why"))?;
            Value::Null
        }
        Request::Kick { room, seat } => kick(&*find(hub, &room)?, &seat)?,
        Request::Bans => json!(hub.bans().list()),
        Request::Ban { host } => {
            let changed = tokio::task::block_in_place(|| hub.bans().set(host, true))?;
            info!(host = host_text(host), "a host is banned");
            for room in hub.rooms.all() {
                room.remove_host(host);
            }
            json!(changed)
        }
        Request::Unban { host } => {
            if !tokio::task::block_in_place(|| hub.bans().set(host, false))? {
                bail!("{} is not banned", host_text(host));
            }
            Value::Null
        }
        Request::Drain { seconds } => {
            hub.ask_to_end(Duration::from_secs(seconds));
            json!(hub.rooms.running())
        }
        Request::Reports => serde_json::to_value(hub.reports.list())?,
        Request::ClearReport { id } => {
            tokio::task::block_in_place(|| hub.reports.clear(id))?;
            Value::Null
        }
        Request::Backup { file } => {
            let data = hub.data.clone();
            let copy = hub.results().copy(&data).await?;
            let database = copy.is_some();
            let account = tokio::task::spawn_blocking(move || back_up(&data, copy.as_deref(), &file)).await??;
            json!({ "account": account, "database": database })
        }
    })
}

fn find(hub: &Hub, id: &str) -> anyhow::Result<Arc<Room>> {
    hub.rooms
        .get(id)
        .with_context(|| format!("there is no room '{}'; `arcade room list` shows them", id.escape_debug()))
}

// Removes a player, given by its seat or its name.
fn kick(room: &Room, seat: &str) -> anyhow::Result<Value> {
    let info = room.info.borrow();
    let mut found = info.players.iter().filter(|player| player.seat == seat);
    let mut named = info.players.iter().filter(|player| player.name == seat);
    let player = match (found.next(), named.next(), named.next()) {
        (Some(player), ..) | (None, Some(player), None) => player,
        (None, Some(_), Some(_)) => bail!("more than one player has this name; give a seat"),
        (None, None, _) => {
            let there: Vec<String> =
                info.players.iter().map(|player| format!("{} ({})", player.name.escape_debug(), player.seat)).collect();
            let there = if there.is_empty() {
                "nobody plays there".to_owned()
            } else {
                format!("there are {}", there.join(", "))
            };
            bail!("nobody has the seat '{}' in this room; {there}", seat.escape_debug());
        }
    };
    info!(room = info.id, name = player.name.escape_debug().to_string(), "a player is removed");
    room.remove(player);
    Ok(json!({ "name": player.name, "seat": player.seat }))
}

#[cfg(test)]
mod tests {
    use testkit::TempDir;

    use super::*;

    #[tokio::test]
    async fn nobody_else_can_open_the_socket_at_any_time() {
        let data = TempDir::new();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for _ in 0..2 {
            // What a crash leaves.
            fs::create_dir(data.path().join(".c")).unwrap();
            fs::write(data.path().join(".c/s"), "").unwrap();
            let listener = listen_after(data.path(), |first| {
                assert_eq!(mode(first.parent().unwrap()), 0o700);
            })
            .unwrap();
            assert_eq!(mode(&path(data.path())), 0o600);
            assert!(!data.path().join(".c").exists());
            let reached = UnixStream::connect(path(data.path()));
            assert!(tokio::join!(reached, listener.accept()).0.is_ok());
        }
    }
}
