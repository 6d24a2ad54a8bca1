use std::path::Path;

use anyhow::{Context, anyhow};
use cmdkit::file_name;
use journal_core::{Head, ReadError, Reader, Source};

/// A journal whose front has been read.
#[derive(Debug)]
pub(crate) struct Opened {
    pub reader: Reader<Source>,
    /// In bytes.
    pub length: u64,
    pub in_use: bool,
}

pub(crate) fn open(path: &Path) -> anyhow::Result<Opened> {
    if path.is_dir() {
        return Err(anyhow!(
            "{} is a directory; expected one of its journals, which `journal list` shows",
            file_name(path)
        ));
    }
    let opened = match journal_core::open(path) {
        Err(ReadError::Io(error)) => Err(error).with_context(|| format!("cannot open {}", file_name(path)))?,
        opened => opened.map_err(|error| damaged(path, error))?,
    };
    let reader = opened.reader().map_err(|error| damaged(path, error))?;
    Ok(Opened { reader, length: opened.length(), in_use: opened.is_in_use() })
}

pub(crate) fn head_of(path: &Path) -> anyhow::Result<Head> {
    Ok(open(path)?.reader.head().clone())
}

pub(crate) fn damaged(path: &Path, error: ReadError) -> anyhow::Error {
    anyhow::Error::new(error).context(file_name(path))
}
