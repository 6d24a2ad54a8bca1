//! All attacks at the same time beside well-behaved players of every kind: how they are served, and what the hub needs.

use std::{
    fmt::{self, Write as _},
    path::Path,
    time::Duration,
};

use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use cmdkit::whole_number;
use rand::{TryRng as _, rngs::SysRng};
use tokio::time::{Instant, sleep};

use crate::{
    attacks::{self, Answers, Attack, Target},
    driver::{Distribution, Load, Worker, own_cpu},
    hub::Hub,
    innocents::{self, Attacked, Innocent, Meter, Seen, Waits},
};

/// The limit on open files of the hub that is attacked.
const OPEN_FILES: u32 = 4_096;
/// The share of the time for which the innocents are alone at first, and the least and the longest.
const ALONE: f64 = 0.1;
const LEAST_ALONE: Duration = Duration::from_secs(12);
const MOST_ALONE: Duration = Duration::from_secs(300);
/// The pause between two samples of the hub.
const LOOK: Duration = Duration::from_secs(1);
/// How long the hub may take to store results after the innocents have stopped.
const RESULTS: Duration = Duration::from_secs(30);

/// How late 99 of 100 answers to keys may be, and turns.
const MAX_KEY: Duration = Duration::from_millis(250);
/// How late 99 of 100 pages may be, and changes in the lobby.
const MAX_PAGE: Duration = Duration::from_secs(1);
/// The memory of the hub, in bytes.
const MAX_MEMORY: u64 = 600_000_000;

/// A share of all, in thousandths.
const MOST: usize = 990;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How long the attacks last; before that the innocents are alone for a tenth of it
    #[arg(long, value_name = "MINUTES", default_value_t = 60.0, value_parser = minutes, allow_negative_numbers = true)]
    pub(crate) minutes: f64,

    /// Only this attack, may be repeated; `--list` has them
    #[arg(long, value_name = "NAME", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(attacks::ALL.map(|attack| attack.name)))]
    pub(crate) only: Vec<String>,

    /// Print the attacks and end
    #[arg(long)]
    pub(crate) list: bool,

    /// From how many hosts each attack comes: 127.0.0.10 and the following ones
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole_number(1..=100_u8, 10))]
    pub(crate) hosts: u8,

    /// What is drawn at random; the report says it
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

// At most a day.
fn minutes(typed: &str) -> Result<f64, String> {
    let minutes = typed.parse().ok().filter(|minutes: &f64| *minutes > 0.0 && *minutes <= 1_440.0);
    minutes.ok_or_else(|| "a number of minutes above 0 and up to 1440, as in 60 or 0.5".to_owned())
}

/// What the hub took in one phase.
#[derive(Debug, Default)]
struct Taken {
    took: Duration,
    /// Bytes, at most.
    memory: u64,
    /// Files and sockets, at most.
    files: usize,
    /// Bytes written to the disk.
    written: u64,
    processors: f64,
    /// Those that the innocents and the attackers kept busy.
    elsewhere: f64,
}

/// The results of an innocent, as the hub has stored them.
#[derive(Debug, Default)]
struct Stored {
    matches: usize,
    /// Of these, how often one is stored that was stored before.
    again: usize,
}

/// Everything that was measured.
#[derive(Debug)]
struct Measured {
    seed: u64,
    hosts: u8,
    alone: Taken,
    attacked: Taken,
    meters: Vec<Meter>,
    stored: Vec<Stored>,
    attacks: Vec<(Attack, Answers)>,
}

/// Starts a hub, and lets innocents play alone and then beside the attacks. Returns the report, and a line for each broken bound.
pub(crate) async fn measure(program: Option<&Path>, options: &Options) -> anyhow::Result<(String, Vec<String>)> {
    let chosen = attacks::named(&options.only);
    let seed = match options.seed {
        Some(seed) => seed,
        None => u64::from(SysRng.try_next_u32().context("no random number")?),
    };
    let hub = Hub::start_with(program, &[], Some(OPEN_FILES))?;
    let target = Target::open(&hub)?;
    let time = Duration::from_secs_f64(60.0 * options.minutes);
    let attacked = Attacked::default();
    let innocents = innocents::start(target.clone(), attacked.clone())?;
    let alone = look_on(&hub, time.mul_f64(ALONE).clamp(LEAST_ALONE, MOST_ALONE)).await?;
    attacked.begin();
    let mut running = vec![];
    for (attack, number) in chosen.into_iter().zip(0_u64..) {
        running.push((attack, attacks::start(attack, target.clone(), options.hosts, seed.wrapping_add(number))?));
    }
    let during = look_on(&hub, time).await?;
    let meters = innocents.stop()?;
    let stop = |(attack, running): (Attack, Worker<Answers>)| anyhow::Ok((attack, running.stop()?));
    let attacks = running.into_iter().map(stop).collect::<anyhow::Result<_>>()?;
    let stored = results(&hub, &meters).await?;
    let measured = Measured { seed, hosts: options.hosts, alone, attacked: during, meters, stored, attacks };
    Ok((text(&measured)?, broken(&measured)))
}

// Samples the hub for this time.
async fn look_on(hub: &Hub, time: Duration) -> anyhow::Result<Taken> {
    let (load, start, before, own) = (Load::start(hub)?, Instant::now(), hub.written()?, own_cpu()?);
    let mut taken = Taken::default();
    while start.elapsed() < time {
        sleep(LOOK.min(time.saturating_sub(start.elapsed()))).await;
        taken.memory = taken.memory.max(hub.memory()?);
        taken.files = taken.files.max(hub.open_files()?);
    }
    taken.took = start.elapsed();
    taken.written = hub.written()?.saturating_sub(before);
    taken.processors = load.processors(hub)?;
    taken.elsewhere = own_cpu()?.saturating_sub(own).as_secs_f64() / taken.took.as_secs_f64();
    Ok(taken)
}

// What is stored for each innocent, once that includes all matches that it has seen end.
async fn results(hub: &Hub, meters: &[Meter]) -> anyhow::Result<Vec<Stored>> {
    let until = Instant::now() + RESULTS;
    loop {
        let mut stored = vec![];
        for innocent in innocents::ALL {
            let mut ids = if innocent.plays { hub.matches_of(innocent.name)? } else { vec![] };
            let matches = ids.len();
            ids.sort_unstable();
            ids.dedup();
            stored.push(Stored { matches, again: matches - ids.len() });
        }
        let seen = meters.iter().map(Meter::matches);
        let complete = stored.iter().zip(seen).all(|(stored, seen)| stored.matches as u64 >= seen);
        if complete || Instant::now() >= until {
            return Ok(stored);
        }
        sleep(LOOK).await;
    }
}

impl Waits {
    const fn bound(self) -> Duration {
        match self {
            Self::Key | Self::Turn => MAX_KEY,
            Self::Page | Self::Lobby => MAX_PAGE,
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Self::Key => "keys",
            Self::Turn => "turns",
            Self::Page => "pages",
            Self::Lobby => "changes",
        }
    }
}

/// All figures.
fn text(measured: &Measured) -> Result<String, fmt::Error> {
    let Measured { seed, hosts, alone, attacked, meters, stored, attacks } = measured;
    let mut text = String::new();
    writeln!(
        text,
        "{} innocents play alone for {:.0} s, and for {:.0} s beside {} attacks, each from {hosts} hosts, with --seed {seed}:",
        innocents::ALL.len(),
        alone.took.as_secs_f64(),
        attacked.took.as_secs_f64(),
        attacks.len()
    )?;
    writeln!(text, "\n| innocent | | late by: p50 | p99 | longest | failed | lost | matches | results |")?;
    writeln!(text, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
    for ((innocent, meter), stored) in innocents::ALL.iter().zip(meters).zip(stored) {
        row(&mut text, innocent, "alone", &meter.alone, None)?;
        row(&mut text, innocent, "attacked", &meter.attacked, innocent.plays.then_some(stored))?;
    }
    writeln!(text)?;
    for (innocent, meter) in innocents::ALL.iter().zip(meters) {
        for (phase, seen) in [("alone", &meter.alone), ("attacked", &meter.attacked)] {
            if !seen.why.is_empty() {
                writeln!(text, "{}, {phase}: {}", innocent.name, counts(&seen.why))?;
            }
        }
    }
    writeln!(text, "\n| the hub | memory | files | written | processors | those of innocents and attackers |")?;
    writeln!(text, "| --- | --- | --- | --- | --- | --- |")?;
    for (phase, taken) in [("alone", alone), ("attacked", attacked)] {
        let Taken { memory, files, written, processors, elsewhere, .. } = taken;
        let (memory, written) = (memory / 1_000_000, written / 1_000_000);
        writeln!(text, "| {phase} | {memory} MB | {files} | {written} MB | {processors:.2} | {elsewhere:.2} |")?;
    }
    writeln!(text, "\n| attack | what each host does | answers |\n| --- | --- | --- |")?;
    for (attack, answers) in attacks {
        writeln!(text, "| {} | {} | {} |", attack.name, attack.summary(), counts(answers))?;
    }
    Ok(text)
}

fn row(
    text: &mut String,
    innocent: &Innocent,
    phase: &str,
    seen: &Seen,
    stored: Option<&Stored>,
) -> Result<(), fmt::Error> {
    let late = Distribution::new(seen.answers.clone());
    let Seen { failed, lost, matches, .. } = seen;
    let stored = stored.map_or_else(String::new, |stored| stored.matches.to_string());
    let (name, unit, count) = (innocent.name, innocent.waits.unit(), late.len());
    writeln!(text, "| {name}, {phase} | {count} {unit} | {} | {failed} | {lost} | {matches} | {stored} |", late.cells())
}

fn counts(answers: &Answers) -> String {
    let counts: Vec<String> = answers.iter().map(|(answer, count)| format!("{answer} {count}")).collect();
    counts.join(", ")
}

/// What is wrong, a line for each.
fn broken(measured: &Measured) -> Vec<String> {
    let mut broken = vec![];
    for ((innocent, meter), stored) in innocents::ALL.iter().zip(&measured.meters).zip(&measured.stored) {
        let (name, unit, bound) = (innocent.name, innocent.waits.unit(), innocent.waits.bound());
        for (phase, seen) in [("alone", &meter.alone), ("under attack", &meter.attacked)] {
            let late = Distribution::new(seen.answers.clone());
            if late.len() == 0 {
                broken.push(format!("{name} was never answered {phase}"));
            }
            if late.quantile(MOST) > bound {
                let (late, bound) = (late.quantile(MOST).as_millis(), bound.as_millis());
                broken.push(format!(
                    "{name} waited {late} ms for one of a hundred {unit} {phase}; {bound} ms are allowed"
                ));
            }
            if seen.failed > 0 {
                broken.push(format!("{name} was not served {} times {phase}: {}", seen.failed, counts(&seen.why)));
            }
            if seen.lost > 0 {
                broken.push(format!("{name} lost its place {} times {phase}: {}", seen.lost, counts(&seen.why)));
            }
        }
        let (seen, Stored { matches, again }) = (meter.matches(), stored);
        // A match may have ended just when the innocents were stopped.
        if innocent.plays && !(seen..=seen + 1).contains(&(*matches as u64)) {
            broken.push(format!("{name} has seen {seen} matches end, and {matches} are stored"));
        }
        if *again > 0 {
            broken.push(format!("{again} matches of {name} are stored more than once"));
        }
    }
    if measured.attacked.memory > MAX_MEMORY {
        let (memory, most) = (measured.attacked.memory / 1_000_000, MAX_MEMORY / 1_000_000);
        broken.push(format!("the hub took {memory} MB; {most} MB are allowed"));
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn measured() -> Measured {
        let seen = || Seen { answers: vec![Duration::from_millis(5); 100], ..Seen::default() };
        Measured {
            seed: 7,
            hosts: 10,
            alone: Taken::default(),
            attacked: Taken::default(),
            meters: innocents::ALL.iter().map(|_| Meter { alone: seen(), attacked: seen() }).collect(),
            stored: innocents::ALL.iter().map(|_| Stored::default()).collect(),
            attacks: vec![(attacks::ALL[0], BTreeMap::from([("OK".into(), 3), ("429".into(), 9)]))],
        }
    }

    #[test]
    fn reports_a_line_for_each_broken_bound() {
        let mut measured = measured();
        assert_eq!(broken(&measured), Vec::<String>::new());
        let text = text(&measured).unwrap();
        assert!(
            text.contains("| NuggetsUdp, attacked | 100 keys | 5.0 ms | 5.0 ms | 5.0 ms | 0 | 0 | 0 | 0 |"),
            "{text}"
        );
        assert!(text.contains("5 times a second | 429 9, OK 3 |"), "{text}");
        measured.attacked.memory = 601_000_000;
        measured.meters[0].attacked.answers[..2].fill(Duration::from_millis(251));
        measured.meters[1].attacked.lost = 1;
        measured.meters[2].attacked.matches = 2;
        measured.meters[3].alone.answers.clear();
        measured.meters[7].attacked.failed = 4;
        measured.meters[7].attacked.why.insert("/: 429".into(), 4);
        measured.meters[6].attacked.answers[..2].fill(Duration::from_millis(999));
        measured.stored[4] = Stored { matches: 2, again: 1 };
        assert_eq!(
            broken(&measured),
            [
                "NuggetsUdp waited 251 ms for one of a hundred keys under attack; 250 ms are allowed",
                "NuggetsPage lost its place 1 times under attack: ",
                "RobotsTcp has seen 2 matches end, and 0 are stored",
                "RobotsPage was never answered alone",
                "BlackjackTcp has seen 0 matches end, and 2 are stored",
                "1 matches of BlackjackTcp are stored more than once",
                "Reader was not served 4 times under attack: /: 429 4",
                "the hub took 601 MB; 600 MB are allowed",
            ]
        );
    }
}
