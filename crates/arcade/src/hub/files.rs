//! The files of rooms, which are replaced as a whole. An unreadable file stays in place and is logged: one damaged
//! room must not prevent the restoration of the others.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use anyhow::{Context as _, bail};
use cmdkit::{file_name, read_file, replace_file};
use tracing::warn;

use crate::{
    fleet::copies::Copies,
    room::{
        Room,
        file::{CODE, RoomFile, read_code},
    },
};

/// In bytes.
const MAX_FILE: usize = 64 << 10;
/// The file with the number of the next room.
const NEXT: &str = "next";
const EXTENSION: &str = "json";

#[derive(Debug)]
pub(crate) struct RoomFiles {
    directory: PathBuf,
    next: AtomicU32,
    // Locked while a room is written.
    order: Mutex<()>,
    copies: Option<Arc<Copies>>,
}

impl RoomFiles {
    pub(crate) fn open(directory: PathBuf) -> anyhow::Result<(Self, Vec<RoomFile>)> {
        make_private(&directory)?;
        let mut rooms = vec![];
        // Includes the numbers of damaged files.
        let mut next = number(&directory.join(NEXT));
        let entries = fs::read_dir(&directory).with_context(|| format!("cannot read '{}'", directory.display()))?;
        for entry in entries {
            let path = entry?.path();
            let Some(id) = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| has_extension(&path)) else {
                continue;
            };
            next = next.max(number_of(id).unwrap_or(0).saturating_add(1));
            match read(&path, id) {
                Ok(file) => rooms.push(file),
                Err(error) => warn!("cannot restore the room in {}: {error:#}", file_name(&path)),
            }
        }
        rooms.sort_by_key(|room| number_of(&room.id));
        Ok((Self { directory, next: AtomicU32::new(next.max(1)), order: Mutex::default(), copies: None }, rooms))
    }

    /// The number is above those of other nodes.
    pub(crate) fn name_above(&self, game: &str, highest: u32) -> anyhow::Result<String> {
        self.next.fetch_max(highest.saturating_add(1), Ordering::Relaxed);
        self.name(game)
    }

    /// No name is assigned twice, even after a restart.
    pub(crate) fn name(&self, game: &str) -> anyhow::Result<String> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.directory.join(NEXT);
        // Two openings may write their numbers in reverse order, so the files of rooms count as well.
        replace_file(&path, number.saturating_add(1).to_string().as_bytes())
            .with_context(|| format!("cannot write '{}'", path.display()))?;
        Ok(format!("{game}-{number}"))
    }

    /// Waits for the disk.
    pub(crate) fn save(&self, room: &Room) -> anyhow::Result<()> {
        // The later of two changes is written last.
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let file = room.file().clone();
        self.write(&file)?;
        self.copy(&file)
    }

    #[must_use]
    pub(super) fn with_copies(mut self, copies: Option<Arc<Copies>>) -> Self {
        self.copies = copies;
        self
    }

    pub(super) fn copy(&self, file: &RoomFile) -> anyhow::Result<()> {
        // A ladder match is not restored, here or elsewhere.
        if let Some(copies) = self.copies.as_ref().filter(|_| !file.ladder) {
            copies.note(&file.id, serde_json::to_vec(file)?, file.maker);
        }
        Ok(())
    }

    fn write(&self, file: &RoomFile) -> anyhow::Result<()> {
        let path = self.path(&file.id);
        let bytes = serde_json::to_vec(file)?;
        replace_file(&path, &bytes).with_context(|| format!("cannot write '{}'", path.display()))
    }

    pub(crate) fn journals(&self) -> io::Result<Mentioned> {
        let mut mentioned = Mentioned::default();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if !has_extension(&path) {
                continue;
            }
            let bytes = match read_file(&path, MAX_FILE) {
                // The room has just been closed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                bytes => bytes?,
            };
            match serde_json::from_slice::<RoomFile>(&bytes) {
                Ok(file) => mentioned.names.extend(file.journal),
                Err(_) => mentioned.damaged.push(String::from_utf8_lossy(&bytes).into_owned()),
            }
        }
        Ok(mentioned)
    }

    pub(crate) fn remove(&self, id: &str) {
        let path = self.path(id);
        if let Err(error) = remove_if_there(&path) {
            warn!(%error, "cannot remove the file of the room in {}, so the next start will restore \
                it", file_name(&path));
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.{EXTENSION}"))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Mentioned {
    names: HashSet<String>,
    // Texts of files that the operator may want to repair.
    damaged: Vec<String>,
}

impl Mentioned {
    pub(crate) fn has(&self, file: &str) -> bool {
        self.names.contains(file) || self.damaged.iter().any(|text| text.contains(file))
    }
}

pub(crate) fn make_private(directory: &Path) -> anyhow::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).with_context(|| format!("cannot create the directory '{}'", directory.display()))
}

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EXTENSION)
}

fn read(path: &Path, id: &str) -> anyhow::Result<RoomFile> {
    let bytes = read_file(path, MAX_FILE)?;
    if bytes.len() > MAX_FILE {
        bail!("it is larger than {MAX_FILE} bytes");
    }
    parse(&bytes, id)
}

pub(super) fn parse(bytes: &[u8], id: &str) -> anyhow::Result<RoomFile> {
    let file: RoomFile = serde_json::from_slice(bytes)?;
    let named = file.id == id && number_of(id).is_some() && id.starts_with(file.options.game().name());
    // A name in the directory of the room, not a path to another one.
    let inside = |name: &String| {
        let last = Path::new(name).file_name().and_then(|last| last.to_str());
        last.is_some_and(|last| file.access.journal(last) == *name)
    };
    let is_code = |code: &str| read_code(code, CODE).as_deref() == Some(code);
    let named = named && file.access.class().is_none_or(is_code);
    if !named || !file.journal.iter().all(inside) {
        bail!("it is not the file of that room");
    }
    Ok(file)
}

// As in `nuggets-7`.
fn number_of(id: &str) -> Option<u32> {
    let (_, number) = id.rsplit_once('-')?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())?
}

fn number(path: &Path) -> u32 {
    let text = read_file(path, 16).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netcore::HostId;

    use crate::games::{Game, Options};

    #[test]
    fn rooms_are_restored_and_no_number_is_reused() {
        let directory = testkit::TempDir::new();
        let path = directory.path().join("rooms");
        let (files, none) = RoomFiles::open(path.clone()).unwrap();
        assert_eq!(none, []);
        assert_eq!(files.name("nuggets").unwrap(), "nuggets-1");
        let mut file = RoomFile::new(files.name("robots").unwrap(), Options::usual(Game::Robots));
        file.journal = Some("robots-x.journal".into());
        file.maker = Some(HostId::V4([10, 0, 0, 1]));
        files.write(&file).unwrap();
        let (files, rooms) = RoomFiles::open(path.clone()).unwrap();
        assert_eq!(rooms, [file]);
        files.remove("robots-2");
        let (files, rooms) = RoomFiles::open(path).unwrap();
        assert_eq!((rooms, &*files.name("robots").unwrap()), (vec![], "robots-3"));
        assert_eq!(files.name_above("robots", 8).unwrap(), "robots-9");
        assert_eq!(files.name_above("robots", 7).unwrap(), "robots-10");
    }

    #[test]
    fn damaged_and_foreign_files_are_ignored() {
        let directory = testkit::TempDir::new();
        let path = directory.path().to_owned();
        let (files, _) = RoomFiles::open(path.clone()).unwrap();
        let mut file = RoomFile::new("robots-5".into(), Options::usual(Game::Robots));
        file.journal = Some("../secret".into());
        files.write(&file).unwrap();
        fs::write(path.join("nuggets-7.json"), b"{").unwrap();
        fs::write(path.join("nuggets-8.json"), vec![b' '; MAX_FILE + 1]).unwrap();
        file.journal = None;
        fs::write(path.join("robots-9.json"), serde_json::to_vec(&file).unwrap()).unwrap();
        fs::write(path.join("readme.json"), b"[]").unwrap();
        fs::write(path.join(NEXT), b"-3").unwrap();
        let (files, rooms) = RoomFiles::open(path.clone()).unwrap();
        assert_eq!((rooms, &*files.name("robots").unwrap()), (vec![], "robots-10"));
        assert!(path.join("nuggets-7.json").exists());
    }
}
