//! The Unix socket for the operator's commands; only its owner and root can open it. A connection carries one request
//! and one reply, each a line of JSON, and then the data of a backup.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    os::unix::net::UnixStream as BlockingStream,
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    sync::Semaphore,
    time::timeout,
};
use tracing::{info, warn};

use crate::{
    hub::Hub,
    operator::{
        backup::back_up,
        transfer::Sender,
        wire::{Reply, Request, bind, path},
    },
    room::{Room, RoomOutcome, bans::host_text, info::Player},
};

/// In bytes.
const MAX_REQUEST: u64 = 64 << 10;
/// Concurrent requests.
const MAX_COMMANDS: usize = 8;
/// Timeout of a request, and of its reply.
const PATIENCE: Duration = Duration::from_secs(10);
/// Write timeout of a backup.
const STALL: Duration = Duration::from_mins(1);
/// Characters of a request in the log.
const MAX_LOGGED: usize = 200;
const ROOT: u32 = 0;
/// A restarted room may have to wait for its port.
const RENEWAL: Duration = Duration::from_mins(1);

/// The data directory is locked, so an existing socket is left from an earlier process.
pub(crate) fn listen(data: &Path) -> anyhow::Result<UnixListener> {
    listen_after(data, |_| {})
}

// Binds the socket in a private directory, and moves it once its mode is set. `bound` is called in between.
fn listen_after(data: &Path, bound: impl FnOnce(&Path)) -> anyhow::Result<UnixListener> {
    let path = path(data);
    let cannot = || format!("cannot receive commands at '{}'", path.display());
    let private = data.join(".c");
    let first = private.join("s");
    // Left from a crash.
    match fs::remove_dir_all(&private) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(cannot),
        _ => {}
    }
    DirBuilder::new().mode(0o700).create(&private).with_context(cannot)?;
    let listener = bind(&first).with_context(cannot)?;
    bound(&first);
    fs::set_permissions(&first, Permissions::from_mode(0o600)).with_context(cannot)?;
    fs::rename(&first, &path).with_context(cannot)?;
    fs::remove_dir(&private).with_context(cannot)?;
    listener.set_nonblocking(true)?;
    Ok(UnixListener::from_std(listener)?)
}

pub(crate) async fn serve(hub: Arc<Hub>, listener: UnixListener) {
    let places = Arc::new(Semaphore::new(MAX_COMMANDS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // The process is out of file descriptors; other tasks return some.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let hub = Arc::clone(&hub);
        tokio::spawn(async move {
            if let Err(error) = converse(&hub, stream).await {
                warn!("cannot respond to a command: {error:#}");
            }
            drop(place);
        });
    }
}

async fn converse(hub: &Arc<Hub>, stream: UnixStream) -> anyhow::Result<()> {
    // A second check, besides the mode of the socket.
    let uid = stream.peer_cred().context("the system does not identify the caller")?.uid();
    let own = rustix::process::geteuid().as_raw();
    if uid != own && uid != ROOT {
        bail!("the user {uid} may not control this hub; only {own} and root may");
    }
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    timeout(PATIENCE, (&mut stream).take(MAX_REQUEST).read_line(&mut line))
        .await
        .context("it did not arrive in time")??;
    let request = serde_json::from_str(&line);
    let ends =
        if let Ok(Request::Drain { seconds, .. }) = &request { Some(Duration::from_secs(*seconds)) } else { None };
    let result = match request {
        Ok(Request::Backup) => return send_backup(hub, stream.into_inner(), uid).await,
        Ok(request) => execute(hub, request).await,
        Err(error) => Err(anyhow::anyhow!("the hub does not support this command; is it of the same version? {error}")),
    };
    note(uid, line.trim_end(), result.as_ref().err());
    let ends = ends.filter(|_| result.is_ok());
    let reply = result.map_or_else(|error| Reply::Error(format!("{error:#}")), Reply::Done);
    let replied = reply_with(&mut stream, &reply).await;
    // After the reply, since a hub without matches ends immediately.
    if let Some(patience) = ends {
        hub.request_shutdown(patience);
    }
    replied
}

async fn reply_with(stream: &mut BufReader<UnixStream>, reply: &Reply) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(reply)?;
    text.push('\n');
    timeout(PATIENCE, stream.write_all(text.as_bytes())).await.context("cannot send the reply")??;
    Ok(())
}

fn note(uid: u32, command: &str, error: Option<&anyhow::Error>) {
    let command: String = command.chars().take(MAX_LOGGED).filter(|letter| !letter.is_control()).collect();
    match error {
        None => info!(uid, command, "executed a command of the host"),
        Some(error) => info!(uid, command, error = format!("{error:#}"), "a command of the host failed"),
    }
}

// The requesting process writes the file, because it may have permissions that the hub lacks.
async fn send_backup(hub: &Arc<Hub>, stream: UnixStream, uid: u32) -> anyhow::Result<()> {
    let data = hub.data.clone();
    let copy = hub.results().copy(&data).await;
    let mut stream = BufReader::new(stream);
    let copy = match copy {
        Ok(copy) => copy,
        Err(error) => {
            note(uid, "backup", Some(&error));
            return reply_with(&mut stream, &Reply::Error(format!("{error:#}"))).await;
        }
    };
    reply_with(&mut stream, &Reply::Done(Value::Null)).await?;
    let stream: BlockingStream = stream.into_inner().into_std()?;
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(STALL))?;
    let sent = tokio::task::spawn_blocking(move || {
        let mut sender = Sender::new(&stream);
        let account = back_up(&data, copy.as_deref(), &mut sender);
        let failed = account.as_ref().err().map(|error| format!("{error:#}"));
        let database = copy.is_some();
        sender.finish(account.map(|account| json!({ "account": account, "database": database })))?;
        failed.map_or(Ok(()), |why| Err(anyhow::Error::msg(why)))
    });
    let sent = sent.await?;
    note(uid, "backup", sent.as_ref().err());
    Ok(())
}

async fn execute(hub: &Arc<Hub>, request: Request) -> anyhow::Result<Value> {
    Ok(match request {
        Request::Status => hub.status(),
        Request::Rooms => rooms(hub)?,
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
            room.stop(netcore::Leave::Over, RoomOutcome::Renewed);
            // Until the new room listens, data may be lost with the old socket.
            let id = room.file().id.clone();
            timeout(RENEWAL, hub.rooms.replacement(&room))
                .await
                .with_context(|| format!("{id} has ended, but has not restarted within {RENEWAL:?}"))?
                .with_context(|| format!("{id} is closed and has not restarted; see the log of the hub"))?;
            Value::Null
        }
        Request::Kick { room, seat } => kick(&*find(hub, &room)?, &seat)?,
        Request::Bans => json!(hub.bans().list()),
        Request::Ban { host } => {
            let changed = tokio::task::block_in_place(|| hub.bans().set(host, true))?;
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
        Request::Drain { moving: false, .. } => json!({ "running": hub.rooms.running() }),
        Request::Drain { .. } => {
            let moved = hub.move_rooms().await?;
            json!({ "running": hub.rooms.running(), "moved": moved })
        }
        Request::Class { name, players } => {
            let address = hub.address().context("the page is not open yet")?;
            let (class, token) = tokio::task::block_in_place(|| hub.open_class(&name, players))?;
            json!({
                "teacher": address.for_friends(None, false, &format!("class#{}.{token}", class.code)),
                "join": address.for_friends(None, false, &format!("j/{}", class.code)),
            })
        }
        Request::EndClass { code } => {
            let Some(class) = hub.classes.get(&code) else {
                bail!("unknown class \"{}\": open are {}", code.escape_debug(), hub.classes.names().join(", "));
            };
            hub.end_class(&class).await?;
            Value::Null
        }
        Request::Reports => serde_json::to_value(hub.reports.list())?,
        Request::ClearReport { id } => {
            tokio::task::block_in_place(|| hub.reports.clear(id))?;
            Value::Null
        }
        Request::Backup => bail!("a backup is not a reply"),
    })
}

fn find(hub: &Hub, id: &str) -> anyhow::Result<Arc<Room>> {
    if let Some(node) = hub.cluster().and_then(|cluster| cluster.fleet.owner_of(id)) {
        bail!("{id} is a room of the hub '{}'; run this command there", node.name);
    }
    hub.rooms.get(id).with_context(|| format!("no room '{}'; `arcade room list` shows all rooms", id.escape_debug()))
}

// `seat` is a seat or a name.
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
                "it has no players".to_owned()
            } else {
                format!("its players are {}", there.join(", "))
            };
            bail!("no player has the seat '{}' in this room; {there}", seat.escape_debug());
        }
    };
    room.remove(player);
    Ok(json!({ "name": player.name, "seat": player.seat }))
}

/// The lobby, with the address of each player as bans take it; null if unknown.
fn rooms(hub: &Hub) -> serde_json::Result<Value> {
    let mut lobby = serde_json::to_value(hub.snapshot(true))?;
    for listed in lobby["rooms"].as_array_mut().into_iter().flatten() {
        if let Some(room) = listed["id"].as_str().and_then(|id| hub.rooms.get(id)) {
            *listed = with_addresses(&room)?;
        }
    }
    Ok(lobby)
}

fn with_addresses(room: &Room) -> serde_json::Result<Value> {
    let info = room.info.borrow().clone();
    let mut value = serde_json::to_value(&info)?;
    let address = |player: &Player| room.roster.host_of(player.peer, player.address.as_deref()).map(host_text);
    let addresses = info.players.iter().filter(|player| !player.bot).map(|player| json!(address(player)));
    let shown =
        value["players"].as_array_mut().into_iter().flatten().filter(|player| player["bot"] == Value::Bool(false));
    for (player, address) in shown.zip(addresses) {
        player["address"] = address;
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use testkit::TempDir;

    use super::*;

    #[tokio::test]
    async fn socket_is_never_open_to_other_users() {
        let data = TempDir::new();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for _ in 0..2 {
            // Left from a crash.
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
