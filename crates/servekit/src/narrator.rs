use std::{collections::BTreeMap, io, time::Duration};

use cmdkit::{Queue, clock_time, isolated, time_left};
use netcore::{DecodeError, DisconnectReason, GameEvent, PeerId, Rate, Role, Severity, Standing, Time};
use netshell::{LogLimit, Observer};
use tracing::{
    debug,
    field::{DisplayValue, display},
    info, warn,
};

/// The rate of log lines of one kind: enough for a full room that joins and leaves at the same time, and far fewer than
/// a flooding peer can cause.
const LINES: Rate = Rate { per_second: 10, burst: 200 };
/// How long a server waits for standard output to accept the last results.
const PATIENCE: Duration = Duration::from_secs(2);

/// Standard output, behind a queue because its reader may stall.
#[derive(Debug, Clone)]
pub(crate) struct Stdout {
    queue: Queue,
}

impl Stdout {
    pub(crate) fn finish(&self) {
        if !self.queue.finish(PATIENCE) {
            warn!("standard output has no reader; the last results are lost");
        }
    }
}

/// The interval between two lines about the progress of games.
const PROGRESS: Duration = Duration::from_secs(10);

/// The start of each game and its progress then, for estimates of the remaining time.
#[derive(Debug)]
struct Pace {
    begun: BTreeMap<u32, (Time, u64)>,
    told: Time,
}

impl Pace {
    /// Returns the rounds per second and the time until the end; `None` if the game is over, if it is too early for an
    /// estimate, or if one was logged recently.
    #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
    fn admit(&mut self, now: Time, game: u32, done: u64, whole: u64) -> Option<(f64, Option<Duration>)> {
        let (begun, before) = *self.begun.entry(game).or_insert((now, done));
        if done >= whole || now.since(begun.max(self.told)) < PROGRESS {
            return None;
        }
        self.told = now;
        // Results may be taken back.
        let (elapsed, played) = (now.since(begun), done.saturating_sub(before));
        let rate = played as f64 / elapsed.as_secs_f64();
        Some((rate, time_left(played, whole.saturating_sub(before), elapsed)))
    }
}

/// Peers cause the events, so the lines of each kind are rate limited.
#[derive(Debug)]
pub(crate) struct Narrator {
    stdout: Stdout,
    unit: &'static str,
    pace: Pace,
    limits: BTreeMap<&'static str, LogLimit>,
}

impl Narrator {
    pub(crate) fn new(unit: &'static str) -> (Self, Stdout) {
        let failed = |error| warn!(%error, "cannot write to standard output; results are lost");
        let stdout = Stdout { queue: Queue::start(io::stdout(), failed) };
        let pace = Pace { begun: BTreeMap::new(), told: Time::ZERO };
        let narrator = Self { stdout: stdout.clone(), unit, pace, limits: BTreeMap::new() };
        (narrator, stdout)
    }

    /// Returns the number of suppressed lines, absent if zero; `None` suppresses the line.
    #[expect(clippy::option_option, reason = "an absent line and an absent field are two things")]
    fn admit(&mut self, now: Time, kind: &'static str) -> Option<Option<u64>> {
        let limit = self.limits.entry(kind).or_insert_with(|| match kind {
            // Each message can cause one.
            "lost" | "malformed" => LogLimit::new(now),
            _ => LogLimit::with_rate(LINES, now),
        });
        let held_back = limit.admit(now)?;
        Some((held_back > 0).then_some(held_back))
    }

    fn notice(&mut self, now: Time, severity: Severity, text: &str, address: Option<&str>) {
        if severity == Severity::Requested {
            // Lines that the operator requested are logged in full.
            info!(address, "{text}");
        } else if let Some(held_back) = self.admit(now, "notices") {
            if severity == Severity::Info {
                info!(address, held_back, "{text}");
            } else {
                warn!(address, held_back, "{text}");
            }
        }
    }
}

// Absent for spectators, who have no name.
fn name_field(name: &str) -> Option<DisplayValue<String>> {
    (!name.is_empty()).then(|| display(printable_name(name)))
}

fn printable_name(name: &str) -> String {
    isolated(&name.escape_debug().to_string()).into_owned()
}

fn result(row: &Standing, unit: &str) -> String {
    let Standing { rank, name, seat, score } = row;
    format!("{rank}. {} ({seat}) {score} {unit}", printable_name(name))
}

impl Observer for Narrator {
    fn connected(&mut self, now: Time, peer: PeerId, role: Role, address: &str) {
        if let Some(held_back) = self.admit(now, "connected") {
            debug!(%peer, ?role, address, held_back, "connected");
        }
    }

    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>) {
        match event {
            GameEvent::Waiting { name, before, .. } => {
                if let Some(held_back) = self.admit(now, "waiting") {
                    info!(name = %printable_name(name), address, before, held_back, "waits for a seat");
                }
            }
            GameEvent::Joined { name, seat, .. } => {
                if let Some(held_back) = self.admit(now, "joined") {
                    info!(name = name_field(name), seat, address, held_back, "joined");
                }
            }
            GameEvent::Left { name, seat, why, .. } => {
                if let Some(held_back) = self.admit(now, "left") {
                    info!(name = name_field(name), seat, address, %why, held_back, "left");
                }
            }
            GameEvent::Started { game, players } => {
                self.pace.begun.insert(*game, (now, 0));
                if let Some(held_back) = self.admit(now, "started") {
                    info!(game, players, held_back, "the game starts");
                }
            }
            GameEvent::Progress { game, done, whole } => {
                if let Some((rate, left)) = self.pace.admit(now, *game, *done, *whole) {
                    let left = left.map(clock_time);
                    info!(
                        game,
                        "{done} of {whole} rounds, {rate:.1} a second{}",
                        left.map_or_else(String::new, |left| format!(", {left} left"))
                    );
                }
            }
            GameEvent::Ended { game, complete, standings } => {
                self.pace.begun.remove(game);
                if let Some(held_back) = self.admit(now, "ended") {
                    let how = if *complete { "played" } else { "aborted" };
                    let scores: Vec<String> = standings.iter().map(|row| result(row, self.unit)).collect();
                    info!(game, how, standings = scores.join(", "), held_back, "the game ends");
                }
            }
            GameEvent::Notice { severity, text, .. } => self.notice(now, *severity, text, address),
            GameEvent::Summary(text) => {
                if !self.stdout.queue.push(format!("{text}\n").into_bytes())
                    && let Some(held_back) = self.admit(now, "lost")
                {
                    warn!(held_back, "standard output has no reader; a result is lost");
                }
            }
        }
    }

    fn malformed(&mut self, now: Time, peer: PeerId, address: &str, why: &DecodeError) {
        if let Some(held_back) = self.admit(now, "malformed") {
            info!(%peer, address, %why, held_back, "malformed message");
        }
    }

    fn disconnected(&mut self, now: Time, peer: PeerId, address: &str, why: DisconnectReason) {
        if let Some(held_back) = self.admit(now, "gone") {
            debug!(%peer, address, ?why, held_back, "gone");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_line_has_the_unit_of_the_score_and_omits_an_empty_name() {
        let row = Standing { rank: 1, seat: "table 1, seat 1".into(), name: "Ann".into(), score: 430 };
        assert_eq!(result(&row, "wins"), "1. Ann (table 1, seat 1) 430 wins");
        assert_eq!(
            (name_field("").is_some(), name_field("A\n").map(|name| name.to_string())),
            (false, Some("A\\n".into()))
        );
    }

    #[test]
    fn progress_is_logged_every_ten_seconds_with_the_time_left() {
        let at = |seconds| Time::ZERO.plus(Duration::from_secs(seconds));
        let mut pace = Pace { begun: BTreeMap::from([(1, (at(5), 0))]), told: Time::ZERO };
        assert_eq!(pace.admit(at(14), 1, 30, 1000), None);
        assert_eq!(pace.admit(at(15), 1, 40, 1000), Some((4.0, Some(Duration::from_secs(240)))));
        assert_eq!(pace.admit(at(24), 1, 80, 1000), None);
        assert_eq!(pace.admit(at(25), 1, 80, 1000), Some((4.0, Some(Duration::from_secs(230)))));
        assert_eq!(pace.admit(at(265), 1, 1000, 1000), None);
        // The rate of a resumed game counts only the rounds since then.
        assert_eq!(pace.admit(at(300), 2, 500, 600), None);
        assert_eq!(pace.admit(at(310), 2, 550, 600), Some((5.0, Some(Duration::from_secs(10)))));
    }
}
