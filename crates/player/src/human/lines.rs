//! The game in lines, where there is no screen.

use std::io::{self, Write};

use blackjack::{Action, Hand, client::Meaning};

use crate::{
    advice::Advice,
    game::{Game, odds_in_words, total_in_words},
};

pub(super) const ASK: &str = "hit, stand, advice or quit?";

/// Writes what is new. `seconds` is how long the dealer waits for an answer.
pub(super) fn tell(game: &Game, event: &Meaning, seconds: Option<u64>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match event {
        Meaning::Asked => {
            if let Some(upcard) = game.upcard() {
                writeln!(out, "Round {}: the dealer shows {upcard}.", game.round())?;
            }
            writeln!(out, "You have {}: {}.", game.total(), names(game.hand()))?;
            match seconds {
                Some(seconds) => writeln!(out, "{ASK} You have {seconds} s.")?,
                None => writeln!(out, "{ASK}")?,
            }
        }
        Meaning::Ended { .. } => {
            if let Some(dealer) = &game.revealed {
                writeln!(out, "The dealer has {}: {}.", total_in_words(dealer), names(dealer))?;
            }
            if let Some(outcome) = game.outcome() {
                writeln!(out, "{outcome}")?;
            }
        }
        Meaning::Quit => writeln!(out, "The dealer says goodbye.")?,
        Meaning::Began | Meaning::Dealt | Meaning::Ignored => return Ok(()),
    }
    out.flush()
}

pub(super) fn advise(advice: &Advice) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if let Some((stand, hit)) = advice.odds {
        writeln!(out, "  hit    {}", odds_in_words(hit))?;
        writeln!(out, "  stand  {}", odds_in_words(stand))?;
    }
    let advised = if advice.action == Action::Hit { "hits" } else { "stands" };
    let who = if advice.by_table { "The table" } else { "Best play" };
    writeln!(out, "{who} {advised}. {ASK}")?;
    out.flush()
}

pub(super) fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn names(hand: &Hand) -> String {
    let names: Vec<&str> = hand.cards().iter().map(|card| card.name()).collect();
    names.join(", ")
}
