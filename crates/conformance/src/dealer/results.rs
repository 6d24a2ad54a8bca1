//! The end of a round and of the game.

use blackjack::{
    Card, DealerMessage, Verdict,
    hand::{BEST, DEALER_STANDS},
};

use super::{
    questions::{Event, Question},
    rules::{ASKED_AGAIN, BEST_HAND, BUST, BUST_ENDS, CLOSES, FAIR, LOW_TIE, NOTHING_MORE, OTHERS_HIDDEN, RESULT},
    seat::Heard,
    table::Table,
};
use crate::judge::{Judge, Played};

impl Table {
    /// Reads the RESULTs of all players, and compares them with each other.
    pub(super) fn results(&mut self, judge: &mut Judge, round: u32) -> Played {
        let mut verdicts = Vec::new();
        let is_shared = self.seats.len() > 1;
        let upcard = self.opening.last().copied();
        let mut dealt: Vec<Card> = upcard.into_iter().collect();
        for index in 0..self.seats.len() {
            let heard = self.heard(judge, index)?;
            let Some(seat) = self.seats.get(index) else { break };
            let total = seat.hand.points().total();
            let at = seat.at(round);
            dealt.extend(seat.hand.cards());
            if seat.unasked {
                let rule = Question::of(&seat.hand).missed(heard, &ASKED_AGAIN);
                return judge.broken(rule, || format!("{at}: no DECISION came at a total of {total}; later, {heard}"));
            }
            if total > BEST {
                let asked = heard == Heard::Message(DealerMessage::Decision);
                judge.require(&BUST_ENDS, !asked, || format!("{at}: DECISION came at a total of {total}"))?;
            }
            let Heard::Message(DealerMessage::Result(verdict)) = heard else {
                let is_told = is_shared && matches!(heard, Heard::Message(DealerMessage::Card(_)));
                return judge.broken(if is_told { &OTHERS_HIDDEN } else { &RESULT }, || {
                    format!("{at}: {heard} instead of RESULT at a total of {total}")
                });
            };
            let told = || format!("{at}: RESULT {} came at a total of {total}", verdict.word());
            let rule = if total > BEST { &BUST } else { &RESULT };
            judge.require(rule, (verdict == Verdict::Bust) == (total > BEST), told)?;
            if total == BEST {
                judge.require(&BEST_HAND, verdict != Verdict::Lose, told)?;
            } else if total < DEALER_STANDS {
                judge.require(&LOW_TIE, verdict != Verdict::Push, told)?;
            }
            self.seen.insert(Event::Ended(verdict));
            verdicts.push((total, verdict));
        }
        self.one_deck(judge, round + 1, &dealt);
        // 22 stands for a dealer who is bust.
        let fits = |dealer: u8| verdicts.iter().all(|&(total, verdict)| Verdict::of(total, dealer) == verdict);
        judge.check(&FAIR, (DEALER_STANDS..=BEST + 1).any(fits), || {
            let told = verdicts.iter().map(|(total, verdict)| format!("{} at {total}", verdict.word()));
            format!("round {}: no total of a dealer gives {}", round + 1, told.collect::<Vec<_>>().join(" and "))
        });
        if let Some(upcard) = upcard {
            self.chance.round(upcard, &dealt, &verdicts);
        }
        Ok(())
    }

    /// Waits until the dealer has closed all connections.
    pub(super) fn leave(&mut self, judge: &mut Judge) -> Played {
        for seat in &mut self.seats {
            let heard = seat.listen(judge, self.dealer.options.deadline())?;
            let wrong = || format!("seat {}: {heard} after QUIT; the connection is to be closed", seat.number);
            let is_silent = !matches!(heard, Heard::Message(_));
            if judge.check(&NOTHING_MORE, is_silent, wrong) {
                judge.check(&CLOSES, heard == Heard::Closed, wrong);
            }
        }
        Ok(())
    }
}
