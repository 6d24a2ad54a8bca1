//! Files that are written for their owner alone, whole or not at all, and never over others.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context, bail};
use cmdkit::file_name;

/// Where something is written: a file that is not there yet, or standard output.
#[derive(Debug)]
pub(crate) enum Output {
    File(NewFile),
    Standard(BufWriter<io::Stdout>),
}

impl Output {
    /// A new file, or standard output.
    ///
    /// # Errors
    /// When the file is there already or cannot be made.
    pub(crate) fn create(path: Option<&Path>) -> anyhow::Result<Self> {
        Ok(match path {
            Some(path) => Self::File(NewFile::create(path)?),
            None => Self::Standard(BufWriter::new(io::stdout())),
        })
    }

    /// Ends it: from now on the file is there.
    ///
    /// # Errors
    /// When it could not be written.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::File(file) => file.finish(),
            Self::Standard(mut out) => Ok(out.flush()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.writer.write(bytes),
            Self::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.writer.flush(),
            Self::Standard(out) => out.flush(),
        }
    }
}

/// A file that gets its name when it is whole.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    beside: PathBuf,
    writer: BufWriter<File>,
}

impl NewFile {
    fn create(path: &Path) -> anyhow::Result<Self> {
        refuse_what_is_there(path)?;
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let (file, beside) = new_file(folder).with_context(|| format!("cannot write {}", file_name(path)))?;
        let _ = file.try_lock();
        Ok(Self { path: path.to_owned(), beside, writer: BufWriter::new(file) })
    }

    fn finish(mut self) -> anyhow::Result<()> {
        let named = (|| {
            self.writer.flush()?;
            self.writer.get_ref().sync_all()?;
            // Unlike renaming it replaces nothing. Not every file system can do it.
            match fs::hard_link(&self.beside, &self.path) {
                Err(error) if error.kind() == ErrorKind::Unsupported || error.kind() == ErrorKind::PermissionDenied => {
                    fs::rename(&self.beside, &self.path)
                }
                linked => linked,
            }
        })();
        match named {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => refuse_what_is_there(&self.path),
            named => named.with_context(|| format!("cannot write {}", file_name(&self.path))),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.beside);
    }
}

// As `cmdkit::replace_file` calls its own, so that what a killed process leaves is swept up there.
fn new_file(folder: &Path) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut number = u32::MAX;
    loop {
        let beside = folder.join(format!(".saving-{}-{number}", process::id()));
        match options.open(&beside) {
            // Left by a process of the same number that was killed.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number > 0 => number -= 1,
            file => return file.map(|file| (file, beside)),
        }
    }
}

fn refuse_what_is_there(path: &Path) -> anyhow::Result<()> {
    if path.symlink_metadata().is_ok() {
        bail!("{} is there already; give -o a name that is free", file_name(path));
    }
    Ok(())
}
