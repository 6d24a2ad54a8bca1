//! `arcade results copy`: moves all results to another database.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context as _, bail};
use store::{Store, StoreError};

use super::{
    commands::ResultsCommand,
    data::{LOCK, RESULTS, lock},
};
use crate::args::Args;

/// How the path of a SQLite file may begin.
const SQLITE: &str = "sqlite:";

/// A database as it is typed.
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

/// Runs a command. Fails when a database cannot be used, or a hub may use it.
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
            "there are no results in '{}'; name their database with --from, or the directory of the hub with --data",
            path.display()
        );
    }
    let _locks = locks(args, [&from, &to])?;
    if let (Typed::File(one), Typed::File(other)) = (&from, &to)
        && fs::canonicalize(one).ok() == fs::canonicalize(other).ok().or_else(|| Some(other.clone()))
    {
        bail!("'{}' cannot be copied to itself", one.display());
    }
    let (from, to) = (from.store().context("--from")?, to.store().context("--to")?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let copied = runtime.block_on(async {
        // Each says which of the two it is about.
        from.prepare().await.context("--from")?;
        to.prepare().await.context("--to")?;
        let copied = from.copy_to(&to).await?;
        from.close().await;
        to.close().await;
        anyhow::Ok(copied)
    })?;
    let mut out = io::stdout().lock();
    for table in &copied {
        writeln!(out, "{:<10} {:>9} rows, {} of them copied now", table.table, table.rows, table.new)?;
    }
    writeln!(out, "Both databases have the same rows.")?;
    Ok(ExitCode::SUCCESS)
}

// No hub runs on the data that is copied, nor begins meanwhile.
fn locks(args: &Args, databases: [&Typed<'_>; 2]) -> anyhow::Result<Vec<File>> {
    let beside = databases.iter().filter_map(|database| match database {
        Typed::File(path) => Some(std::path::absolute(path).ok()?.parent()?.to_owned()),
        Typed::Server(_) => None,
    });
    let directories: BTreeSet<PathBuf> = beside
        .chain([args.data.clone()])
        .filter(|directory| directory.join(LOCK).exists())
        .filter_map(|directory| fs::canonicalize(directory).ok())
        .collect();
    directories
        .iter()
        .map(|directory| lock(directory, "end it by `arcade drain` before its results are copied"))
        .collect()
}
