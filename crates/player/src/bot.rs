//! Playing without a person: by a table, or learning one.
//!
//! Waits for the dealer and for nothing else, so that an answer is on its way as soon as the question is read. A signal
//! shuts the connection down, which ends the waiting.

use std::{
    io::{ErrorKind, Read, Write},
    mem,
    net::{Shutdown, TcpStream},
    path::PathBuf,
    time::{Duration, Instant},
};

use blackjack::{
    PlayerMessage, Policy, QTable, Score, StateSpace, Verdict,
    client::Meaning,
    learn::{Choice, Episode, Explore},
};
use bytes::BytesMut;
use cmdkit::{Autosave, Progress, clock_time, file_name, time_left};
use rand_pcg::Pcg64Mcg;
use tracing::{Level, debug, info, trace, warn};

use crate::{
    connection::{self, Way},
    search::{Search, Signal},
    session::{Session, UNENDED},
    tables,
};

/// Bytes read at a time: far more than a round has.
const CHUNK: usize = 4096;
/// Games that take less time show no progress.
const QUIET: Duration = Duration::from_secs(1);
/// How long, and how much, of what a dealer may send behind its QUIT is read so that it can close in peace.
const PARTING: Duration = Duration::from_secs(1);
const PARTING_BYTES: usize = 64 << 10;

/// Who decides.
#[derive(Debug)]
pub(crate) enum Pilot {
    /// A fixed table.
    Table(Box<Policy>),
    /// A table that is trained.
    Learner(Box<Learner>),
}

/// A table that grows with each round.
#[derive(Debug)]
pub(crate) struct Learner {
    pub(crate) table: QTable,
    pub(crate) path: PathBuf,
    pub(crate) explore: Explore,
    pub(crate) rng: Pcg64Mcg,
    /// After how many rounds the table is saved.
    pub(crate) saves: Autosave,
}

impl Learner {
    /// Saves the table if it is time for that, and tells of it below the progress. If it cannot be saved, that is told and the
    /// learning goes on.
    fn save_meanwhile(&mut self, score: Score, progress: &mut Progress) {
        let save = || {
            progress.end();
            tables::save(&self.path, &self.table)
        };
        match self.saves.meanwhile(score.rounds(), save) {
            Ok(true) => self.account(score),
            Ok(false) => {}
            Err(error) => warn!("{error:#}"),
        }
    }

    fn account(&self, score: Score) {
        let states = self.table.visited().count();
        let least = self.table.least_visited().map_or_else(String::new, |(state, action, n)| {
            format!("; least often: {} with {state}, {n} times", PlayerMessage::from(action))
        });
        let (rounds, mean, path) = (score.rounds(), score.mean(), file_name(&self.path));
        info!("{rounds} rounds, mean reward {mean:+.4}, {states} states seen{least}; saved to {path}");
    }
}

impl Pilot {
    pub(crate) fn space(&self) -> StateSpace {
        match self {
            Self::Table(policy) => policy.space(),
            Self::Learner(learner) => learner.table.space(),
        }
    }

    /// Saves what was learned at the end, unless that is done. Fails when it cannot be saved.
    pub(crate) fn finish(&mut self, score: Score) -> anyhow::Result<()> {
        let Self::Learner(learner) = self else { return Ok(()) };
        if learner.saves.finish(score.rounds(), || tables::save(&learner.path, &learner.table))? {
            learner.account(score);
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

    fn learn(&mut self, score: Score, verdict: Verdict, lesson: Option<Episode>, progress: &mut Progress) {
        let Self::Learner(learner) = self else { return };
        if let Some(lesson) = lesson {
            lesson.teach(&mut learner.table, verdict);
        }
        learner.save_meanwhile(score, progress);
    }
}

/// How a connection to a dealer ended that has not taken leave.
enum Cut {
    /// The dealer is gone. It may be found elsewhere.
    Lost(anyhow::Error),
    Wrong(anyhow::Error),
}

/// Plays until the dealer takes leave or a signal comes. A dealer that is lost is looked for where the directory says, if there is one.
/// Gives the score, and what went wrong if anything did. `rounds` is how many the dealer deals, if the person knows. Fails when the
/// dealer cannot be reached, or the system does not let the program listen for signals.
pub(crate) fn play(
    mut way: Way,
    session: impl Fn() -> Session,
    pilot: &mut Pilot,
    rounds: Option<u64>,
) -> anyhow::Result<(Score, anyhow::Result<()>)> {
    let mut signal = Signal::default();
    let mut search = Search::new();
    let mut score = Score::default();
    let mut stream = match way.open() {
        Ok((stream, _)) => stream,
        Err(error) if way.follows() => {
            signal.listen()?;
            warn!("{error:#}");
            match search.next(&mut way, &signal) {
                Some(found) => found?,
                None => return Ok((score, Ok(()))),
            }
        }
        Err(error) => return Err(error),
    };
    loop {
        signal.cut(&stream)?;
        let mut playing = session();
        // What was played before the dealer was lost counts.
        playing.score = score;
        let ended = converse(&stream, &mut playing, pilot, rounds);
        score = playing.score;
        if signal.came() {
            info!("stopped");
            return Ok((score, Ok(())));
        }
        let lost = match ended {
            Ok(()) => return Ok((score, Ok(()))),
            Err(Cut::Wrong(error)) => return Ok((score, Err(error))),
            Err(Cut::Lost(error)) if !way.follows() => return Ok((score, Err(error))),
            Err(Cut::Lost(error)) => error,
        };
        warn!("{lost:#}; looks for the room");
        if playing.client.bytes_read() > 0 {
            search = Search::new();
        }
        match search.next(&mut way, &signal) {
            Some(Ok(found)) => stream = found,
            Some(Err(error)) => return Ok((score, Err(error.context(format!("{lost:#}"))))),
            None => return Ok((score, Ok(()))),
        }
    }
}

fn converse(mut stream: &TcpStream, session: &mut Session, pilot: &mut Pilot, rounds: Option<u64>) -> Result<(), Cut> {
    info!("joins; the dealer deals when a table is full, and tells players nothing until then");
    let mut begun = false;
    let mut progress = progress_line();
    let mut answers = BytesMut::new();
    let mut chunk = [0; CHUNK];
    let (mut is_warned, mut is_limited) = (false, false);
    loop {
        session.take_answers(&mut answers);
        if answers.is_empty() {
            // An answer acknowledges, too.
            connection::acknowledge(stream);
        } else {
            // A dealer that is gone may have said why: what is left to be read says more than this.
            if let Err(error) = stream.write_all(&answers) {
                debug!(%error, "the dealer takes no answer");
            }
            answers.clear();
        }
        let waits = !is_warned && session.unended().is_some();
        if waits != is_limited {
            // Where the system refuses a limit, there is no warning.
            let _ = stream.set_read_timeout(waits.then_some(UNENDED));
            is_limited = waits;
        }
        let count = match stream.read(&mut chunk) {
            Ok(0) => return Err(Cut::Lost(session.ended())),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if let Some(warning) = session.unended() {
                    progress.end();
                    warn!("{warning}");
                }
                is_warned = true;
                continue;
            }
            Err(error) => {
                debug!(%error, "the connection is broken");
                return Err(Cut::Lost(session.ended()));
            }
        };
        let received = session.receive(&chunk[..count]);
        while let Some(event) = session.poll_event() {
            match event {
                Meaning::Asked => {
                    if let Some(choice) = pilot.choose(session) {
                        let message = session.client.decide(choice).map_err(|error| Cut::Wrong(error.into()))?;
                        trace!("> {message}");
                    }
                }
                Meaning::Ended { verdict, lesson, .. } => {
                    pilot.learn(session.score, verdict, lesson, &mut progress);
                    progress.draw(|elapsed| how_far(session.score, rounds, elapsed));
                }
                Meaning::Quit => {
                    progress.end();
                    if !begun {
                        warn!("the dealer said QUIT before the first round: it has no seat left");
                    }
                    part(stream, &mut chunk);
                    return Ok(());
                }
                Meaning::Began => {
                    // The time spent waiting for a seat is no time of play.
                    if !mem::replace(&mut begun, true) {
                        progress = progress_line();
                    }
                }
                Meaning::Dealt | Meaning::Ignored => {}
            }
        }
        received.map_err(|error| Cut::Wrong(error.into()))?;
    }
}

// Written also where standard error is no terminal, as any line of the log.
fn progress_line() -> Progress {
    Progress::new().always(tracing::enabled!(Level::INFO)).quiet_for(QUIET)
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
fn how_far(score: Score, rounds: Option<u64>, elapsed: Duration) -> String {
    let played = score.rounds();
    let rate = played as f64 / elapsed.as_secs_f64().max(1e-9);
    let all = rounds.map_or_else(String::new, |rounds| format!(" of {rounds}"));
    let left = rounds.and_then(|rounds| time_left(played, rounds, elapsed));
    let left = left.map_or_else(String::new, |left| format!(", {} left", clock_time(left)));
    format!("{played}{all} rounds, {rate:.1} a second, mean reward {:+.4}{left}", score.mean())
}

// Reads to the end of the stream, within reason: a connection that is closed with something unread is reset, and the
// dealer may not have sent its last word to others.
fn part(mut stream: &TcpStream, chunk: &mut [u8]) {
    let _ = stream.shutdown(Shutdown::Write);
    let end = Instant::now() + PARTING;
    let mut extra = 0;
    while extra <= PARTING_BYTES {
        let left = end.saturating_duration_since(Instant::now());
        // A timeout of zero is not valid.
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            break;
        }
        let Ok(count @ 1..) = stream.read(chunk) else { break };
        extra += count;
    }
    if extra > 0 {
        debug!(extra, "bytes came behind QUIT");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_a_time_left_if_the_rounds_are_known() {
        let score = Score { wins: 20, losses: 30, ..Score::default() };
        let (rounds, elapsed) = (Some(1000), Duration::from_secs(10));
        assert_eq!(how_far(score, rounds, elapsed), "50 of 1000 rounds, 5.0 a second, mean reward -0.2000, 3:10 left");
        assert_eq!(how_far(score, None, elapsed), "50 rounds, 5.0 a second, mean reward -0.2000");
    }
}
