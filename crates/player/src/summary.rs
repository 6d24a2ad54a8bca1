//! What was played, for the line at the end.

use std::io::{self, Write};

use blackjack::{Name, Score};

/// How it went, in all games.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) score: Score,
    pub(crate) forfeits: u64,
    pub(crate) games: u64,
}

impl Summary {
    pub(crate) fn add(&mut self, score: Score, forfeits: u64) {
        self.score += score;
        self.forfeits += forfeits;
        self.games += 1;
    }

    /// Prints the line about a player.
    pub(crate) fn print(self, name: &Name) -> io::Result<()> {
        let Self { score, forfeits, games } = self;
        let Score { wins, pushes, losses, busts } = score;
        let width = score.half_width().map_or_else(String::new, |width| format!(" +/- {width:.4} (95 %)"));
        let forfeited = if forfeits > 0 { format!(" ({forfeits} forfeited)") } else { String::new() };
        let games = if games > 1 { format!(" in {games} games") } else { String::new() };
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{name}: {} rounds{games}, {wins} won, {pushes} pushed, {losses} lost{forfeited}, {busts} bust, mean reward {:+.4}{width}",
            score.rounds(),
            score.mean()
        )?;
        out.flush()
    }
}
