//! "Watch it learn": the blackjack learner trains while a page watches. Sessions take turns on a few threads with
//! slices of rounds, so that matches are not delayed.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    Router,
    extract::{State, ws::Message},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use blackjack::{
    Action, Policy, QTable, Score, StateSpace,
    exact::{Limit, Solver},
    learn::{Chance, Explore, Trainer},
    qtable::Tally,
};
use futures_util::StreamExt as _;
use netcore::{HostId, Rate, Time, TokenBucket};
use rand_pcg::Pcg64Mcg;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    task::spawn_blocking,
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

use super::{
    caller::SocketPermit,
    event_stream::PageSocket,
    keepalive::{Beats, Pulse, beat, send},
    page_socket::PageUpgrade,
    response::{invalid, refused},
    socket,
};
use crate::{hub::Hub, message::message, room::mailbox::CloseReason};

/// In bytes.
const MAX_MESSAGE: usize = 1024;
const MESSAGES: Rate = Rate { per_second: 10, burst: 20 };
/// A restart costs as much as hundreds of rounds.
const STARTS: Rate = Rate { per_second: 2, burst: 5 };

pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/learn/socket", get(learn)).route("/api/blackjack/table", get(table))
}

// Exact values are slow to compute and never change.
fn best() -> &'static Best {
    static BEST: OnceLock<Best> = OnceLock::new();
    BEST.get_or_init(Best::new)
}

async fn table() -> Response {
    let Ok(table) = spawn_blocking(|| best().table().to_string()).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "public, max-age=86400")];
    (headers, table).into_response()
}

async fn learn(
    State(hub): State<Arc<Hub>>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: PageUpgrade,
) -> Response {
    let host = caller.host();
    let learner = match hub.resources().learners.take(host, 1) {
        Ok(learner) => learner,
        Err(refusal) => return refused(refusal),
    };
    upgrade.on_upgrade(MAX_MESSAGE, async move |socket| {
        run(socket, &Study { hub, host }).await;
        drop((place, learner));
    })
}

/// Runs blocking work in the turns of a host.
struct Study {
    hub: Arc<Hub>,
    host: HostId,
}

impl Study {
    /// Returns `None` if the work failed or took too long to start.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> (Session, T) + Send + 'static,
    ) -> Option<(Session, T, String)> {
        let turn = self.hub.resources().slices.wait(self.host).await.ok()?;
        let worked = spawn_blocking(move || {
            let _turn = turn;
            let (session, done) = work();
            let report = session.report().to_string();
            (session, done, report)
        });
        worked.await.ok()
    }
}

// Ends when the page disconnects or its host is banned.
async fn run(mut socket: PageSocket, study: &Study) {
    let Some((mut session, (), mut report)) = study.work(|| (Session::new(best()), ())).await else { return };
    let start = Instant::now();
    let now = || Time::ZERO.plus(start.elapsed());
    let (mut messages, mut starts) = (TokenBucket::new(MESSAGES, now()), TokenBucket::new(STARTS, now()));
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let pulse = Pulse::default();
    let mut beats = Beats::new(&pulse);
    let mut last = Instant::now();
    let mut news = true;
    loop {
        if news {
            if !send_text(&mut socket, &report).await {
                return;
            }
            beats.spoke();
        }
        tokio::select! {
            message = pulse.read(socket.next()) => {
                let Some(Ok(message)) = message else { return };
                // Delays reading if a page sends too many messages.
                if let Some(ready) = messages.ready_at(now(), 1) {
                    sleep_until(start + ready.since(Time::ZERO)).await;
                }
                messages.take(now(), 1);
                news = false;
                let text = match message {
                    Message::Text(text) => text,
                    Message::Close(_) => return,
                    _ => continue,
                };
                let command = serde_json::from_str::<LearnCommand>(&text).map_err(|error| invalid(error.to_string()));
                let done = match command {
                    Ok(LearnCommand::Start { .. }) if !starts.take(now(), 1) => {
                        Err(message!("too_many_restarts", "training restarts at most twice a second; wait a moment"))
                    },
                    Ok(command) => {
                        let worked = study.work(move || {
                            let done = session.execute(command).map_err(invalid);
                            (session, done)
                        });
                        let Some((back, done, text)) = worked.await else { return };
                        (session, report) = (back, text);
                        news = done.is_ok();
                        done
                    }
                    Err(error) => Err(error),
                };
                if let Err(error) = done
                    && !send_text(&mut socket, &error.to_json().to_string()).await
                {
                    return;
                }
            }
            due = beats.due() => {
                news = false;
                if !beat(&mut socket, due).await {
                    return;
                }
            }
            _ = tick.tick() => {
                if study.hub.bans().has(study.host) {
                    return socket::end(socket, CloseReason::Banned).await;
                }
                let passed = last.elapsed();
                last = Instant::now();
                let Some(slice) = session.due(passed) else {
                    news = false;
                    continue;
                };
                let played = study.work(move || {
                    session.play(slice);
                    (session, ())
                });
                let Some((back, (), text)) = played.await else { return };
                (session, report, news) = (back, text, true);
            }
        }
    }
}

async fn send_text(socket: &mut PageSocket, text: &str) -> bool {
    send(socket, Message::Text(text.into())).await
}

#[derive(Debug)]
struct Best {
    solver: Solver,
    coarse: Policy,
    soft: Policy,
    // Expected rewards of the two policies.
    optima: [f64; 2],
    values: Limit,
}

impl Best {
    fn new() -> Self {
        let solver = Solver::new();
        let [coarse, soft] = [StateSpace::Coarse, StateSpace::Soft].map(|space| solver.best(space));
        let optima = [&coarse, &soft].map(|policy| solver.value(policy));
        let values = solver.action_values(&soft);
        Self { solver, coarse, soft, optima, values }
    }

    const fn policy(&self, space: StateSpace) -> &Policy {
        match space {
            StateSpace::Coarse => &self.coarse,
            StateSpace::Soft => &self.soft,
        }
    }

    /// The expected reward per round.
    const fn optimum(&self, space: StateSpace) -> f64 {
        match space {
            StateSpace::Coarse => self.optima[0],
            StateSpace::Soft => self.optima[1],
        }
    }

    fn value(&self, policy: &Policy) -> f64 {
        self.solver.value(policy)
    }

    /// The best table on total, softness and upcard, with the value of each action if the table plays the rest.
    fn table(&self) -> Value {
        let state = |state: blackjack::State| {
            let values = self.values.values(state);
            // States that the best play never reaches have no values.
            let worth = |value: f64| (values.visits > 0.0).then(|| (value * 10_000.0).round() / 10_000.0);
            json!({
                "total": state.total(),
                "soft": state.is_soft(),
                "upcard": state.upcard(),
                "hit": worth(values.hit),
                "stand": worth(values.stand),
                "best": if self.soft.action(state) == Action::Hit { "hit" } else { "stand" },
            })
        };
        let states: Vec<Value> = StateSpace::Soft.states().map(state).collect();
        json!({ "value": self.optimum(StateSpace::Soft), "states": states })
    }
}

/// The interval of slices and reports.
const TICK: Duration = Duration::from_millis(200);
/// At full speed; the rest of a tick is for other work.
const SLICE: Duration = Duration::from_millis(40);
/// Rounds between checks of the clock.
const BATCH: u64 = 2_000;
/// The table no longer changes after these rounds.
const MAX_ROUNDS: u64 = 2_000_000_000;
/// Rounds a second; above it the learner runs at full speed.
const MAX_PACE: u32 = 1_000_000;
/// Points of the curve; at this number, every other one is dropped.
const MAX_POINTS: usize = 512;

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum LearnCommand {
    Start {
        #[serde(default)]
        explore: Exploration,
        /// The chance of a random decision, for `epsilon`.
        #[serde(default = "usual_chance")]
        chance: f64,
        #[serde(default)]
        space: Space,
        #[serde(default)]
        seed: u64,
    },
    Resume,
    Pause,
    /// Rounds a second; `None` is full speed.
    Pace {
        rounds: Option<u32>,
    },
}

const fn usual_chance() -> f64 {
    0.1
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Exploration {
    Random,
    Epsilon,
    #[default]
    Confident,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Space {
    Coarse,
    #[default]
    Soft,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slice {
    Rounds(u64),
    Full,
}

struct Session {
    best: &'static Best,
    trainer: Trainer<Pcg64Mcg>,
    space: StateSpace,
    score: Score,
    running: bool,
    // Rounds a second; `None` is full speed.
    pace: Option<u32>,
    // The fraction of the next round that is already due.
    owed: f64,
    speed: f64,
    value: f64,
    // Numbers of rounds, with the exact value after them.
    curve: Vec<(u64, f64)>,
}

impl Session {
    fn new(best: &'static Best) -> Self {
        Self::with(best, StateSpace::Soft, Explore::UntilConfident, 0)
    }

    fn with(best: &'static Best, space: StateSpace, explore: Explore, seed: u64) -> Self {
        let trainer = Trainer::seeded(QTable::new(space), explore, seed, 0);
        let value = best.value(&trainer.table().policy());
        Self {
            best,
            trainer,
            space,
            score: Score::default(),
            running: false,
            pace: Some(5),
            owed: 0.0,
            speed: 0.0,
            value,
            curve: vec![(0, value)],
        }
    }

    fn execute(&mut self, command: LearnCommand) -> Result<(), &'static str> {
        match command {
            LearnCommand::Start { explore, chance, space, seed } => {
                let explore = match explore {
                    Exploration::Random => Explore::Random,
                    Exploration::Epsilon => Explore::Epsilon(Chance::new(chance).ok_or("the chance is from 0 to 1")?),
                    Exploration::Confident => Explore::UntilConfident,
                };
                let space = match space {
                    Space::Coarse => StateSpace::Coarse,
                    Space::Soft => StateSpace::Soft,
                };
                *self = Self { pace: self.pace, running: true, ..Self::with(self.best, space, explore, seed) };
            }
            LearnCommand::Resume => self.running = true,
            LearnCommand::Pause => self.running = false,
            LearnCommand::Pace { rounds: Some(0) } => return Err("the pace is at least one round a second"),
            LearnCommand::Pace { rounds } => self.pace = rounds.filter(|rounds| *rounds <= MAX_PACE),
        }
        self.owed = 0.0;
        Ok(())
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most a second of the greatest pace"
    )]
    fn due(&mut self, passed: Duration) -> Option<Slice> {
        if !self.running || self.score.rounds() >= MAX_ROUNDS {
            return None;
        }
        let Some(pace) = self.pace else { return Some(Slice::Full) };
        self.owed += f64::from(pace) * passed.as_secs_f64().min(1.0);
        let rounds = self.owed.floor();
        self.owed -= rounds;
        (rounds >= 1.0).then_some(Slice::Rounds(rounds as u64))
    }

    fn play(&mut self, slice: Slice) {
        let begun = std::time::Instant::now();
        let before = self.score.rounds();
        match slice {
            Slice::Rounds(rounds) => self.rounds(rounds),
            Slice::Full => {
                while self.running && begun.elapsed() < SLICE && self.score.rounds() < MAX_ROUNDS {
                    self.rounds(BATCH);
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a speed for people to read")]
        let rounds = (self.score.rounds() - before) as f64;
        self.speed = self.pace.map_or(rounds / TICK.max(begun.elapsed()).as_secs_f64(), f64::from);
        self.value = self.best.value(&self.trainer.table().policy());
        self.note();
    }

    fn rounds(&mut self, rounds: u64) {
        match self.trainer.play(rounds) {
            Ok(score) => self.score += score,
            // Unreachable: no round takes 52 cards.
            Err(_) => self.running = false,
        }
    }

    // Distances grow with the rounds, as in the drawing of the curve.
    fn note(&mut self) {
        let rounds = self.score.rounds();
        let far = self.curve.last().is_none_or(|(last, _)| rounds > last + last / 50);
        if far {
            self.curve.push((rounds, self.value));
        }
        if self.curve.len() >= MAX_POINTS {
            let mut at = 0;
            self.curve.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
    }

    fn report(&self) -> Value {
        let (table, best) = (self.trainer.table(), self.best.policy(self.space));
        let policy = table.policy();
        let (mut cells, mut ideal, mut means) = (String::new(), String::new(), vec![]);
        let letter = |action| if action == Action::Hit { 'h' } else { 's' };
        for state in self.space.states() {
            let entry = table.entry(state);
            // Upper case: both actions were tried.
            let tried = entry.hit.n > 0 && entry.stand.n > 0;
            let decided = letter(policy.action(state));
            cells.push(match entry.visits() {
                0 => '.',
                _ if tried => decided.to_ascii_uppercase(),
                _ => decided,
            });
            ideal.push(letter(best.action(state)));
            means.push((worth(entry.hit), worth(entry.stand), entry.visits()));
        }
        json!({
            "space": self.space.word(),
            "running": self.running,
            "rounds": self.score.rounds(),
            "mean": self.score.mean(),
            "speed": self.speed.round(),
            "pace": self.pace,
            "value": self.value,
            "optimum": self.best.optimum(self.space),
            "differs": policy.differences(best).count(),
            "cells": cells,
            "best": ideal,
            "means": means,
            "curve": self.curve,
        })
    }
}

// Rounded to thousandths.
fn worth(tally: Tally) -> Option<f64> {
    tally.mean().map(|mean| (mean * 1_000.0).round() / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_table_has_the_known_value() {
        let table = Best::new().table();
        assert!((table["value"].as_f64().unwrap() + 0.042_806).abs() < 1e-6);
        let states = table["states"].as_array().unwrap();
        assert_eq!(states.len(), 280);
        for state in states {
            let (hit, stand) = (state["hit"].as_f64(), state["stand"].as_f64());
            if let (Some(hit), Some(stand)) = (hit, stand) {
                // Rounded values may be equal.
                let best = if hit > stand { "hit" } else { "stand" };
                assert!(state["best"] == best || (hit - stand).abs() < 1e-3, "{state}");
            }
        }
    }

    fn session() -> Session {
        Session::new(best())
    }

    fn command(text: &str) -> LearnCommand {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn first_rounds_are_single_and_a_seed_repeats_a_session() {
        let learn = || {
            let mut session = session();
            assert_eq!(session.due(TICK), None, "nothing happens before it is started");
            session.execute(command(r#"{"do": "start", "seed": 7}"#)).unwrap();
            session.execute(command(r#"{"do": "pace", "rounds": 5}"#)).unwrap();
            let mut seen = vec![];
            for _ in 0..4 {
                let slice = session.due(TICK).unwrap();
                assert_eq!(slice, Slice::Rounds(1));
                session.play(slice);
                seen.push(session.report()["cells"].clone());
            }
            assert_eq!(session.report()["rounds"], 4);
            seen
        };
        let seen = learn();
        assert_eq!(seen, learn());
        assert!(seen[3].as_str().unwrap().contains(['h', 's', 'H', 'S']) && seen[3].as_str().unwrap().contains('.'));
    }

    #[test]
    fn learner_approaches_the_optimum_and_reports_differences() {
        let mut session = session();
        session.execute(command(r#"{"do": "start", "explore": "confident", "space": "coarse", "seed": 1}"#)).unwrap();
        session.execute(command(r#"{"do": "pace"}"#)).unwrap();
        assert_eq!(session.due(TICK), Some(Slice::Full));
        session.play(Slice::Rounds(1_000_000));
        let report = session.report();
        let (value, optimum) = (report["value"].as_f64().unwrap(), report["optimum"].as_f64().unwrap());
        assert!(value <= optimum && optimum - value < 0.002, "{value} {optimum}");
        assert!(report["differs"].as_u64().unwrap() < 20);
        assert_eq!(report["cells"].as_str().unwrap().len(), 180);
        session.execute(LearnCommand::Pause).unwrap();
        assert_eq!(session.due(TICK), None);
    }

    #[test]
    fn invalid_request_changes_nothing() {
        let mut session = session();
        for text in [r#"{"do": "start", "explore": "epsilon", "chance": 2}"#, r#"{"do": "pace", "rounds": 0}"#] {
            assert!(session.execute(command(text)).is_err(), "{text}");
            assert_eq!(session.due(TICK), None);
        }
        for text in [r#"{"do": "fly"}"#, r#"{"do": "start", "seed": -1}"#, "", "[]"] {
            assert!(serde_json::from_str::<LearnCommand>(text).is_err(), "{text}");
        }
        session.execute(command(r#"{"do": "pace", "rounds": 4000000000}"#)).unwrap();
        session.execute(LearnCommand::Resume).unwrap();
        assert_eq!(session.due(TICK), Some(Slice::Full));
    }

    #[test]
    fn curve_is_bounded() {
        let mut session = session();
        session.running = true;
        for _ in 0..MAX_POINTS + 100 {
            session.play(Slice::Rounds(1));
        }
        assert!(session.curve.len() < MAX_POINTS && session.curve.len() > 50);
        assert!(session.curve.is_sorted_by_key(|(rounds, _)| *rounds));
    }
}
