use std::{io::ErrorKind, path::Path};

use blackjack::{Action, QTable, qtable::MAX_FILE};
use cmdkit::{file_name, load_file, save_file};

/// Fails if the file is missing, unreadable or damaged. The message names the line.
pub(crate) fn load(path: &Path) -> anyhow::Result<QTable> {
    match load_file("the table", path, MAX_FILE, QTable::from_file)? {
        Some(table) => Ok(table),
        None => anyhow::bail!("no table {}; `qtable train -o FILE` creates one", file_name(path)),
    }
}

/// `None` if the file is missing. Fails as [`load`], and if the file is not regular, which could not be replaced.
pub(crate) fn load_if_there(path: &Path) -> anyhow::Result<Option<QTable>> {
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Ok(found) if !found.is_file() => {
            anyhow::bail!("{} is not a regular file, so training cannot continue with it", file_name(path))
        }
        _ => load(path).map(Some),
    }
}

/// Atomic: an error leaves the file unchanged.
pub(crate) fn save(path: &Path, table: &QTable) -> anyhow::Result<()> {
    save_file("the table", path, &table.to_file())
}

pub(crate) fn decisions(table: &QTable) -> u64 {
    table.visited().fold(0, |sum, (_, entry)| sum.saturating_add(entry.visits()))
}

/// For a value from 2 to 11.
pub(crate) fn upcard_name(value: u8) -> String {
    if value == blackjack::cards::ACE { "A".to_owned() } else { value.to_string() }
}

pub(crate) const fn word(action: Action) -> &'static str {
    match action {
        Action::Hit => "hit",
        Action::Stand => "stand",
    }
}
