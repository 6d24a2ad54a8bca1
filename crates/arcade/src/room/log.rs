//! A log line for each player who joins, leaves or wins.
//!
//! Unauthenticated clients cause these lines, so their rate is limited for all rooms together. The next line contains
//! the number of dropped ones.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use netcore::{Departure, GameEvent, HostId, Rate, Standing, Time};
use netshell::LogLimit;
use tracing::info;

use super::bans::host_text;
use crate::games::Game;

/// The limit for all rooms: some 50 MB a day.
pub(crate) const LINES: Rate = Rate { per_second: 4, burst: 1_000 };
/// Characters of a name.
const LETTERS: usize = 64;
const WINNERS: usize = 4;

#[derive(Debug)]
pub(crate) struct Log {
    start: Instant,
    limit: Mutex<LogLimit>,
}

impl Default for Log {
    fn default() -> Self {
        Self { start: Instant::now(), limit: Mutex::new(LogLimit::with_rate(LINES, Time::ZERO)) }
    }
}

impl Log {
    // Returns the number of lines dropped before this one, or `None` if this one is dropped too.
    #[expect(clippy::option_option, reason = "an absent line and an absent field are two things")]
    fn admit(&self) -> Option<Option<u64>> {
        let now = Time::ZERO.plus(self.start.elapsed());
        let left_out = self.limit.lock().unwrap_or_else(PoisonError::into_inner).admit(now)?;
        Some((left_out > 0).then_some(left_out))
    }

    pub(crate) fn event(&self, (game, room): (Game, &str), event: &GameEvent, host: Option<HostId>) {
        let address = host.map(host_text);
        match event {
            GameEvent::Joined { name, seat, .. } if !name.is_empty() => {
                let Some(left_out) = self.admit() else { return };
                info!(room, name = printable_name(name), seat, address, left_out, "joined");
            }
            GameEvent::Left { name, seat, why, .. } if !name.is_empty() && *why != Departure::GameOver => {
                let Some(left_out) = self.admit() else { return };
                info!(room, name = printable_name(name), seat, address, %why, left_out, "left");
            }
            GameEvent::Ended { game: number, complete, standings } if !standings.is_empty() => {
                let Some(left_out) = self.admit() else { return };
                if *complete {
                    let won = winners(game, standings);
                    info!(room, number, won, players = standings.len(), left_out, "the match is over");
                } else {
                    info!(room, number, players = standings.len(), left_out, "the match was cancelled");
                }
            }
            _ => {}
        }
    }
}

// Players choose names, so they are escaped and truncated.
fn printable_name(name: &str) -> String {
    name.chars().take(LETTERS).flat_map(char::escape_debug).collect()
}

// A player alone in a match may lose.
fn winners(game: Game, standings: &[Standing]) -> String {
    let first: Vec<_> = standings.iter().filter(|row| row.rank == 1 && !game.is_lost(row.score)).collect();
    let named = first.iter().take(WINNERS).map(|row| printable_name(&row.name)).collect::<Vec<_>>().join(", ");
    if first.len() > WINNERS { format!("{named} and {} more", first.len() - WINNERS) } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_log_lines_is_bounded() {
        let log = Log::default();
        let written = (0..100_000).filter(|_| log.admit().is_some()).count();
        assert!((1_000..2_000).contains(&written), "{written}");
    }

    #[test]
    fn names_are_short_and_have_no_line_ends() {
        assert_eq!(printable_name("A\nnn"), "A\\nnn");
        assert_eq!(printable_name(&"x".repeat(255)).len(), LETTERS);
        let row = |name: &str, rank| Standing { rank, name: name.into(), seat: "A".into(), score: 1 };
        assert_eq!(winners(Game::Nuggets, &[row("Ann", 1), row("Bob", 1), row("Eve", 2)]), "Ann, Bob");
        assert_eq!(winners(Game::Nuggets, &vec![row("x", 1); 9]), "x, x, x, x and 5 more");
    }
}
