//! Starts hubs and threads of clients, and measures and reports what both do.

use std::{
    collections::BTreeMap,
    fmt::{Display, Write as _},
    fs,
    io::{self, BufRead as _, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{runtime::Builder, sync::oneshot, task::LocalSet};

use crate::wire::Visitor;

/// Printed by the hub before its port.
const GREETING: &str = "The arcade is open at http://localhost:";
const PAGE: usize = 50;
/// Opens rooms in the name of many hosts, since each host has a quota.
pub(crate) const PROXY: [&str; 2] = ["--proxy", "127.0.0.1"];
const PATIENCE: Duration = Duration::from_secs(60);
/// Of robots.
pub(crate) const TURN: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) text: String,
    /// If there is any, the exit status is 1.
    pub(crate) broken: Vec<String>,
}

impl Report {
    pub(crate) fn line(&mut self, line: impl Display) {
        let _ = writeln!(self.text, "{line}");
    }

    pub(crate) fn head(&mut self, line: impl Display) {
        self.line(format_args!("{line}\n\n| | p50 | p99 | longest |\n| --- | --- | --- | --- |"));
    }

    pub(crate) fn row(&mut self, what: impl Display, durations: &Distribution) {
        self.line(format_args!("| {what} | {} |", durations.cells()));
    }
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

    /// The duration that this share, in thousandths, does not exceed; zero without any.
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

/// Of status codes, close codes and the like.
pub(crate) type Counts = BTreeMap<String, u64>;

pub(crate) fn count(counts: &mut Counts, what: impl Display) {
    *counts.entry(what.to_string()).or_default() += 1;
}

pub(crate) type Arrival = (u16, SystemTime);

/// How late each turn was. The start of the match is unknown, so the earliest turn by the schedule counts as in time.
pub(crate) fn lateness(arrivals: &[Arrival]) -> Vec<Duration> {
    let first = arrivals.iter().map(|&(_, at)| at).min().unwrap_or(SystemTime::UNIX_EPOCH);
    let offset = |&(turn, at): &Arrival| {
        at.duration_since(first).unwrap_or_default().as_secs_f64() - TURN.as_secs_f64() * f64::from(turn)
    };
    let earliest = arrivals.iter().map(offset).fold(f64::INFINITY, f64::min);
    arrivals.iter().map(|arrival| Duration::from_secs_f64(offset(arrival) - earliest)).collect()
}

/// A thread with its own runtime, so that one kind of load does not delay another.
#[derive(Debug)]
pub(crate) struct Worker<T> {
    stop: oneshot::Sender<()>,
    result: oneshot::Receiver<anyhow::Result<T>>,
}

impl<T: Send + 'static> Worker<T> {
    pub(crate) fn start(
        work: impl AsyncFnOnce(oneshot::Receiver<()>) -> anyhow::Result<T> + Send + 'static,
    ) -> io::Result<Self> {
        let ((stop, stopped), (report, result)) = (oneshot::channel(), oneshot::channel());
        let run = || LocalSet::new().block_on(&Builder::new_current_thread().enable_all().build()?, work(stopped));
        // The receiver is dropped if the scenario has failed.
        thread::Builder::new().spawn(move || drop(report.send(run())))?;
        Ok(Self { stop, result })
    }

    /// Ends work that would not end by itself, and waits for the result.
    pub(crate) async fn finish(self) -> anyhow::Result<T> {
        // Without a receiver, the work has failed already, or ends by itself.
        let _ = self.stop.send(());
        self.result.await.context("a worker panicked")?
    }
}

#[derive(Debug)]
pub(crate) struct Usage {
    directory: PathBuf,
    start: Instant,
    before: Duration,
}

impl Usage {
    /// Counts from now on. The process is an id, `self`, or `thread-self` for the current thread.
    pub(crate) fn start(process: impl Display) -> anyhow::Result<Self> {
        let usage =
            Self { directory: format!("/proc/{process}").into(), start: Instant::now(), before: Duration::ZERO };
        Ok(Self { before: usage.cpu()?, ..usage })
    }

    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        let text = self.read("stat")?;
        // The second field, a name in parentheses, may contain spaces. The 14th and 15th are user and system time in
        // hundredths of a second.
        let (_, fields) = text.rsplit_once(") ").context("no processor time")?;
        let ticks: u64 = fields.split(' ').skip(11).take(2).map(str::parse::<u64>).sum::<Result<_, _>>()?;
        Ok(Duration::from_millis(10 * ticks).saturating_sub(self.before))
    }

    pub(crate) fn processors(&self) -> anyhow::Result<f64> {
        Ok(self.cpu()?.as_secs_f64() / self.start.elapsed().as_secs_f64())
    }

    /// In bytes.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        Ok(1_024 * self.number("status", "VmRSS:")?)
    }

    /// In bytes, since the start of the process.
    pub(crate) fn written(&self) -> anyhow::Result<u64> {
        self.number("io", "write_bytes:")
    }

    /// Includes sockets.
    pub(crate) fn open_files(&self) -> anyhow::Result<usize> {
        Ok(fs::read_dir(self.directory.join("fd")).context("cannot count open files")?.count())
    }

    fn number(&self, file: &str, label: &str) -> anyhow::Result<u64> {
        let text = self.read(file)?;
        let number = text.lines().find_map(|line| line.strip_prefix(label)?.split_whitespace().next()?.parse().ok());
        number.with_context(|| format!("no {label} in '{file}'"))
    }

    fn read(&self, file: &str) -> anyhow::Result<String> {
        let path = self.directory.join(file);
        fs::read_to_string(&path).with_context(|| format!("cannot read '{}'", path.display()))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) id: String,
    /// For native clients.
    pub(crate) address: SocketAddr,
}

/// Killed when dropped.
#[derive(Debug)]
pub(crate) struct Hub {
    command: Command,
    child: Child,
    pub(crate) address: SocketAddr,
    opened: AtomicU32,
    data: TempDir,
}

impl Drop for Hub {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.kill();
    }
}

impl Hub {
    pub(crate) fn start(mut command: Command, options: &[&str]) -> anyhow::Result<Self> {
        let data = tempfile::tempdir()?;
        command.args(options).args(["--port", "0", "--no-default-rooms", "--log", "error", "--data"]).arg(data.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let (child, address) = launch(&mut command)?;
        Ok(Self { command, child, address, opened: AtomicU32::new(0), data })
    }

    pub(crate) fn restart(&mut self) -> anyhow::Result<()> {
        (self.child, self.address) = launch(&mut self.command)?;
        Ok(())
    }

    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    pub(crate) fn usage(&self) -> anyhow::Result<Usage> {
        Usage::start(self.child.id())
    }

    pub(crate) fn visitor(&self) -> Visitor {
        Visitor::new(Ipv4Addr::LOCALHOST, self.address)
    }

    pub(crate) fn subcommand(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.command.get_program());
        command.arg("--data").arg(self.data.path()).args(words);
        command
    }

    pub(crate) async fn open(&self, options: &Value) -> anyhow::Result<Room> {
        let [_, _, high, low] = self.opened.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let headers = [("X-Forwarded-For", &*format!("198.18.{high}.{low}"))];
        let room = self.request(("POST", "/api/rooms"), &headers, &options.to_string()).await?;
        let port = room["port"].as_u64().and_then(|port| u16::try_from(port).ok()).context("a room has a port")?;
        Ok(Room { id: string(&room["id"]), address: (Ipv4Addr::LOCALHOST, port).into() })
    }

    pub(crate) async fn open_robots(&self, players: u32, turns: u16, turn: Duration) -> anyhow::Result<Room> {
        let turn = u64::try_from(turn.as_millis())?;
        self.open(&json!({
            "game": "robots", "players": players, "columns": 16, "rows": 12, "turns": turns, "turn_duration": turn,
        }))
        .await
    }

    /// The match starts with its first player.
    pub(crate) async fn open_nuggets(&self) -> anyhow::Result<Room> {
        self.open(&json!({ "game": "nuggets", "countdown": 0 })).await
    }

    /// Ids, each with its node.
    pub(crate) async fn rooms(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let rooms = self.request(("GET", "/api/rooms"), &[], "").await?;
        let rooms = rooms["rooms"].as_array().context("the answer has rooms")?;
        Ok(rooms.iter().map(|room| (string(&room["id"]), string(&room["node"]))).collect())
    }

    /// The ids of complete matches, each as often as it is stored.
    pub(crate) async fn matches_of(&self, player: &str) -> anyhow::Result<Vec<String>> {
        let (mut ids, mut before) = (vec![], String::new());
        loop {
            let path = format!("/api/matches?player={player}&limit={PAGE}{before}");
            let answer = self.request(("GET", &path), &[], "").await?;
            let found = answer["matches"].as_array().context("the answer has matches")?;
            ids.extend(found.iter().filter(|found| found["complete"] == true).map(|found| string(&found["id"])));
            match found.last() {
                Some(last) if found.len() == PAGE => before = format!("&before={}", string(&last["id"])),
                _ => return Ok(ids),
            }
        }
    }

    async fn request(&self, what: (&str, &str), headers: &[(&str, &str)], body: &str) -> anyhow::Result<Value> {
        let mut visitor = self.visitor();
        visitor.patience = PATIENCE;
        let (status, body) = visitor.request(what, headers, body).await.with_context(|| what.1.to_owned())?;
        let value: Value = serde_json::from_slice(&body)?;
        ensure!(status < 300, "{what:?}: {status} {}", string(&value["error"]));
        Ok(value)
    }
}

/// Empty for a value that is not a text.
pub(crate) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn launch(command: &mut Command) -> anyhow::Result<(Child, SocketAddr)> {
    let mut child = command.spawn().with_context(|| {
        let program = command.get_program().display();
        format!("cannot start '{program}'; build it with `cargo build --release -p arcade` or name it with --arcade")
    })?;
    let stdout = child.stdout.take().context("the hub's standard output is a pipe")?;
    let port = BufReader::new(stdout).lines().map_while(Result::ok).find_map(|line| {
        let (_, port) = line.split_once(GREETING)?;
        port.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u16>().ok()
    });
    if let Some(port) = port {
        return Ok((child, (Ipv4Addr::LOCALHOST, port).into()));
    }
    // The hub may have ended by itself.
    let _ = child.kill();
    bail!("the hub ended before it was open: {}", child.wait()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_relative_to_the_earliest_turn() {
        let arrivals = [(3, 1_000), (4, 1_095), (5, 1_207), (6, 1_295)]
            .map(|(turn, at)| (turn, SystemTime::UNIX_EPOCH + Duration::from_millis(at)));
        let millis: Vec<u128> = lateness(&arrivals).iter().map(|late| (late.as_micros() + 500) / 1_000).collect();
        assert_eq!(millis, [5, 0, 12, 0]);
        assert!(lateness(&[]).is_empty());
    }

    #[test]
    fn quantiles_are_taken_from_the_sorted_durations() {
        let hundred = Distribution::new((1..=100).rev().map(Duration::from_millis).collect());
        assert_eq!(hundred.cells(), "51.0 ms | 100.0 ms | 100.0 ms");
        assert_eq!(Distribution::new(vec![]).cells(), "0.0 ms | 0.0 ms | 0.0 ms");
    }
}
