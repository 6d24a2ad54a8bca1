//! The journals that a command reads, and the files that it writes.

use std::{
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use cmdkit::{NewFile, file_name};
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

/// Output files: private, written completely or not at all, and never replacing existing ones.
#[derive(Debug)]
pub(crate) enum Output {
    File(NewFile, PathBuf),
    Standard(BufWriter<io::Stdout>),
}

impl Output {
    pub(crate) fn create(path: Option<&Path>) -> anyhow::Result<Self> {
        Ok(match path {
            Some(path) => {
                Self::File(NewFile::create(path).map_err(|error| cannot_write(path, error))?, path.to_owned())
            }
            None => Self::Standard(BufWriter::new(io::stdout())),
        })
    }

    /// Gives a file its name.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::File(file, path) => file.finish().map_err(|error| cannot_write(&path, error)),
            Self::Standard(mut out) => Ok(out.flush()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file, _) => file.write(bytes),
            Self::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file, _) => file.flush(),
            Self::Standard(out) => out.flush(),
        }
    }
}

fn cannot_write(path: &Path, error: io::Error) -> anyhow::Error {
    if error.kind() == ErrorKind::AlreadyExists {
        return anyhow!("{} already exists; give -o another name", file_name(path));
    }
    anyhow::Error::new(error).context(format!("cannot write {}", file_name(path)))
}
