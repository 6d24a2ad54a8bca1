//! A table with the players of the tester.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use blackjack::{Card, DealerMessage, Hand, PlayerMessage, hand::BEST};

use super::{
    chance::Chance,
    questions::{Question, Seen},
    rules::{
        ASKED_AGAIN, BUST_ENDS, DEAL, HIT, ONE_DECK, OTHERS_HIDDEN, QUIT, RESULT_AT_END, ROUND_BEGINS, ROUNDS,
        SAME_UPCARD, SHUFFLED,
    },
    seat::{Dealer, Heard, Seat, Style},
};
use crate::{
    judge::{Judge, Played},
    words::blackjack::cards,
};

/// How long one connection is listened to before the next.
const TURN: Duration = Duration::from_millis(1);
/// When no round took less, as many as are needed would take too long.
const SLOW: Duration = Duration::from_millis(80);
/// After this time one knows how fast a dealer plays.
const TASTE: Duration = Duration::from_secs(4);
/// Rounds between two looks at what all rounds have shown.
const LOOK: u32 = 128;
/// Rounds in which one waits for what must not come.
const PATIENT: u32 = 12;
/// Rounds among which repeated deals are counted.
const RECENT: u32 = 20;
/// How many cards a shuffled deck never repeats within them, counting only rounds that begin with exactly the cards of the round before.
const SUSPICIOUS: usize = 9;

pub(super) struct Table {
    pub(super) seats: Vec<Seat>,
    pub(super) dealer: Dealer,
    pub(super) seen: Seen,
    pub(super) chance: Chance,
    /// A player who has broken the protocol. If it is still asked, it stands, so that nobody has to wait for it.
    pub(super) offender: Option<Seat>,
    /// What it was told since.
    pub(super) told: Vec<DealerMessage>,
    /// The cards that the round began with, and those that the first round began with.
    pub(super) opening: Vec<Card>,
    pub(super) first: Vec<Card>,
    // All cards of this round that were seen, in their order.
    dealt_before: Vec<Card>,
    // The rounds that began as the one before.
    repeated: Vec<u32>,
}

impl Table {
    /// Connects all players and sends their JOINs.
    pub(super) fn sit(judge: &mut Judge, mut dealer: Dealer, styles: &[Style]) -> Played<Self> {
        let mut seats = Vec::new();
        for (number, &style) in (1..).zip(styles) {
            let mut seat = Seat::connect(judge, &mut dealer, number)?;
            seat.style = style;
            seat.join(&format!("tester{number}"))?;
            seats.push(seat);
        }
        Ok(Self::of(dealer, seats))
    }

    /// A table whose players have joined.
    pub(super) fn of(dealer: Dealer, seats: Vec<Seat>) -> Self {
        Self {
            dealer,
            seats,
            seen: Seen::new(),
            chance: Chance::default(),
            offender: None,
            told: Vec::new(),
            opening: Vec::new(),
            first: Vec::new(),
            dealt_before: Vec::new(),
            repeated: Vec::new(),
        }
    }

    /// Plays a round that has been dealt.
    pub(super) fn finish_round(&mut self, judge: &mut Judge, round: u32) -> Played {
        while let Some(index) = self.asked(judge, round)? {
            self.hand(judge, index, round)?;
        }
        self.results(judge, round)
    }

    /// Plays rounds until it is clear which rules the dealer keeps, at most until the second time. After the first one only a soft 17 is
    /// waited for.
    pub(super) fn play_on(&mut self, judge: &mut Judge, rounds: u32, (by, latest): (Instant, Instant)) -> Played {
        let (begin, mut fastest) = (Instant::now(), Duration::MAX);
        for round in 0..rounds {
            // A dealer that pauses plays too few rounds to tell anything.
            let is_hopeless = begin.elapsed() > TASTE && fastest > SLOW;
            let start = Instant::now();
            let is_clear = round % LOOK == 0 && self.chance.is_clear();
            let is_late = start >= if self.chance.is_open() { latest } else { by };
            if is_clear || is_hopeless || is_late || !self.deal(judge, round, rounds)? {
                return Ok(());
            }
            self.finish_round(judge, round)?;
            fastest = fastest.min(start.elapsed());
        }
        Ok(())
    }

    /// Plays all rounds from the `first` on, to the end of the connections. With `u32::MAX` rounds, until QUIT.
    pub(super) fn play(&mut self, judge: &mut Judge, first: u32, rounds: u32) -> Played {
        for round in first..rounds {
            if !self.deal(judge, round, rounds)? {
                return self.leave(judge);
            }
            self.finish_round(judge, round)?;
        }
        for seat in &mut self.seats {
            let heard = seat.listen(judge, self.dealer.options.deadline())?;
            let goes_on = heard == Heard::Message(DealerMessage::Begin);
            let rule = if goes_on { &ROUNDS } else { &QUIT };
            judge.require(rule, heard == Heard::Message(DealerMessage::Quit), || {
                format!("seat {}: {heard} after round {rounds}, the last one, and not QUIT", seat.number)
            })?;
            judge.check(&ROUNDS, true, String::new);
        }
        self.leave(judge)
    }

    /// Reads a whole deal, up to the first DECISION. Returns whether it was a round: without a known number of rounds, QUIT ends the game.
    pub(super) fn deal(&mut self, judge: &mut Judge, round: u32, rounds: u32) -> Played<bool> {
        let at = round + 1;
        let mut upcards = Vec::new();
        let mut dealt: Vec<Card> = Vec::new();
        let mut quits = 0;
        for seat in &mut self.seats {
            let (number, place) = (seat.number, seat.at(round));
            (seat.hand, seat.stood, seat.unasked) = (Hand::new(), false, false);
            let heard = seat.listen(judge, self.dealer.options.deadline())?;
            match heard {
                Heard::Message(DealerMessage::Begin) => judge.check(&ROUND_BEGINS, true, String::new),
                Heard::Message(DealerMessage::Quit) if rounds == u32::MAX && round > 0 => {
                    quits += 1;
                    continue;
                }
                Heard::Message(DealerMessage::Quit) | Heard::Closed if round > 0 => {
                    return judge.broken(&ROUNDS, || format!("seat {number}: {heard} after round {round} of {rounds}"));
                }
                _ => return judge.broken(&ROUND_BEGINS, || format!("{place}: {heard}, and not BEGIN")),
            };
            for what in ["the first CARD", "the second CARD"] {
                match seat.listen(judge, self.dealer.options.deadline())? {
                    Heard::Message(DealerMessage::Card(card)) => {
                        seat.hand.push(card);
                        dealt.push(card);
                    }
                    heard => return judge.broken(&DEAL, || format!("{place}: {heard} instead of {what}")),
                }
            }
            match seat.listen(judge, self.dealer.options.deadline())? {
                Heard::Message(DealerMessage::Upcard(card)) => upcards.push(card),
                heard => return judge.broken(&DEAL, || format!("{place}: {heard} instead of DEALER")),
            }
            judge.check(&DEAL, true, String::new);
        }
        if quits == self.seats.len() {
            judge.check(&ROUNDS, true, String::new);
            return Ok(false);
        }
        let same = upcards.iter().all(|card| Some(card) == upcards.first());
        if self.seats.len() > 1 {
            judge.check(&SAME_UPCARD, same, || format!("round {at}: the seats were told {}", cards(&upcards)));
        }
        dealt.extend(upcards.first());
        self.one_deck(judge, at, &dealt);
        self.shuffled(judge, at, &dealt);
        let before: HashSet<Card> = self.dealt_before.drain(..).collect();
        self.chance.deal(&dealt, &before);
        self.dealt_before.extend(&dealt);
        if self.first.is_empty() {
            self.first.clone_from(&dealt);
        }
        self.opening = dealt;
        Ok(true)
    }

    pub(super) fn one_deck(&self, judge: &mut Judge, at: u32, dealt: &[Card]) {
        let twice =
            dealt.iter().enumerate().find(|(index, card)| dealt.iter().take(*index).any(|other| other == *card));
        let players = self.seats.len();
        judge.check(&ONE_DECK, twice.is_none(), || match twice {
            Some((_, card)) => format!("round {at}: {card} is dealt twice at this table of {players}"),
            None => String::new(),
        });
    }

    fn shuffled(&mut self, judge: &mut Judge, at: u32, dealt: &[Card]) {
        self.repeated.retain(|round| round + RECENT > at);
        let repeats = self.opening == dealt;
        if repeats {
            self.repeated.push(at);
        }
        let count = self.repeated.len();
        if at > 1 {
            judge.check(&SHUFFLED, !repeats || count * dealt.len() < SUSPICIOUS, || {
                format!("round {at}: it begins with the cards of the round before, as {count} of the last {RECENT} rounds did: {}", cards(dealt))
            });
        }
    }

    /// The next player who is asked, or `None` when the hands of all are over.
    pub(super) fn asked(&mut self, judge: &mut Judge, round: u32) -> Played<Option<usize>> {
        if self.seats.iter().all(Seat::is_over) {
            return Ok(None);
        }
        let by = self.dealer.options.deadline();
        loop {
            self.humour_offender(judge)?;
            for index in 0..self.seats.len() {
                let Some(seat) = self.seats.get_mut(index).filter(|seat| !seat.is_over()) else { continue };
                let number = seat.number;
                match seat.listen(judge, Instant::now() + TURN)? {
                    Heard::Message(DealerMessage::Decision) => {
                        Question::of(&seat.hand).asked(judge, &mut self.seen);
                        self.no_early_result(judge, number, round)?;
                        return Ok(Some(index));
                    }
                    Heard::Nothing if Instant::now() < by => {}
                    heard => {
                        let rule = Question::of(&seat.hand).missed(heard, &DEAL);
                        if heard == Heard::Nothing {
                            self.no_bust_is_asked(judge, round)?;
                        }
                        let Some(seat) = self.seats.get(index) else { return Ok(None) };
                        return judge.broken(rule, || format!("{}: {heard} instead of DECISION", seat.at(round)));
                    }
                }
            }
        }
    }

    /// The next message of a seat. Meanwhile a player who has broken the protocol is still humoured.
    pub(super) fn heard(&mut self, judge: &mut Judge, index: usize) -> Played<Heard> {
        let by = self.dealer.options.deadline();
        while self.offender.is_some() && Instant::now() < by {
            self.humour_offender(judge)?;
            let Some(seat) = self.seats.get_mut(index) else { break };
            let heard = seat.listen(judge, Instant::now() + TURN)?;
            if heard != Heard::Nothing {
                return Ok(heard);
            }
        }
        self.seats.get_mut(index).map_or(Ok(Heard::Nothing), |seat| seat.listen(judge, by))
    }

    // A dealer that asks nobody else may wait for a player whose hand is over.
    fn no_bust_is_asked(&mut self, judge: &mut Judge, round: u32) -> Played {
        for seat in self.seats.iter_mut().filter(|seat| seat.hand.points().is_bust()) {
            let heard = seat.listen(judge, Instant::now() + TURN)?;
            let (at, total) = (seat.at(round), seat.hand.points().total());
            judge.require(&BUST_ENDS, heard != Heard::Message(DealerMessage::Decision), || {
                format!("{at}: DECISION came at a total of {total}")
            })?;
        }
        Ok(())
    }

    fn humour_offender(&mut self, judge: &mut Judge) -> Played {
        let Some(offender) = &mut self.offender else { return Ok(()) };
        if let Heard::Message(message) = offender.listen(judge, Instant::now() + TURN)? {
            if message == DealerMessage::Decision {
                offender.say(&PlayerMessage::Stand);
            }
            self.told.push(message);
        }
        Ok(())
    }

    // While a player is asked, no other has been told how the round ended. With a dealer that asks one after the other, a RESULT that was
    // sent too early has arrived before this question.
    fn no_early_result(&mut self, judge: &mut Judge, asked: usize, round: u32) -> Played {
        // In the many rounds of a long game a look at what is there already is enough.
        let wait = if round < PATIENT { TURN } else { Duration::ZERO };
        for seat in self.seats.iter_mut().filter(|seat| seat.is_over()) {
            let heard = seat.listen(judge, Instant::now() + wait)?;
            let at = seat.at(round);
            let wrong = || format!("{at}: {heard} while seat {asked} is still asked");
            let is_told = matches!(heard, Heard::Message(DealerMessage::Card(_) | DealerMessage::Decision));
            judge.require(&OTHERS_HIDDEN, !is_told, wrong)?;
            judge.require(&RESULT_AT_END, heard == Heard::Nothing, wrong)?;
        }
        Ok(())
    }

    /// Plays the hand of a player who is asked.
    pub(super) fn hand(&mut self, judge: &mut Judge, index: usize, round: u32) -> Played {
        let deadline = || self.dealer.options.deadline();
        let upcard = self.opening.last().copied();
        let is_shared = self.seats.len() > 1;
        let seat = &mut self.seats[index];
        let at = seat.at(round);
        loop {
            if !seat.style.hits(round, &seat.hand, upcard) {
                seat.say(&PlayerMessage::Stand);
                seat.stood = true;
                return Ok(());
            }
            seat.say(&PlayerMessage::Hit);
            let card = match seat.listen(judge, deadline())? {
                Heard::Message(DealerMessage::Card(card)) => card,
                heard => return judge.broken(&HIT, || format!("{at}: {heard} after HIT instead of CARD")),
            };
            judge.check(&HIT, true, String::new);
            self.chance.cards.draw(card, &self.dealt_before);
            self.dealt_before.push(card);
            seat.hand.push(card);
            let hand = seat.hand.cards().to_vec();
            judge.check(&ONE_DECK, hand.iter().filter(|&&other| other == card).count() == 1, || {
                format!("{at}: {card} came twice in this hand")
            });
            let total = seat.hand.points().total();
            if total > BEST {
                return Ok(());
            }
            let heard = seat.listen(judge, deadline())?;
            if let Heard::Message(DealerMessage::Card(second)) = heard {
                return judge.broken(&HIT, || format!("{at}: {card} and {second} came after one HIT"));
            }
            let question = Question::of(&seat.hand);
            if heard == Heard::Nothing && is_shared {
                // Whoever goes on without this question tells at the end of the round how it took the hand.
                (seat.stood, seat.unasked) = (true, true);
                return Ok(());
            }
            let rule = question.missed(heard, &ASKED_AGAIN);
            judge.require(rule, heard == Heard::Message(DealerMessage::Decision), || {
                format!("{at}: {heard} at a total of {total} instead of DECISION")
            })?;
            question.asked(judge, &mut self.seen);
        }
    }
}
