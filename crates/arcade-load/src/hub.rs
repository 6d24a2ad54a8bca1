use std::{
    io::{BufRead as _, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{driver::Process, wire::Http};

/// The text that the hub prints before its port.
const GREETING: &str = "The arcade is open at http://localhost:";
const PAGE: usize = 50;
/// Opens rooms in the name of many hosts, since each host has a quota.
pub(crate) const PROXY: [&str; 2] = ["--proxy", "127.0.0.1"];
const PATIENCE: Duration = Duration::from_secs(60);
/// In milliseconds: ten turns of robots a second.
pub(crate) const TURN: u64 = 100;

/// Killed when dropped.
#[derive(Debug)]
pub(crate) struct Hub {
    command: Command,
    child: Child,
    pub(crate) address: SocketAddr,
    opened: AtomicU32,
    data: TempDir,
}

#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) id: String,
    /// For native clients.
    pub(crate) address: SocketAddr,
}

impl Drop for Hub {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.kill();
    }
}

impl Hub {
    pub(crate) fn start(program: &Path, options: &[&str]) -> anyhow::Result<Self> {
        Self::start_command(Command::new(program), options)
    }

    pub(crate) fn start_limited(program: &Path, open_files: u32) -> anyhow::Result<Self> {
        let mut command = Command::new("sh");
        // The hub raises its soft limit, so both limits are set before it runs.
        command.args(["-c", "ulimit -n \"$1\" && shift && exec \"$@\"", "sh", &open_files.to_string()]).arg(program);
        Self::start_command(command, &[])
    }

    fn start_command(mut command: Command, options: &[&str]) -> anyhow::Result<Self> {
        let data = tempfile::tempdir()?;
        command.args(options).args(["--port", "0", "--no-default-rooms", "--log", "error", "--data"]).arg(data.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let (child, address) = launch(&mut command)?;
        Ok(Self { command, child, address, opened: AtomicU32::new(0), data })
    }

    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    pub(crate) fn restart(&mut self) -> anyhow::Result<()> {
        (self.child, self.address) = launch(&mut self.command)?;
        Ok(())
    }

    pub(crate) fn process(&self) -> Process {
        Process::new(self.child.id())
    }

    pub(crate) async fn open(&self, options: &Value) -> anyhow::Result<Room> {
        let [_, _, high, low] = self.opened.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let host = format!("198.18.{high}.{low}");
        let headers = [("X-Forwarded-For", &*host)];
        let room = self.request("POST", "/api/rooms", &headers, &options.to_string()).await?;
        let port = room["port"].as_u64().and_then(|port| u16::try_from(port).ok()).context("a room has a port")?;
        let id = room["id"].as_str().context("a room has an id")?.to_owned();
        Ok(Room { id, address: (Ipv4Addr::LOCALHOST, port).into() })
    }

    /// `turn` is in milliseconds.
    pub(crate) async fn open_robots(&self, players: u32, turns: u16, turn: u64) -> anyhow::Result<Room> {
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
    pub(crate) async fn rooms(&self) -> anyhow::Result<Vec<(String, String)>> {
        let rooms = self.request("GET", "/api/rooms", &[], "").await?;
        let rooms = rooms["rooms"].as_array().context("the answer has rooms")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(rooms.iter().map(|room| (text(&room["id"]), text(&room["node"]))).collect())
    }

    /// The ids of complete matches, each as often as it is stored.
    pub(crate) async fn matches_of(&self, player: &str) -> anyhow::Result<Vec<String>> {
        let (mut ids, mut before) = (vec![], String::new());
        loop {
            let path = format!("/api/matches?player={player}&limit={PAGE}{before}");
            let answer = self.request("GET", &path, &[], "").await?;
            let found = answer["matches"].as_array().context("the answer has matches")?;
            let complete = found.iter().filter(|found| found["complete"] == true);
            ids.extend(complete.filter_map(|found| Some(found["id"].as_str()?.to_owned())));
            match found.last().and_then(|found| found["id"].as_str()) {
                Some(last) if found.len() == PAGE => before = format!("&before={last}"),
                _ => return Ok(ids),
            }
        }
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.command.get_program());
        command.arg("--data").arg(self.data.path()).args(words);
        command
    }

    async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> anyhow::Result<Value> {
        let mut http = Http::new(Ipv4Addr::LOCALHOST, self.address);
        http.patience = PATIENCE;
        let (status, body) = http.request(method, path, headers, body).await.with_context(|| path.to_owned())?;
        let value: Value = serde_json::from_slice(&body)?;
        if status >= 300 {
            bail!("{method} {path}: {status} {}", value["error"].as_str().unwrap_or_default());
        }
        Ok(value)
    }
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
