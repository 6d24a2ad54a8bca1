//! A class behind one address: pupils join, play, lose the network, return to their seats, and play a tournament.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, bail, ensure};
use clientkit::{Pilot as _, mastermind_bot};
use cmdkit::whole_number;
use netcore::{Client as _, Level, Link};
use netshell::Clock;
use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    clients::{ROBOTS, robot},
    driver::{Distribution, Hub, Report, TURN, string},
    wire::{Visitor, Wire},
};

const PATIENCE: Duration = Duration::from_secs(60);
/// The page of a class requests its state at this interval.
const POLL: Duration = Duration::from_secs(3);
/// Robots play before the network is lost, and after it is back.
const PLAYED: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of pupils
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = whole_number(2..=256_u32, 60))]
    pupils: u32,

    /// How long the network is lost, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = whole_number(1..=240_u32, 60))]
    lost: u32,
}

const CLASS: &str = "/api/class";

/// A browser of a pupil, or that of the teacher.
#[derive(Debug, Clone)]
struct Member {
    visitor: Visitor,
    code: String,
    // With the key of the browser, or the token of the teacher.
    bearer: String,
    name: String,
}

pub(crate) async fn measure(program: Command, &Options { pupils, lost }: &Options) -> anyhow::Result<Report> {
    let hub = Hub::start(program, &[])?;
    let (code, token) = open(&hub, pupils)?;
    let teacher =
        Member { visitor: hub.visitor(), code, bearer: format!("Bearer {token}"), name: "the teacher".to_owned() };
    // Each has connections of its own; all are behind one address.
    let pupils: Vec<Member> = (1..=pupils)
        .map(|number| Member {
            visitor: Visitor::new(Ipv4Addr::LOCALHOST, hub.address),
            code: teacher.code.clone(),
            // 32 bytes in base64url.
            bearer: format!("Bearer {number:042}A"),
            name: format!("Pupil {number}"),
        })
        .collect();
    let count = pupils.len();
    let usage = hub.usage()?;
    let mut report = Report::default();
    report.head(format_args!("A class of {count} pupils behind one address:"));

    let joined = all(pupils.iter().map(|pupil| pupil.clone().join())).await?;
    report.row("from the address to the page of the class", &Distribution::new(joined));

    let lost = Duration::from_secs(lost.into());
    let turns = (2 * PLAYED + lost).as_millis() / TURN.as_millis();
    let mut rooms = vec![];
    for group in pupils.chunks(ROBOTS as usize) {
        let options = json!({
            "game": "robots", "players": group.len(), "turns": turns, "turn_duration": TURN.as_millis(),
            "columns": 16, "rows": 12,
        });
        let room = teacher.command(&json!({ "do": "open", "options": options })).await?;
        rooms.extend(group.iter().map(|pupil| (pupil.clone(), string(&room["room"]))));
    }
    let returned = all(rooms.into_iter().map(|(pupil, room)| pupil.play_robots(room, lost))).await?;
    report.row("from the return of the network to the own seat", &Distribution::new(returned));

    let (rounds, polls) = tournament(&teacher, &pupils).await?;
    report.row(format_args!("{} requests for the class during a tournament", polls.len()), &Distribution::new(polls));

    let lines = check_results(&teacher, &pupils, rounds).await?;
    let processors = usage.processors()?;
    teacher.command(&json!({ "do": "end" })).await?;
    let (status, _) = teacher.visitor.request(("GET", CLASS), &teacher.headers(), "").await?;
    ensure!(status == 404, "the ended class answers with {status}");
    report.line(format_args!(
        "\nAll pupils returned to their seats after {} s. The Swiss tournament had {rounds} rounds, and the results {lines} \
         lines. The hub kept {processors:.2} processors busy.",
        lost.as_secs()
    ));
    Ok(report)
}

// Returns the code, and the token of the teacher.
fn open(hub: &Hub, pupils: u32) -> anyhow::Result<(String, String)> {
    let output = hub.subcommand(&["class", "Networks, group 2", "--players", &pupils.to_string()]).output()?;
    ensure!(output.status.success(), "cannot open a class: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let link = text.split_whitespace().find_map(|word| word.split_once("/class#")?.1.split_once('.'));
    let (code, token) = link.context("the hub printed no link for the teacher")?;
    Ok((code.to_owned(), token.to_owned()))
}

// Runs all tasks at the same time. Fails with the first that does.
async fn all<R: Send + 'static>(
    tasks: impl Iterator<Item = impl Future<Output = anyhow::Result<R>> + Send + 'static>,
) -> anyhow::Result<Vec<R>> {
    let (mut running, mut results) = (JoinSet::new(), vec![]);
    for task in tasks {
        running.spawn(task);
    }
    while let Some(result) = running.join_next().await {
        results.push(result??);
    }
    Ok(results)
}

impl Member {
    async fn request(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let path = format!("{CLASS}{path}");
        let (status, answer) = self.visitor.request((method, &path), &self.headers(), &body).await?;
        let answer: Value = if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer)? };
        ensure!(status < 300, "the hub refuses {}: {method} {path}: {status} {}", self.name, answer["error"]);
        Ok(answer)
    }

    async fn command(&self, command: &Value) -> anyhow::Result<Value> {
        self.request("POST", "/command", command).await
    }

    async fn state(&self) -> anyhow::Result<Value> {
        self.request("GET", "", &Value::Null).await
    }

    fn headers(&self) -> [(&'static str, &str); 2] {
        [("Authorization", &self.bearer), ("Class-Code", &self.code)]
    }

    // The page and its files, a name, and the state of the class.
    async fn join(self) -> anyhow::Result<Duration> {
        let start = Instant::now();
        let page = self.get("/class").await?;
        let files: BTreeSet<&str> =
            page.split(['"', '\'']).filter(|part| part.starts_with("/js/") || part.starts_with("/style/")).collect();
        for file in files {
            self.get(file).await?;
        }
        let joined = self.request("POST", "/join", &json!({ "key": self.token(), "name": self.name })).await?;
        ensure!(joined["name"] == *self.name, "{} joined as {}", self.name, joined["name"]);
        self.state().await?;
        Ok(start.elapsed())
    }

    async fn get(&self, path: &str) -> anyhow::Result<String> {
        let (status, body) = self.visitor.request(("GET", path), &[], "").await?;
        ensure!(status == 200, "the hub refuses {}: {path}: {status}", self.name);
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn token(&self) -> &str {
        self.bearer.trim_start_matches("Bearer ")
    }

    async fn enter(&self, room: &str, seat: Option<&Value>) -> anyhow::Result<Wire> {
        let entry = json!({ "key": self.token(), "seat": seat });
        self.visitor.enter(room, Some(entry)).await.with_context(|| format!("{} cannot enter {room}", self.name))
    }

    // Plays for a while, loses the network, and returns to the same seat before the match ends. Returns how long that took.
    async fn play_robots(self, room: String, lost: Duration) -> anyhow::Result<Duration> {
        let mut wire = self.enter(&room, None).await?;
        let playing = robot(&mut wire, Some(&self.name), 1, Some);
        if let Ok(ended) = timeout(PLAYED, playing).await {
            ended.with_context(|| format!("{} lost the match", self.name))?;
            bail!("the match of {} ended early", self.name);
        }
        let Wire::Socket(socket) = &wire else { bail!("a browser has a socket") };
        let seat = socket.entry.as_ref().map(|entry| entry["seat"].clone()).context("no seat")?;
        // The connection is silent, as without a network: it is not closed.
        sleep(lost).await;
        let start = Instant::now();
        let mut again = self.enter(&room, Some(&seat)).await?;
        let hello = again.find(PATIENCE, |text| text.starts_with("{\"seat\"")).await;
        let hello = hello.with_context(|| format!("{} cannot return", self.name))?;
        let hello: Value = serde_json::from_slice(&hello)?;
        ensure!(hello["own"].as_str().is_some_and(|own| !own.is_empty()), "{} lost its seat", self.name);
        let took = start.elapsed();
        drop(wire);
        robot(&mut again, Some(&self.name), 2, Some).await.with_context(|| format!("{} lost the match", self.name))?;
        Ok(took)
    }

    // Plays the match of this round, unless the pupil has a bye. Returns the durations of the requests for the state.
    async fn play_round(self, round: usize) -> anyhow::Result<Vec<Duration>> {
        let (mut polls, mut wire) = (vec![], None);
        loop {
            let start = Instant::now();
            let state = self.state().await?;
            polls.push(start.elapsed());
            let cup = &state["tournament"];
            let is_own = |pairing: &&Value| [&pairing["one"], &pairing["other"]].contains(&&json!(self.name));
            let own = cup["pairings"].as_array().and_then(|pairings| pairings.iter().find(is_own));
            let own = own.with_context(|| format!("{} is in no pairing", self.name))?;
            if cup["round"] != round || !own["points"].is_null() {
                return Ok(polls);
            }
            match own["room"].as_str() {
                Some(room) if wire.is_none() => {
                    let played = timeout(PATIENCE, self.play_mastermind(room)).await;
                    wire = Some(played.with_context(|| format!("the match of {} does not end", self.name))??);
                }
                _ => sleep(POLL).await,
            }
        }
    }

    async fn play_mastermind(&self, room: &str) -> anyhow::Result<Wire> {
        let mut wire = self.enter(room, None).await?;
        let name = mastermind::Name::new(self.name.as_bytes())?;
        let seed = name.as_str().bytes().map(u64::from).sum();
        let (_, mut pilot) = mastermind_bot(name.clone(), Level::Easy, seed, true);
        let (mut client, clock) = (mastermind::Client::new(Link::Message, Some(name)), Clock::start());
        loop {
            pilot.act(&mut client, clock.now());
            while let Some(message) = client.take_outgoing() {
                wire.send(message).await?;
            }
            if client.board().is_some_and(|board| board.over.is_some()) {
                return Ok(wire);
            }
            ensure!(!client.is_over(), "the hub refuses {} in {room}", self.name);
            let (deadline, due) = (client.deadline(clock.now()), pilot.due(&client));
            let bytes = tokio::select! {
                received = wire.receive_game() => received.with_context(|| format!("{} lost the match", self.name))?,
                () = clock.until(deadline) => {
                    client.elapsed(clock.now());
                    continue;
                }
                () = clock.until(due) => continue,
            };
            client.receive(clock.now(), &bytes).map_err(|error| anyhow!("malformed: {error}"))?;
        }
    }
}

// Returns the number of rounds, and the durations of the requests for the state.
async fn tournament(teacher: &Member, pupils: &[Member]) -> anyhow::Result<(usize, Vec<Duration>)> {
    teacher.command(&json!({ "do": "tournament", "system": "swiss", "game": "mastermind" })).await?;
    let mut polls = vec![];
    for round in 1.. {
        polls.extend(all(pupils.iter().map(|pupil| pupil.clone().play_round(round))).await?.concat());
        let state = teacher.state().await?;
        let cup = &state["tournament"];
        ensure!(cup["running"] == false && cup["round"] == round, "round {round} is not over: {cup}");
        if cup["over"] == true {
            let points: u64 =
                cup["table"].as_array().into_iter().flatten().filter_map(|place| place["points"].as_u64()).sum();
            let all = 2 * round * pupils.len().div_ceil(2);
            ensure!(points == u64::try_from(all)?, "the table has {points} half points instead of {all}");
            return Ok((round, polls));
        }
        teacher.command(&json!({ "do": "next-round", "round": round })).await?;
    }
    bail!("a tournament has a last round")
}

// Each pupil has a line for the match of robots and for each match of the tournament. Returns the number of lines.
async fn check_results(teacher: &Member, pupils: &[Member], rounds: usize) -> anyhow::Result<usize> {
    let path = format!("{CLASS}/results.csv");
    let (status, csv) = teacher.visitor.request(("GET", &path), &teacher.headers(), "").await?;
    ensure!(status == 200, "no results: {status}");
    let csv = String::from_utf8(csv.to_vec())?;
    let mut lines = csv.lines();
    ensure!(lines.next() == Some("ended,game,room,options,match,player,rank,score,left"), "another head: {csv}");
    let (mut counts, mut number) = (BTreeMap::<(&str, &str), usize>::new(), 0);
    for line in lines {
        number += 1;
        let game = line.split(',').nth(1).unwrap_or_default();
        // No name contains a comma, and the options are the only cell that may.
        let name = line.rsplit(',').nth(3).unwrap_or_default();
        *counts.entry((game, name)).or_default() += 1;
    }
    for pupil in pupils {
        let count = |game| counts.get(&(game, &*pupil.name)).copied().unwrap_or_default();
        ensure!(count("robots") == 1, "{} has {} lines of robots", pupil.name, count("robots"));
        // An odd number of pupils has a bye in each round.
        let least = if pupils.len().is_multiple_of(2) { rounds } else { rounds - 1 };
        let played = count("mastermind");
        ensure!((least..=rounds).contains(&played), "{} has {played} lines of {rounds} rounds", pupil.name);
    }
    Ok(number)
}
