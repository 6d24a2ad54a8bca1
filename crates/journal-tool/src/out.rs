//! Output files that only the owner can read, that are written completely or not at all, and that replace nothing.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context, bail};
use cmdkit::file_name;

/// An output: a new file, or standard output.
#[derive(Debug)]
pub(crate) enum Output {
    File(NewFile),
    Standard(BufWriter<io::Stdout>),
}

impl Output {
    /// A new file, or standard output.
    ///
    /// # Errors
    /// When the file exists or cannot be created.
    pub(crate) fn create(path: Option<&Path>) -> anyhow::Result<Self> {
        Ok(match path {
            Some(path) => Self::File(NewFile::create(path)?),
            None => Self::Standard(BufWriter::new(io::stdout())),
        })
    }

    /// Completes the output; a file gets its name.
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

/// A file that gets its name when it is complete.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    beside: PathBuf,
    writer: BufWriter<File>,
}

impl NewFile {
    fn create(path: &Path) -> anyhow::Result<Self> {
        refuse_existing(path)?;
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let (file, beside) = new_file(folder).with_context(|| format!("cannot write {}", file_name(path)))?;
        let _ = file.try_lock();
        Ok(Self { path: path.to_owned(), beside, writer: BufWriter::new(file) })
    }

    fn finish(mut self) -> anyhow::Result<()> {
        let named = (|| {
            self.writer.flush()?;
            self.writer.get_ref().sync_all()?;
            // Unlike a rename, this replaces nothing. Not every file system supports it.
            match fs::hard_link(&self.beside, &self.path) {
                Err(error) if error.kind() == ErrorKind::Unsupported || error.kind() == ErrorKind::PermissionDenied => {
                    fs::rename(&self.beside, &self.path)
                }
                linked => linked,
            }
        })();
        match named {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => refuse_existing(&self.path),
            named => named.with_context(|| format!("cannot write {}", file_name(&self.path))),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.beside);
    }
}

// Named like the temporary files of `cmdkit::replace_file`, which also removes those of killed processes.
fn new_file(folder: &Path) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut number = u32::MAX;
    loop {
        let beside = folder.join(format!(".saving-{}-{number}", process::id()));
        match options.open(&beside) {
            // Left by a killed process with the same id.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number > 0 => number -= 1,
            file => return file.map(|file| (file, beside)),
        }
    }
}

fn refuse_existing(path: &Path) -> anyhow::Result<()> {
    if path.symlink_metadata().is_ok() {
        bail!("{} already exists; give -o another name", file_name(path));
    }
    Ok(())
}
