//! The end of a round and of the game.

use blackjack::{
    Card, DealerMessage, PlayerMessage, Verdict,
    hand::{BEST, DEALER_STANDS},
};

use super::{
    questions::{Event, Question},
    rules::{ASKED_AGAIN, BEST_HAND, BUST, BUST_ENDS, CLOSES, FAIR, LOW_TIE, NOTHING_MORE, OTHERS_HIDDEN, RESULT},
    seat::Heard,
    table::Table,
};
use crate::judge::{Halt, Judge, Played};

impl Table {
    /// Reads the RESULTs of all players, and compares them with each other.
    pub(super) fn results(&mut self, judge: &mut Judge, round: u32) -> Played {
        let mut verdicts = Vec::new();
        let mut dealt: Vec<Card> = self.upcard.into_iter().collect();
        for index in 0..self.seats.len() {
            let verdict = self.result(judge, index, round)?;
            let Some(seat) = self.seats.get(index) else { break };
            dealt.extend(seat.hand.cards());
            let Some(verdict) = verdict.filter(|_| !seat.is_cut) else { continue };
            let total = seat.hand.points().total();
            let is_bust = total > BEST;
            let right = match total {
                _ if is_bust => "BUST",
                BEST => "WIN or PUSH",
                _ if total < DEALER_STANDS => "WIN or LOOSE",
                _ => "WIN, LOOSE or PUSH",
            };
            let wrong = || {
                format!(
                    "{}: expected RESULT {right} at a total of {total}, received RESULT {}",
                    seat.at(round),
                    verdict.word()
                )
            };
            let mut fits =
                judge.check(if is_bust { &BUST } else { &RESULT }, (verdict == Verdict::Bust) == is_bust, wrong);
            if total == BEST {
                fits &= judge.check(&BEST_HAND, verdict != Verdict::Lose, wrong);
                self.seen.insert(Event::Best);
            } else if total < DEALER_STANDS {
                fits &= judge.check(&LOW_TIE, verdict != Verdict::Push, wrong);
            }
            // A hand above 21 has lost, whatever the dealer reports.
            let verdict = if is_bust { Verdict::Bust } else { verdict };
            self.seen.insert(Event::Ended(verdict));
            if fits || is_bust {
                verdicts.push((total, verdict));
            }
        }
        self.one_deck(judge, round + 1, &dealt);
        // 22 represents a dealer that is bust.
        let fits = |dealer: u8| verdicts.iter().all(|&(total, verdict)| Verdict::of(total, dealer) == verdict);
        let is_fair = verdicts.is_empty()
            || judge.check(&FAIR, (DEALER_STANDS..=BEST + 1).any(fits), || {
                let told = verdicts.iter().map(|(total, verdict)| format!("{} at {total}", verdict.word()));
                format!(
                    "round {}: expected results for one total of the dealer, received {}",
                    round + 1,
                    told.collect::<Vec<_>>().join(" and ")
                )
            });
        if let Some(upcard) = self.upcard.filter(|_| is_fair && !verdicts.is_empty()) {
            self.chance.round(upcard, &dealt, &verdicts);
        }
        Ok(())
    }

    // The RESULT of a seat, or `None` if the round is over without one.
    fn result(&mut self, judge: &mut Judge, index: usize, round: u32) -> Played<Option<Verdict>> {
        let is_shared = self.seats.len() > 1;
        loop {
            if let Some(verdict) = self.seats.get_mut(index).and_then(|seat| seat.result.take()) {
                return Ok(Some(verdict));
            }
            let heard = self.heard(judge, index);
            let Some(seat) = self.seats.get_mut(index) else { return Ok(None) };
            let total = seat.hand.points().total();
            let at = seat.at(round);
            if seat.unasked {
                let rule = Question::of(&seat.hand).missed(heard, &ASKED_AGAIN);
                // Each further missing question would cause a wait.
                return judge.broken(rule, || {
                    format!("{at}: expected DECISION at a total of {total}, received none, and later {heard}")
                });
            }
            if total > BEST {
                let asked = heard == Heard::Message(DealerMessage::Decision);
                if !judge.check(&BUST_ENDS, !asked, || {
                    format!("{at}: expected no DECISION at a total of {total}, received DECISION")
                }) {
                    seat.say(&PlayerMessage::Stand);
                    continue;
                }
            }
            if let Heard::Message(DealerMessage::Result(verdict)) = heard {
                return Ok(Some(verdict));
            }
            let is_told = is_shared && matches!(heard, Heard::Message(DealerMessage::Card(_)));
            judge.check(if is_told { &OTHERS_HIDDEN } else { &RESULT }, false, || {
                format!("{at}: expected RESULT at a total of {total}, received {heard}")
            });
            match heard {
                // After cards of another player, the RESULT is still due.
                Heard::Message(DealerMessage::Card(_) | DealerMessage::Upcard(_)) => {}
                Heard::Message(message @ (DealerMessage::Begin | DealerMessage::Quit)) => {
                    seat.put_back(message);
                    return Ok(None);
                }
                _ => return Err(Halt::Broken),
            }
        }
    }

    /// Waits until the dealer has closed all connections.
    pub(super) fn leave(&mut self, judge: &mut Judge) {
        for seat in &mut self.seats {
            let heard = seat.listen(judge, self.dealer.options.deadline());
            let wrong =
                || format!("seat {}: expected the end of the connection after QUIT, received {heard}", seat.number);
            let is_silent = !matches!(heard, Heard::Message(_));
            if judge.check(&NOTHING_MORE, is_silent, wrong) {
                judge.check(&CLOSES, heard == Heard::Closed, wrong);
            }
        }
    }
}
