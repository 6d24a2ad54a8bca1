//! Counts the resources of a program and all its descendants.

use std::{
    thread,
    time::{Duration, Instant},
};

use rustix::param::clock_ticks_per_second;

use crate::{
    limits::Limits,
    processes::{family, memory, numbers, proportional_memory},
};

/// The minimum time between two counts.
const PAUSE: Duration = Duration::from_millis(20);
/// The maximum time between two counts.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// Unless the longest pause is reached, counting takes at most 1/`SHARE` of a processor.
const SHARE: u32 = 20;
/// The guard itself.
const OTHERS: u64 = 1;

/// Waits until a limit is exceeded, and returns its name. `guard` is the process that has started the program and has
/// adopted its orphans. `own` states whether the system shows only the program's processes, which is faster.
pub(super) fn exceeded(limits: &Limits, guard: u32, own: bool) -> &'static str {
    let begun = Instant::now();
    loop {
        let counted = Instant::now();
        // Reading each of them takes longer than starting further ones.
        if own && numbers().count() as u64 > limits.processes + OTHERS {
            return "processes";
        }
        let uses = Uses::count(guard, limits.memory);
        let exceeded = [
            ("processes", uses.tasks > limits.processes),
            ("memory", uses.memory > limits.memory),
            ("cpu", uses.cpu > limits.cpu),
            ("time", begun.elapsed() > limits.until()),
        ];
        if let Some((name, _)) = exceeded.into_iter().find(|(_, is_exceeded)| *is_exceeded) {
            return name;
        }
        thread::sleep((SHARE * counted.elapsed()).clamp(PAUSE, LONGEST_PAUSE));
    }
}

#[derive(Debug, Default)]
struct Uses {
    tasks: u64,
    /// In bytes.
    memory: u64,
    /// In seconds.
    cpu: u64,
}

impl Uses {
    fn count(guard: u32, most_memory: u64) -> Self {
        let mut uses = Self::default();
        let mut ticks = 0;
        let family = family(guard);
        let members = || family.iter().filter(|process| process.id != guard);
        for process in &family {
            // For the guard, only the time of the orphans that it has collected matters. Its own time is small.
            ticks += process.ticks;
        }
        for process in members() {
            uses.tasks += process.tasks;
            uses.memory += memory(process.id).unwrap_or(0);
        }
        // Shared memory was counted for each process. The exact size is computed only if it makes a difference.
        if uses.memory > most_memory {
            let share = |id| proportional_memory(id).or_else(|| memory(id)).unwrap_or(0);
            uses.memory = members().map(|process| share(process.id)).sum();
        }
        uses.cpu = ticks / clock_ticks_per_second();
        uses
    }
}
