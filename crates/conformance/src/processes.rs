//! Processes from Linux `/proc`. Empty on other systems.

use std::{collections::BTreeMap, fs};

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only a guard uses it"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) parent: u32,
    group: u32,
    pub(crate) tasks: u64,
    /// In clock ticks, including children that have ended.
    pub(crate) ticks: u64,
}

/// All descendants of `root`, and all processes of its group.
pub(crate) fn family(root: u32) -> Vec<Process> {
    let mut found = Vec::new();
    // Each is read once, since there may be thousands.
    let mut children: BTreeMap<u32, Vec<Process>> = BTreeMap::new();
    for process in numbers().filter_map(process) {
        if process.id == root || process.group == root {
            found.push(process);
        } else {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut next = 0;
    while let Some(process) = found.get(next) {
        found.extend(children.remove(&process.id).into_iter().flatten());
        next += 1;
    }
    found
}

pub(crate) fn numbers() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// In bytes, without files on disk: anonymous memory and files in `/dev/shm`.
#[cfg(target_os = "linux")]
pub(crate) fn memory(process: u32) -> Option<u64> {
    sizes(&format!("/proc/{process}/status"), ["RssAnon:", "RssShmem:"])
}

/// The kernel computes proportional shares slowly, and denies them for a process that may not be traced.
#[cfg(target_os = "linux")]
pub(crate) fn proportional_memory(process: u32) -> Option<u64> {
    sizes(&format!("/proc/{process}/smaps_rollup"), ["Pss_Anon:", "Pss_Shmem:"])
}

// `None` if a line is missing.
#[cfg(target_os = "linux")]
fn sizes(file: &str, names: [&str; 2]) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let size = |name| {
        let kilobytes = text.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix(" kB")?;
        Some(kilobytes.trim().parse::<u64>().ok()? << 10)
    };
    names.into_iter().map(size).sum()
}

pub(crate) fn process(id: u32) -> Option<Process> {
    let status = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may contain any characters.
    let fields: Vec<&str> = status.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    // The state is the first field after the name.
    let ticks = (11..15).map_while(number).sum();
    let small = |place| number(place).and_then(|number| u32::try_from(number).ok());
    Some(Process { id, parent: small(1)?, group: small(2)?, tasks: number(17)?, ticks })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        io::{BufRead as _, BufReader},
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn finds_grandchildren() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sh -c 'echo $$; read line; exit'; exit"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let inner: u32 = line.trim().parse().unwrap();
        let found = family(std::process::id());
        assert!(found.iter().any(|process| process.id == inner && process.tasks == 1), "{found:?}");
        let (memory, share) = (memory(inner).unwrap(), proportional_memory(inner).unwrap());
        assert!(share > 0 && share <= memory, "{share} of {memory}");
        assert!(family(u32::MAX).is_empty());
        drop(shell.stdin.take());
        shell.wait().unwrap();
    }
}
