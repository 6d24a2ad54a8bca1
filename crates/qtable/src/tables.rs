//! Loading and saving of table files, and the names of their contents.

use std::{io::ErrorKind, path::Path};

use blackjack::{Action, QTable, qtable::MAX_FILE};
use cmdkit::{file_name, load_file, save_file};

/// Reads a table. Fails when the file does not exist, cannot be read or is damaged; the message names the line.
pub(crate) fn load(path: &Path) -> anyhow::Result<QTable> {
    match load_file("the table", path, MAX_FILE, QTable::from_file)? {
        Some(table) => Ok(table),
        None => anyhow::bail!("no table {}; `qtable train -o FILE` creates one", file_name(path)),
    }
}

/// Reads the table that training continues; `None` if there is no such file.
/// Fails as [`load`] for a file that exists, and when it is not a regular file, which could not be replaced.
pub(crate) fn load_if_there(path: &Path) -> anyhow::Result<Option<QTable>> {
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Ok(found) if !found.is_file() => {
            anyhow::bail!("{} is not a regular file, so training cannot continue with it", file_name(path))
        }
        _ => load(path).map(Some),
    }
}

/// Writes a table atomically. If writing fails, the file is unchanged.
pub(crate) fn save(path: &Path, table: &QTable) -> anyhow::Result<()> {
    save_file("the table", path, &table.to_file())
}

/// The number of decisions that a table has counted.
pub(crate) fn decisions(table: &QTable) -> u64 {
    table.visited().fold(0, |sum, (_, entry)| sum.saturating_add(entry.visits()))
}

/// The name of an upcard of this value, 2 to 11.
pub(crate) fn upcard_name(value: u8) -> String {
    if value == blackjack::cards::ACE { "A".to_owned() } else { value.to_string() }
}

/// The name of an action.
pub(crate) const fn word(action: Action) -> &'static str {
    match action {
        Action::Hit => "hit",
        Action::Stand => "stand",
    }
}
