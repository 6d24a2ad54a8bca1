use std::{io::ErrorKind, path::Path};

use anyhow::Context;

use crate::{file_name, read_file, replace_file};

/// Returns `None` if there is no such file. `what` names the content in errors, as in `the table`.
///
/// `parse` receives at most `most + 1` bytes, so it can detect a file that is too large.
pub fn load_file<T, E>(
    what: &str,
    path: &Path,
    most: usize,
    parse: impl FnOnce(&[u8]) -> Result<T, E>,
) -> anyhow::Result<Option<T>>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let name = file_name(path);
    let bytes = match read_file(path, most) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.with_context(|| format!("cannot read {what} {name}"))?,
    };
    parse(&bytes).map(Some).with_context(|| format!("{what} {name} is damaged"))
}

pub fn save_file(what: &str, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    // Formatted, not wrapped: a broken pipe would otherwise end the program with success.
    replace_file(path, bytes).map_err(|error| anyhow::anyhow!("cannot write {what} to {}: {error}", file_name(path)))
}
