use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use rand::{TryRng as _, rngs::SysRng};
use tokio::time::sleep;

use crate::{
    attacks::{self, Answers, Attack, HOSTS, Target},
    driver::{Distribution, Load, Process, Report},
    hub::Hub,
    players::{self, ALL, PHASES, Record},
};

const OPEN_FILES: u32 = 4_096;
/// The part of the time for which the players are alone at first, and its limits.
const ALONE: f64 = 0.1;
const MIN_ALONE: Duration = Duration::from_secs(12);
const MAX_ALONE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_secs(1);
/// How long results may take to be stored after the players have stopped.
const RESULTS: Duration = Duration::from_secs(30);
/// The bound on the memory of the hub, in bytes.
const MAX_MEMORY: u64 = 600_000_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How long the attacks last; before that the players are alone for a tenth of it
    #[arg(long, value_name = "MINUTES", default_value_t = 60.0, value_parser = minutes, allow_negative_numbers = true)]
    minutes: f64,

    /// Only this attack, may be repeated
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(attacks::ALL.map(|attack| attack.name)))]
    only: Vec<String>,

    /// The seed of random decisions; by default a random one, which is printed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

// At most a day.
fn minutes(typed: &str) -> Result<f64, String> {
    let minutes = typed.parse().ok().filter(|minutes: &f64| *minutes > 0.0 && *minutes <= 1_440.0);
    minutes.ok_or_else(|| "a number of minutes above 0 and up to 1440, as in 60 or 0.5".to_owned())
}

#[derive(Debug, Default)]
struct Usage {
    time: Duration,
    /// The maximum, in bytes.
    memory: u64,
    /// The maximum of files and sockets.
    files: usize,
    written: u64,
    processors: f64,
    /// Processors that players and attackers kept busy.
    own: f64,
}

#[derive(Debug)]
struct Measured {
    seed: u64,
    usage: [Usage; 2],
    records: Vec<[Record; 2]>,
    stored: Vec<Vec<String>>,
    attacks: Vec<(Attack, Answers)>,
}

/// Each broken bound is a line of the report.
pub(crate) async fn measure(program: &Path, options: &Options) -> anyhow::Result<Report> {
    let seed = match options.seed {
        Some(seed) => seed,
        None => u64::from(SysRng.try_next_u32().context("no random number")?),
    };
    let hub = Hub::start_limited(program, OPEN_FILES)?;
    let target = Target::open(&hub).await?;
    let (time, phase) = (Duration::from_secs_f64(60.0 * options.minutes), Arc::<AtomicUsize>::default());
    let players = players::start(target.clone(), Arc::clone(&phase))?;
    let alone = sample(&hub, time.mul_f64(ALONE).clamp(MIN_ALONE, MAX_ALONE)).await?;
    phase.store(1, Ordering::Release);
    let mut running = vec![];
    for (attack, number) in attacks::named(&options.only).into_iter().zip(0_u64..) {
        running.push((attack, attacks::start(attack, target.clone(), seed.wrapping_add(number))?));
    }
    let usage = [alone, sample(&hub, time).await?];
    let (records, mut attacks) = (players.stop().await?, vec![]);
    for (attack, worker) in running {
        attacks.push((attack, worker.stop().await?));
    }
    let stored = stored_matches(&hub, &records).await?;
    let measured = Measured { seed, usage, records, stored, attacks };
    Ok(Report { broken: broken(&measured), ..report(&measured) })
}

async fn sample(hub: &Hub, time: Duration) -> anyhow::Result<Usage> {
    let (process, start) = (hub.process(), Instant::now());
    let (load, own, before) = (Load::start(process.clone())?, Load::start(Process::new("self"))?, process.written()?);
    let mut usage = Usage::default();
    while start.elapsed() < time {
        sleep(LOOK.min(time.saturating_sub(start.elapsed()))).await;
        usage.memory = usage.memory.max(process.memory()?);
        usage.files = usage.files.max(process.open_files()?);
    }
    let written = process.written()?.saturating_sub(before);
    Ok(Usage { time: start.elapsed(), written, processors: load.processors()?, own: own.processors()?, ..usage })
}

fn played([alone, attacked]: &[Record; 2]) -> usize {
    usize::try_from(alone.matches + attacked.matches).unwrap_or(usize::MAX)
}

// Waits until all played matches are stored. Returns them by player.
async fn stored_matches(hub: &Hub, records: &[[Record; 2]]) -> anyhow::Result<Vec<Vec<String>>> {
    let start = Instant::now();
    loop {
        let mut stored = vec![];
        for player in ALL {
            let mut ids = if player.plays { hub.matches_of(player.name).await? } else { vec![] };
            ids.sort_unstable();
            stored.push(ids);
        }
        let is_complete = stored.iter().zip(records).all(|(ids, records)| ids.len() >= played(records));
        if is_complete || start.elapsed() > RESULTS {
            return Ok(stored);
        }
        sleep(LOOK).await;
    }
}

fn report(Measured { seed, usage, records, stored, attacks }: &Measured) -> Report {
    let (mut report, mut reasons) = (Report::default(), vec![]);
    let ([alone, attacked], count) = (usage.each_ref().map(|usage| usage.time.as_secs_f64()), attacks.len());
    report.line(format_args!(
        "{} players are alone for {alone:.0} s, and for {attacked:.0} s beside {count} attacks, each from {HOSTS} hosts, with \
         --seed {seed}:\n\n| player | | late by: p50 | p99 | longest | failed | lost | matches | results |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ALL.len()
    ));
    for ((player, records), stored) in ALL.iter().zip(records).zip(stored) {
        for (phase, Record { answers, failed, lost, matches, why }) in PHASES.into_iter().zip(records) {
            let (late, name, unit) = (Distribution::new(answers.clone()), player.name, player.unit);
            let stored = if player.plays && phase != PHASES[0] { stored.len().to_string() } else { String::new() };
            let (count, late) = (late.len(), late.cells());
            report.line(format_args!(
                "| {name}, {phase} | {count} {unit} | {late} | {failed} | {lost} | {matches} | {stored} |"
            ));
            if !why.is_empty() {
                reasons.push(format!("{name}, {phase}: {}\n", counts(why)));
            }
        }
    }
    report.line(format_args!(
        "\n{}\n| the hub | memory | files | written | processors | those of this program |\n\
         | --- | --- | --- | --- | --- | --- |",
        reasons.concat()
    ));
    for (phase, Usage { memory, files, written, processors, own, .. }) in PHASES.into_iter().zip(usage) {
        let (memory, written) = (memory / 1_000_000, written / 1_000_000);
        report.line(format_args!("| {phase} | {memory} MB | {files} | {written} MB | {processors:.2} | {own:.2} |"));
    }
    report.line("\n| attack | what each host does | answers |\n| --- | --- | --- |");
    for (Attack { name, sentence, per_second, .. }, answers) in attacks {
        let answers = counts(answers);
        report.line(format_args!("| {name} | {sentence}, {per_second} times a second | {answers} |"));
    }
    report
}

fn counts(answers: &Answers) -> String {
    answers.iter().map(|(answer, count)| format!("{answer} {count}")).collect::<Vec<_>>().join(", ")
}

fn broken(measured: &Measured) -> Vec<String> {
    let mut broken = vec![];
    for ((player, records), stored) in ALL.iter().zip(&measured.records).zip(&measured.stored) {
        let (name, unit, bound) = (player.name, player.unit, player.bound.as_millis());
        for (phase, Record { answers, failed, lost, why, .. }) in PHASES.into_iter().zip(records) {
            let late = Distribution::new(answers.clone()).quantile(990);
            if answers.is_empty() {
                broken.push(format!("{name} received no answer {phase}"));
            }
            if late > player.bound {
                broken
                    .push(format!("{name}: p99 of {unit} is {} ms {phase}; the bound is {bound} ms", late.as_millis()));
            }
            if *failed > 0 {
                broken.push(format!("{name} was not served {failed} times {phase}: {}", counts(why)));
            }
            if *lost > 0 {
                broken.push(format!("{name} lost its connection {lost} times {phase}: {}", counts(why)));
            }
        }
        let (played, mut distinct) = (played(records), stored.clone());
        distinct.dedup();
        // A match may have ended just when the players were stopped.
        if player.plays && !(played..=played + 1).contains(&stored.len()) {
            broken.push(format!("{name} has played {played} matches, and {} are stored", stored.len()));
        }
        if distinct.len() < stored.len() {
            let again = stored.len() - distinct.len();
            broken.push(format!("{again} matches of {name} are stored more than once"));
        }
    }
    let memory = measured.usage[1].memory;
    if memory > MAX_MEMORY {
        let (memory, bound) = (memory / 1_000_000, MAX_MEMORY / 1_000_000);
        broken.push(format!("the hub took {memory} MB; the bound is {bound} MB"));
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_line_for_each_broken_bound() {
        let answered = || Record { answers: vec![Duration::from_millis(5); 100], ..Record::default() };
        let mut measured = Measured {
            seed: 7,
            usage: Default::default(),
            records: ALL.iter().map(|_| [answered(), answered()]).collect(),
            stored: vec![vec![]; ALL.len()],
            attacks: vec![(attacks::ALL[0], Answers::from([("OK".into(), 3), ("429".into(), 9)]))],
        };
        assert_eq!(broken(&measured), Vec::<String>::new());
        let text = report(&measured).text;
        let row = "| NuggetsUdp, under attack | 100 keys | 5.0 ms | 5.0 ms | 5.0 ms | 0 | 0 | 0 | 0 |";
        assert!(text.contains(row) && text.contains("5 times a second | 429 9, OK 3 |"), "{text}");
        measured.usage[1].memory = 601_000_000;
        measured.records[0][1].answers[..2].fill(Duration::from_millis(251));
        measured.records[1][1].lost = 1;
        measured.records[2][1].matches = 2;
        measured.records[3][0].answers.clear();
        measured.records[7][1].failed = 4;
        measured.records[7][1].why.insert("/: 429".into(), 4);
        measured.records[6][1].answers[..2].fill(Duration::from_millis(999));
        measured.stored[4] = vec!["a".into(), "a".into()];
        assert_eq!(
            broken(&measured),
            [
                "NuggetsUdp: p99 of keys is 251 ms under attack; the bound is 250 ms",
                "NuggetsPage lost its connection 1 times under attack: ",
                "RobotsTcp has played 2 matches, and 0 are stored",
                "RobotsPage received no answer alone",
                "BlackjackTcp has played 0 matches, and 2 are stored",
                "1 matches of BlackjackTcp are stored more than once",
                "Reader was not served 4 times under attack: /: 429 4",
                "the hub took 601 MB; the bound is 600 MB",
            ]
        );
    }
}
