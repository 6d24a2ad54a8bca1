use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use anyhow::{Context as _, bail, ensure};
use cmdkit::replace_file;
use journal_core::{MAX_SIZE, SyncPolicy, Writing};

use crate::{
    draw::{Draw, Fixture},
    games::{self, play_match},
    page,
    protection::Protection,
    record::{Lines, Record},
    referee::Venue,
    setup::{Plan, Setup},
    standings::Standings,
    table,
};

const SETUP: &str = "league.json";
const MATCHES: &str = "matches.jsonl";

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub rounds: u32,
    /// The league ends early once all neighbours' order is this certain.
    pub certainty: f64,
    pub jobs: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    Certain,
    Rounds,
    Stopped,
}

/// Errors give the accepted values.
pub fn check(plan: &Plan) -> anyhow::Result<()> {
    checked(plan, 0).map(drop)
}

fn checked(plan: &Plan, drawn: u64) -> anyhow::Result<Setup> {
    let setup = plan.setup(drawn)?;
    games::check(&setup)?;
    Ok(setup)
}

#[derive(Debug)]
pub struct League {
    folder: PathBuf,
    setup: Setup,
    lines: Lines,
    records: BTreeMap<u64, Record>,
}

impl League {
    /// Opens or creates the league in this folder. `drawn` is the seed of a new league if the plan has none.
    ///
    /// # Errors
    /// If the plan is invalid, if the folder holds another league or is in use by another process, or if it cannot be
    /// written.
    pub fn open(folder: &Path, mut plan: Plan, drawn: u64) -> anyhow::Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create '{}'", folder.display()))?;
        let path = folder.join(SETUP);
        let before = match fs::read(&path) {
            Ok(bytes) => {
                let setup: Setup = serde_json::from_slice(&bytes)
                    .with_context(|| format!("'{}' is not the setup of a league", path.display()))?;
                plan.seed = plan.seed.or(Some(setup.seed));
                plan.reconnect = plan.reconnect.or(Some(setup.reconnect));
                Some(setup)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read '{}'", path.display())),
        };
        let setup = checked(&plan, drawn)?;
        let (lines, records) = Lines::open(&folder.join(MATCHES))?;
        match before {
            Some(before) => {
                if let Some(difference) = before.difference(&setup) {
                    bail!(
                        "'{}' contains another league: {difference}; repeat its command to continue it, or choose \
                         another folder with --out",
                        folder.display()
                    );
                }
            }
            None if !records.is_empty() => bail!("'{}' has matches without their '{SETUP}'", folder.display()),
            None => {
                replace_file(&path, &serde_json::to_vec_pretty(&setup)?)
                    .with_context(|| format!("cannot write '{}'", path.display()))?;
            }
        }
        let records = numbered(&setup, records)?;
        Ok(Self { folder: folder.to_owned(), setup, lines, records })
    }

    pub const fn records(&self) -> &BTreeMap<u64, Record> {
        &self.records
    }

    fn standings(&self, certainty: f64) -> Standings {
        Standings::new(&self.setup, &self.records, certainty)
    }

    /// Plays until the order is certain, all rounds are played or `stop` is set. Calls `report` for each match, and
    /// writes `table.csv`, `table.json` and `index.html` after each round. Returns the standings after the complete
    /// rounds.
    ///
    /// # Errors
    /// If a server fails, or a file cannot be written. Completed matches are kept.
    pub fn play(
        &mut self,
        limits: Limits,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Record),
    ) -> anyhow::Result<(Standings, EndReason)> {
        let writing = Writing::start(SyncPolicy::Interval, MAX_SIZE)?;
        let protection = Protection::of_this_process();
        let mut round = 1;
        let mut standings = self.standings(limits.certainty);
        let ending = loop {
            // An earlier run may have played the last round.
            if standings.rounds >= round || round == 1 {
                self.write(&standings, None)?;
            }
            if standings.is_certain() {
                break EndReason::Certain;
            }
            round = standings.rounds + 1;
            if round > limits.rounds {
                break EndReason::Rounds;
            }
            self.play_round((round, limits.jobs), (&writing, stop, protection), report)?;
            standings = self.standings(limits.certainty);
            if stop.load(Ordering::SeqCst) {
                break EndReason::Stopped;
            }
        };
        self.write(&standings, Some(ending))?;
        Ok((standings, ending))
    }

    fn play_round(
        &mut self,
        (round, jobs): (u32, usize),
        (writing, stop, protection): (&Writing, &AtomicBool, Protection),
        report: &mut dyn FnMut(&Record),
    ) -> anyhow::Result<()> {
        let Self { folder, setup, lines, records } = self;
        let mut missing = Draw::new(setup).round(round);
        missing.retain(|fixture| !records.contains_key(&fixture.number));
        let missing = Mutex::new(missing.into_iter());
        let next = || missing.lock().unwrap_or_else(PoisonError::into_inner).next();
        let venue = Venue { setup, folder, writing, stop, protection };
        let failed = AtomicBool::new(false);
        thread::scope(|scope| {
            let (sender, played) = mpsc::channel();
            for _ in 0..jobs {
                let (sender, next, venue, failed) = (sender.clone(), &next, &venue, &failed);
                scope.spawn(move || {
                    while !stop.load(Ordering::SeqCst)
                        && !failed.load(Ordering::SeqCst)
                        && let Some(fixture) = next()
                    {
                        // The receiver is dropped after a failure.
                        let _ = sender.send(play_match(venue, &fixture));
                    }
                });
            }
            drop(sender);
            let mut add = |record: anyhow::Result<Option<Record>>| {
                let Some(record) = record? else { return Ok(()) };
                lines.add(&record)?;
                report(&record);
                records.insert(record.number, record);
                Ok(())
            };
            let added = played.iter().try_for_each(&mut add);
            failed.store(added.is_err(), Ordering::SeqCst);
            added
        })
    }

    // Without an ending, the league continues.
    fn write(&self, standings: &Standings, ending: Option<EndReason>) -> anyhow::Result<()> {
        let rounds = match standings.rounds {
            1 => "1 round".to_owned(),
            rounds => format!("{rounds} rounds"),
        };
        let state = match ending {
            None => format!("After {rounds}; the league continues"),
            Some(EndReason::Certain) => format!("Final after {rounds}: the order is certain"),
            Some(EndReason::Rounds) => format!("Final after {rounds}: all rounds are played"),
            Some(EndReason::Stopped) => format!("Interrupted after {rounds}"),
        };
        let page = page::write(&self.setup, standings, &self.records, (&state, ending.is_none()));
        let json = serde_json::to_vec_pretty(&table::json(&self.setup, standings, &state))?;
        for (name, bytes) in
            [("table.csv", table::csv(standings).into_bytes()), ("table.json", json), ("index.html", page.into_bytes())]
        {
            let path = self.folder.join(name);
            replace_file(&path, &bytes).with_context(|| format!("cannot write '{}'", path.display()))?;
        }
        Ok(())
    }
}

// Keys the records by their numbers. Each match must agree with the draw.
fn numbered(setup: &Setup, records: Vec<Record>) -> anyhow::Result<BTreeMap<u64, Record>> {
    let draw = Draw::new(setup);
    let mut rounds: BTreeMap<u32, Vec<Fixture>> = BTreeMap::new();
    let mut known = BTreeMap::new();
    for record in records {
        let round = rounds.entry(record.round).or_insert_with(|| draw.round(record.round));
        let fixture = round.iter().find(|fixture| fixture.number == record.number);
        let fits = fixture.is_some_and(|fixture| {
            let names = || fixture.seats.iter().map(|player| &*setup.players[*player].name);
            fixture.seed == record.seed && names().eq(record.seats.iter().map(|seat| &*seat.player))
        });
        ensure!(
            fits,
            "match {} of '{MATCHES}' does not belong to this league; choose another folder with --out",
            record.number
        );
        known.entry(record.number).or_insert(record);
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Entrant;

    fn plan(game: &str, seed: u64) -> Plan {
        let player = |name: &str| Entrant { name: name.into(), command: "bot:easy".into() };
        let plan: Plan = toml::from_str(&format!("game = \"{game}\"")).unwrap();
        Plan { seed: Some(seed), players: vec![player("A"), player("B")], ..plan }
    }

    #[test]
    fn folder_of_another_league_is_rejected_and_the_same_league_resumes() {
        let folder = tempfile::tempdir().unwrap();
        let open = |plan| League::open(folder.path(), plan, 3);
        drop(open(plan("robots", 1)).unwrap());
        let told = open(plan("robots", 2)).unwrap_err().to_string();
        assert!(told.contains("contains another league") && told.contains("its seed is 1"), "{told}");
        assert!(open(plan("nuggets", 1)).unwrap_err().to_string().contains("it is a league of robots"));
        let unseeded = Plan { seed: None, ..plan("robots", 1) };
        assert_eq!(open(unseeded).unwrap().setup.seed, 1, "the seed is that of the league");
        fs::remove_file(folder.path().join(SETUP)).unwrap();
        drop(open(plan("robots", 2)).unwrap());
    }

    #[test]
    fn match_of_another_draw_is_rejected() {
        let setup = plan("robots", 1).setup(1).unwrap();
        let fixture = &Draw::new(&setup).round(1)[0];
        let names: Vec<_> = fixture.seats.iter().map(|player| (&*setup.players[*player].name, Some(0))).collect();
        let mut record = crate::record::tests::record(1, 1, 1, &names);
        record.seed = fixture.seed;
        assert_eq!(numbered(&setup, vec![record.clone(), record.clone()]).unwrap().len(), 1);
        record.seed += 1;
        assert!(numbered(&setup, vec![record]).unwrap_err().to_string().contains("match 1 of 'matches.jsonl'"));
    }
}
