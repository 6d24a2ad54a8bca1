//! The result of a game, over the table.

use blackjack::Score;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    widgets::{Clear, Widget},
};
use termkit::{Rank, Ranking, wrap};

use super::cards;
use crate::game::{Game, total_in_words};

/// Columns of the text below the ranks.
const TEXT: usize = 58;

/// Whether a dealer can be joined again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// There is no dealer.
    Never,
    /// One can try.
    Possible,
    /// It is being joined.
    Joining,
}

/// How a game ended, and what can be done about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closing<'a> {
    /// Why, if there is more to say than that the dealer has taken leave.
    pub(crate) reason: Option<&'a str>,
    /// Whether the ranks are shown, and not the cards behind them.
    pub(crate) ranked: bool,
    /// Whether there can be another game.
    pub(crate) again: Again,
    /// Whether keys are ignored for now.
    pub(crate) ignores_keys: bool,
}

/// Text that begins with a capital and ends with a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", rest.as_str())
}

/// Draws the ranks in the first of the areas that has room for all of it, or in the last one. There are two ranks, since
/// everybody plays against the dealer alone.
pub(super) fn draw(game: &Game, closing: &Closing<'_>, areas: [Rect; 2], buffer: &mut Buffer) {
    let Score { wins, pushes, losses, busts } = game.session.score;
    let lost = losses + busts;
    let rank = |own: u64, other: u64| if own >= other { 1 } else { 2 };
    let row = |name: &str, own, other, mine| Rank {
        rank: rank(own, other),
        name: name.to_owned(),
        score: format!("{own} won"),
        own: mine,
    };
    let mut ranks = [row(game.client().name().as_str(), wins, lost, true), row("the dealer", lost, wins, false)];
    ranks.sort_by_key(|row| row.rank);
    let mut text: Vec<String> = closing.reason.map(sentence).into_iter().collect();
    text.extend(last_hand(game));
    let forfeits = match game.session.forfeits {
        0 => String::new(),
        count => format!(", {count} forfeited"),
    };
    text.push(format!("Bankroll {:+}; {busts} bust, {pushes} pushed{forfeits}.", game.session.score.bankroll()));
    text.extend(game.coach.summary().map(|judgement| format!("{judgement}.")));
    let [below, whole] = areas;
    let width = TEXT.min(usize::from(whole.width).saturating_sub(4));
    let lines: Vec<&str> = text.iter().flat_map(|text| wrap(text, width)).collect();
    let ranking = Ranking::new("Game over", &ranks, &lines);
    if ranking.size().height <= below.height {
        // What is left of the lines beside the box would be hard to read.
        Clear.render(below, buffer);
        ranking.render(below, buffer);
    } else {
        ranking.render(whole, buffer);
    }
}

fn last_hand(game: &Game) -> Option<String> {
    let outcome = game.outcome()?;
    if game.verdict().is_none() {
        // The hand on the table is the next one, which has no result.
        return Some(outcome);
    }
    let own: Vec<String> = game.hand().cards().iter().map(|&card| cards::short(card)).collect();
    let upcard = game.upcard().map(|card| format!(" against {}", cards::short(card))).unwrap_or_default();
    Some(format!("{outcome} The hand was {} ({}){upcard}.", own.join(" "), total_in_words(game.hand())))
}
