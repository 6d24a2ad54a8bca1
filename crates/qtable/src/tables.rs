//! Table files: loading, saving, adding up and printing.

use std::{
    fmt::Write as _,
    io::{self, ErrorKind, Write},
    path::Path,
};

use anyhow::Context;
use blackjack::{
    QTable, State,
    qtable::{Entry, MAX_FILE, Tally},
    round::Action,
};
use cmdkit::{file_name, read_file, replace_file};
use serde_json::{Value, json};

use crate::args::{DumpArgs, Format, MergeArgs};

/// Reads a table.
///
/// # Errors
/// When the file is not there, cannot be read or is damaged; the message says in which line.
pub fn load(path: &Path) -> anyhow::Result<QTable> {
    let name = file_name(path);
    let bytes = match read_file(path, MAX_FILE) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            anyhow::bail!("there is no table {name}; qtable train -o FILE makes one")
        }
        bytes => bytes.with_context(|| format!("cannot read the table {name}"))?,
    };
    QTable::from_file(&bytes).with_context(|| format!("the table {name} is damaged"))
}

/// Reads the table that training goes on with; none if there is no such file.
///
/// # Errors
/// As [`load`] for a file that is there; and when it is none that can be replaced.
pub fn load_if_there(path: &Path) -> anyhow::Result<Option<QTable>> {
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Ok(found) if !found.is_file() => {
            anyhow::bail!("{} is no file that a training could go on with", file_name(path))
        }
        _ => load(path).map(Some),
    }
}

/// Writes a table, all of it or nothing.
///
/// # Errors
/// When that does not work; the file is as it was then.
pub fn save(path: &Path, table: &QTable) -> anyhow::Result<()> {
    write(path, &table.to_file(), "the table")
}

/// Writes a file, all of it or nothing; `what` names its content if that does not work.
///
/// # Errors
/// When that does not work; the file is as it was then.
pub fn write(path: &Path, bytes: &[u8], what: &str) -> anyhow::Result<()> {
    // Not by way of the error itself: a pipe that nobody reads is a failure here.
    replace_file(path, bytes).map_err(|error| anyhow::anyhow!("cannot write {what} to {}: {error}", file_name(path)))
}

/// `qtable merge`.
///
/// # Errors
/// When a part cannot be read or does not fit, or the sum cannot be written; nothing is written then.
pub fn merge(args: &MergeArgs) -> anyhow::Result<()> {
    let mut sum: Option<QTable> = None;
    for path in &args.files {
        let part = load(path)?;
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => {
                let first = args.files.first().map_or_else(String::new, |first| file_name(first));
                sum.merge(&part).with_context(|| format!("cannot add {} to {first}", file_name(path)))?;
            }
        }
    }
    let sum = sum.context("there is nothing to add up")?;
    save(&args.output, &sum)?;
    let (parts, decisions) = (args.files.len(), decisions(&sum));
    writeln!(io::stdout(), "added up {parts} tables, {decisions} decisions, into {}", file_name(&args.output))?;
    Ok(())
}

/// How many decisions a table has counted.
pub fn decisions(table: &QTable) -> u64 {
    table.visited().fold(0, |sum, (_, entry)| sum.saturating_add(entry.visits()))
}

/// How an upcard of this value, 2 to 11, is called.
pub fn upcard_name(value: u8) -> String {
    if value == blackjack::cards::ACE { "A".to_owned() } else { value.to_string() }
}

/// `qtable dump`.
///
/// # Errors
/// When the table cannot be read or standard output not be written.
pub fn dump(args: &DumpArgs) -> anyhow::Result<()> {
    let table = load(&args.file)?;
    let text = match args.format {
        Format::Text => table.dump(),
        Format::Csv => csv(&table),
        Format::Json => format!("{:#}\n", as_json(&table)),
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// How an action is called.
pub const fn word(action: Action) -> &'static str {
    match action {
        Action::Hit => "hit",
        Action::Stand => "stand",
    }
}

fn csv(table: &QTable) -> String {
    let mut text = "total,soft,dealer,hit_n,hit_sum,hit_mean,stand_n,stand_sum,stand_mean,plays\n".to_owned();
    for (state, Entry { hit, stand }) in table.visited() {
        let mean = |tally: Tally| tally.mean().map_or_else(String::new, |mean| format!("{mean:.6}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{}",
            state.total(),
            u8::from(state.is_soft()),
            state.upcard(),
            hit.n,
            hit.sum,
            mean(hit),
            stand.n,
            stand.sum,
            mean(stand),
            word(table.best(state)),
        );
    }
    text
}

fn as_json(table: &QTable) -> Value {
    let tally = |tally: Tally| json!({ "n": tally.n, "sum": tally.sum, "mean": tally.mean() });
    let row = |(state, Entry { hit, stand }): (State, Entry)| {
        json!({
            "total": state.total(),
            "soft": state.is_soft(),
            "dealer": state.upcard(),
            "hit": tally(hit),
            "stand": tally(stand),
            "plays": word(table.best(state)),
        })
    };
    json!({ "states": table.space().word(), "visited": table.visited().map(row).collect::<Vec<_>>() })
}
