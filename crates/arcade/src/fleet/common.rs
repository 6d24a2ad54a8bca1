//! The common secrets of all nodes, drawn by the first node. Each node also stores them in its data directory, so they
//! survive a loss of the broker's data.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use anyhow::Context as _;
use cmdkit::{NewFile, replace_file};
use mesh::{Directory, Entry, ErrorKind, Key, MeshError, Name, Value, Written};
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::seal::{self, RelayKey};

const FILE: &str = "fleet";
/// The entry with the common secret for tokens.
const SECRET: &str = "secret";
/// Former secrets that a data directory stores.
const MAX_FORMER: usize = 8;

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Secrets {
    // Secrets of one arcade are not used for another.
    arcade: Name,
    pub(super) secret: String,
    /// The key of signatures between nodes.
    pub(super) relay: String,
    /// Tokens derived from these stay valid.
    #[serde(default)]
    pub(super) former: Vec<String>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    /// The first node uses the secrets of its data directory, or else `own` and a new key.
    pub(super) async fn establish(
        directory: &dyn Directory,
        (data, arcade): (&Path, &Name),
        own: &str,
    ) -> anyhow::Result<Self> {
        let before = read(data)?;
        let usable = before.as_ref().filter(|before| before.arcade == *arcade);
        let secret = || Ok(usable.map_or(own, |before| &before.secret).to_owned());
        let relay = || usable.map_or_else(RelayKey::draw, |before| Ok(before.relay.clone()));
        let secret = establish(directory, SECRET, secret).await?;
        let relay = establish(directory, seal::KEY, relay).await?;
        let mut former = before.as_ref().map_or(vec![], |before| before.former.clone());
        former.extend(before.as_ref().map(|before| before.secret.clone()));
        former.retain(|former| *former != secret);
        former.drain(..former.len().saturating_sub(MAX_FORMER));
        let secrets = Self { arcade: arcade.clone(), secret, relay, former };
        let bytes = serde_json::to_vec(&secrets)?;
        if before.is_none_or(|before| serde_json::to_vec(&before).ok().as_ref() != Some(&bytes)) {
            write(data, &bytes)?;
        }
        Ok(secrets)
    }

    /// Restores missing entries, including those for nodes of earlier versions. Returns the key of signatures between
    /// nodes.
    pub(super) async fn keep(&self, directory: &dyn Directory) -> Result<Option<RelayKey>, MeshError> {
        let secret = establish(directory, SECRET, || Ok(self.secret.clone())).await?;
        if secret != self.secret {
            warn!("the other hubs of this arcade have another secret; restart this hub");
        }
        let relay = establish(directory, seal::KEY, || Ok(self.relay.clone())).await?;
        Ok(RelayKey::read(&relay))
    }

    /// Whether an entry for nodes of earlier versions has our secret. Also `true` for other names.
    pub(super) fn agrees(&self, name: &Name, value: &Value) -> bool {
        let own = match name.as_str() {
            SECRET => &self.secret,
            seal::KEY => &self.relay,
            _ => return true,
        };
        matches!(value, Value::Common(text) if text == own)
    }
}

// Returns the lasting value, which is drawn if missing. Nodes of earlier versions read an expiring entry, which is
// written again.
async fn establish(
    directory: &dyn Directory,
    name: &str,
    draw: impl Fn() -> anyhow::Result<String>,
) -> Result<String, MeshError> {
    let name: Name = name.parse().map_err(|error| unusable(name, error, "report this bug"))?;
    let key = Key::Lasting(name.clone());
    let value = if let Some(entry) = directory.entry(&key).await? {
        text(&name, &entry)?
    } else {
        let value = Value::Common(agree(directory, &name, draw).await?);
        match directory.write(&key, Some(&value), None).await? {
            // Another node was faster.
            Written::Conflict(Some(entry)) => text(&name, &entry)?,
            Written::Stored(_) | Written::Conflict(None) => text_of(&name, &value)?,
        }
    };
    show(directory, &name, &value).await?;
    Ok(value)
}

// The value of the expiring entry, drawn if missing, so that nodes of earlier versions use the same.
async fn agree(
    directory: &dyn Directory,
    name: &Name,
    draw: impl Fn() -> anyhow::Result<String>,
) -> Result<String, MeshError> {
    let key = Key::Common(name.clone());
    if let Some(entry) = directory.entry(&key).await? {
        return text(name, &entry);
    }
    let drawn =
        draw().map_err(|error| unusable(name.as_str(), error, "check why the system provides no random numbers"))?;
    match directory.write(&key, Some(&Value::Common(drawn.clone())), None).await? {
        Written::Conflict(Some(entry)) => text(name, &entry),
        Written::Stored(_) | Written::Conflict(None) => Ok(drawn),
    }
}

// Renews the expiring entry for nodes of earlier versions.
async fn show(directory: &dyn Directory, name: &Name, value: &str) -> Result<(), MeshError> {
    let key = Key::Common(name.clone());
    let mut there = directory.entry(&key).await?;
    loop {
        let expected = there.map(|entry| entry.revision);
        match directory.write(&key, Some(&Value::Common(value.to_owned())), expected).await? {
            Written::Stored(_) => return Ok(()),
            Written::Conflict(entry) => there = entry,
        }
    }
}

fn text(name: &Name, entry: &Entry) -> Result<String, MeshError> {
    text_of(name, &entry.value)
}

fn text_of(name: &Name, value: &Value) -> Result<String, MeshError> {
    match value {
        Value::Common(text) => Ok(text.clone()),
        _ => Err(unusable(name.as_str(), "it was written by a later version of arcade", "upgrade this node")),
    }
}

fn unusable(name: &str, why: impl std::fmt::Display, advice: &str) -> MeshError {
    MeshError::new(ErrorKind::Setup, format!("use what nodes share as '{name}'"), "the directory", why, advice)
}

fn read(data: &Path) -> anyhow::Result<Option<Secrets>> {
    let path = data.join(FILE);
    match fs::read(&path) {
        Ok(bytes) => {
            let read = serde_json::from_slice(&bytes);
            Ok(Some(read.with_context(|| format!("'{}' is damaged; remove it", path.display()))?))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read '{}'", path.display())),
    }
}

fn write(data: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let path = data.join(FILE);
    // Readable by the owner only, even after a replacement.
    let created = NewFile::create(&path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.finish()
    });
    let written = match created {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => replace_file(&path, bytes),
        created => created,
    };
    written.with_context(|| format!("cannot write '{}'", path.display()))
}

const IDENTITY: &str = "identity";

/// Drawn on first use.
pub(super) fn open_identity(data: &Path) -> anyhow::Result<Name> {
    let path = data.join(IDENTITY);
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().with_context(|| format!("'{}' is damaged; remove it", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut bytes = [0; 16];
            SysRng.try_fill_bytes(&mut bytes)?;
            let drawn: Name = format!("{:032x}", u128::from_be_bytes(bytes)).parse()?;
            replace_file(&path, drawn.as_str().as_bytes())
                .with_context(|| format!("cannot write '{}'", path.display()))?;
            Ok(drawn)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read '{}'", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        path::PathBuf,
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering},
        },
    };

    use mesh::{ENTRY_AGE_SECONDS, Local};
    use netcore::Time;
    use testkit::TempDir;

    use super::*;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    async fn start(mesh: &Local, data: &Path, own: &str) -> Secrets {
        Secrets::establish(mesh, (data, &name("arcade")), own).await.unwrap()
    }

    /// The clock is advanced manually.
    fn mesh() -> (Local, Arc<AtomicU64>) {
        let clock = Arc::new(AtomicU64::new(0));
        let seconds = Arc::clone(&clock);
        (Local::new(move || Time::from_nanos(seconds.load(Ordering::Relaxed) * 1_000_000_000)), clock)
    }

    #[tokio::test]
    async fn secret_outlives_an_arcade_that_is_down_for_more_than_a_day() {
        let ((mesh, clock), ann, bob) = (mesh(), TempDir::new(), TempDir::new());
        let first = start(&mesh, ann.path(), "ann").await;
        assert_eq!(first.secret, "ann", "that of the first node becomes that of all");
        clock.fetch_add(ENTRY_AGE_SECONDS + 1, Ordering::Relaxed);
        let second = start(&mesh, bob.path(), "bob").await;
        assert_eq!((&second.secret, &second.relay), (&first.secret, &first.relay));
        assert!(second.former.is_empty());
    }

    #[tokio::test]
    async fn secret_outlives_a_broker_that_has_lost_everything() {
        let (ann, bob) = (TempDir::new(), TempDir::new());
        let (before, _) = mesh();
        let first = start(&before, ann.path(), "ann").await;
        start(&before, bob.path(), "bob").await;
        let (after, _) = mesh();
        let again = start(&after, bob.path(), "bob").await;
        assert_eq!((again.secret, again.relay), (first.secret, first.relay));
    }

    #[tokio::test]
    async fn nodes_that_start_at_the_same_time_agree() {
        let (mesh, data) = (mesh().0, [TempDir::new(), TempDir::new()]);
        let (ann, bob) = tokio::join!(start(&mesh, data[0].path(), "ann"), start(&mesh, data[1].path(), "bob"));
        assert_eq!((&ann.secret, &ann.relay), (&bob.secret, &bob.relay));
    }

    #[tokio::test]
    async fn node_from_another_arcade_takes_its_secret_and_remembers_its_own() {
        let ((one, _), (other, _), data, first) = (mesh(), mesh(), TempDir::new(), TempDir::new());
        let before = start(&one, data.path(), "cid").await;
        start(&other, first.path(), "ann").await;
        let joined = start(&other, data.path(), "cid").await;
        assert_eq!((&*joined.secret, &joined.former), ("ann", &vec![before.secret]));
        // Another start does not change that, and an empty arcade with another name does not adopt this secret.
        assert_eq!(start(&other, data.path(), "cid").await.former, ["cid"]);
        let (empty, _) = mesh();
        let third = Secrets::establish(&empty, (data.path(), &name("third")), "own").await.unwrap();
        assert_eq!((&*third.secret, third.former.len()), ("own", 2));
        assert_ne!(third.relay, joined.relay);
    }

    #[tokio::test]
    async fn nodes_of_the_previous_version_have_the_same_secret() {
        let ((mesh, clock), data) = (mesh(), TempDir::new());
        let entry = async || mesh.entry(&Key::Common(name(SECRET))).await.unwrap();
        // A node of the previous version was first.
        let of_former = Value::Common("former".into());
        mesh.write(&Key::Common(name(SECRET)), Some(&of_former), None).await.unwrap();
        let secrets = start(&mesh, data.path(), "ann").await;
        assert_eq!(secrets.secret, "former");
        clock.fetch_add(ENTRY_AGE_SECONDS + 1, Ordering::Relaxed);
        assert_eq!(entry().await, None);
        // A node of the previous version starts, and draws another secret.
        let drawn = Value::Common("drawn".into());
        mesh.write(&Key::Common(name(SECRET)), Some(&drawn), None).await.unwrap();
        assert!(!secrets.agrees(&name(SECRET), &drawn) && secrets.agrees(&name("other"), &drawn));
        secrets.keep(&mesh).await.unwrap();
        assert_eq!(entry().await.unwrap().value, of_former);
        // A value of a later version is left unchanged.
        let lasting = Key::Lasting(name(SECRET));
        let there = mesh.entry(&lasting).await.unwrap().unwrap();
        mesh.write(&lasting, Some(&Value::Unknown), Some(there.revision)).await.unwrap();
        assert!(secrets.keep(&mesh).await.unwrap_err().to_string().contains("upgrade this node"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn only_its_owner_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt as _;

        let (data, path) = (TempDir::new(), |data: &TempDir| -> PathBuf { data.path().join(FILE) });
        let mode = || fs::metadata(path(&data)).unwrap().permissions().mode() & 0o777;
        start(&mesh().0, data.path(), "ann").await;
        assert_eq!(mode(), 0o600);
        let (other, first) = (mesh().0, TempDir::new());
        start(&other, first.path(), "bob").await;
        start(&other, data.path(), "ann").await;
        assert_eq!(mode(), 0o600, "after it was replaced");
        fs::write(path(&data), "{").unwrap();
        let error = Secrets::establish(&other, (data.path(), &name("arcade")), "ann").await.unwrap_err();
        assert!(error.to_string().contains("is damaged; remove it"));
    }

    #[test]
    fn data_directory_keeps_its_identity() {
        let (data, other) = (TempDir::new(), TempDir::new());
        let first = open_identity(data.path()).unwrap();
        assert_eq!(open_identity(data.path()).unwrap(), first);
        assert_ne!(open_identity(other.path()).unwrap(), first);
        fs::write(data.path().join(IDENTITY), "not a name").unwrap();
        assert!(open_identity(data.path()).unwrap_err().to_string().contains("is damaged; remove it"));
    }
}
