//! The tester of dealers, on dealers that break one rule each.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    ops::RangeInclusive,
    thread,
    time::Duration,
};

use blackjack::{Card, Hand, Verdict as Ending, hand::DEALER_STANDS};
use conformance::{DEALER as TESTER, Options, Outcome, Remote, Values, Verdict};

use crate::support::{Console, Line, assert_all_pass, crimes, find_out, tried, tried_for, value};

/// Trials at the same time, each with several scenarios.
const AT_ONCE: usize = 12;

crimes! {
    None,
    /// Listens at no port.
    Absent => "listens",
    /// Accepts and says nothing.
    Silent => "round-begins",
    Garbage => "grammar",
    /// Ends in the middle of a message.
    CutOff => "grammar",
    /// A message that never ends.
    Endless => "grammar",
    LowerCase => "grammar",
    WritesLose => "grammar",
    NoBegin => "round-begins",
    UpcardBeforeCards => "deal",
    SameCardTwice => "one-deck",
    SameDeckForTwo => "one-deck",
    NeverShuffles => "shuffled",
    OtherUpcardForSecond => "same-upcard",
    TwoCardsForHit => "hit",
    NoQuestionAtTwentyOne => "asked-at-21",
    AsksTheBust => "bust-ends",
    WinForBust => "bust",
    /// Says PUSH to every hand.
    AlwaysTies => "low-never-ties",
    EarlyBust => "result-at-end",
    ReadsWholeSegments => "pieces",
    OneRoundTooMany => "rounds",
    OneRoundTooFew => "rounds",
    StaysOpen => "closes",
    TakesQueuedAnswers => "early-answer",
    PlaysOnWithOffender => "offender",
    EndsForAll => "others",
    SeatLostToBadJoin => "bad-join",
    LeavesAtHalfClose => "half-close",
    EndsWithStatusThree => "exit-status",
    AlwaysWins => "wins",
    HitsSoft17 => "soft-17",
    /// Swaps each position with any other.
    BiasedShuffle => "uniform",
    SameSeed => "seeded",
    /// A shell says so of a program that a signal has ended.
    DiesOfOffence => "no-crash",
}

fn run(crime: Crime, values: Values<'_>, console: &Console) -> i32 {
    if crime == C::Absent {
        console.idle();
        return 0;
    }
    let number = |name, range: RangeInclusive<u32>| value(values, name).filter(|number| range.contains(number));
    let (rounds, players) = (number("rounds", 1..=100_000), number("players", 1..=6));
    let (Some(port), Some(rounds), Some(players), None) =
        (value::<u16>(values, "port"), rounds, players, value::<String>(values, "more"))
    else {
        return console.refuse("usage: port, rounds and players");
    };
    let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) else { return console.refuse("the port is taken") };
    // The seed is counted for each dealer, so that the hands of one do not depend on how many others are tested.
    let seed = if crime == C::SameSeed { 1 } else { console.number + 1 };
    let house = House::open(crime, &listener, players as usize, seed);
    // Whoever tests it may go away at any time.
    let ended = house.and_then(|mut house| house.play(rounds));
    match crime {
        C::EndsWithStatusThree => 3,
        C::DiesOfOffence if ended.is_none() => 139,
        _ => 0,
    }
}

struct Guest {
    line: Line,
    hand: Hand,
    out: bool,
}

type Done<T = ()> = Option<T>;

impl Guest {
    /// The next message, or `None` at the end of the stream or when it cannot be one.
    fn hear(&mut self, crime: Crime) -> Option<String> {
        self.line.hear(|begun| crime == C::ReadsWholeSegments || begun.len() > 256)
    }
}

struct House {
    crime: Crime,
    guests: Vec<Guest>,
    seed: u32,
}

impl House {
    fn open(crime: Crime, listener: &TcpListener, players: usize, seed: u32) -> Done<Self> {
        let mut house = Self { crime, guests: Vec::new(), seed };
        while house.guests.len() < players {
            let line = Line::new(listener.accept().ok()?.0);
            let mut guest = Guest { line, hand: Hand::new(), out: false };
            let joined =
                guest.hear(crime).is_some_and(|word| word.strip_prefix("JOIN ").is_some_and(|name| !name.is_empty()));
            if joined {
                house.guests.push(guest);
            } else if crime == C::SeatLostToBadJoin {
                return None;
            }
        }
        Some(house)
    }

    fn deck(&mut self) -> Vec<Card> {
        let mut deck: Vec<Card> = Card::all().collect();
        if self.crime == C::NeverShuffles {
            return deck;
        }
        for last in (0..deck.len()).rev() {
            self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let choice = if self.crime == C::BiasedShuffle { deck.len() } else { last + 1 };
            deck.swap(last, (self.seed >> 8) as usize % choice);
        }
        deck
    }

    fn play(&mut self, rounds: u32) -> Done {
        let crime = self.crime;
        let rounds = match crime {
            C::OneRoundTooMany => rounds + 1,
            C::OneRoundTooFew => rounds - 1,
            _ => rounds,
        };
        match crime {
            C::Silent => {
                let _ = self.guests[0].line.stream.read(&mut [0; 99]);
                return None;
            }
            C::Garbage => self.guests[0].line.say("\u{1}\u{2}hello\n"),
            C::CutOff => return self.guests[0].line.stream.write_all(b"BEG").ok(),
            C::Endless => while self.guests[0].line.stream.write_all(b"BEGIN").is_ok() {},
            _ => {}
        }
        for _ in 0..rounds {
            self.round()?;
        }
        for guest in self.guests.iter_mut().filter(|guest| !guest.out) {
            guest.line.say("QUIT");
        }
        if crime == C::StaysOpen {
            let _ = self.guests[0].line.stream.read(&mut [0; 99]);
        }
        Some(())
    }

    fn round(&mut self) -> Done {
        let crime = self.crime;
        let mut deck = self.deck();
        let mut draw = move || deck.pop();
        let (upcard, hole) = (draw()?, draw()?);
        let other = draw()?;
        let mut first = None;
        for (seat, guest) in self.guests.iter_mut().enumerate().filter(|(_, guest)| !guest.out) {
            if crime != C::NoBegin {
                guest.line.say(if crime == C::LowerCase { "begin" } else { "BEGIN" });
            }
            let mut cards = (draw()?, draw()?);
            match crime {
                C::SameCardTwice => cards.1 = cards.0,
                C::SameDeckForTwo => cards = *first.get_or_insert(cards),
                _ => {}
            }
            guest.hand = Hand::new();
            guest.hand.push(cards.0);
            guest.hand.push(cards.1);
            let shown = if crime == C::OtherUpcardForSecond && seat > 0 { other } else { upcard };
            if crime == C::UpcardBeforeCards {
                guest.line.say(&format!("DEALER {shown}"));
            }
            guest.line.say(&format!("CARD {}", cards.0));
            guest.line.say(&format!("CARD {}", cards.1));
            guest.line.say(&format!("DEALER {shown}"));
        }
        for guest in &mut self.guests {
            if !guest.out {
                Self::hand(crime, guest, &mut draw)?;
                if guest.out {
                    let _ = guest.line.stream.shutdown(std::net::Shutdown::Both);
                    if crime == C::EndsForAll || crime == C::DiesOfOffence {
                        return None;
                    }
                }
            }
        }
        let mut dealer = Hand::new();
        dealer.push(upcard);
        dealer.push(hole);
        let hits_soft_17 = crime == C::HitsSoft17;
        while dealer.points().total() < DEALER_STANDS
            || hits_soft_17 && dealer.points().total() == DEALER_STANDS && dealer.points().is_soft()
        {
            dealer.push(draw()?);
        }
        for guest in self.guests.iter_mut().filter(|guest| !guest.out) {
            let total = guest.hand.points().total();
            let verdict = match Ending::of(total, dealer.points().total()) {
                Ending::Bust if crime == C::WinForBust => Ending::Win,
                Ending::Bust if crime == C::EarlyBust => continue,
                verdict if crime == C::AlwaysWins && verdict != Ending::Bust => Ending::Win,
                verdict if crime == C::AlwaysTies && verdict != Ending::Bust => Ending::Push,
                verdict => verdict,
            };
            let word = if crime == C::WritesLose { verdict.word().replace("OO", "O") } else { verdict.word().into() };
            guest.line.say(&format!("RESULT {word}"));
        }
        Some(())
    }

    fn hand(crime: Crime, guest: &mut Guest, draw: &mut impl FnMut() -> Option<Card>) -> Done {
        loop {
            if crime != C::TakesQueuedAnswers {
                guest.line.buffer.clear();
            }
            guest.line.say("DECISION");
            let answer = guest.hear(crime);
            match answer.as_deref() {
                Some("HIT") => {}
                Some("STAND") => {
                    if crime == C::LeavesAtHalfClose {
                        let stream = &mut guest.line.stream;
                        stream.set_read_timeout(Some(Duration::from_millis(50))).ok()?;
                        guest.out = stream.read(&mut [0; 9]).is_ok_and(|read| read == 0);
                        stream.set_read_timeout(None).ok()?;
                    }
                    return Some(());
                }
                // One byte at a time is what this one does not understand.
                _ if crime == C::ReadsWholeSegments => return None,
                Some(_) if crime == C::PlaysOnWithOffender => return Some(()),
                _ => {
                    guest.out = true;
                    return Some(());
                }
            }
            let card = draw()?;
            guest.hand.push(card);
            guest.line.say(&format!("CARD {card}"));
            if crime == C::TwoCardsForHit {
                guest.line.say(&format!("CARD {}", draw()?));
            }
            let total = guest.hand.points().total();
            if total > 21 {
                match crime {
                    C::AsksTheBust => guest.line.say("DECISION"),
                    C::EarlyBust => guest.line.say("RESULT BUST"),
                    _ => {}
                }
                return Some(());
            }
            if total == 21 && crime == C::NoQuestionAtTwentyOne {
                return Some(());
            }
        }
    }
}

#[test]
fn a_dealer_that_keeps_all_rules_passes_all() {
    assert_all_pass(&tried(&TESTER, run, C::None, 20_000));
}

#[test]
fn each_rule_is_seen_when_it_is_broken() {
    let is_noted = |rule: &str| TESTER.rules.iter().any(|known| known.id == rule && !known.is_required());
    // These are to pass, so nothing of them may be late on a busy machine.
    let passes = |crime| CRIMES.iter().any(|(of, rule)| *of == crime && is_noted(rule));
    // What chance shows takes many rounds.
    let patience = |crime| match crime {
        C::HitsSoft17 => 30_000,
        C::AlwaysWins | C::BiasedShuffle => 10_000,
        _ if passes(crime) => 10_000,
        _ => 1_000,
    };
    for (rule, report) in
        find_out(&TESTER, CRIMES, AT_ONCE, |crime, rule| tried_for(&TESTER, run, crime, rule, patience(crime)))
    {
        assert_eq!(report.outcome() == Outcome::Passed, is_noted(rule), "{report}");
    }
}

#[test]
fn a_dealer_that_runs_already_plays_the_game_that_it_has() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let dealer = thread::spawn(move || House::open(C::None, &listener, 2, 1).and_then(|mut house| house.play(5)));
    let options = Options { patience: Duration::from_secs(20), players: 2, ..Options::default() };
    let report = TESTER.test(&Remote(address), &options);
    dealer.join().unwrap();
    assert_eq!(report.outcome(), Outcome::Passed, "{report}");
    assert_eq!(report.finding("rounds").map(|rule| (rule.verdict, rule.count)), Some((Verdict::Passed, 1)));
    assert_eq!(report.verdict("offender"), Some(Verdict::NotTested));
}
