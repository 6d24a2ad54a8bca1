use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use anyhow::{Context as _, bail};
use ladder::Latency;
use serde::{Deserialize, Serialize};

use crate::protection::Protection;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    #[serde(rename = "match")]
    pub number: u64,
    pub round: u32,
    /// From 1.
    pub deal: u64,
    pub seed: u64,
    pub seats: Vec<Seat>,
    pub millis: u64,
    /// Relative to the league's folder.
    pub journal: String,
    /// Versions without this field had no protection.
    #[serde(default)]
    pub protection: Protection,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub player: String,
    /// In the unit of the game; `None` if the game ended before it had a score.
    pub score: Option<i64>,
    /// Why the player lost regardless of the score.
    pub forfeit: Option<String>,
    /// The file with the end of the program's standard error, relative to the league's folder, or `None` if empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// From the last message to the player to its next one; `None` without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Reconnections, and the program's attempts against other players, which had no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Lines(File);

impl Lines {
    /// No other process may write the file meanwhile. Cuts off an incomplete last line, whose match does not count.
    pub(crate) fn open(path: &Path) -> anyhow::Result<(Self, Vec<Record>)> {
        let name = path.display();
        let options = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = options.with_context(|| format!("cannot open '{name}'"))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => bail!("another league is being played in '{name}'"),
            // Some systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| format!("cannot read '{name}'"))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).with_context(|| format!("cannot cut off the end of '{name}'"))?;
        }
        file.seek(SeekFrom::End(0))?;
        let read = |(number, line): (usize, &[u8])| {
            serde_json::from_slice(line).with_context(|| format!("line {number} of '{name}' is not a match"))
        };
        let lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let records = (1..).zip(lines).map(read).collect::<anyhow::Result<_>>()?;
        Ok((Self(file), records))
    }

    /// Adds a record, and returns once it is on disk.
    pub(crate) fn add(&mut self, record: &Record) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.0.write_all(&line).and_then(|()| self.0.sync_data()).context("cannot write the match to matches.jsonl")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// `None` is a forfeit.
    pub(crate) fn record(number: u64, round: u32, deal: u64, seats: &[(&str, Option<i64>)]) -> Record {
        let seat = |&(player, score): &(&str, Option<i64>)| Seat {
            player: player.to_owned(),
            score,
            forfeit: score.is_none().then(|| "it ended".to_owned()),
            stderr: None,
            latency: None,
            note: None,
        };
        let seats = seats.iter().map(seat).collect();
        Record {
            number,
            round,
            deal,
            seed: deal,
            seats,
            millis: 1,
            journal: format!("journals/{number:04}"),
            protection: Protection::Sockets,
        }
    }

    #[test]
    fn incomplete_last_line_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matches.jsonl");
        let (one, two) = (record(1, 1, 1, &[("A", Some(3)), ("B", None)]), record(2, 1, 1, &[("B", Some(0))]));
        let (mut lines, before) = Lines::open(&path).unwrap();
        assert_eq!(before, []);
        lines.add(&one).unwrap();
        let held = Lines::open(&path).unwrap_err().to_string();
        assert!(held.contains("another league is being played"), "{held}");
        drop(lines);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"match\":2,\"rou").unwrap();
        let (mut lines, before) = Lines::open(&path).unwrap();
        assert_eq!(before, std::slice::from_ref(&one));
        lines.add(&two).unwrap();
        drop(lines);
        assert_eq!(Lines::open(&path).unwrap().1, [one, two]);
    }

    #[test]
    fn line_of_an_earlier_version_had_no_protection() {
        let old = r#"{"match":1,"round":1,"deal":1,"seed":1,"seats":[{"player":"A","score":3,"forfeit":null}],"millis":1,"journal":"x"}"#;
        let read: Record = serde_json::from_str(old).unwrap();
        assert_eq!((read.protection, &read.seats[0].note), (Protection::None, &None));
    }

    #[test]
    fn error_states_the_number_of_an_invalid_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matches.jsonl");
        std::fs::write(&path, "{\"match\":1}\n").unwrap();
        let told = format!("{:#}", Lines::open(&path).unwrap_err());
        assert!(told.contains("line 1 of") && told.contains("missing field"), "{told}");
    }
}
