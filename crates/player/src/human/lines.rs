use std::{
    io::{self, Write},
    time::Duration,
};

use blackjack::{Action, Hand, client::MessageEffect};

use crate::game::{Advice, Game, odds_in_words, time_in_words, total_in_words};

pub(super) const ASK: &str = "hit, stand, advice or quit?";

/// `seconds` is the dealer's time limit for an answer.
pub(super) fn print_event(game: &Game, event: &MessageEffect, seconds: Option<u64>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match event {
        MessageEffect::DecisionDue => {
            if let Some(upcard) = game.upcard() {
                writeln!(out, "Round {}: the dealer shows {upcard}.", game.round())?;
            }
            writeln!(out, "You have {}: {}.", game.total(), names(game.hand()))?;
            match seconds {
                Some(seconds) => writeln!(out, "{ASK} You have {seconds} s.")?,
                None => writeln!(out, "{ASK}")?,
            }
        }
        MessageEffect::Ended { .. } => {
            if let Some(dealer) = &game.revealed {
                writeln!(out, "The dealer has {}: {}.", total_in_words(dealer), names(dealer))?;
            }
            if let Some(outcome) = game.outcome() {
                writeln!(out, "{outcome}")?;
            }
        }
        MessageEffect::Quit => writeln!(out, "The dealer ends the game.")?,
        MessageEffect::Began | MessageEffect::Dealt | MessageEffect::Ignored => return Ok(()),
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

pub(super) fn print_line(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn names(hand: &Hand) -> String {
    let names: Vec<&str> = hand.cards().iter().map(|card| card.name()).collect();
    names.join(", ")
}

/// A dealer that continues earlier after its question is too fast for users.
const IMPATIENT: Duration = Duration::from_secs(1);
/// The time between question and QUIT may be this much shorter here than at the dealer.
const TRAVEL: Duration = Duration::from_secs(1);

const FOR_PROGRAMS: &str = "Such dealers are made for programs; use --best to let this one play";

/// The likely cause of a QUIT while the user's answer is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuitReason {
    Impatient(Duration),
    Late(Duration),
    /// Another reason, or a limit shorter than the user specified.
    Stopped(Duration),
}

impl QuitReason {
    pub(super) fn after(waited: Duration, limit: Option<Duration>) -> Self {
        match limit {
            Some(limit) if waited + TRAVEL >= limit && waited >= IMPATIENT => Self::Late(limit),
            _ if waited < IMPATIENT => Self::Impatient(waited),
            _ => Self::Stopped(waited),
        }
    }

    pub(super) const fn costs_the_hand(self) -> bool {
        !matches!(self, Self::Stopped(_))
    }

    pub(super) fn in_words(self) -> String {
        match self {
            Self::Impatient(waited) => format!(
                "the dealer did not wait for your answer: it ended the game {} after its question, and the hand is \
                 lost. {FOR_PROGRAMS}",
                time_in_words(waited)
            ),
            Self::Late(limit) => {
                format!("you did not answer within {}, so you lost your seat and the hand", time_in_words(limit))
            }
            Self::Stopped(waited) => format!(
                "the dealer ended the game while your answer was due, after {0}. If {0} is its time limit, the hand \
                 is lost; set the limit with --think",
                time_in_words(waited)
            ),
        }
    }
}

pub(super) fn rushed(unanswered: u64, rounds: u64, waited: Duration) -> String {
    let waited = time_in_words(waited);
    if rounds == 1 {
        return format!("the dealer did not wait for your answer: it continued after {waited}. {FOR_PROGRAMS}");
    }
    format!(
        "the dealer did not wait for your answer in {unanswered} of {rounds} rounds: it continued after {waited}. \
         {FOR_PROGRAMS}"
    )
}

pub(super) fn no_result(answered: Duration) -> String {
    format!(
        "the dealer ended the game without a result for your hand. You had answered after {}; the dealers of \
         courses wait 0.03 s and drop slower players. {FOR_PROGRAMS}",
        time_in_words(answered)
    )
}

pub(super) const NO_SEAT: &str = "the dealer ended the game before the first round: it has no seat for you";

pub(super) const LEFT_A_HAND: &str = "You left during a hand, so it is lost.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_distinguishes_limit_impatience_and_end() {
        let (second, limit) = (Duration::from_secs(1), Some(Duration::from_secs(30)));
        for (waited, limit, meant) in [
            (second / 38, limit, QuitReason::Impatient(second / 38)),
            (second * 12, limit, QuitReason::Stopped(second * 12)),
            (Duration::from_millis(29_990), limit, QuitReason::Late(second * 30)),
            (second * 31, limit, QuitReason::Late(second * 30)),
            (second * 31, None, QuitReason::Stopped(second * 31)),
            (second / 38, Some(second / 38), QuitReason::Impatient(second / 38)),
        ] {
            assert_eq!(QuitReason::after(waited, limit), meant);
        }
    }
}
