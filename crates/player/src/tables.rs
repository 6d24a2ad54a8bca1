//! Table files.

use std::path::Path;

use anyhow::anyhow;
use blackjack::{QTable, StateSpace, qtable::MAX_FILE};
use cmdkit::{UsageError, file_name, load_file, replace_file};

/// The default table file.
pub(crate) const USUAL: &str = "qtable";

/// Reads a table; none if there is no such file.
/// Fails when the file cannot be read, is no table, or has other states than are `wanted`.
pub(crate) fn load(path: &Path, wanted: Option<StateSpace>) -> anyhow::Result<Option<QTable>> {
    let Some(table) = load_file("the table", path, MAX_FILE, QTable::from_file)? else { return Ok(None) };
    match wanted {
        Some(wanted) if wanted != table.space() => {
            let (space, name) = (table.space(), file_name(path));
            Err(UsageError(format!("the table {name} has {space} states; leave out --state {wanted}")).into())
        }
        _ => Ok(Some(table)),
    }
}

/// Writes a table, whole or not at all. Fails when there is no room or no permission; the old file is as it was.
pub(crate) fn save(path: &Path, table: &QTable) -> anyhow::Result<()> {
    // The error is formatted, not wrapped: a broken pipe would otherwise end the program with success.
    replace_file(path, &table.to_file()).map_err(|error| anyhow!("cannot save the table {}: {error}", file_name(path)))
}
