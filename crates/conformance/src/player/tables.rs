//! A player stores its table in a file of any format. The tester damages only files that the player has written.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use robots::MinStd;
use tempfile::TempDir;

use super::{
    CUT_TABLE, EMPTY_TABLE, ENDS, EXPLAINS, GARBAGE_TABLE, LARGE_TABLE, LEAVES_TABLE, NAN_TABLE, NO_CRASH, PLAYS_TABLE,
    QUITS, TRAINS, TRAINS_ON, TWICE_TABLE,
    test_dealer::{Delivery, TestDealer, USUAL_ARGUMENTS},
};
use crate::{
    judge::{Judge, ScenarioResult, Scene, scene},
    launch::{Launcher, Run, Values},
    ports::take_tcp_port,
    rule::Rule,
    terminal::Terminal,
    tester::Options,
};

const TABLE_ROUNDS: usize = 12;
/// In bytes: a table that is too large. The file is sparse.
const LARGE: u64 = 1 << 30;
/// In bytes: the part of a large table that is compared afterwards.
const FRONT: u64 = 1 << 16;

/// Tested if the command has placeholders for training and for the table.
const ALL: [&Rule; 10] = [
    &TRAINS,
    &PLAYS_TABLE,
    &LEAVES_TABLE,
    &TRAINS_ON,
    &CUT_TABLE,
    &EMPTY_TABLE,
    &NAN_TABLE,
    &TWICE_TABLE,
    &GARBAGE_TABLE,
    &LARGE_TABLE,
];

type Damage = fn(&Path, &Options) -> io::Result<()>;

const DAMAGES: [(&str, &Rule, Damage); 6] = [
    ("a truncated table", &CUT_TABLE, |path, _| {
        let table = fs::read(path)?;
        fs::write(path, &table[..table.len() / 2])
    }),
    ("an empty table", &EMPTY_TABLE, |path, _| fs::write(path, b"")),
    ("a table of NaN", &NAN_TABLE, |path, _| {
        let table = fs::read(path)?;
        fs::write(path, nan(&table))
    }),
    ("two tables in one file", &TWICE_TABLE, |path, _| {
        let table = fs::read(path)?;
        fs::write(path, [&table[..], &table].concat())
    }),
    ("a table of random bytes", &GARBAGE_TABLE, |path, options| {
        let length = fs::metadata(path)?.len();
        let mut draws = MinStd::new(options.drawn(31));
        // The low bits of this generator are the least random.
        let bytes: Vec<u8> = (0..length).map(|_| draws.draw().to_le_bytes()[1]).collect();
        fs::write(path, bytes)
    }),
    ("a table of 1 GiB", &LARGE_TABLE, |path, _| File::options().write(true).open(path)?.set_len(LARGE)),
];

// Replaces each number by NaN: as a word in a text, except in its header, else as the bytes of a double.
fn nan(table: &[u8]) -> Vec<u8> {
    if !table.is_ascii() || table.contains(&0) {
        return f64::NAN.to_ne_bytes().into_iter().cycle().take(table.len()).collect();
    }
    let first = table.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut text = table[..first].to_vec();
    let mut is_number = false;
    for &byte in &table[first..] {
        let was = is_number;
        is_number = byte.is_ascii_digit() || byte == b'.' && was || byte == b'-';
        match (was, is_number) {
            (false, true) => text.extend_from_slice(b"nan"),
            (true, true) => {}
            (_, false) => text.push(byte),
        }
    }
    text
}

pub(super) struct TablePlayer<'s> {
    pub(super) launcher: &'s dyn Launcher,
    pub(super) table: Option<PathBuf>,
    pub(super) trains: bool,
}

impl TablePlayer<'_> {
    fn with(&self, values: Values<'_>) -> Vec<(&'static str, String)> {
        let table = self.table.as_ref().map(|path| ("table", path.display().to_string()));
        let train = self.trains.then(|| ("train", "--train".to_owned()));
        values.iter().cloned().chain(table).chain(train).collect()
    }
}

impl Launcher for TablePlayer<'_> {
    fn takes(&self, name: &str) -> bool {
        self.launcher.takes(name)
    }

    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.launcher.start(&self.with(values))
    }

    fn start_at(&self, usual: Terminal, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        self.launcher.start_at(usual, &self.with(values))
    }

    fn chooses_terminal(&self) -> bool {
        self.launcher.chooses_terminal()
    }

    fn limits(&self) -> Vec<String> {
        self.launcher.limits()
    }
}

pub(super) struct Training<'s> {
    launcher: &'s dyn Launcher,
    options: Options,
    folder: TempDir,
    table: Vec<u8>,
}

impl<'s> Training<'s> {
    pub(super) fn open(judge: &mut Judge, launcher: &'s dyn Launcher, options: Options) -> io::Result<Option<Self>> {
        let takes = launcher.takes("table") && launcher.takes("train");
        if !takes {
            judge.leave_out(ALL, "the command lacks {table} or {train}");
        }
        takes.then(|| Ok(Self { launcher, options, folder: tempfile::tempdir()?, table: Vec::new() })).transpose()
    }

    pub(super) fn untrained(&self) -> TablePlayer<'s> {
        self.player(&self.path("table"), true)
    }

    /// Returns whether the player can play by its table. `is_over` is whether the beginner's game ended correctly.
    pub(super) fn has_learned(&mut self, judge: &mut Judge, is_over: bool) -> anyhow::Result<bool> {
        let path = self.path("table");
        self.table = fs::read(&path).unwrap_or_default();
        if self.table.is_empty() {
            if is_over {
                judge.check(&TRAINS, false, || "expected a table after a training game, found none".to_owned());
                judge.leave_out_for(ALL.into_iter().skip(1), &TRAINS);
            } else {
                judge.leave_out(ALL, "the training game was not completed");
            }
            return Ok(false);
        }
        judge.play("a game with the learned table", |judge| {
            judge.check(&TRAINS, true, String::new);
            judge.under(&PLAYS_TABLE, |judge| self.game(judge, &path, false))?;
            let kept = fs::read(&path).is_ok_and(|now| now == self.table);
            judge.check(&LEAVES_TABLE, kept, || {
                "expected an unchanged table after a game without training, but it changed".to_owned()
            });
            Ok(())
        })?;
        if judge.has_failed(&PLAYS_TABLE) {
            judge.leave_out_for(ALL.into_iter().skip(2), &PLAYS_TABLE);
        }
        Ok(!judge.has_failed(&PLAYS_TABLE))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn copy(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path(name);
        fs::write(&path, &self.table)?;
        Ok(path)
    }

    fn player(&self, table: &Path, trains: bool) -> TablePlayer<'s> {
        TablePlayer { launcher: self.launcher, table: Some(table.to_owned()), trains }
    }

    fn game(&self, judge: &mut Judge, table: &Path, trains: bool) -> ScenarioResult {
        let player = self.player(table, trains);
        let (mut dealer, run) = TestDealer::start(judge, &player, self.options, Delivery::Paced, USUAL_ARGUMENTS)?;
        dealer.rounds(judge, TABLE_ROUNDS)?;
        super::quits(judge, dealer, run, (&QUITS, &ENDS))
    }

    pub(super) fn scenes(&self) -> impl Iterator<Item = Scene<'_>> {
        let on = scene("training with an existing table", move |judge| {
            let path = self.copy("trained-on")?;
            judge.under(&TRAINS_ON, |judge| {
                self.game(judge, &path, true)?;
                self.game(judge, &path, false)
            })
        });
        let damages = DAMAGES.iter().map(move |&(name, rule, damage)| {
            scene(name, move |judge| {
                for (trains, how) in [(false, "to play"), (true, "to train")] {
                    let path = self.copy(&format!("{}-{trains}", rule.id))?;
                    damage(&path, &self.options)?;
                    let before = front(&path)?;
                    self.refuses(judge, (name, how), &path, trains, rule)?;
                    let kept = front(&path).is_ok_and(|now| now == before);
                    judge.check(rule, kept, || {
                        format!("expected an unchanged file, but the player started {how} overwrote {name}")
                    });
                }
                Ok(())
            })
            .shows([rule])
        });
        [on.shows([&TRAINS_ON, &NO_CRASH])].into_iter().chain(damages)
    }

    // The player must exit and report the reason. A dealer listens, so that there is no other reason.
    fn refuses(
        &self,
        judge: &mut Judge,
        (name, how): (&str, &str),
        table: &Path,
        trains: bool,
        rule: &'static Rule,
    ) -> ScenarioResult {
        let (held, port) = take_tcp_port()?;
        let values = [
            ("name", USUAL_ARGUMENTS.name.to_owned()),
            ("host", USUAL_ARGUMENTS.host.to_owned()),
            ("port", port.to_string()),
        ];
        let mut run = judge.start(&self.player(table, trains), &values)?;
        let who = format!("the player, started {how} with {name}");
        if judge.refuses(rule, &mut *run, self.options.deadline(), &who) {
            let quoted = run.errors();
            judge.check(&EXPLAINS, !quoted.is_empty(), || {
                format!("{who}: expected an error message on standard error, received none")
            });
        }
        drop(held);
        Ok(())
    }
}

fn front(path: &Path) -> io::Result<(u64, Vec<u8>)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(FRONT).read_to_end(&mut bytes)?;
    Ok((length, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_a_text_becomes_nan() {
        assert_eq!(nan(b"table 1\n12 soft -3.5 0\nend"), b"table 1\nnan soft nan nan\nend");
        assert_eq!(nan(b"3 4"), b"nan nan");
        let binary = nan(&[0; 16]);
        let doubles: Vec<f64> = binary.chunks(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect();
        assert!(doubles.len() == 2 && doubles.iter().all(|double| double.is_nan()));
    }
}
