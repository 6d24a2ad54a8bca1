use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context as _, bail};
use cmdkit::{Named, Owner, become_owner};
use store::{Store, StoreError};
use tempfile::TempDir;

use super::{
    commands::ResultsCommand,
    data::{LOCK, RESULTS, lock},
};
use crate::args::Args;

const UNTIL: &str = "end it with `arcade drain` before you copy its results";
const ROOT: u32 = 0;
/// Optional before the path of a SQLite file.
const SQLITE: &str = "sqlite:";

enum Typed<'a> {
    Server(&'a str),
    File(PathBuf),
}

impl<'a> Typed<'a> {
    fn of(typed: &'a str) -> Self {
        match typed.strip_prefix(SQLITE) {
            Some(path) => Self::File(path.strip_prefix("//").unwrap_or(path).into()),
            None if typed.contains("://") => Self::Server(typed),
            None => Self::File(typed.into()),
        }
    }

    fn store(&self) -> Result<Store, StoreError> {
        match self {
            Self::Server(address) => Store::server(address),
            Self::File(path) => Store::file(path),
        }
    }
}

/// Fails if a database cannot be used, or if a hub may use it.
pub(crate) fn run(args: &Args, command: &ResultsCommand) -> anyhow::Result<ExitCode> {
    let ResultsCommand::Copy { from, to } = command;
    let from = match from.as_deref().or(args.database.as_deref()) {
        Some(typed) => Typed::of(typed),
        None => Typed::File(args.data.join(RESULTS)),
    };
    let to = Typed::of(to);
    if let Typed::File(path) = &from
        && !path.is_file()
    {
        bail!(
            "no results in '{}'; give their database with --from, or the directory of the hub with --data",
            path.display()
        );
    }
    if let (Typed::File(one), Typed::File(other)) = (&from, &to)
        && fs::canonicalize(one).ok() == fs::canonicalize(other).ok().or_else(|| Some(other.clone()))
    {
        bail!("'{}' cannot be copied to itself", one.display());
    }
    // The user that root becomes.
    let user = Owner::to_become(&args.data)?.map_or(ROOT, |owner| owner.uid);
    let (staged_from, staged_to) = (Staged::open(&from, user, false)?, Staged::open(&to, user, true)?);
    become_owner(&args.data)?;
    let directly = [(&from, &staged_from), (&to, &staged_to)].into_iter().filter(|(_, staged)| staged.is_none());
    let _locks = locks(args, directly.map(|(typed, _)| typed))?;
    let (copy_of_from, copy_of_to) =
        (staged_from.as_ref().map(Staged::copy).transpose()?, staged_to.as_ref().map(Staged::copy).transpose()?);
    let store = |typed: &Typed<'_>, copy: &Option<TempDir>| match copy {
        Some(copy) => Store::file(&copy.path().join(RESULTS)),
        None => typed.store(),
    };
    let (from, to) = (store(&from, &copy_of_from).context("--from")?, store(&to, &copy_of_to).context("--to")?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let copied = runtime.block_on(async {
        // The context names the argument.
        from.prepare().await.context("--from")?;
        to.prepare().await.context("--to")?;
        let copied = from.copy_to(&to).await?;
        from.close().await;
        to.close().await;
        anyhow::Ok(copied)
    })?;
    if let (Some(staged), Some(copy)) = (staged_to, copy_of_to) {
        staged.replace(&copy)?;
    }
    let mut out = io::stdout().lock();
    for table in &copied {
        writeln!(out, "{:<10} {:>9} rows, {} of them copied now", table.table, table.rows, table.new)?;
    }
    writeln!(out, "Both databases have the same rows.")?;
    Ok(ExitCode::SUCCESS)
}

/// A SQLite file of another user. SQLite opens files by path and creates others beside them, so root opens the file,
/// and the owner of the data directory works on a copy.
struct Staged {
    shown: String,
    file: File,
    log: Option<File>,
    // Prevents use by a hub.
    _lock: Option<File>,
}

impl Staged {
    // `None` if the user can open the database by its address or path.
    fn open(typed: &Typed<'_>, user: u32, writes: bool) -> anyhow::Result<Option<Self>> {
        let Typed::File(path) = typed else { return Ok(None) };
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let shown = path.display().to_string();
        let cannot = || format!("cannot open '{shown}'");
        let named = Named::new(path).with_context(cannot)?;
        if named.owner() == user {
            return Ok(None);
        }
        let directory = named.path().parent().context("a file is in a directory")?;
        let lock = directory.join(LOCK).exists().then(|| lock(directory, UNTIL)).transpose()?;
        let file = if writes { named.update() } else { named.read("") }.with_context(cannot)?;
        let log = match named.read("-wal") {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            log => Some(log.with_context(cannot)?),
        };
        if writes
            && let Some(log) = &log
            && log.metadata()?.len() > 0
        {
            bail!("'{shown}' was not closed, so a part of it is in '{shown}-wal'; copy it as its owner");
        }
        Ok(Some(Self { shown, file, log, _lock: lock }))
    }

    // Into a new directory.
    fn copy(&self) -> anyhow::Result<TempDir> {
        let cannot = || format!("cannot copy '{}'", self.shown);
        let directory = tempfile::tempdir().with_context(cannot)?;
        for (file, suffix) in [(Some(&self.file), ""), (self.log.as_ref(), "-wal")] {
            let Some(mut file) = file else { continue };
            let path = directory.path().join(format!("{RESULTS}{suffix}"));
            let mut copy =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).with_context(cannot)?;
            io::copy(&mut file, &mut copy).with_context(cannot)?;
        }
        Ok(directory)
    }

    fn replace(mut self, copy: &TempDir) -> anyhow::Result<()> {
        let mut copy = File::open(copy.path().join(RESULTS)).context("cannot read the copy")?;
        let cannot = || format!("cannot write '{}', which is now damaged; remove it, and copy again", self.shown);
        self.file.rewind().with_context(cannot)?;
        self.file.set_len(0).with_context(cannot)?;
        io::copy(&mut copy, &mut self.file).and_then(|_| self.file.sync_all()).with_context(cannot)
    }
}

// Keeps hubs from running or starting on the copied data.
fn locks<'a>(args: &Args, databases: impl Iterator<Item = &'a Typed<'a>>) -> anyhow::Result<Vec<File>> {
    let beside = databases.filter_map(|database| match database {
        Typed::File(path) => Some(std::path::absolute(path).ok()?.parent()?.to_owned()),
        Typed::Server(_) => None,
    });
    let directories: BTreeSet<PathBuf> = beside
        .chain([args.data.clone()])
        .filter(|directory| directory.join(LOCK).exists())
        .filter_map(|directory| fs::canonicalize(directory).ok())
        .collect();
    directories.iter().map(|directory| lock(directory, UNTIL)).collect()
}
