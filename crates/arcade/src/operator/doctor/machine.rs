use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{hub::resources::MAX_ROOMS, operator::wire};

/// Free bytes below which journals may soon be truncated.
const SPACE: u64 = 512 << 20;
/// Of a room with some players.
const FILES_A_ROOM: u64 = 10;
/// A slower disk delays matches.
const SLOW: Duration = Duration::from_secs(1);
/// A block of most file systems.
const PROBE: [u8; 4 << 10] = [b'x'; 4 << 10];

pub(super) fn data(path: &Path) -> Result<String, String> {
    let shown = path.display();
    if !path.exists() {
        let parent = existing(path);
        return write(&parent)
            .and_then(|_| socket(&parent))
            .map(|()| format!("'{shown}' will be created"))
            .map_err(|error| format!("'{shown}' cannot be created ({error}); choose another directory with --data"));
    }
    write(path)
        .map_err(|error| format!("'{shown}' cannot be written ({error}); make the user of the hub its owner"))?;
    socket(path).map_err(|error| {
        format!("'{shown}' cannot have the socket for commands ({error}); choose another directory with --data")
    })?;
    let mode = fs::metadata(path).map_or(0, |about| about.permissions().mode());
    if mode & 0o077 != 0 {
        return Err(format!(
            "other users can read '{shown}', which contains seeds and tokens; run `chmod 700 '{shown}'`"
        ));
    }
    Ok(format!("'{shown}' is writable and private"))
}

// Writes and syncs a test file. Returns the duration.
fn write(directory: &Path) -> io::Result<Duration> {
    let mut file = tempfile::Builder::new().prefix(".doctor-").tempfile_in(directory)?;
    let start = Instant::now();
    file.write_all(&PROBE)?;
    file.as_file().sync_all()?;
    let took = start.elapsed();
    file.close()?;
    Ok(took)
}

// Binds a socket as the hub does, and connects to it.
fn socket(directory: &Path) -> io::Result<()> {
    let private = tempfile::Builder::new().prefix(".doctor-").tempdir_in(directory)?;
    let path = private.path().join("s");
    let _listener = wire::bind(&path)?;
    wire::connect(&path).map(drop)
}

// The path itself, or its nearest existing ancestor.
fn existing(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.ancestors().find(|path| path.exists()).unwrap_or(&path).to_owned()
}

pub(super) fn disk(data: &Path) -> Result<String, String> {
    let path = existing(data);
    let left = space(&path)?;
    // The check of the data directory reports why it cannot be written.
    let Ok(took) = write(&path) else { return Ok(left) };
    let took_ms = took.as_millis();
    if took > SLOW {
        return Err(format!(
            "the disk of '{}' takes {took_ms} ms to sync a block; choose a faster one",
            path.display()
        ));
    }
    Ok(format!("{left} and syncs a block within {took_ms} ms"))
}

pub(super) fn files(limit: Option<u64>) -> Result<String, String> {
    let Some(limit) = limit else { return Ok("there is no limit on open files".into()) };
    let rooms = limit / FILES_A_ROOM;
    if rooms < 100 {
        return Err(format!(
            "only {limit} files may be open, enough for about {rooms} rooms; raise it with `ulimit -n` or LimitNOFILE="
        ));
    }
    Ok(format!("{limit} files may be open, enough for about {} rooms", rooms.min(MAX_ROOMS as u64)))
}

fn space(path: &Path) -> Result<String, String> {
    let free = match rustix::fs::statvfs(path) {
        Ok(about) => about.f_bavail.saturating_mul(about.f_frsize),
        Err(error) => return Err(format!("the file system of '{}' cannot be examined ({error})", path.display())),
    };
    let (mebibytes, path) = (free >> 20, path.display());
    if free < SPACE {
        return Err(format!(
            "'{path}' has only {mebibytes} MiB left, but journals grow with every match; free some space"
        ));
    }
    Ok(format!("'{path}' has {mebibytes} MiB left"))
}
