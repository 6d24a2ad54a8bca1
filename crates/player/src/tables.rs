//! Table files.

use std::path::Path;

use anyhow::anyhow;
use blackjack::{QTable, StateSpace, qtable::MAX_FILE};
use cmdkit::{UsageError, file_name, load_file, replace_file};

/// The default table file.
pub(crate) const USUAL: &str = "qtable";

/// Reads a table; none if there is no such file.
///
/// # Errors
/// When the file cannot be read, is no table, or has other states than are `wanted`.
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

/// Writes a table, whole or not at all.
///
/// # Errors
/// When there is no room or no permission; the old file is as it was.
pub(crate) fn save(path: &Path, table: &QTable) -> anyhow::Result<()> {
    // The error is formatted, not wrapped: a broken pipe would otherwise end the program with success.
    replace_file(path, &table.to_file()).map_err(|error| anyhow!("cannot save the table {}: {error}", file_name(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use blackjack::{Action, State};
    use testkit::TempDir;

    #[test]
    fn a_table_that_was_saved_is_loaded() {
        let directory = TempDir::new();
        let path = directory.path().join("table");
        assert_eq!(load(&path, None).unwrap(), None);
        let mut table = QTable::new(StateSpace::Soft);
        table.learn(State::new(StateSpace::Soft, 17, true, 9).unwrap(), Action::Hit, -1);
        save(&path, &table).unwrap();
        assert_eq!(load(&path, None).unwrap().as_ref(), Some(&table));
        assert_eq!(load(&path, Some(StateSpace::Soft)).unwrap(), Some(table));
        let error = load(&path, Some(StateSpace::Coarse)).unwrap_err();
        assert!(error.is::<UsageError>() && error.to_string().contains("has soft states"), "{error}");
    }

    #[test]
    fn what_is_no_table_is_said_with_its_line() {
        let directory = TempDir::new();
        let good = QTable::new(StateSpace::Coarse).to_file();
        let zeros = vec![0; MAX_FILE * 2];
        for (bytes, said) in [
            (&b""[..], "line 1"),
            (&good[..good.len() - 2], "line 2"),
            (b"21-qtable 2 coarse\n", "line 1"),
            (&zeros, "no table has more than"),
        ] {
            let path = directory.file("table", bytes);
            let error = format!("{:#}", load(Path::new(&path), None).unwrap_err());
            assert!(error.contains("is damaged: ") && error.contains(said), "{error}");
        }
        let error = format!("{:#}", load(directory.path(), None).unwrap_err());
        assert!(error.starts_with("cannot read the table"), "{error}");
    }
}
