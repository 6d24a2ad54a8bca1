//! A transcript of all messages for each scenario, in a separate file.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::report::{Message, message_lines};

/// The maximum size of a transcript in bytes.
const MOST: usize = 32 << 20;
/// The width of the column for names of connections.
const WIDTH: usize = 16;

/// A directory for transcripts.
#[derive(Clone)]
pub(crate) struct Transcripts(Arc<Inside>);

struct Inside {
    folder: PathBuf,
    // The number of earlier scenarios with each name.
    names: Mutex<BTreeMap<String, u32>>,
    error: Mutex<Option<String>>,
}

impl Transcripts {
    /// Creates the directory if it is missing.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let (names, error) = (Mutex::default(), Mutex::default());
        Ok(Self(Arc::new(Inside { folder: folder.to_owned(), names, error })))
    }

    /// The transcript of a scenario. `None` if its file cannot be written.
    pub(super) fn begin(&self, scenario: &str) -> Option<Transcript> {
        let mut name: String =
            scenario.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
        let mut names = self.0.names.lock().unwrap_or_else(PoisonError::into_inner);
        let count = names.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            name = format!("{name}-{count}");
        }
        drop(names);
        let path = self.0.folder.join(format!("{name}.txt"));
        match File::create(&path) {
            Ok(file) => {
                let mut transcript = Transcript { of: self.clone(), path, file: BufWriter::new(file), left: MOST };
                transcript.line(&format!("{scenario}\n"));
                Some(transcript)
            }
            Err(error) => {
                self.fail(&path, &error);
                None
            }
        }
    }

    /// The first file that could not be written, and why.
    pub(crate) fn error(&self) -> Option<String> {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, path: &Path, error: &io::Error) {
        let mut first = self.0.error.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| format!("cannot write the transcript {}: {error}", path.display()));
    }
}

/// The transcript of one scenario.
pub(super) struct Transcript {
    of: Transcripts,
    path: PathBuf,
    file: BufWriter<File>,
    left: usize,
}

impl Transcript {
    pub(super) fn write(&mut self, message: &Message) {
        for line in message_lines(message, WIDTH) {
            self.line(&line);
        }
    }

    /// Writes the last lines.
    pub(super) fn end(mut self, lines: &[String]) {
        // They are written even if there was no room for other lines.
        self.left = self.left.max(MOST / 16);
        self.line("");
        for line in lines {
            self.line(line);
        }
        if let Err(error) = self.file.flush() {
            self.of.fail(&self.path, &error);
        }
    }

    fn line(&mut self, line: &str) {
        let length = line.len() + 1;
        if self.left == 0 {
            return;
        }
        let written = if length > self.left {
            self.left = 0;
            writeln!(self.file, "(the transcript is truncated at {MOST} bytes)")
        } else {
            self.left -= length;
            writeln!(self.file, "{line}")
        };
        if let Err(error) = written {
            self.left = 0;
            self.of.fail(&self.path, &error);
        }
    }
}
