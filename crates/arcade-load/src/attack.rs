//! Well-behaved players, first alone and then beside attacks. Each broken bound is a line of the report.

use std::{
    mem::take,
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use clap::builder::PossibleValuesParser;
use rand::{TryRng as _, rngs::SysRng};
use tokio::time::sleep;

use crate::{
    attacks::{self, Attack, HOSTS, Target},
    driver::{Counts, Distribution, Hub, Report, Usage},
    players::{self, ALL, Player, Record, Records},
};

const OPEN_FILES: u32 = 4_096;
const PHASES: [&str; 2] = ["alone", "under attack"];
/// The time before the attacks: a fraction, and its minimum.
const ALONE: f64 = 0.1;
const MIN_ALONE: Duration = Duration::from_secs(12);
const MAX_ALONE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_secs(1);
/// How long the hub may take to store results.
const RESULTS: Duration = Duration::from_secs(30);
/// Of the hub, in megabytes.
const MAX_MEMORY: u64 = 600;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Duration of the attacks; before them, the players play alone for a tenth of it
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
struct Phase {
    time: Duration,
    /// The maximum, in megabytes.
    memory: u64,
    /// The maximum of files and sockets.
    files: usize,
    /// In megabytes.
    written: u64,
    processors: f64,
    own: f64,
    records: Records,
}

pub(crate) async fn measure(program: Command, options: &Options) -> anyhow::Result<Report> {
    let seed = options.seed.map_or_else(|| SysRng.try_next_u32().map(u64::from), Ok)?;
    let mut limited = Command::new("sh");
    // The hub raises its soft limit, so both limits are set before it runs.
    limited.args(["-c", "ulimit -n \"$0\" && exec \"$@\"", &OPEN_FILES.to_string()]).arg(program.get_program());
    let hub = Hub::start(limited, &[])?;
    let (target, records) = (Target::open(&hub).await?, Arc::<Mutex<Records>>::default());
    let time = Duration::from_secs_f64(60.0 * options.minutes);
    let players = players::start(target.clone(), Arc::clone(&records))?;
    let take_records = || take(&mut *records.lock().expect("recording does not panic"));
    let alone = sample(&hub, time.mul_f64(ALONE).clamp(MIN_ALONE, MAX_ALONE)).await?;
    let alone = Phase { records: take_records(), ..alone };
    let (mut running, mut attacks) = (vec![], vec![]);
    for (attack, number) in attacks::named(&options.only).into_iter().zip(0_u64..) {
        running.push((attack, attacks::start(attack, target.clone(), seed.wrapping_add(number))?));
    }
    let attacked = sample(&hub, time).await?;
    players.finish().await?;
    let phases = [alone, Phase { records: take_records(), ..attacked }];
    for (attack, worker) in running {
        attacks.push((attack, worker.finish().await?));
    }
    let stored = stored_matches(&hub, &phases).await?;
    Ok(report(seed, &phases, &stored, &attacks))
}

async fn sample(hub: &Hub, time: Duration) -> anyhow::Result<Phase> {
    let (usage, own, start, mut phase) = (hub.usage()?, Usage::start("self")?, Instant::now(), Phase::default());
    let before = usage.written()?;
    while start.elapsed() < time {
        sleep(LOOK.min(time.saturating_sub(start.elapsed()))).await;
        phase.memory = phase.memory.max(usage.memory()? / 1_000_000);
        phase.files = phase.files.max(usage.open_files()?);
    }
    let written = usage.written()?.saturating_sub(before) / 1_000_000;
    Ok(Phase { time, written, processors: usage.processors()?, own: own.processors()?, ..phase })
}

fn played([alone, attacked]: &[Phase; 2], place: usize) -> usize {
    alone.records[place].matches + attacked.records[place].matches
}

// Waits until all played matches are stored. Returns them by player.
async fn stored_matches(hub: &Hub, phases: &[Phase; 2]) -> anyhow::Result<Vec<Vec<String>>> {
    let start = Instant::now();
    loop {
        let mut stored = vec![];
        for player in ALL {
            stored.push(if player.plays { hub.matches_of(player.name).await? } else { vec![] });
        }
        let is_complete = stored.iter().zip(0..).all(|(ids, place)| ids.len() >= played(phases, place));
        if is_complete || start.elapsed() > RESULTS {
            return Ok(stored);
        }
        sleep(LOOK).await;
    }
}

fn report(seed: u64, phases: &[Phase; 2], stored: &[Vec<String>], attacks: &[(Attack, Counts)]) -> Report {
    let (mut report, mut reasons, mut broken) = (Report::default(), vec![], vec![]);
    let ([alone, attacked], count) = (phases.each_ref().map(|phase| phase.time.as_secs_f64()), attacks.len());
    report.line(format_args!(
        "{} players are alone for {alone:.0} s, and for {attacked:.0} s beside {count} attacks, each from {HOSTS} hosts, with \
         --seed {seed}:\n\n| player | | late by: p50 | p99 | longest | failed | lost | matches | results |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ALL.len()
    ));
    for (place, (Player { name, unit, bound, plays }, stored)) in ALL.iter().zip(stored).enumerate() {
        for (phase, Phase { records, .. }) in PHASES.into_iter().zip(phases) {
            let Record { answers, failed, lost, matches } = &records[place];
            let late = Distribution::new(answers.clone());
            let results = if *plays && phase != PHASES[0] { stored.len().to_string() } else { String::new() };
            let (count, cells, most) = (late.len(), late.cells(), late.quantile(990));
            let [failures, losses] = [failed, lost].map(|counts| counts.values().sum::<u64>());
            report.line(format_args!(
                "| {name}, {phase} | {count} {unit} | {cells} | {failures} | {losses} | {matches} | {results} |"
            ));
            for why in [failed, lost].into_iter().filter(|why| !why.is_empty()) {
                reasons.push(format!("{name}, {phase}: {}\n", counts(why)));
            }
            if count == 0 {
                broken.push(format!("{name} received no answer {phase}"));
            }
            if most > *bound {
                let [most, bound] = [most, *bound].map(|time| time.as_millis());
                broken.push(format!("{name}: p99 of {unit} is {most} ms {phase}; the bound is {bound} ms"));
            }
            if failures > 0 {
                broken.push(format!("{name} was not served {failures} times {phase}: {}", counts(failed)));
            }
            if losses > 0 {
                broken.push(format!("{name} lost its connection {losses} times {phase}: {}", counts(lost)));
            }
        }
        let (played, mut distinct) = (played(phases, place), stored.clone());
        distinct.sort_unstable();
        distinct.dedup();
        // A match may have ended just when the players were stopped.
        if *plays && !(played..=played + 1).contains(&stored.len()) {
            broken.push(format!("{name} has played {played} matches, and {} are stored", stored.len()));
        }
        if distinct.len() < stored.len() {
            let again = stored.len() - distinct.len();
            broken.push(format!("{again} matches of {name} are stored more than once"));
        }
    }
    let reasons = reasons.concat();
    report.line(format_args!(
        "\n{reasons}\n| the hub | memory | files | written | processors | those of this program |\n\
         | --- | --- | --- | --- | --- | --- |"
    ));
    for (phase, Phase { memory, files, written, processors, own, .. }) in PHASES.into_iter().zip(phases) {
        report.line(format_args!("| {phase} | {memory} MB | {files} | {written} MB | {processors:.2} | {own:.2} |"));
    }
    if phases[1].memory > MAX_MEMORY {
        broken.push(format!("the hub took {} MB; the bound is {MAX_MEMORY} MB", phases[1].memory));
    }
    report.line("\n| attack | what each host does | answers |\n| --- | --- | --- |");
    for (Attack { name, sentence, per_second, .. }, answers) in attacks {
        let answers = counts(answers);
        report.line(format_args!("| {name} | {sentence}, {per_second} times a second | {answers} |"));
    }
    Report { broken, ..report }
}

fn counts(counts: &Counts) -> String {
    counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_line_for_each_broken_bound() {
        let mut phases: [Phase; 2] = Default::default();
        for record in phases.iter_mut().flat_map(|phase| &mut phase.records) {
            record.answers = vec![Duration::from_millis(5); 100];
        }
        let mut stored = vec![vec![]; ALL.len()];
        let attacks = [(attacks::ALL[0], Counts::from([("OK".into(), 3), ("429".into(), 9)]))];
        let Report { text, broken } = report(7, &phases, &stored, &attacks);
        assert_eq!(broken, Vec::<String>::new());
        let row = "| NuggetsUdp, under attack | 100 keys | 5.0 ms | 5.0 ms | 5.0 ms | 0 | 0 | 0 | 0 |";
        assert!(text.contains(row) && text.contains("5 times a second | 429 9, OK 3 |"), "{text}");
        let [alone, attacked] = &mut phases;
        attacked.memory = 601;
        attacked.records[0].answers[..2].fill(Duration::from_millis(251));
        attacked.records[1].lost.insert("close 4003".into(), 1);
        attacked.records[2].matches = 2;
        alone.records[3].answers.clear();
        attacked.records[7].failed.insert("/: 429".into(), 4);
        attacked.records[6].answers[..2].fill(Duration::from_millis(999));
        stored[4] = vec!["a".into(), "a".into()];
        assert_eq!(
            report(7, &phases, &stored, &attacks).broken,
            [
                "NuggetsUdp: p99 of keys is 251 ms under attack; the bound is 250 ms",
                "NuggetsPage lost its connection 1 times under attack: close 4003 1",
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
