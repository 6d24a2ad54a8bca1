//! The file of statistics.
//!
//! It is changed under a lock, since two games may end at the same time, and replaced atomically. A damaged file is
//! renamed and never overwritten.

use std::{
    env,
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow};
use cmdkit::{read_file, replace_file};
use mastermind::{Puzzle, Record, record::MAX_RECORD};

use crate::round::{Attempt, Round};

/// Below the user's data directory.
const FOLDER: &str = "arcade";
const FILE: &str = "mastermind-record";

const MOST_DAMAGED: usize = 1_000;

/// Two seconds in total. A write takes a few milliseconds.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub(crate) struct Book {
    // `None` if the system has no directory for user data.
    folder: Option<PathBuf>,
    tries: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Added {
    pub(crate) record: Record,
    /// Later games of its puzzle do not count.
    pub(crate) first: bool,
    /// Reports that a damaged file was renamed.
    pub(crate) notice: Option<String>,
}

impl Book {
    pub(crate) fn of_user() -> Self {
        Self { folder: data_directory(|name| env::var_os(name)).map(|directory| directory.join(FOLDER)), tries: TRIES }
    }

    /// Empty without a file.
    pub(crate) fn read(&self) -> anyhow::Result<Record> {
        let path = self.folder()?.join(FILE);
        read(&path).map_err(about(&path))?.map_err(|why| {
            let path = path.display();
            anyhow!("{path} is damaged: {why}; it stays unchanged until the next game, which moves it aside")
        })
    }

    /// Records the start of a puzzle, at its first answer.
    pub(crate) fn begin(&self, puzzle: Puzzle) -> anyhow::Result<Added> {
        self.change(|record| record.begin(puzzle))
    }

    pub(crate) fn add(&self, round: &Round) -> anyhow::Result<Added> {
        self.change(|record| {
            let first = match round.attempt() {
                Attempt::Unknown => round.puzzle().is_none_or(|puzzle| record.begin(puzzle)),
                Attempt::First => true,
                Attempt::Again => false,
            };
            first && record.add(round.game())
        })
    }

    /// `change` returns whether the file must be written.
    fn change(&self, change: impl FnOnce(&mut Record) -> bool) -> anyhow::Result<Added> {
        let folder = self.folder()?;
        let path = folder.join(FILE);
        fs::create_dir_all(folder).map_err(about(folder))?;
        let lock = folder.join(format!("{FILE}.lock"));
        let _lock = lock_file(&lock, self.tries).map_err(about(&lock))?;
        let (mut record, notice) = match read(&path).map_err(about(&path))? {
            Ok(record) => (record, None),
            Err(why) => {
                let aside = rename_damaged(&path).map_err(about(&path))?;
                let notice = format!(
                    "The statistics were damaged ({why}); they were moved to {} and start from zero.",
                    aside.display()
                );
                (Record::default(), Some(notice))
            }
        };
        let first = change(&mut record);
        if first {
            replace_file(&path, record.to_string().as_bytes()).map_err(about(&path))?;
        }
        Ok(Added { record, first, notice })
    }

    fn folder(&self) -> anyhow::Result<&Path> {
        let folder = self.folder.as_deref();
        folder.context("no statistics: set XDG_DATA_HOME to a directory with an absolute name, or HOME")
    }
}

fn about(path: &Path) -> impl FnOnce(io::Error) -> anyhow::Error {
    move |error| anyhow!("no statistics: {}: {error}", path.display())
}

fn data_directory(setting: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG specification ignores relative paths.
    let absolute = |name: &str| setting(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_DATA_HOME").or_else(|| {
        if cfg!(windows) {
            absolute("APPDATA")
        } else if cfg!(target_os = "macos") {
            absolute("HOME").map(|home| home.join("Library/Application Support"))
        } else {
            absolute("HOME").map(|home| home.join(".local/share"))
        }
    })
}

/// The inner error describes the damage.
fn read(path: &Path) -> io::Result<Result<Record, String>> {
    let bytes = match fs::metadata(path) {
        // Reading a pipe would block.
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a file")),
        found => found.and_then(|_| read_file(path, MAX_RECORD)),
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(Record::default())),
        Err(error) => return Err(error),
    };
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text.parse().map_err(|error: mastermind::ParseRecordError| error.to_string()),
        Err(error) => Err(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())),
    })
}

/// Renames the file to an unused name, which it returns.
fn rename_damaged(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=MOST_DAMAGED {
        let aside = path.with_file_name(format!("{FILE}.damaged-{number}"));
        // No race, since this process holds the lock.
        if !aside.try_exists()? {
            fs::rename(path, &aside)?;
            return Ok(aside);
        }
    }
    Err(io::Error::other(format!("it is damaged, and there are {MOST_DAMAGED} damaged files already")))
}

fn lock_file(path: &Path, mut tries: u32) -> io::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if tries <= 1 => {
                let why = "another program keeps it locked";
                return Err(io::Error::new(io::ErrorKind::WouldBlock, why));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
        tries -= 1;
    }
}

#[cfg(test)]
mod tests {
    use mastermind::{Code, Day, Rules, Style, game::Action};
    use testkit::TempDir;

    use super::*;

    fn rules() -> Rules {
        Rules::new(4, 8, true).unwrap()
    }

    /// The code is a user's, so the game can be repeated.
    fn won_game() -> Round {
        let code: Code = "1234".parse().unwrap();
        let mut round = Round::with_code(rules(), Style::Text, code, 1).unwrap();
        round.apply(Action::Guess(code)).unwrap();
        round
    }

    fn won_daily(day: Day) -> Round {
        let mut round = Round::of_day(rules(), Style::Text, day);
        round.apply(Action::Guess(day.puzzle(rules()))).unwrap();
        round
    }

    fn in_folder(folder: PathBuf) -> Book {
        Book { folder: Some(folder), tries: TRIES }
    }

    fn book(directory: &TempDir) -> (Book, PathBuf) {
        let folder = directory.path().join("data/arcade");
        (in_folder(folder.clone()), folder.join(FILE))
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn games_are_added_without_temporary_files() {
        let directory = TempDir::new();
        let (book, file) = book(&directory);
        assert_eq!(book.read().unwrap(), Record::default());
        for played in 1..=3 {
            let added = book.add(&won_game()).unwrap();
            assert_eq!((added.record.played(), added.first, added.notice), (played, true, None));
            assert_eq!(book.read().unwrap(), added.record);
        }
        assert_eq!(names(file.parent().unwrap()), [FILE, "mastermind-record.lock"]);
    }

    #[test]
    fn a_puzzle_counts_once() {
        let directory = TempDir::new();
        let (book, _) = book(&directory);
        let day = Day(20_000);
        assert!(book.add(&won_daily(day)).unwrap().first);
        let again = book.add(&won_daily(day)).unwrap();
        assert!(!again.first && again.record.played() == 1);
        let round = won_daily(Day(20_001));
        assert!(book.begin(round.puzzle().unwrap()).unwrap().first);
        assert!(!book.begin(round.puzzle().unwrap()).unwrap().first);
        assert!(!book.add(&round).unwrap().first);
        let mut round = won_daily(Day(20_002));
        round.set_attempt(book.begin(round.puzzle().unwrap()).unwrap().first);
        assert!(book.add(&won_daily(Day(20_003))).unwrap().first);
        let added = book.add(&round).unwrap();
        assert!(added.first && added.record.played() == 3);
    }

    #[test]
    fn lock_wait_is_bounded() {
        let directory = TempDir::new();
        let (mut book, file) = book(&directory);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let _held = lock_file(&file.with_file_name("mastermind-record.lock"), 1).unwrap();
        book.tries = 2;
        let error = book.add(&won_game()).unwrap_err().to_string();
        assert!(error.contains("mastermind-record.lock: another program keeps it locked"), "{error}");
        assert_eq!(book.read().unwrap(), Record::default());
    }

    #[test]
    fn damaged_file_is_reported_and_kept() {
        let directory = TempDir::new();
        let (book, file) = book(&directory);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let long = "won".repeat(MAX_RECORD);
        for (number, damaged) in
            [&b""[..], b"nonsense", b"mastermind-record 1\nwon \xff", long.as_bytes()].iter().enumerate()
        {
            fs::write(&file, damaged).unwrap();
            let error = book.read().unwrap_err();
            assert!(error.to_string().contains("mastermind-record is damaged: "), "{error}");
            assert_eq!(fs::read(&file).unwrap(), *damaged, "reading changes nothing");
            let added = book.add(&won_game()).unwrap();
            let aside = file.with_file_name(format!("{FILE}.damaged-{}", number + 1));
            assert_eq!(fs::read(&aside).unwrap(), *damaged);
            assert!(added.notice.unwrap().contains(&*aside.to_string_lossy()));
            assert_eq!(added.record.played(), 1);
        }
    }

    #[test]
    fn errors_name_the_path() {
        let directory = TempDir::new();
        let in_the_way = directory.file("file", "");
        let error = in_folder(PathBuf::from(&in_the_way).join("arcade")).add(&won_game()).unwrap_err();
        assert!(error.to_string().contains(&in_the_way), "{error}");
        let (book, file) = book(&directory);
        fs::create_dir_all(&file).unwrap();
        let error = book.add(&won_game()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("no statistics: {}: ", file.display())), "{error}");
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            let pipe = directory.path().join(FILE);
            mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            let error = in_folder(directory.path().to_owned()).read().unwrap_err().to_string();
            assert!(error.ends_with("mastermind-record: it is not a file"), "{error}");
        }
        assert!(Book { folder: None, tries: 1 }.read().unwrap_err().to_string().contains("XDG_DATA_HOME"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_standard_directory_is_found() {
        let at = |settings: &[(&str, &str)]| {
            let settings = settings.to_vec();
            data_directory(|name| settings.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).into()))
        };
        assert_eq!(at(&[("XDG_DATA_HOME", "/data"), ("HOME", "/home/a")]), Some("/data".into()));
        assert_eq!(at(&[("XDG_DATA_HOME", "data"), ("HOME", "/home/a")]), Some("/home/a/.local/share".into()));
        assert_eq!(at(&[("HOME", "/home/a")]), Some("/home/a/.local/share".into()));
        assert_eq!(at(&[("XDG_DATA_HOME", ""), ("HOME", "")]), None);
    }
}
