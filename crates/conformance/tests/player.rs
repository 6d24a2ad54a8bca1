//! The tester of players, on players that break one rule each.

mod support;

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use blackjack::{DealerMessage, Hand};
use conformance::{Values, player::TESTER};

use support::{Console, assert_all_pass, crimes, find_out, tried, value};

crimes! {
    None,
    /// Never connects, but runs.
    Absent => "joins",
    /// Connects and says nothing.
    Silent => "joins",
    EndsAtOnce => "joins",
    OtherName => "joins",
    NoNul => "joins",
    LowerCase => "answers",
    AnswersTwice => "quiet",
    AnswersNobody => "quiet",
    NoKings => "names",
    ReadsWholeSegments => "pieces",
    OneMessageForEachRead => "merged",
    NoLose => "lose",
    KeepsTheHand => "begin-again",
    StaysAfterQuit => "quits",
    QuitsBetweenRoundsOnly => "quits",
    StatusThree => "exit-status",
    DiesOfNonsense => "survives",
    TakesAnything => "bad-message",
    ZeroWhenLeftAlone => "dealer-gone",
}

fn run(crime: Crime, values: Values<'_>, console: &Console) -> i32 {
    if crime == Crime::Absent {
        console.idle();
    }
    let name: String = value(values, "name").expect("a name");
    let name = if crime == Crime::OtherName { "nobody" } else { &name };
    play(crime, value(values, "port").expect("a port"), name).unwrap_or(1)
}

struct Guest {
    stream: TcpStream,
    buffer: Vec<u8>,
    crime: Crime,
}

impl Guest {
    fn say(&mut self, word: &str) {
        let end = if self.crime == Crime::NoNul { "\n" } else { "\0" };
        let _ = self.stream.write_all(format!("{word}{end}").as_bytes());
    }

    /// The next message, or `None` at the end of the stream.
    fn hear(&mut self) -> Option<String> {
        loop {
            let end = self.buffer.iter().position(|&byte| byte == 0);
            if let Some(end) = end {
                let message = self.buffer.drain(..=end).take(end).collect();
                if self.crime == Crime::OneMessageForEachRead {
                    self.buffer.clear();
                }
                return String::from_utf8(message).ok();
            }
            if self.buffer.len() > 256 && self.crime != Crime::TakesAnything {
                return None;
            }
            let mut chunk = [0; 512];
            let read = self.stream.read(&mut chunk).ok().filter(|&read| read > 0)?;
            self.buffer.extend_from_slice(&chunk[..read]);
            if self.crime == Crime::ReadsWholeSegments && chunk[read - 1] != 0 {
                return None;
            }
        }
    }
}

/// The exit status, or `None` when the connection is no use any more.
fn play(crime: Crime, port: u16, name: &str) -> Option<i32> {
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let mut guest = Guest { stream, buffer: Vec::new(), crime };
    match crime {
        Crime::EndsAtOnce => return Some(1),
        Crime::Silent => {
            while guest.hear().is_some() {}
            return Some(1);
        }
        _ => guest.say(&format!("JOIN {name}")),
    }
    let mut hand = Hand::new();
    let mut asked = false;
    loop {
        let Some(word) = guest.hear() else { return Some(i32::from(crime != Crime::ZeroWhenLeftAlone)) };
        let message = match DealerMessage::parse_text(word.as_bytes()) {
            Err(_) if crime == Crime::TakesAnything => continue,
            Err(_) => return Some(1),
            Ok(_) if crime == Crime::NoLose && word == "RESULT LOSE" => return Some(1),
            Ok(message) => message,
        };
        match message {
            DealerMessage::Begin => {
                if crime == Crime::KeepsTheHand && !hand.cards().is_empty() {
                    return Some(1);
                }
                (hand, asked) = (Hand::new(), false);
            }
            DealerMessage::Card(card) => {
                if crime == Crime::NoKings && word.contains("King of Spades")
                    || crime == Crime::DiesOfNonsense && hand.cards().contains(&card)
                {
                    return Some(1);
                }
                hand.push(card);
            }
            DealerMessage::Upcard(_) => {
                if crime == Crime::AnswersNobody {
                    guest.say("STAND");
                }
            }
            DealerMessage::Decision => {
                asked = true;
                let word = if hand.points().total() < 16 { "HIT" } else { "STAND" };
                match crime {
                    Crime::AnswersNobody => {}
                    Crime::LowerCase => guest.say(&word.to_lowercase()),
                    Crime::AnswersTwice => (0..2).for_each(|_| guest.say(word)),
                    _ => guest.say(word),
                }
            }
            DealerMessage::Result(_) => {
                if crime == Crime::DiesOfNonsense && !asked {
                    return Some(1);
                }
                hand = Hand::new();
            }
            DealerMessage::Quit => match crime {
                Crime::StatusThree => return Some(3),
                Crime::QuitsBetweenRoundsOnly if hand.cards().is_empty() => return Some(0),
                Crime::StaysAfterQuit | Crime::QuitsBetweenRoundsOnly => {}
                _ => return Some(0),
            },
        }
    }
}

#[test]
fn a_player_that_keeps_all_rules_passes_all() {
    let report = tried(&TESTER, run, Crime::None, 20_000);
    assert_all_pass(&report);
    assert!(report.passed());
}

#[test]
fn each_rule_is_seen_when_it_is_broken() {
    for (rule, report) in find_out(&TESTER, CRIMES, CRIMES.len(), |crime| tried(&TESTER, run, crime, 1_000)) {
        let advice = TESTER.rules.iter().any(|known| known.id == rule && !known.required);
        assert_eq!(report.passed(), advice, "{report}");
    }
}
