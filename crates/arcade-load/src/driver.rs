use std::{
    fmt::{Display, Write as _},
    fs, io,
    path::PathBuf,
    thread,
    time::{Duration, Instant, SystemTime},
};

use anyhow::Context as _;
use tokio::{runtime::Builder, sync::oneshot, task::LocalSet};

#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) text: String,
    /// If there is any, the exit status is 1.
    pub(crate) broken: Vec<String>,
}

impl Report {
    pub(crate) fn line(&mut self, line: impl Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{line}");
    }

    pub(crate) fn head(&mut self) {
        self.line("\n| | p50 | p99 | longest |\n| --- | --- | --- | --- |");
    }

    pub(crate) fn row(&mut self, what: impl Display, durations: &Distribution) {
        self.line(format_args!("| {what} | {} |", durations.cells()));
    }
}

/// A thread with its own runtime, so that one kind of load does not delay another.
#[derive(Debug)]
pub(crate) struct Worker<T> {
    stop: oneshot::Sender<()>,
    result: oneshot::Receiver<anyhow::Result<T>>,
}

impl<T: Send + 'static> Worker<T> {
    pub(crate) fn start(
        name: &str,
        work: impl AsyncFnOnce(oneshot::Receiver<()>) -> anyhow::Result<T> + Send + 'static,
    ) -> io::Result<Self> {
        let ((stop, stopped), (report, result)) = (oneshot::channel(), oneshot::channel());
        thread::Builder::new().name(name.into()).spawn(move || {
            let run = || {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                LocalSet::new().block_on(&runtime, work(stopped))
            };
            // The receiver is dropped if the scenario has failed.
            let _ = report.send(run());
        })?;
        Ok(Self { stop, result })
    }

    pub(crate) async fn join(self) -> anyhow::Result<T> {
        let Self { stop: _running, result } = self;
        result.await.context("a worker panicked")?
    }

    pub(crate) async fn stop(self) -> anyhow::Result<T> {
        // If the receiver is gone, the work has failed already.
        let _ = self.stop.send(());
        self.result.await.context("a worker panicked")?
    }
}

/// A process or a thread.
#[derive(Debug, Clone)]
pub(crate) struct Process(PathBuf);

impl Process {
    /// An id, `self`, or `thread-self` for the current thread.
    pub(crate) fn new(name: impl Display) -> Self {
        Self(format!("/proc/{name}").into())
    }

    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        let text = self.read("stat")?;
        // The second field is a name in parentheses, which may contain spaces. The 14th and 15th are user and system
        // time in hundredths of a second.
        let (_, fields) = text.rsplit_once(") ").context("no processor time")?;
        let ticks: u64 = fields.split(' ').skip(11).take(2).map(str::parse::<u64>).sum::<Result<_, _>>()?;
        Ok(Duration::from_millis(10 * ticks))
    }

    /// In bytes.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        Ok(1_024 * self.number("status", "VmRSS:")?)
    }

    pub(crate) fn written(&self) -> anyhow::Result<u64> {
        self.number("io", "write_bytes:")
    }

    /// Including sockets.
    pub(crate) fn open_files(&self) -> anyhow::Result<usize> {
        Ok(fs::read_dir(self.0.join("fd")).context("cannot count open files")?.count())
    }

    fn number(&self, file: &str, label: &str) -> anyhow::Result<u64> {
        let text = self.read(file)?;
        let number = text.lines().find_map(|line| line.strip_prefix(label)?.split_whitespace().next()?.parse().ok());
        number.with_context(|| format!("no {label} in '{file}'"))
    }

    fn read(&self, file: &str) -> anyhow::Result<String> {
        let path = self.0.join(file);
        fs::read_to_string(&path).with_context(|| format!("cannot read '{}'", path.display()))
    }
}

#[derive(Debug)]
pub(crate) struct Load {
    process: Process,
    cpu: Duration,
    at: Instant,
}

impl Load {
    pub(crate) fn start(process: Process) -> anyhow::Result<Self> {
        Ok(Self { cpu: process.cpu()?, process, at: Instant::now() })
    }

    /// The number that the process has kept busy since the start.
    pub(crate) fn processors(&self) -> anyhow::Result<f64> {
        Ok(self.process.cpu()?.saturating_sub(self.cpu).as_secs_f64() / self.at.elapsed().as_secs_f64())
    }
}

/// A turn of a match, and when it arrived.
pub(crate) type Arrival = (u16, SystemTime);

/// How long after its due time each turn arrived. Turns are due `interval` apart. The start of the match is not on the
/// wire: the turn that arrived earliest by this schedule counts as in time.
pub(crate) fn lateness(arrivals: &[Arrival], interval: Duration) -> Vec<Duration> {
    let first = arrivals.iter().map(|&(_, at)| at).min().unwrap_or(SystemTime::UNIX_EPOCH);
    let offset = |&(turn, at): &Arrival| {
        at.duration_since(first).unwrap_or_default().as_secs_f64() - interval.as_secs_f64() * f64::from(turn)
    };
    let earliest = arrivals.iter().map(offset).fold(f64::INFINITY, f64::min);
    arrivals.iter().map(|arrival| Duration::from_secs_f64(offset(arrival) - earliest)).collect()
}

#[derive(Debug)]
pub(crate) struct Distribution(Vec<Duration>);

impl Distribution {
    pub(crate) fn new(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        Self(durations)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The duration that this share of all, in thousandths, does not exceed; zero without any.
    pub(crate) fn quantile(&self, thousandths: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get((self.0.len() * thousandths / 1_000).min(last)).copied().unwrap_or_default()
    }

    /// Median, p99 and maximum in milliseconds.
    pub(crate) fn cells(&self) -> String {
        let [median, most, longest] = [500, 990, 1_000].map(|share| self.quantile(share).as_secs_f64() * 1_000.0);
        format!("{median:.1} ms | {most:.1} ms | {longest:.1} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_relative_to_the_earliest_turn() {
        let at = |millis| SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
        let arrivals = [(3, at(1_000)), (4, at(1_095)), (5, at(1_207)), (6, at(1_295))];
        let late = lateness(&arrivals, Duration::from_millis(100));
        let millis: Vec<u128> = late.iter().map(|late| (late.as_micros() + 500) / 1_000).collect();
        assert_eq!(millis, [5, 0, 12, 0]);
        assert!(lateness(&[], Duration::from_millis(100)).is_empty());
    }

    #[test]
    fn quantiles_are_taken_from_the_sorted_durations() {
        let hundred = Distribution::new((1..=100).rev().map(Duration::from_millis).collect());
        assert_eq!(hundred.cells(), "51.0 ms | 100.0 ms | 100.0 ms");
        assert_eq!(Distribution::new(vec![]).cells(), "0.0 ms | 0.0 ms | 0.0 ms");
    }
}
