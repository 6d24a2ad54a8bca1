//! A result to paste: the course of the game without colours.

use alloc::string::{String, ToString};
use core::fmt::Write;

use crate::{
    game::{Entry, Game, Outcome, TURNS},
    puzzle::Day,
};

/// The result of a game as a few lines of text, without a final line feed; `None` while the game continues.
///
/// Each guess is a row with a filled circle for each red, an empty one for each white, and a dot for every other peg; a
/// lifeline is a row with its name. `again` notes that the player had seen the puzzle before.
///
/// ```text
/// Mastermind 2026-01-13, 4 pegs, 8 colours, with repeats: 3/10
/// ●○··
/// ●●○○
/// ●●●●
/// ```
pub fn share(game: &Game, day: Option<Day>, again: bool) -> Option<String> {
    let turns = match game.outcome()? {
        Outcome::Won(turns) => turns.to_string(),
        Outcome::Lost(_) => "X".into(),
    };
    let mut text = String::from("Mastermind");
    if let Some(day) = day {
        let _ = write!(text, " {day}");
    }
    let _ = write!(text, ", {}: {turns}/{TURNS}", game.rules());
    match game.hints() {
        0 => {}
        1 => text.push_str(", with a hint"),
        hints => {
            let _ = write!(text, ", with {hints} hints");
        }
    }
    if again {
        text.push_str(", played again");
    }
    for entry in game.history() {
        text.push('\n');
        match entry {
            Entry::Guess(_, feedback) => {
                let rest = game.rules().length() - feedback.shared();
                for (mark, count) in [('●', feedback.red.into()), ('○', feedback.white.into()), ('·', rest)] {
                    text.extend(core::iter::repeat_n(mark, count));
                }
            }
            Entry::Lifeline(revealed, cost) => {
                let turns = if *cost == 1 { "turn" } else { "turns" };
                let _ = write!(text, "{} ({cost} {turns})", revealed.lifeline());
            }
        }
    }
    Some(text)
}
