//! The file of statistics.
//!
//! It is read and written under a lock, since two games may end at the same time; written beside itself and renamed, so that
//! it is whole at any moment; and a file that cannot be understood is put aside and never written over.

use std::{
    env,
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process,
};

use mastermind::{Day, Game, Record, record::MAX_RECORD};
use thiserror::Error;

/// Where the file lies in the user's data directory.
const FOLDER: &str = "arcade";
const FILE: &str = "mastermind-record";

/// How many damaged files are kept aside; nobody has more.
const MOST_DAMAGED: usize = 1_000;

/// The statistics of past games, as a file.
#[derive(Debug, Clone)]
pub struct Book {
    // None where the system has no place for a user's data.
    folder: Option<PathBuf>,
}

/// What became of a game that was to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The statistics now.
    pub record: Record,
    /// Whether the game is counted; a second one at the puzzle of a day is not.
    pub counted: bool,
    /// That a damaged file was put aside, and where.
    pub notice: Option<String>,
}

/// Why the statistics cannot be read or written.
#[derive(Debug, Error)]
pub enum BookError {
    /// There is no place for them.
    #[error("no statistics: set XDG_DATA_HOME to a directory with an absolute name, or HOME")]
    NoPlace,
    /// A file or directory refuses.
    #[error("no statistics: {path}: {error}", path = path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file cannot be understood. It has not been changed.
    #[error("{path} is damaged: {why}; it is left as it is until the next game ends, and then put aside", path = path.display())]
    Damaged {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl Book {
    /// The file of the user who runs the program.
    pub fn of_user() -> Self {
        Self { folder: data_directory(|name| env::var_os(name)).map(|directory| directory.join(FOLDER)) }
    }

    /// A file in this directory, which is made if it is not there.
    pub const fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// The statistics so far; of nothing if there is no file.
    ///
    /// # Errors
    /// [`BookError`] when the file cannot be read or understood.
    pub fn read(&self) -> Result<Record, BookError> {
        let path = self.folder()?.join(FILE);
        match read(&path).map_err(|error| BookError::File { path: path.clone(), error })? {
            Ok(record) => Ok(record),
            Err(why) => Err(BookError::Damaged { path, why }),
        }
    }

    /// Adds a game that is over.
    ///
    /// # Errors
    /// [`BookError`] when the file cannot be read or written. It is then as it was.
    pub fn add(&self, game: &Game, day: Option<Day>) -> Result<Added, BookError> {
        let folder = self.folder()?;
        let path = folder.join(FILE);
        let said = |path: &Path| {
            let path = path.to_owned();
            move |error| BookError::File { path, error }
        };
        fs::create_dir_all(folder).map_err(said(folder))?;
        let lock = folder.join(format!("{FILE}.lock"));
        // Held until the file handle goes.
        let _lock = lock_file(&lock).map_err(said(&lock))?;
        let (mut record, notice) = match read(&path).map_err(said(&path))? {
            Ok(record) => (record, None),
            Err(why) => {
                let aside = put_aside(&path).map_err(said(&path))?;
                let notice = format!(
                    "The statistics were damaged ({why}); they are kept as {} and begin anew.",
                    aside.display()
                );
                (Record::default(), Some(notice))
            }
        };
        let counted = record.add(game, day);
        if counted {
            write(folder, &path, &record).map_err(said(&path))?;
        }
        Ok(Added { record, counted, notice })
    }

    fn folder(&self) -> Result<&Path, BookError> {
        self.folder.as_deref().ok_or(BookError::NoPlace)
    }
}

/// Where the data of the user lies, by these settings of the environment.
fn data_directory(setting: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative name would mean another place in every directory, so the standard has it ignored.
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

/// What is in the file, or what is wrong with that.
fn read(path: &Path) -> io::Result<Result<Record, String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(Record::default())),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    // One more than there may be, so that too long a file is found to be so.
    file.take(MAX_RECORD as u64 + 1).read_to_end(&mut bytes)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text.parse().map_err(|error: mastermind::ParseRecordError| error.to_string()),
        Err(error) => Err(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())),
    })
}

fn write(folder: &Path, path: &Path, record: &Record) -> io::Result<()> {
    let beside = folder.join(format!("{FILE}.{}.new", process::id()));
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(record.to_string().as_bytes())?;
        file.sync_all()?;
        drop(file);
        fs::rename(&beside, path)
    });
    written.inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// Gives the file another name that no file has, and tells it.
fn put_aside(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=MOST_DAMAGED {
        let aside = path.with_file_name(format!("{FILE}.damaged-{number}"));
        // Nobody else does this at the same time: the lock is ours.
        if !aside.try_exists()? {
            fs::rename(path, &aside)?;
            return Ok(aside);
        }
    }
    Err(io::Error::other(format!("it is damaged, and {MOST_DAMAGED} damaged files are kept already")))
}

/// Waits until no other program has the lock, and takes it.
fn lock_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    #[cfg(unix)]
    loop {
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive) {
            Err(rustix::io::Errno::INTR) => {}
            locked => break locked?,
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use mastermind::{Rules, Style, game::Action};
    use testkit::TempDir;

    use super::*;

    fn won_game() -> Game {
        let rules = Rules::new(4, 8, true).unwrap();
        let mut game = Game::with_code(rules, Style::Text, "1234".parse().unwrap()).unwrap();
        game.apply(Action::Guess("1234".parse().unwrap()), &mut testkit_rng()).unwrap();
        game
    }

    fn testkit_rng() -> rand_pcg::Pcg64 {
        rand::SeedableRng::seed_from_u64(1)
    }

    fn book(directory: &TempDir) -> (Book, PathBuf) {
        let folder = directory.path().join("data/arcade");
        (Book::in_folder(folder.clone()), folder.join(FILE))
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn games_are_added_and_nothing_is_left_beside() {
        let directory = TempDir::new();
        let (book, file) = book(&directory);
        assert_eq!(book.read().unwrap(), Record::default());
        for played in 1..=3 {
            let added = book.add(&won_game(), None).unwrap();
            assert_eq!((added.record.played(), added.counted, added.notice), (played, true, None));
            assert_eq!(book.read().unwrap(), added.record);
        }
        assert_eq!(names(file.parent().unwrap()), [FILE, "mastermind-record.lock"]);
    }

    #[test]
    fn the_puzzle_of_a_day_counts_once() {
        let directory = TempDir::new();
        let (book, _) = book(&directory);
        assert!(book.add(&won_game(), Some(Day(20_000))).unwrap().counted);
        let again = book.add(&won_game(), Some(Day(20_000))).unwrap();
        assert!(!again.counted && again.record.played() == 1);
    }

    #[test]
    fn a_damaged_file_is_said_and_kept() {
        let directory = TempDir::new();
        let (book, file) = book(&directory);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let long = "won".repeat(MAX_RECORD);
        for (number, damaged) in
            [&b""[..], b"nonsense", b"mastermind-record 1\nwon \xff", long.as_bytes()].iter().enumerate()
        {
            fs::write(&file, damaged).unwrap();
            let error = book.read().unwrap_err();
            assert!(matches!(error, BookError::Damaged { .. }), "{error}");
            assert_eq!(fs::read(&file).unwrap(), *damaged, "reading changes nothing");
            let added = book.add(&won_game(), None).unwrap();
            let aside = file.with_file_name(format!("{FILE}.damaged-{}", number + 1));
            assert_eq!(fs::read(&aside).unwrap(), *damaged);
            assert!(added.notice.unwrap().contains(&*aside.to_string_lossy()));
            assert_eq!(added.record.played(), 1);
        }
    }

    #[test]
    fn what_refuses_is_named() {
        let directory = TempDir::new();
        // A file where a directory should be.
        let in_the_way = directory.file("file", "");
        let error = Book::in_folder(PathBuf::from(&in_the_way).join("arcade")).add(&won_game(), None).unwrap_err();
        assert!(error.to_string().contains(&in_the_way), "{error}");
        let (book, file) = book(&directory);
        fs::create_dir_all(&file).unwrap();
        let error = book.add(&won_game(), None).unwrap_err();
        assert!(matches!(&error, BookError::File { path, .. } if *path == file), "{error}");
        assert!(Book { folder: None }.read().unwrap_err().to_string().contains("XDG_DATA_HOME"));
    }

    #[test]
    fn many_at_once_lose_no_game() {
        let directory = TempDir::new();
        let (book, _) = book(&directory);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        book.add(&won_game(), None).unwrap();
                    }
                });
            }
        });
        assert_eq!(book.read().unwrap().played(), 20);
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
