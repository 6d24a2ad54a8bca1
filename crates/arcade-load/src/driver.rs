//! Threads that generate load, and what is measured meanwhile: the processors that are busy, and how late messages arrive.

use std::{
    fs, io,
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, anyhow};
use tokio::{sync::oneshot, task::LocalSet};

use crate::hub::Hub;

/// A thread with a runtime of its own, which works until it is stopped and delays no other load.
#[derive(Debug)]
pub(crate) struct Worker<T> {
    thread: JoinHandle<anyhow::Result<T>>,
    stop: oneshot::Sender<()>,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts work, which receives the request to stop.
    pub(crate) fn start<F: Future<Output = anyhow::Result<T>>>(
        name: &str,
        work: impl FnOnce(oneshot::Receiver<()>) -> F + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(name.into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            LocalSet::new().block_on(&runtime, work(stopped))
        })?;
        Ok(Self { thread, stop })
    }

    /// Stops it and returns its result.
    pub(crate) fn stop(self) -> anyhow::Result<T> {
        let Self { thread, stop } = self;
        // If the receiver is gone, the work has failed already.
        let _ = stop.send(());
        let name = thread.thread().name().unwrap_or_default().to_owned();
        thread.join().map_err(|_| anyhow!("the thread '{name}' panicked"))?
    }
}

/// The processor time that this program has used, without threads that have ended.
pub(crate) fn own_cpu() -> anyhow::Result<Duration> {
    let mut used = Duration::ZERO;
    for task in fs::read_dir("/proc/self/task").context("cannot read '/proc/self/task'")? {
        // A thread may have ended meanwhile.
        let Ok(text) = fs::read_to_string(task?.path().join("schedstat")) else { continue };
        used += processor_time(&text).unwrap_or_default();
    }
    Ok(used)
}

/// The processor time of a thread, from its file `schedstat` under `/proc`.
pub(crate) fn processor_time(schedstat: &str) -> Option<Duration> {
    schedstat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Measures the processor time of a hub.
#[derive(Debug)]
pub(crate) struct Load {
    cpu: Duration,
    at: Instant,
}

impl Load {
    /// Starts measuring.
    pub(crate) fn start(hub: &Hub) -> anyhow::Result<Self> {
        Ok(Self { cpu: hub.cpu()?, at: Instant::now() })
    }

    /// The processors that the hub has kept busy since the start.
    pub(crate) fn processors(&self, hub: &Hub) -> anyhow::Result<f64> {
        Ok((hub.cpu()?.saturating_sub(self.cpu)).as_secs_f64() / self.at.elapsed().as_secs_f64())
    }
}

/// When the turns of one match arrived at one client.
#[derive(Debug, Default)]
pub(crate) struct Arrivals(Vec<(u16, SystemTime)>);

impl Arrivals {
    /// Records a turn.
    pub(crate) fn push(&mut self, turn: u16, at: SystemTime) {
        self.0.push((turn, at));
    }

    /// How long after its time each turn arrived, by the schedule that these arrivals show.
    pub(crate) fn lateness(&self, interval: Duration) -> Vec<Duration> {
        self.lateness_by(&Schedule::of(self, interval))
    }

    /// How long after its time each turn arrived, by this schedule.
    pub(crate) fn lateness_by(&self, schedule: &Schedule) -> Vec<Duration> {
        self.0
            .iter()
            .map(|arrival| Duration::from_secs_f64((schedule.offset(arrival) - schedule.earliest).max(0.0)))
            .collect()
    }
}

/// When turns are due: turn t so many intervals after the start of the match. The start is not on the wire. It is taken from the
/// turn that arrived earliest by this schedule, so that turn counts as in time.
#[derive(Debug)]
pub(crate) struct Schedule {
    origin: Option<SystemTime>,
    interval: f64,
    // Seconds after the origin at which turn 0 would have been due.
    earliest: f64,
}

impl Schedule {
    /// The schedule of a match whose turns are `interval` apart.
    pub(crate) fn of(arrivals: &Arrivals, interval: Duration) -> Self {
        let mut schedule = Self { origin: None, interval: interval.as_secs_f64(), earliest: 0.0 };
        schedule.origin = arrivals.0.iter().map(|&(_, at)| at).min();
        schedule.earliest = arrivals.0.iter().map(|arrival| schedule.offset(arrival)).fold(f64::INFINITY, f64::min);
        schedule
    }

    fn offset(&self, &(turn, at): &(u16, SystemTime)) -> f64 {
        let since = self.origin.map_or(Duration::ZERO, |origin| at.duration_since(origin).unwrap_or_default());
        since.as_secs_f64() - f64::from(turn) * self.interval
    }
}

/// Durations from the shortest to the longest.
#[derive(Debug)]
pub(crate) struct Distribution(Vec<Duration>);

impl Distribution {
    pub(crate) fn new(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        Self(durations)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The duration that this share of all, in thousandths, does not exceed; zero without any.
    pub(crate) fn quantile(&self, thousandths: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get((self.0.len() * thousandths / 1_000).min(last)).copied().unwrap_or_default()
    }

    /// Median, p99 and the longest in milliseconds, as cells of a table.
    pub(crate) fn cells(&self) -> String {
        let millis = |duration: Duration| duration.as_secs_f64() * 1_000.0;
        let (median, most) = (millis(self.quantile(500)), millis(self.quantile(990)));
        format!("{median:.1} ms | {most:.1} ms | {:.1} ms", millis(self.quantile(1_000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_relative_to_the_earliest_turn() {
        let start = SystemTime::UNIX_EPOCH;
        let mut arrivals = Arrivals::default();
        for (turn, millis) in [(3, 1_000), (4, 1_095), (5, 1_207), (6, 1_295)] {
            arrivals.push(turn, start + Duration::from_millis(millis));
        }
        let late: Vec<u128> = arrivals.lateness(Duration::from_millis(100)).iter().map(Duration::as_micros).collect();
        let near: Vec<u128> = late.iter().map(|micros| (micros + 500) / 1_000).collect();
        assert_eq!(near, [5, 0, 12, 0]);
        assert!(Arrivals::default().lateness(Duration::from_millis(100)).is_empty());
    }

    #[test]
    fn quantiles_are_taken_from_the_sorted_durations() {
        let hundred = Distribution::new((1..=100).rev().map(Duration::from_millis).collect());
        assert_eq!(hundred.cells(), "51.0 ms | 100.0 ms | 100.0 ms");
        assert_eq!(Distribution::new(vec![]).cells(), "0.0 ms | 0.0 ms | 0.0 ms");
    }
}
