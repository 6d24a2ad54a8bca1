//! Three hubs as one arcade: how soon each shows what happens at the others, what a relay costs, and what players notice when a hub moves
//! its rooms or is killed.

mod browser;
mod lobby;
mod moved;

use std::{
    fmt::Write as _,
    path::Path,
    process,
    time::{Duration, Instant},
};

use anyhow::bail;
use clap::ValueEnum as _;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::{
    args::{self, Part},
    explorers,
    hub::{Hub, Load, Room},
    robots::{self, Players, ROBOTS},
    watchers::watch,
};

/// Hubs of the arcade.
const NODES: [&str; 3] = ["ann", "bob", "cid"];
/// Rooms play at a tenth of the usual pace, so that three times as many as one hub holds go on at one machine.
const SLOWER: u32 = 10;
/// Turns of a match that outlasts all measurements: hours.
const LONG: u16 = 10_000;
/// Turns of a match for watchers, ten a second.
const WATCHED: u16 = 100;
/// How often to look whether rooms are back.
const LOOK: Duration = Duration::from_millis(250);
/// How long to wait for rooms to come back.
const PATIENCE: Duration = Duration::from_secs(120);
/// A table of durations begins so.
const HEAD: &str = "| | p50 | p99 | longest |\n| --- | --- | --- | --- |";

/// The hubs, and their data directories.
struct Fleet {
    nodes: Vec<(Hub, TempDir)>,
}

impl Fleet {
    fn start(program: Option<&Path>, options: &args::Fleet) -> anyhow::Result<Self> {
        // An arcade of its own, whatever was measured with these servers before.
        let arcade = format!("load-{}", process::id());
        let mut fleet = Self { nodes: vec![] };
        for node in NODES {
            let data = tempfile::tempdir()?;
            let mut words = vec!["--proxy", "127.0.0.1", "--nats", &options.nats, "--database", &options.database];
            words.extend(["--arcade", &arcade, "--node", node, "--advertise", "127.0.0.1"]);
            if let Some(durability) = &options.durability {
                words.extend(["--durability", durability]);
            }
            fleet.nodes.push((Hub::start_with(program, data.path(), &words, None)?, data));
        }
        Ok(fleet)
    }

    /// Waits until each hub shows the rooms of all.
    async fn settle(&self, rooms: usize) -> anyhow::Result<()> {
        self.wait(&format!("{rooms} rooms"), |shown| shown.len() >= rooms).await
    }

    /// Waits until each hub shows a room.
    async fn shows(&self, room: &Room) -> anyhow::Result<()> {
        self.wait(&room.id, |shown| shown.iter().any(|(id, _)| *id == room.id)).await
    }

    async fn wait(&self, what: &str, is_there: impl Fn(&[(String, String)]) -> bool) -> anyhow::Result<()> {
        let begun = Instant::now();
        for (hub, _) in &self.nodes {
            while !is_there(&hub.shown()?) {
                if begun.elapsed() > PATIENCE {
                    bail!("a hub does not show {what} after {} s", PATIENCE.as_secs());
                }
                sleep(LOOK).await;
            }
        }
        Ok(())
    }

    fn hub(&self, node: usize) -> &Hub {
        &self.nodes[node].0
    }
}

/// Starts the hubs, fills them with rooms, and measures. Returns the report, and what could not be measured.
pub(crate) async fn measure(program: Option<&Path>, options: &args::Fleet) -> anyhow::Result<(String, Vec<String>)> {
    let (mut report, mut broken) = (String::new(), vec![]);
    let mut fleet = Fleet::start(program, options)?;
    let (robots, nuggets) = fill(&fleet, options.rooms)?;
    let explorers = explorers::start(nuggets, explorers::KEY_PAUSE * SLOWER).await?;
    // They play until this program ends.
    let _players = Players::start(robots, Duration::from_millis(robots::TURN) * SLOWER / options.rooms.max(1))?;
    fleet.settle(options.rooms as usize).await?;
    writeln!(report, "3 hubs with {} rooms, at a tenth of the usual pace.\n\n{HEAD}", options.rooms)?;
    for part in Part::value_variants().iter().filter(|part| options.only.is_empty() || options.only.contains(part)) {
        let loads = fleet.nodes.iter().map(|(hub, _)| Load::start(hub)).collect::<anyhow::Result<Vec<_>>>()?;
        match part.measure(program, &mut fleet, options).await {
            Ok(lines) => report += &lines,
            Err(error) => broken.push(format!("{part:?}: {error:#}")),
        }
        if *part != Part::Kill {
            let used = loads.iter().zip(&fleet.nodes).map(|(load, (hub, _))| load.processors(hub));
            let used: Vec<String> = used.map(|used| anyhow::Ok(format!("{:.3}", used?))).collect::<Result<_, _>>()?;
            writeln!(report, "| processors of the three hubs meanwhile | {} |", used.join(" | "))?;
        }
    }
    if explorers.stop().is_err() && !options.only.is_empty() && !options.only.contains(&Part::Kill) {
        broken.push("a player of nuggets lost the room".to_owned());
    }
    Ok((report, broken))
}

impl Part {
    // Measures, and returns lines of a table.
    async fn measure(self, program: Option<&Path>, fleet: &mut Fleet, options: &args::Fleet) -> anyhow::Result<String> {
        let mut lines = String::new();
        match self {
            Self::Lobby => {
                let late = lobby::measure(fleet, options.keys.min(lobby::MOST)).await?;
                writeln!(
                    lines,
                    "| from opening a room to the last of 3 pages, {} rooms | {} |",
                    late.len(),
                    late.cells()
                )?;
            }
            Self::Relay => {
                let late = browser::keys(fleet, options.keys).await?;
                for (what, late) in ["at the hub of the room", "relayed by another hub"].into_iter().zip(late) {
                    writeln!(lines, "| from a key to its display, {what}, {} keys | {} |", late.len(), late.cells())?;
                }
            }
            Self::Watchers => {
                let room = fleet.hub(0).open(&robots::options(ROBOTS, WATCHED))?;
                fleet.shows(&room).await?;
                let mut said = String::new();
                let (last, _) = watch((fleet.hub(0), &room), fleet.hub(1), options.watchers, &mut said).await?;
                let what = format!("from a turn to the last of {} browsers at another hub", options.watchers);
                writeln!(lines, "| {what}, {} turns | {} |", last.len(), last.cells())?;
                if !said.is_empty() {
                    bail!("{}", said.trim_end());
                }
            }
            Self::Move => {
                let moved::Moved { rooms, pauses, silence, all } = moved::measure(program, fleet).await?;
                let (silence, all) = (silence.as_secs_f64(), all.as_secs_f64());
                writeln!(
                    lines,
                    "| for how long a room stood still that moved, {} rooms | {} |",
                    pauses.len(),
                    pauses.cells()
                )?;
                writeln!(
                    lines,
                    "| `drain --move` of a hub with {rooms} rooms, until all were at others | | | {all:.1} s |"
                )?;
                writeln!(
                    lines,
                    "| what a player of one of them heard nothing for | | | {:.0} ms |",
                    silence * 1_000.0
                )?;
            }
            Self::Kill => {
                let (rooms, gone) = kill(fleet).await?;
                let gone = gone.as_secs_f64();
                writeln!(lines, "| until all {rooms} rooms of a killed hub were at others | | | {gone:.1} s |")?;
            }
        }
        Ok(lines)
    }
}

// Opens rooms at all hubs, half robots and half nuggets. Returns the addresses of the former.
fn fill(fleet: &Fleet, rooms: u32) -> anyhow::Result<(Vec<std::net::SocketAddr>, Vec<Room>)> {
    let (mut robots, mut nuggets) = (vec![], vec![]);
    let turn = robots::TURN * u64::from(SLOWER);
    for (room, node) in (0..rooms).zip((0..NODES.len()).cycle()) {
        let hub = fleet.hub(node);
        if room % 2 == 0 {
            robots.push(hub.open(&robots::options_at(ROBOTS, LONG, turn))?.address);
        } else {
            nuggets.push(hub.open_nuggets()?);
        }
    }
    Ok((robots, nuggets))
}

// Kills the last hub, and waits until the others have its rooms.
async fn kill(fleet: &mut Fleet) -> anyhow::Result<(usize, Duration)> {
    let name = NODES[2];
    let of_it = |shown: Vec<(String, String)>| -> Vec<String> {
        shown.into_iter().filter(|(_, node)| node == name).map(|(id, _)| id).collect()
    };
    let before = of_it(fleet.hub(0).shown()?);
    fleet.nodes[2].0.kill()?;
    let killed = Instant::now();
    loop {
        sleep(LOOK).await;
        let shown = fleet.hub(0).shown()?;
        let elsewhere = |id: &String| shown.iter().any(|(shown, node)| shown == id && node != name);
        if before.iter().all(elsewhere) {
            return Ok((before.len(), killed.elapsed()));
        }
        if killed.elapsed() > PATIENCE {
            let lost = before.iter().filter(|id| !elsewhere(id)).count();
            bail!("{lost} of {} rooms of a killed hub are not at others after {} s", before.len(), PATIENCE.as_secs());
        }
    }
}
