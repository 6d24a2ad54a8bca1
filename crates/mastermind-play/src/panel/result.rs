//! The result of a match, in the place of the explanations.

use mastermind::game::{Entry, Outcome, TURNS};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    widgets::{Clear, Widget},
};
use termkit::{Rank, Ranking};

use crate::{
    panel::{state::State, table::Table},
    round::Round,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchResult {
    title: &'static str,
    /// Of a duel.
    ranks: Vec<Rank>,
    lines: Vec<String>,
}

impl MatchResult {
    /// `None` before the end of the match, which has two games in a duel.
    pub(super) fn of(table: &Table) -> Option<Self> {
        if table.state != State::Over {
            return None;
        }
        if let Some(outcomes) = table.duel_outcomes() {
            return Some(Self { title: "Turns needed", ranks: ranks(outcomes), lines: vec![] });
        }
        let game = table.round.as_ref().map(Round::game)?;
        let (title, result) = match (game.outcome()?, table.rows().last()) {
            (Outcome::Won(turns), Some(Entry::Guess(code, _))) => {
                ("You win", format!("You found {code} in {}.", count(turns, "turn")))
            }
            (Outcome::Won(turns), _) => ("You win", format!("You found the code in {}.", count(turns, "turn"))),
            (Outcome::Lost(code), _) => ("You lose", format!("The code was {code}.")),
        };
        let hints = (game.hints() > 0).then(|| format!("Played with {}.", count(game.hints(), "hint")));
        Some(Self { title, ranks: vec![], lines: std::iter::once(result).chain(hints).collect() })
    }
}

fn count(number: usize, unit: &str) -> String {
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

// Fewer turns are better.
fn ranks(outcomes: [Option<Outcome>; 2]) -> Vec<Rank> {
    let turns = outcomes.map(|outcome| match outcome {
        Some(Outcome::Won(turns)) => turns,
        _ => TURNS + 1,
    });
    let rank = |player: usize| Rank {
        rank: turns.iter().filter(|other| **other < turns[player]).count() + 1,
        name: format!("Player {}", player + 1),
        score: if turns[player] > TURNS { "lost".to_owned() } else { turns[player].to_string() },
        value: u32::try_from(turns[player]).unwrap_or(u32::MAX),
        own: false,
    };
    let mut ranks = [0, 1].map(rank).to_vec();
    ranks.sort_by_key(|row| row.rank);
    ranks
}

impl Widget for &MatchResult {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        Clear.render(area, buffer);
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        Ranking::new(self.title, &self.ranks, &lines).render(area, buffer);
    }
}
