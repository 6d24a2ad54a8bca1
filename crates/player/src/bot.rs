use std::{
    io::{self, IsTerminal, Write},
    mem,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, anyhow};
use blackjack::{
    PlayerMessage, Policy, QTable, Score, StateSpace, Verdict,
    client::MessageEffect,
    learn::{Choice, Episode, Explore},
    qtable::MAX_FILE,
};
use clientkit::{Received, ServerLocation, Wire};
use cmdkit::{Autosave, Backoff, FOLLOW, Progress, UsageError, file_name, load_file, replace_file, rounds_line};
use netshell::shutdown;
use rand_pcg::Pcg64Mcg;
use tokio::{
    select,
    time::{Instant, sleep},
};
use tracing::{Level, debug, info, trace, warn};

use crate::session::{Session, UNENDED};

/// Outside a terminal, shorter games show no progress.
const QUIET: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) enum Strategy {
    Table(Box<Policy>),
    Learner(Box<Learner>),
}

#[derive(Debug)]
pub(crate) struct Learner {
    pub(crate) table: QTable,
    pub(crate) path: PathBuf,
    pub(crate) explore: Explore,
    pub(crate) rng: Pcg64Mcg,
    pub(crate) saves: Autosave,
}

impl Learner {
    /// Logs an error and continues to learn.
    fn save_meanwhile(&mut self, score: Score) {
        match self.saves.meanwhile(score.rounds(), || save_table(&self.path, &self.table)) {
            Ok(true) => info!("{}", self.account(score)),
            Ok(false) => {}
            Err(error) => warn!("{error:#}"),
        }
    }

    fn account(&self, score: Score) -> String {
        let states = self.table.visited().count();
        let least = self.table.least_visited().map_or_else(String::new, |(state, action, n)| {
            format!("; least often: {} with {state}, {n} times", PlayerMessage::from(action))
        });
        let (rounds, mean, path) = (score.rounds(), score.mean(), file_name(&self.path));
        format!("{rounds} rounds, mean reward {mean:+.4}, {states} states seen{least}; saved to {path}")
    }
}

impl Strategy {
    pub(crate) fn space(&self) -> StateSpace {
        match self {
            Self::Table(policy) => policy.space(),
            Self::Learner(learner) => learner.table.space(),
        }
    }

    pub(crate) fn finish(&mut self, score: Score) -> anyhow::Result<()> {
        let Self::Learner(learner) = self else { return Ok(()) };
        let saved = learner.saves.finish(score.rounds(), || save_table(&learner.path, &learner.table))?;
        // The terminal shows no information from the log.
        if tracing::enabled!(Level::INFO) {
            if saved {
                info!("{}", learner.account(score));
            }
        } else if io::stderr().is_terminal() {
            let (states, path) = (learner.table.visited().count(), file_name(&learner.path));
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "{states} states seen; saved to {path}");
        }
        Ok(())
    }

    fn choose(&mut self, session: &Session) -> Option<Choice> {
        let state = session.client.state()?;
        Some(match self {
            Self::Table(policy) => Choice::sure(policy.action(state)),
            Self::Learner(learner) => learner.explore.choose(&learner.table, state, &mut learner.rng),
        })
    }

    fn learn(&mut self, score: Score, verdict: Verdict, lesson: Option<Episode>) {
        let Self::Learner(learner) = self else { return };
        if let Some(lesson) = lesson {
            lesson.teach(&mut learner.table, verdict);
        }
        learner.save_meanwhile(score);
    }
}

enum Disconnect {
    /// The directory may locate the dealer elsewhere.
    Lost(anyhow::Error),
    Wrong(anyhow::Error),
}

/// Plays until the dealer sends QUIT or a signal arrives. Searches the directory for a lost dealer for up to
/// [`FOLLOW`].
pub(crate) async fn play(
    location: ServerLocation,
    session: impl Fn() -> Session,
    strategy: &mut Strategy,
    rounds: Option<u64>,
) -> anyhow::Result<(Score, anyhow::Result<()>)> {
    let stop = shutdown().context("cannot handle signals")?;
    let mut playing = session();
    let ended = select! {
        biased;
        () = stop => {
            info!("stopped");
            Ok(())
        }
        ended = play_on(location, &mut playing, session, strategy, rounds) => ended,
    };
    Ok((playing.score, ended))
}

async fn play_on(
    mut location: ServerLocation,
    playing: &mut Session,
    session: impl Fn() -> Session,
    strategy: &mut Strategy,
    rounds: Option<u64>,
) -> anyhow::Result<()> {
    let (mut backoff, mut since) = (Backoff::default(), Instant::now());
    let mut connected = location.connect().await;
    loop {
        match connected {
            Ok(mut wire) => match converse(&mut wire, playing, strategy, rounds).await {
                Ok(()) => {
                    wire.close().await;
                    return Ok(());
                }
                Err(Disconnect::Lost(error)) if location.follows() => {
                    warn!("{error:#}; locating the room");
                    if playing.client.bytes_read() > 0 {
                        (backoff, since) = (Backoff::default(), Instant::now());
                    }
                }
                Err(Disconnect::Lost(error) | Disconnect::Wrong(error)) => return Err(error),
            },
            Err(error) if !location.follows() || since.elapsed() >= FOLLOW => return Err(error),
            Err(error) if backoff.attempts() == 0 => warn!("{error:#}"),
            Err(error) => debug!("{error:#}"),
        }
        sleep(backoff.next_wait()).await;
        connected = location.reconnect().await;
        // Rounds before the loss count.
        let score = playing.score;
        *playing = session();
        playing.score = score;
    }
}

async fn converse(
    wire: &mut Wire,
    session: &mut Session,
    strategy: &mut Strategy,
    rounds: Option<u64>,
) -> Result<(), Disconnect> {
    info!("joining; the dealer deals when a table is full, and sends nothing until then");
    let (mut begun, mut is_warned) = (false, false);
    let mut progress = progress_line();
    if progress.is_redrawn() {
        progress.draw(|_| "Waiting for a full table.".to_owned());
    }
    session.send_answers(wire);
    loop {
        let warning = session.unended().filter(|_| !is_warned);
        select! {
            () = wire.ready() => {}
            () = sleep(UNENDED), if warning.is_some() => {
                warn!("{}", warning.unwrap_or_default());
                is_warned = true;
            }
        }
        let mut received = Ok(());
        match wire.receive(|bytes| received = session.receive(bytes)) {
            Received::Bytes => {}
            Received::Nothing | Received::Refused => {
                wire.flush();
                continue;
            }
            Received::Closed => return Err(Disconnect::Lost(session.ended())),
            Received::Failed(error) => {
                debug!(%error, "the connection failed");
                return Err(Disconnect::Lost(session.ended()));
            }
        }
        while let Some(event) = session.poll_event() {
            match event {
                MessageEffect::DecisionDue => {
                    if let Some(choice) = strategy.choose(session) {
                        let message = session.client.decide(choice).map_err(|error| Disconnect::Wrong(error.into()))?;
                        trace!("> {message}");
                    }
                }
                MessageEffect::Ended { verdict, lesson, .. } => {
                    strategy.learn(session.score, verdict, lesson);
                    progress.draw(|elapsed| how_far(session.score, rounds, elapsed));
                }
                MessageEffect::Quit => {
                    progress.draw_last(|elapsed| how_far(session.score, rounds, elapsed));
                    progress.end();
                    if !begun {
                        warn!("the dealer sent QUIT before the first round: it has no seat left");
                    }
                    return Ok(());
                }
                MessageEffect::Began => {
                    // Excludes the wait for a seat.
                    if !mem::replace(&mut begun, true) {
                        progress.clear();
                        progress = progress_line();
                    }
                }
                MessageEffect::Dealt | MessageEffect::Ignored => {}
            }
        }
        received.map_err(|error| Disconnect::Wrong(error.into()))?;
        if !session.send_answers(wire) {
            // An answer is also an acknowledgement.
            wire.acknowledge();
        }
    }
}

// Also written if standard error is not a terminal, like any log line.
fn progress_line() -> Progress {
    let progress = Progress::new().always(tracing::enabled!(Level::INFO));
    if progress.is_redrawn() { progress } else { progress.quiet_for(QUIET) }
}

fn how_far(score: Score, rounds: Option<u64>, elapsed: Duration) -> String {
    rounds_line(score.rounds(), rounds, elapsed, &format!("  mean {:+.4}", score.mean()))
}

pub(crate) const USUAL: &str = "qtable";

/// `None` if the file does not exist. Fails if it has other states than `wanted`.
pub(crate) fn load_table(path: &Path, wanted: Option<StateSpace>) -> anyhow::Result<Option<QTable>> {
    let Some(table) = load_file("the table", path, MAX_FILE, QTable::from_file)? else { return Ok(None) };
    match wanted {
        Some(wanted) if wanted != table.space() => {
            let (space, name) = (table.space(), file_name(path));
            Err(UsageError(format!("the table {name} has {space} states; omit --state {wanted}")).into())
        }
        _ => Ok(Some(table)),
    }
}

/// Atomic: an error leaves the old file unchanged.
pub(crate) fn save_table(path: &Path, table: &QTable) -> anyhow::Result<()> {
    // Formatted, not wrapped: a broken pipe would end the program with success.
    replace_file(path, &table.to_file()).map_err(|error| anyhow!("cannot save the table {}: {error}", file_name(path)))
}
