//! The figures as text, and which bounds they break.

use std::{
    fmt::{self, Write as _},
    time::Duration,
};

use super::{
    attacks::{self, Answers},
    innocents::{self, Innocent, Waits},
    measured::{Measured, Stored, Taken},
    meter::{Meter, Seen},
};
use crate::lateness::Distribution;

/// How late 99 of 100 answers to keys may be, and turns.
const MAX_KEY: Duration = Duration::from_millis(250);
/// How late 99 of 100 pages may be, and changes in the lobby.
const MAX_PAGE: Duration = Duration::from_secs(1);
/// The memory of the hub, in bytes.
const MAX_MEMORY: u64 = 600_000_000;

/// A share of all, in thousandths.
const MOST: usize = 990;

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

impl Meter {
    /// Matches that were played to their end, in both phases.
    pub(super) const fn matches(&self) -> u64 {
        self.alone.matches + self.attacked.matches
    }
}

/// A line for each attack.
pub(crate) fn list() -> String {
    let line = |attack: &attacks::Attack| format!("{:<10} {}\n", attack.name, sentence(attack));
    attacks::ALL.iter().map(line).collect()
}

fn sentence(attack: &attacks::Attack) -> String {
    format!("{}, {} times a second", attack.sentence, attack.per_second)
}

/// All figures.
pub(super) fn text(measured: &Measured) -> Result<String, fmt::Error> {
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
        writeln!(text, "| {} | {} | {} |", attack.name, sentence(attack), counts(answers))?;
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
pub(super) fn broken(measured: &Measured) -> Vec<String> {
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
    fn nothing_is_broken_if_all_are_served_and_each_bound_is_told_in_a_line() {
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

    #[test]
    fn the_list_says_what_each_attack_does_and_how_often() {
        let list = list();
        assert_eq!(list.lines().count(), attacks::ALL.len());
        assert!(
            list.contains(
                "\nquitters   joins the match of nuggets and quits, which uses up letters, 2 times a second\n"
            )
        );
    }
}
