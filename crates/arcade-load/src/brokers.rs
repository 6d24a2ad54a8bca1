//! What brokers carry: records of copies in one and in several streams, and messages about the rooms of a fleet.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use mesh::{
    Append, Appended, BrokerSettings, DEFAULT_STREAMS, Delta, Directory as _, Fence, Key, Limits, Name, Nats,
    NodeValue, Placement, Revision, Summaries as _, Value, Written,
};
use tokio::{
    task::spawn_local,
    time::{interval, sleep, timeout_at},
};

use crate::driver::{Report, Usage, Worker};

const CLIENTS: usize = 3;
/// Rooms of a client that append at the same time; that many requests of a hub are pending at most.
const ROOMS: usize = 64;
/// About as long as the records of a room in half a second.
const RECORD: usize = 1 << 10;
const APPENDING: Duration = Duration::from_secs(20);
/// Until all nodes know a node that has joined.
const SETTLING: Duration = Duration::from_secs(10);
const COUNTING: Duration = Duration::from_secs(30);
/// The interval of the heartbeats of a node of an earlier version.
const HEARTBEAT: Duration = Duration::from_secs(4);

fn settings(servers: &str, arcade: &str, streams: Option<u32>) -> anyhow::Result<BrokerSettings> {
    let servers = servers.split(',').map(str::to_owned).collect();
    Ok(BrokerSettings { servers, prefix: arcade.parse()?, limits: Limits::default(), streams })
}

/// The processors of all NATS servers of this machine.
struct Brokers(Vec<Usage>);

impl Brokers {
    fn start() -> anyhow::Result<Self> {
        let mut usages = vec![];
        for process in fs::read_dir("/proc").context("cannot list processes")? {
            let process = process?;
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            if name.trim_end() == "nats-server" {
                usages.push(Usage::start(process.file_name().display())?);
            }
        }
        Ok(Self(usages))
    }

    fn processors(&self) -> anyhow::Result<f64> {
        self.0.iter().map(Usage::processors).sum()
    }
}

/// Appends as many records as possible, in 1 stream and in the number of a new arcade.
pub(crate) async fn records(servers: &str, arcade: &str, report: &mut Report) -> anyhow::Result<()> {
    report.line(format_args!(
        "{CLIENTS} clients append records of {RECORD} bytes for {} s.\n\n\
         | streams | records a second | processors of the brokers | their time for a record |\n| --- | --- | --- | --- |",
        APPENDING.as_secs()
    ));
    for streams in [1, DEFAULT_STREAMS] {
        let settings = settings(servers, &format!("{arcade}-{streams}"), Some(streams))?;
        let mut clients = vec![];
        for number in 0..CLIENTS {
            let nats = Nats::connect(&settings).await?;
            clients.push(Worker::start(async move |stopped| {
                let mut rooms = vec![];
                for room in 0..ROOMS {
                    let room: Name = format!("load-{number}-{room}").parse()?;
                    rooms.push(spawn_local(append(nats.clone(), room)));
                }
                let _ = stopped.await;
                let mut count = 0;
                for room in rooms {
                    count += room.await??;
                }
                anyhow::Ok(count)
            })?);
        }
        let (brokers, start) = (Brokers::start()?, Instant::now());
        sleep(APPENDING).await;
        let used = brokers.processors()?;
        let mut count = 0;
        for client in clients {
            count += client.finish().await?;
        }
        let rate = f64::from(count) / start.elapsed().as_secs_f64().min(APPENDING.as_secs_f64());
        let each = used * 1_000.0 / rate;
        report.line(format_args!("| {streams} | {rate:.0} | {used:.2} | {each:.3} ms |"));
    }
    Ok(())
}

// Returns the number of records that were stored in time.
async fn append(nats: Nats, room: Name) -> anyhow::Result<u32> {
    let placement = if nats.has_streams() { Placement::Hashed } else { Placement::Single };
    let (streams, start) = (nats.journals(), Instant::now());
    let (journals, body) = (streams.at(placement), Bytes::from(vec![7; RECORD]));
    let (mut last, mut count) = (None, 0);
    loop {
        let piece = Append { fence: Fence(1), after: last, is_anchor: last.is_none(), body: body.clone() };
        let appended = journals.append(&room, &piece).await?;
        let Appended::Stored(sequence) = appended else { bail!("a record is not stored: {appended:?}") };
        if start.elapsed() > APPENDING {
            return Ok(count);
        }
        (last, count) = (Some(sequence), count + 1);
    }
}

/// Messages that each node of a fleet receives about the rooms of all nodes: in summaries, and in entries as well
/// while a node of an earlier version is listed.
pub(crate) async fn directory(servers: &str, arcade: &str, report: &mut Report) -> anyhow::Result<()> {
    let nats = Nats::connect(&settings(servers, arcade, None)?).await?;
    let brokers = Brokers::start()?;
    let (entries, summaries, bytes) = count(&nats).await?;
    let used = brokers.processors()?;
    report.line(format_args!(
        "| each node receives a second | entries | summaries | bytes of summaries | processors of the brokers |\n\
         | --- | --- | --- | --- | --- |\n\
         | with nodes of this version | {entries:.1} | {summaries:.1} | {bytes:.0} | {used:.2} |"
    ));
    let (key, name) = (Key::Node("former".parse()?), "former".parse::<Name>()?);
    let node = |life| {
        let (identity, address) = (name.clone(), "127.0.0.1:9".to_owned());
        Value::Node(NodeValue {
            identity,
            address,
            life,
            draining: true,
            runs: vec![],
            seen: None,
            apart: None,
            level: 0,
        })
    };
    let Written::Stored(life) = nats.write(&key, Some(&node(None)), None).await? else { bail!("its name is taken") };
    let mut last = life;
    let beats = async {
        let mut beats = interval(HEARTBEAT);
        loop {
            beats.tick().await;
            match nats.write(&key, Some(&node(Some(life))), Some(last)).await? {
                Written::Stored(revision) => last = revision,
                Written::Conflict(there) => bail!("the node of an earlier version is removed: {there:?}"),
            }
        }
    };
    let counted = async {
        sleep(SETTLING).await;
        let brokers = Brokers::start()?;
        let counts = count(&nats).await?;
        anyhow::Ok((counts, brokers.processors()?))
    };
    let ((entries, summaries, bytes), used) = tokio::select! {
        ended = beats => return ended,
        counted = counted => counted?,
    };
    report.line(format_args!(
        "| with a node of an earlier version | {entries:.1} | {summaries:.1} | {bytes:.0} | {used:.2} |\n"
    ));
    let removed = nats.write(&key, None, Some(last)).await?;
    ensure!(matches!(removed, Written::Stored(Revision(_))), "the node of an earlier version stays: {removed:?}");
    Ok(())
}

// Entries, summaries and bytes of summaries a second.
async fn count(nats: &Nats) -> anyhow::Result<(f64, f64, f64)> {
    let (mut watch, mut follow) = (nats.watch(None).await?, nats.summaries().await?);
    let mut start = tokio::time::Instant::now() + SETTLING;
    // Skips the entries from before.
    while let Ok(delta) = timeout_at(start, watch.next()).await {
        delta?;
    }
    while timeout_at(start, follow.next()).await.is_ok() {}
    start = tokio::time::Instant::now();
    let end = start + COUNTING;
    let (mut entries, mut summaries, mut bytes) = (0_u32, 0_u32, 0);
    loop {
        tokio::select! {
            delta = timeout_at(end, watch.next()) => match delta {
                Ok(delta) => entries += u32::from(!matches!(delta?, Delta::Reset)),
                Err(_) => break,
            },
            summary = timeout_at(end, follow.next()) => match summary {
                Ok(summary) => {
                    summaries += 1;
                    bytes += summary?.rows.iter().map(|(room, row)| room.as_str().len() + row.len()).sum::<usize>();
                }
                Err(_) => break,
            },
        }
    }
    let (seconds, bytes) = (start.elapsed().as_secs_f64(), u32::try_from(bytes)?);
    Ok((f64::from(entries) / seconds, f64::from(summaries) / seconds, f64::from(bytes) / seconds))
}
