use std::{
    collections::BTreeSet,
    io::{self, Write},
    process::ExitCode,
    time::{Duration, SystemTime},
};

use anyhow::{Context, bail};
use cmdkit::{UsageError, file_name};
use journal_core::{Pruned, RetentionClass, StoredJournal, Surplus, SystemDisk};

use crate::{
    args::PruneArgs,
    format::{count, name, size},
};

pub(crate) fn run(args: &PruneArgs) -> anyhow::Result<ExitCode> {
    let directory = &args.directory;
    let Some(retention) = &args.keep else {
        let said = "missing --keep, as in --keep 30d,100,10G; --dry-run only lists what would be removed";
        return Err(UsageError(said.to_owned()).into());
    };
    // A user who can write the directory could redirect root to other files.
    #[cfg(unix)]
    cmdkit::become_owner(directory)?;
    let now = SystemTime::now();
    let cannot = || format!("cannot list {}", file_name(directory));
    let mut out = io::stdout().lock();
    let mut games = BTreeSet::new();
    let worth = |journal: &StoredJournal| worth(journal, &mut games);
    let (journals, in_use, failed) = if args.dry_run {
        let Surplus { journals, in_use } =
            journal_core::surplus(&SystemDisk, directory, retention, now, worth).with_context(cannot)?;
        (journals, in_use, vec![])
    } else {
        let Pruned { removed, in_use, failed } =
            journal_core::prune(&SystemDisk, directory, retention, now, worth).with_context(cannot)?;
        (removed, in_use, failed)
    };
    for journal in &journals {
        let (name, size, ago) = (name(&journal.path), size(journal.size), ago(journal.age(now)));
        writeln!(out, "{name}\n    {size}, last written {ago} ago")?;
    }
    for path in &in_use {
        writeln!(out, "{}\n    skipped: a server is writing it", name(path))?;
    }
    let bytes = size(journals.iter().map(|journal| journal.size).sum());
    let (done, number) = (if args.dry_run { "would be removed" } else { "removed" }, journals.len() as u64);
    writeln!(out, "{}, {bytes}: {done}", count(number, "journal"))?;
    out.flush()?;
    if let Some((first, error)) = failed.first() {
        let more = if failed.len() > 1 { format!(", and {} more", failed.len() - 1) } else { String::new() };
        bail!("cannot remove {}: {error}{more}", file_name(first));
    }
    Ok(ExitCode::SUCCESS)
}

// A server resumes the newest journal of its game.
fn worth(journal: &StoredJournal, games: &mut BTreeSet<String>) -> RetentionClass {
    match journal_core::open(&journal.path).and_then(|opened| opened.head()) {
        Ok(head) if games.insert(head.game.clone()) => RetentionClass::Required,
        Ok(_) => RetentionClass::Removable(0),
        // Its content is unknown.
        Err(_) => RetentionClass::Exempt,
    }
}

fn ago(age: Duration) -> String {
    let hours = age.as_secs() / 3_600;
    match (hours / 24, hours) {
        (0, 0) => "less than an hour".into(),
        (0, hours) => count(hours, "hour"),
        (days, _) => count(days, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_the_largest_unit() {
        let hour = Duration::from_hours(1);
        let told = [0, 1, 23, 24, 71].map(|hours| ago(hours * hour));
        assert_eq!(told, ["less than an hour", "1 hour", "23 hours", "1 day", "2 days"]);
    }
}
