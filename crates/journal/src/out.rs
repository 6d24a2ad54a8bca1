//! Output files: private, written completely or not at all, and never replacing existing ones.

use std::{
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use cmdkit::{NewFile, file_name};

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
