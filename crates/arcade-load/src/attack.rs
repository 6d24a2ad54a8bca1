//! All attacks at once beside innocent players of every kind: what do the innocents notice, and what does the hub take?

mod attacks;
mod innocents;
mod measured;
mod meter;
mod net;
mod options;
mod page;
mod report;
mod target;

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use rand::{TryRng as _, rngs::SysRng};
use tokio::time::{Instant, sleep};

use self::{
    attacks::{Answers, Attack},
    measured::{Measured, Stored, Taken},
    meter::{Attacked, Meter},
    target::Target,
};
use crate::{
    hub::{Hub, Load, own_cpu},
    worker::Worker,
};

pub(crate) use self::{options::Options, report::list};

/// The limit on open files of the hub that is attacked.
const OPEN_FILES: u32 = 4_096;
/// The share of the time for which the innocents are alone at first, and the least and the longest.
const ALONE: f64 = 0.1;
const LEAST_ALONE: Duration = Duration::from_secs(12);
const MOST_ALONE: Duration = Duration::from_secs(300);
/// How often the hub is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long results may take that are not stored yet when the innocents have stopped.
const RESULTS: Duration = Duration::from_secs(30);

/// Starts a hub, and lets innocents play alone and then beside the attacks. Returns the report of what they saw, and a line for each
/// bound that is broken.
pub(crate) async fn measure(program: Option<&Path>, options: &Options) -> anyhow::Result<(String, Vec<String>)> {
    let chosen = attacks::named(&options.only);
    let seed = match options.seed {
        Some(seed) => seed,
        None => u64::from(SysRng.try_next_u32().context("no random number")?),
    };
    let data = tempfile::tempdir()?;
    let hub = Hub::start_with(program, data.path(), &[], Some(OPEN_FILES))?;
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
    Ok((report::text(&measured)?, report::broken(&measured)))
}

// Looks at the hub now and then for this time.
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

// What is stored for each innocent, as soon as that are all matches that it has seen end.
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
