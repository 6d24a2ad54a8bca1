//! Many live rooms: half robots, half nuggets.

use std::{fmt::Write as _, path::Path, time::Duration};

use tokio::time::sleep;

use crate::{
    args::Rooms,
    explorers::{self, PLAYERS},
    floor,
    hub::{Hub, Load, Room},
    lateness::Distribution,
    pages::{Pages, SETTLE},
    robots::{self, Players, ROBOTS},
};

/// Between the starts of two matches of robots: the turns of all matches are spread over the time between two turns.
const START_PAUSE: Duration = Duration::from_micros(7_300);

/// Opens the rooms, plays a match of robots in half of them and nuggets in the others, and reports how late turns were and what a room
/// takes.
pub(crate) async fn measure(program: Option<&Path>, args: &Rooms) -> anyhow::Result<String> {
    let mut report = String::new();
    let half = args.count / 2;
    writeln!(report, "{half} rooms of robots with {ROBOTS} clients, {} of nuggets with {PLAYERS}:", args.count - half)?;
    writeln!(report, "\n| turns of robots | p50 | p99 | longest |\n| --- | --- | --- | --- |")?;
    let mut bare = String::new();
    if args.floor {
        let (late, processors) = floor::measure(half, args.count - half, args.turns).await?;
        writeln!(report, "| bare loops: {} turns late by | {} |", late.len(), late.cells())?;
        bare = format!(" Bare loops for the same messages kept {processors:.2} busy.");
    }
    let data = tempfile::tempdir()?;
    let hub = Hub::start(program, data.path())?;
    let empty = hub.memory()?;
    let robots = open(&hub, half, &robots::options(ROBOTS, args.turns))?;
    let nuggets = (half..args.count).map(|_| hub.open_nuggets()).collect::<anyhow::Result<Vec<_>>>()?;
    let (late, displays, processors, told) = play(&hub, &robots, nuggets, args).await?;
    writeln!(report, "| the hub: {} turns late by | {} |\n", late.len(), late.cells())?;
    // While all clients are still there.
    let kilobytes = hub.memory()?.saturating_sub(empty) / 1_000 / u64::from(args.count);
    writeln!(
        report,
        "The hub took {kilobytes} kB a room after matches of {} turns, and kept {processors:.2} processors busy.{bare}",
        args.turns
    )?;
    writeln!(report, "{displays} displays of nuggets arrived.")?;
    if let Some((rate, with_pages)) = told {
        writeln!(
            report,
            "{} pages were told {:.1} kB a second each, and the hub kept {with_pages:.2} processors busy meanwhile.",
            args.pages,
            rate / 1_000.0
        )?;
    }
    Ok(report)
}

fn open(hub: &Hub, count: u32, options: &serde_json::Value) -> anyhow::Result<Vec<Room>> {
    (0..count).map(|_| hub.open(options)).collect()
}

type Played = (Distribution, u64, f64, Option<(f64, f64)>);

async fn play(hub: &Hub, robots: &[Room], nuggets: Vec<Room>, args: &Rooms) -> anyhow::Result<Played> {
    let ids: Vec<String> = robots.iter().zip(&nuggets).flat_map(|(one, other)| [&one.id, &other.id]).cloned().collect();
    let explorers = explorers::start(nuggets, explorers::KEY_PAUSE).await?;
    let load = Load::start(hub)?;
    let players = Players::start(robots.iter().map(|room| room.address).collect(), START_PAUSE)?;
    let mut told = None;
    let processors = if args.pages == 0 {
        None
    } else {
        sleep(Duration::from_millis(robots::TURN) * u32::from(args.turns) / 2).await;
        let alone = load.processors(hub)?;
        let pages = Pages::open(hub.address(), args.pages, ids)?;
        sleep(SETTLE).await;
        let load = Load::start(hub)?;
        sleep(Duration::from_millis(robots::TURN) * u32::from(args.turns) / 4).await;
        let with_pages = load.processors(hub)?;
        told = Some((pages.close()?, with_pages));
        Some(alone)
    };
    let late = players.lateness()?;
    let processors = processors.map_or_else(|| load.processors(hub), Ok)?;
    Ok((late, explorers.stop()?, processors, told))
}
