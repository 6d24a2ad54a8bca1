//! The hub that is measured: a process of its own.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::{Body, http::Response};

/// What the first line of a hub begins with.
const GREETING: &str = "The arcade is open at http://localhost:";
/// Matches of one answer.
const PAGE: usize = 50;
/// Rooms are opened in the name of many hosts, since one host may not have all of them.
const PROXY: &[&str] = &["--proxy", "127.0.0.1"];
/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running hub. It is killed when dropped.
#[derive(Debug)]
pub(crate) struct Hub {
    child: Child,
    port: u16,
    agent: ureq::Agent,
    opened: AtomicU32,
    data: Arc<TempDir>,
}

/// A room that was opened.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) id: String,
    /// Where native clients reach it.
    pub(crate) address: SocketAddr,
}

impl Drop for Hub {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Hub {
    /// Starts a hub with an empty data directory and waits until it is open.
    pub(crate) fn start(program: Option<&Path>) -> anyhow::Result<Self> {
        Self::start_with(program, PROXY, None)
    }

    /// As [`start`](Self::start), with these options and at most this number of open files.
    pub(crate) fn start_with(
        program: Option<&Path>,
        options: &[&str],
        open_files: Option<u32>,
    ) -> anyhow::Result<Self> {
        Self::open_over(Arc::new(tempfile::tempdir()?), program, options, open_files)
    }

    /// Starts a hub with the data directory of this one, which must have ended.
    pub(crate) fn restart(&self, program: Option<&Path>) -> anyhow::Result<Self> {
        Self::open_over(Arc::clone(&self.data), program, PROXY, None)
    }

    fn open_over(
        data: Arc<TempDir>,
        program: Option<&Path>,
        options: &[&str],
        open_files: Option<u32>,
    ) -> anyhow::Result<Self> {
        let program = program.map_or_else(beside, |program| Ok(program.to_owned()))?;
        let mut command = Command::new(if open_files.is_some() { Path::new("sh") } else { program.as_path() });
        if let Some(files) = open_files {
            // A hub raises the limit as far as it can, so both limits are set, and before it runs.
            command.args(["-c", "ulimit -n \"$1\" && shift && exec \"$@\"", "sh", &files.to_string()]).arg(&program);
        }
        command.args(options).args(["--port", "0", "--no-default-rooms", "--log", "error"]);
        command.arg("--data").arg(data.path()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| {
            format!(
                "cannot start '{}'; build it with `cargo build --release -p arcade` or name it with --arcade",
                program.display()
            )
        })?;
        let stdout = child.stdout.take().context("the hub's standard output is a pipe")?;
        let mut hub = Self { child, port: 0, agent: agent(), opened: AtomicU32::new(0), data };
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            let Some((_, port)) = line.split_once(GREETING) else { continue };
            let digits: String = port.chars().take_while(char::is_ascii_digit).collect();
            hub.port = digits.parse().with_context(|| format!("the hub said '{line}'"))?;
            return Ok(hub);
        }
        bail!("the hub ended before it was open: {}", hub.child.wait()?)
    }

    /// The address of its page.
    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    pub(crate) fn open(&self, options: &Value) -> anyhow::Result<Room> {
        let url = format!("http://{}/api/rooms", self.address());
        let [_, _, high, low] = self.opened.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let client = Ipv4Addr::new(198, 18, high, low).to_string();
        let answer = self.agent.post(&url).header("X-Forwarded-For", client).send_json(options)?;
        let room = json(answer).context("the hub opens no room")?;
        let port = room["port"].as_u64().and_then(|port| u16::try_from(port).ok()).context("a room has a port")?;
        let id = room["id"].as_str().context("a room has an id")?.to_owned();
        Ok(Room { id, address: (Ipv4Addr::LOCALHOST, port).into() })
    }

    /// Opens a room of nuggets in which a match begins with its first player.
    pub(crate) fn open_nuggets(&self) -> anyhow::Result<Room> {
        // An older hub knows no countdown.
        self.open(&json!({ "game": "nuggets", "countdown": 0 })).or_else(|_| self.open(&json!({ "game": "nuggets" })))
    }

    /// The ids of the rooms that it lists, and the hub of each.
    pub(crate) fn shown(&self) -> anyhow::Result<Vec<(String, String)>> {
        let rooms = json(self.agent.get(format!("http://{}/api/rooms", self.address())).call()?)?;
        let rooms = rooms["rooms"].as_array().context("an answer has rooms")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(rooms.iter().map(|room| (text(&room["id"]), text(&room["node"]))).collect())
    }

    /// Runs a command of the host for this hub. Returns its output.
    pub(crate) fn command(&self, program: Option<&Path>, words: &[&str]) -> anyhow::Result<String> {
        let program = program.map_or_else(beside, |program| Ok(program.to_owned()))?;
        let ran = Command::new(program).arg("--data").arg(self.data.path()).args(words).output()?;
        if !ran.status.success() {
            bail!("arcade {} fails: {}", words.join(" "), String::from_utf8_lossy(&ran.stderr).trim());
        }
        Ok(String::from_utf8(ran.stdout)?)
    }

    /// Kills it as `kill -9` does, and waits for its end.
    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Its memory in bytes.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        let kilobytes: u64 = self.number("status", "VmRSS:")?.trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes * 1024)
    }

    /// How many files and sockets it has open.
    pub(crate) fn open_files(&self) -> anyhow::Result<usize> {
        let path = format!("/proc/{}/fd", self.child.id());
        Ok(fs::read_dir(&path).with_context(|| format!("cannot read '{path}'"))?.count())
    }

    /// The bytes that it has written to the disk.
    pub(crate) fn written(&self) -> anyhow::Result<u64> {
        Ok(self.number("io", "write_bytes:")?.parse()?)
    }

    // The value behind this name in a file about the process.
    fn number(&self, file: &str, front: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{file}", self.child.id());
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read '{path}'"))?;
        let line = text.lines().find_map(|line| line.strip_prefix(front));
        Ok(line.with_context(|| format!("no {front}"))?.trim().to_owned())
    }

    /// The matches of a player that were played to their end, by their ids: each as often as it is stored.
    pub(crate) fn matches_of(&self, player: &str) -> anyhow::Result<Vec<String>> {
        let (mut ids, mut before) = (vec![], String::new());
        loop {
            let mut request = self.agent.get(format!("http://{}/api/matches", self.address()));
            request = request.query("player", player).query("limit", PAGE.to_string());
            if !before.is_empty() {
                request = request.query("before", &before);
            }
            let answer = json(request.call()?).context("the hub tells no results")?;
            let found = answer["matches"].as_array().context("an answer has matches")?;
            let complete = found.iter().filter(|found| found["complete"] == true);
            ids.extend(complete.filter_map(|found| Some(found["id"].as_str()?.to_owned())));
            match found.last().and_then(|found| found["id"].as_str()) {
                Some(last) if found.len() == PAGE => last.clone_into(&mut before),
                _ => return Ok(ids),
            }
        }
    }

    /// The processor time that it has used.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read '{path}'"))?;
        spent(&text).with_context(|| format!("'{path}' is not understood"))
    }
}

// The hub's program, built beside this one.
fn beside() -> anyhow::Result<PathBuf> {
    let own = env::current_exe().context("where is this program?")?;
    Ok(own.with_file_name(format!("arcade{}", env::consts::EXE_SUFFIX)))
}

/// What a hub answers.
pub(crate) fn json(mut answer: Response<Body>) -> anyhow::Result<Value> {
    let status = answer.status();
    let value: Value = answer.body_mut().with_config().limit(64 << 20).read_json()?;
    if !status.is_success() {
        bail!("{status} {}", value["error"].as_str().unwrap_or_default());
    }
    Ok(value)
}

/// Makes requests.
pub(crate) fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false).build().into()
}

/// The processor time of a process and all of its threads, from its file `stat` under `/proc`: the 14th and 15th field, a hundred a second.
fn spent(stat: &str) -> Option<Duration> {
    // The second field is a name in parentheses, which may have spaces.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}
