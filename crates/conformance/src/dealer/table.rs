//! A table with the players of the tester.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use blackjack::{
    Card, DealerMessage, Hand, PlayerMessage, Verdict,
    hand::{BEST, DEALER_STANDS},
};

use super::{
    chance::Chance,
    rules::{
        ASKED_AGAIN, BUST_ENDS, CLOSES, DEAL, FAIR, HIT, ONE_DECK, RESULT, RESULT_AT_END, ROUND_BEGINS, ROUNDS,
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

/// What chance brings to some hands and not to others. Dealers that are right for most hands are often wrong for one of these.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Event {
    /// The first two cards make 21.
    Dealt21,
    /// A card that was asked for makes 21.
    Drawn21,
    Ended(Verdict),
}

/// How many kinds of events there are, with one for each verdict.
pub(super) const EVENTS: usize = 6;

/// What came in the rounds played so far.
pub(super) type Seen = HashSet<Event>;

pub(super) struct Table {
    pub(super) seats: Vec<Seat>,
    pub(super) dealer: Dealer,
    pub(super) seen: Seen,
    pub(super) chance: Chance,
    /// A player who has broken the protocol. If it is still asked, it stands, so that nobody has to wait for it.
    pub(super) offender: Option<Seat>,
    /// What it was told since.
    pub(super) told: Vec<DealerMessage>,
    /// The cards that the round began with.
    pub(super) opening: Vec<Card>,
    // The rounds that began as the one before.
    repeated: Vec<u32>,
}

impl Table {
    /// Connects all players and sends their JOINs.
    pub(super) fn sit(judge: &mut Judge, mut dealer: Dealer, styles: &[Style]) -> Played<Self> {
        let mut seats = Vec::new();
        for (number, &style) in styles.iter().enumerate() {
            let mut seat = Seat::connect(judge, &mut dealer, number + 1)?;
            seat.style = style;
            seat.join()?;
            seats.push(seat);
        }
        Ok(Self {
            dealer,
            seats,
            seen: Seen::new(),
            chance: Chance::default(),
            offender: None,
            told: Vec::new(),
            opening: Vec::new(),
            repeated: Vec::new(),
        })
    }

    /// Plays a round that has been dealt.
    pub(super) fn finish_round(&mut self, judge: &mut Judge, round: u32) -> Played {
        while let Some(index) = self.asked(judge, round)? {
            self.hand(judge, index, round)?;
        }
        self.results(judge, round)
    }

    /// Plays rounds until it is clear which rules the dealer keeps, at most until `by`.
    pub(super) fn play_on(&mut self, judge: &mut Judge, rounds: u32, by: Instant) -> Played {
        let (begin, mut fastest) = (Instant::now(), Duration::MAX);
        for round in 0..rounds {
            // A dealer that pauses plays too few rounds to tell anything.
            let is_hopeless = begin.elapsed() > TASTE && fastest > SLOW;
            let start = Instant::now();
            let is_clear = round % LOOK == 0 && self.chance.is_clear();
            if is_clear || is_hopeless || Instant::now() >= by || !self.deal(judge, round, rounds)? {
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
            judge.require(&ROUNDS, heard == Heard::Message(DealerMessage::Quit), || {
                format!("seat {}: {heard} after round {rounds}, the last one, and not QUIT", seat.number)
            })?;
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
            (seat.hand, seat.stood) = (Hand::new(), false);
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
        self.chance.deal(&dealt);
        self.opening = dealt;
        Ok(true)
    }

    fn one_deck(&self, judge: &mut Judge, at: u32, dealt: &[Card]) {
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
                        if seat.hand.points().total() == BEST {
                            self.seen.insert(Event::Dealt21);
                        }
                        self.no_early_result(judge, number, round)?;
                        return Ok(Some(index));
                    }
                    Heard::Nothing if Instant::now() < by => {}
                    heard => return judge.broken(&DEAL, || format!("{}: {heard} instead of DECISION", seat.at(round))),
                }
            }
        }
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
            judge.require(&RESULT_AT_END, heard == Heard::Nothing, || {
                format!("{at}: {heard} while seat {asked} is still asked")
            })?;
        }
        Ok(())
    }

    /// Plays the hand of a player who is asked.
    fn hand(&mut self, judge: &mut Judge, index: usize, round: u32) -> Played {
        let deadline = || self.dealer.options.deadline();
        let upcard = self.opening.last().copied();
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
            if total == BEST {
                self.seen.insert(Event::Drawn21);
            }
            judge.require(&ASKED_AGAIN, heard == Heard::Message(DealerMessage::Decision), || {
                format!("{at}: {heard} at a total of {total} instead of DECISION")
            })?;
        }
    }

    /// Reads the RESULTs of all players, and compares them with each other.
    fn results(&mut self, judge: &mut Judge, round: u32) -> Played {
        let mut verdicts = Vec::new();
        let upcard = self.opening.last().copied();
        let mut dealt: Vec<Card> = upcard.into_iter().collect();
        for seat in &mut self.seats {
            let total = seat.hand.points().total();
            let at = seat.at(round);
            dealt.extend(seat.hand.cards());
            let heard = seat.listen(judge, self.dealer.options.deadline())?;
            if total > BEST {
                let asked = heard == Heard::Message(DealerMessage::Decision);
                judge.require(&BUST_ENDS, !asked, || format!("{at}: DECISION came at a total of {total}"))?;
            }
            let Heard::Message(DealerMessage::Result(verdict)) = heard else {
                return judge.broken(&RESULT, || format!("{at}: {heard} instead of RESULT at a total of {total}"));
            };
            judge.require(&RESULT, (verdict == Verdict::Bust) == (total > BEST), || {
                format!("{at}: RESULT {} came at a total of {total}", verdict.word())
            })?;
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
            judge.check(&CLOSES, heard == Heard::Closed, || {
                format!("seat {}: {heard} after QUIT; the connection is to be closed", seat.number)
            });
        }
        Ok(())
    }
}
