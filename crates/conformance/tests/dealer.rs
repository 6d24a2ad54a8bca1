//! The tester of dealers, on dealers that break one rule each.

mod support;

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use blackjack::{Card, Hand, Verdict as Outcome, hand::DEALER_STANDS};
use conformance::{Options, Remote, Values, Verdict, dealer::TESTER};

use support::{Console, assert_all_pass, crimes, find_out, tried, value};

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
    NoQuestionAtTwentyOne => "asked-again",
    AsksTheBust => "bust-ends",
    WinForBust => "result",
    AlwaysLoses => "fair",
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
}

fn run(crime: Crime, values: Values<'_>, console: &Console) -> i32 {
    if crime == Crime::Absent {
        console.idle();
        return 0;
    }
    let number = |name| value(values, name).expect("a number");
    let listener = TcpListener::bind(("127.0.0.1", value(values, "port").expect("a port"))).expect("a free port");
    // The seed is counted for each dealer, so that the hands of one do not depend on how many others are tested.
    let house = House::open(crime, &listener, number("players") as usize, console.number + 1);
    // Whoever tests it may go away at any time.
    let _ = house.and_then(|mut house| house.play(number("rounds")));
    if crime == Crime::EndsWithStatusThree { 3 } else { 0 }
}

struct Guest {
    stream: TcpStream,
    buffer: Vec<u8>,
    hand: Hand,
    out: bool,
}

type Done<T = ()> = Option<T>;

impl Guest {
    fn say(&mut self, text: &str) {
        let _ = self.stream.write_all(format!("{text}\0").as_bytes());
    }

    /// The next message, or `None` at the end of the stream or when it cannot be one.
    fn hear(&mut self, crime: Crime) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|&byte| byte == 0) {
                let message = self.buffer.drain(..=end).take(end).collect();
                return String::from_utf8(message).ok();
            }
            let mut chunk = [0; 512];
            let read = self.stream.read(&mut chunk).ok().filter(|&read| read > 0)?;
            self.buffer.extend_from_slice(&chunk[..read]);
            if crime == Crime::ReadsWholeSegments {
                return String::from_utf8(std::mem::take(&mut self.buffer))
                    .ok()
                    .map(|text| text.trim_end_matches('\0').into());
            }
            if self.buffer.len() > 256 && !self.buffer.contains(&0) {
                return None;
            }
        }
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
            let stream = listener.accept().ok()?.0;
            let mut guest = Guest { stream, buffer: Vec::new(), hand: Hand::new(), out: false };
            let joined =
                guest.hear(crime).is_some_and(|word| word.strip_prefix("JOIN ").is_some_and(|name| !name.is_empty()));
            if joined {
                house.guests.push(guest);
            } else if crime == Crime::SeatLostToBadJoin {
                return None;
            }
        }
        Some(house)
    }

    fn deck(&mut self) -> Vec<Card> {
        let mut deck: Vec<Card> = Card::all().collect();
        if self.crime == Crime::NeverShuffles {
            return deck;
        }
        for last in (1..deck.len()).rev() {
            self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            deck.swap(last, (self.seed >> 8) as usize % (last + 1));
        }
        deck
    }

    fn play(&mut self, rounds: u32) -> Done {
        let crime = self.crime;
        let rounds = match crime {
            Crime::OneRoundTooMany => rounds + 1,
            Crime::OneRoundTooFew => rounds - 1,
            _ => rounds,
        };
        match crime {
            Crime::Silent => {
                let _ = self.guests[0].stream.read(&mut [0; 99]);
                return None;
            }
            Crime::Garbage => self.guests[0].say("\u{1}\u{2}hello\n"),
            Crime::CutOff => return self.guests[0].stream.write_all(b"BEG").ok(),
            Crime::Endless => while self.guests[0].stream.write_all(b"BEGIN").is_ok() {},
            _ => {}
        }
        for _ in 0..rounds {
            self.round()?;
        }
        for guest in self.guests.iter_mut().filter(|guest| !guest.out) {
            guest.say("QUIT");
        }
        if crime == Crime::StaysOpen {
            let _ = self.guests[0].stream.read(&mut [0; 99]);
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
            if crime != Crime::NoBegin {
                guest.say(if crime == Crime::LowerCase { "begin" } else { "BEGIN" });
            }
            let mut cards = (draw()?, draw()?);
            match crime {
                Crime::SameCardTwice => cards.1 = cards.0,
                Crime::SameDeckForTwo => cards = *first.get_or_insert(cards),
                _ => {}
            }
            guest.hand = Hand::new();
            guest.hand.push(cards.0);
            guest.hand.push(cards.1);
            let shown = if crime == Crime::OtherUpcardForSecond && seat > 0 { other } else { upcard };
            if crime == Crime::UpcardBeforeCards {
                guest.say(&format!("DEALER {shown}"));
            }
            guest.say(&format!("CARD {}", cards.0));
            guest.say(&format!("CARD {}", cards.1));
            guest.say(&format!("DEALER {shown}"));
        }
        for guest in &mut self.guests {
            if !guest.out {
                Self::hand(crime, guest, &mut draw)?;
                if guest.out {
                    let _ = guest.stream.shutdown(std::net::Shutdown::Both);
                    if crime == Crime::EndsForAll {
                        return None;
                    }
                }
            }
        }
        let mut dealer = Hand::new();
        dealer.push(upcard);
        dealer.push(hole);
        while dealer.points().total() < DEALER_STANDS {
            dealer.push(draw()?);
        }
        for guest in self.guests.iter_mut().filter(|guest| !guest.out) {
            let total = guest.hand.points().total();
            let verdict = match Outcome::of(total, dealer.points().total()) {
                Outcome::Bust if crime == Crime::WinForBust => Outcome::Win,
                Outcome::Bust if crime == Crime::EarlyBust => continue,
                verdict if crime == Crime::AlwaysLoses && verdict != Outcome::Bust => Outcome::Push,
                verdict => verdict,
            };
            let word =
                if crime == Crime::WritesLose { verdict.word().replace("OO", "O") } else { verdict.word().into() };
            guest.say(&format!("RESULT {word}"));
        }
        Some(())
    }

    fn hand(crime: Crime, guest: &mut Guest, draw: &mut impl FnMut() -> Option<Card>) -> Done {
        loop {
            if crime != Crime::TakesQueuedAnswers {
                guest.buffer.clear();
            }
            guest.say("DECISION");
            let answer = guest.hear(crime);
            match answer.as_deref() {
                Some("HIT") => {}
                Some("STAND") => {
                    if crime == Crime::LeavesAtHalfClose {
                        guest.stream.set_read_timeout(Some(Duration::from_millis(50))).ok()?;
                        if guest.stream.read(&mut [0; 9]).is_ok_and(|read| read == 0) {
                            guest.out = true;
                        }
                        guest.stream.set_read_timeout(None).ok()?;
                    }
                    return Some(());
                }
                // One byte at a time is what this one does not understand.
                _ if crime == Crime::ReadsWholeSegments => return None,
                Some(_) if crime == Crime::PlaysOnWithOffender => return Some(()),
                _ => {
                    guest.out = true;
                    return Some(());
                }
            }
            let card = draw()?;
            guest.hand.push(card);
            guest.say(&format!("CARD {card}"));
            if crime == Crime::TwoCardsForHit {
                guest.say(&format!("CARD {}", draw()?));
            }
            let total = guest.hand.points().total();
            if total > 21 {
                match crime {
                    Crime::AsksTheBust => guest.say("DECISION"),
                    Crime::EarlyBust => guest.say("RESULT BUST"),
                    _ => {}
                }
                return Some(());
            }
            if total == 21 && crime == Crime::NoQuestionAtTwentyOne {
                return Some(());
            }
        }
    }
}

#[test]
fn a_dealer_that_keeps_all_rules_passes_all() {
    let report = tried(&TESTER, run, Crime::None, 20_000);
    assert_all_pass(&report);
    assert!(report.passed());
}

#[test]
fn each_rule_is_seen_when_it_is_broken() {
    // Only this one is to pass, so nothing of it may be late on a busy machine.
    let patience = |crime| if crime == Crime::EndsWithStatusThree { 20_000 } else { 1_000 };
    for (rule, report) in find_out(&TESTER, CRIMES, CRIMES.len(), |crime| tried(&TESTER, run, crime, patience(crime))) {
        assert_eq!(report.passed(), rule == "exit-status", "{report}");
    }
}

#[test]
fn a_dealer_that_runs_already_plays_the_game_that_it_has() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let dealer = thread::spawn(move || House::open(Crime::None, &listener, 2, 1).and_then(|mut house| house.play(5)));
    let report = (TESTER.test)(&Remote(address), &Options { patience: Duration::from_secs(20), players: 2 }).unwrap();
    dealer.join().unwrap();
    assert!(report.passed(), "{report}");
    assert_eq!(report.verdict("rounds"), Some(&Verdict::Passed(1)));
    assert_eq!(report.verdict("offender"), Some(&Verdict::NotTested));
}
