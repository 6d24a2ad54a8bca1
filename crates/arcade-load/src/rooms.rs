//! Many live rooms: half robots, half nuggets.

use std::{fmt::Write as _, path::Path, time::Duration};

use serde_json::json;

use crate::{
    args::Rooms,
    explorers::{Explorers, PLAYERS},
    floor::{self, Floor},
    hub::{Hub, Load, Room},
    lateness::Distribution,
    robots::{self, Players, ROBOTS},
};

/// Between the starts of two matches of robots: the turns of all matches are spread over the time between two turns.
const START_PAUSE: Duration = Duration::from_micros(7_300);

/// Opens the rooms, plays a match of robots in half of them and nuggets in the others, and reports how late turns were and what a room
/// takes.
///
/// # Errors
/// When the hub or a player fails.
pub(crate) async fn measure(program: Option<&Path>, args: &Rooms) -> anyhow::Result<String> {
    let mut report = String::new();
    let half = args.count / 2;
    writeln!(report, "{half} rooms of robots with {ROBOTS} clients, {} of nuggets with {PLAYERS}:", args.count - half)?;
    writeln!(report)?;
    writeln!(report, "| turns of robots | p50 | p99 | longest |")?;
    writeln!(report, "| --- | --- | --- | --- |")?;
    let mut bare = String::new();
    if args.floor {
        let Floor { late, processors } = floor::measure(half, args.count - half, args.turns).await?;
        writeln!(report, "| bare loops: {} turns late by | {} |", late.len(), late.cells())?;
        bare = format!(" Bare loops for the same messages kept {processors:.2} busy.");
    }
    let data = tempfile::tempdir()?;
    let hub = Hub::start(program, data.path())?;
    let empty = hub.memory()?;
    let robots = open(
        &hub,
        half,
        &json!({
            "game": "robots", "players": ROBOTS, "columns": 16, "rows": 12, "turns": args.turns, "turn_duration": robots::TURN,
        }),
    )?;
    let nuggets = open(&hub, args.count - half, &json!({ "game": "nuggets" }))?;
    let (late, displays, processors) = play(&hub, &robots, nuggets).await?;
    writeln!(report, "| the hub: {} turns late by | {} |", late.len(), late.cells())?;
    writeln!(report)?;
    // While all clients are still there.
    let kilobytes = hub.memory()?.saturating_sub(empty) / 1_000 / u64::from(args.count);
    writeln!(
        report,
        "The hub took {kilobytes} kB a room after matches of {} turns, and kept {processors:.2} processors busy.{bare}",
        args.turns
    )?;
    writeln!(report, "{displays} displays of nuggets arrived.")?;
    Ok(report)
}

fn open(hub: &Hub, count: u32, options: &serde_json::Value) -> anyhow::Result<Vec<Room>> {
    (0..count).map(|_| hub.open(options)).collect()
}

async fn play(hub: &Hub, robots: &[Room], nuggets: Vec<Room>) -> anyhow::Result<(Distribution, u64, f64)> {
    let explorers = Explorers::start(nuggets).await?;
    let load = Load::start(hub)?;
    let late = lateness(Players::start(robots.iter().map(|room| room.address).collect(), START_PAUSE)?)?;
    let processors = load.processors(hub)?;
    Ok((late, explorers.stop()?, processors))
}

/// Waits for the end of all matches, and gives how late their turns were.
pub(crate) fn lateness(players: Players) -> anyhow::Result<Distribution> {
    let arrivals = players.finish()?;
    let turn = Duration::from_millis(robots::TURN);
    Ok(Distribution::new(arrivals.iter().flat_map(|arrivals| arrivals.lateness(turn)).collect()))
}
