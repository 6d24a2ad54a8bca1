//! The tester of players, on players that break one rule each.

use std::{io::Write as _, net::TcpStream};

use blackjack::{DealerMessage, Hand, Name};
use conformance::{Outcome, PLAYER as TESTER, Values, Verdict};

use crate::support::{Console, Line, crimes, find_out, tried_for, tried_with, value};

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
    QuitsBetweenRoundsOnly => "quit-in-round",
    StatusThree => "exit-status",
    DiesOfNonsense => "survives",
    TakesAnything => "bad-message",
    ZeroWhenLeftAlone => "dealer-gone",
    /// A shell says so of a program that a signal has ended.
    DiesOfCards => "no-crash",
}

fn run(crime: Crime, values: Values<'_>, console: &Console) -> i32 {
    if crime == C::Absent {
        console.idle();
    }
    let name = value::<String>(values, "name").filter(|name| Name::new(name.as_bytes()).is_ok());
    let (Some(name), Some(port), None) = (name, value(values, "port"), value::<String>(values, "more")) else {
        return console.refuse("usage: name, host and port");
    };
    let name = if crime == C::OtherName { "nobody" } else { &name };
    play(crime, port, name).unwrap_or(1)
}

struct Guest {
    line: Line,
    crime: Crime,
}

impl Guest {
    fn say(&mut self, word: &str) {
        match self.crime {
            C::NoNul => drop(self.line.stream.write_all(format!("{word}\n").as_bytes())),
            _ => self.line.say(word),
        }
    }

    /// The next message, or `None` at the end of the stream.
    fn hear(&mut self) -> Option<String> {
        let message = self.line.hear(|begun| match self.crime {
            C::ReadsWholeSegments => true,
            C::TakesAnything => false,
            _ => begun.len() > 256,
        });
        if self.crime == C::OneMessageForEachRead {
            self.line.buffer.clear();
        }
        message
    }
}

/// The exit status, or `None` when the connection is no use any more.
fn play(crime: Crime, port: u16, name: &str) -> Option<i32> {
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let mut guest = Guest { line: Line::new(stream), crime };
    match crime {
        C::EndsAtOnce => return Some(1),
        C::Silent => {
            while guest.hear().is_some() {}
            return Some(1);
        }
        _ => guest.say(&format!("JOIN {name}")),
    }
    let mut hand = Hand::new();
    let mut asked = false;
    loop {
        let Some(word) = guest.hear() else { return Some(i32::from(crime != C::ZeroWhenLeftAlone)) };
        let message = match DealerMessage::parse_text(word.as_bytes()) {
            Err(_) if crime == C::TakesAnything => continue,
            Err(_) if crime == C::DiesOfCards => return Some(139),
            Err(_) => return Some(1),
            Ok(_) if crime == C::NoLose && word == "RESULT LOSE" => return Some(1),
            Ok(message) => message,
        };
        match message {
            DealerMessage::Begin => {
                if crime == C::KeepsTheHand && !hand.cards().is_empty() {
                    return Some(1);
                }
                (hand, asked) = (Hand::new(), false);
            }
            DealerMessage::Card(card) => {
                if crime == C::NoKings && word.contains("King of Spades")
                    || crime == C::DiesOfNonsense && hand.cards().contains(&card)
                {
                    return Some(1);
                }
                hand.push(card);
            }
            DealerMessage::Upcard(_) => {
                if crime == C::AnswersNobody {
                    guest.say("STAND");
                }
            }
            DealerMessage::Decision => {
                asked = true;
                let word = if hand.points().total() < 16 { "HIT" } else { "STAND" };
                match crime {
                    C::AnswersNobody => {}
                    C::LowerCase => guest.say(&word.to_lowercase()),
                    C::AnswersTwice => (0..2).for_each(|_| guest.say(word)),
                    _ => guest.say(word),
                }
            }
            DealerMessage::Result(_) => {
                if crime == C::DiesOfNonsense && !asked {
                    return Some(1);
                }
                hand = Hand::new();
            }
            DealerMessage::Quit => match crime {
                C::StatusThree => return Some(3),
                C::QuitsBetweenRoundsOnly if hand.cards().is_empty() => return Some(0),
                C::StaysAfterQuit | C::QuitsBetweenRoundsOnly => {}
                _ => return Some(0),
            },
        }
    }
}

#[test]
fn a_player_that_keeps_all_rules_passes_all() {
    let report = tried_with(&TESTER, &["name", "host", "port"], run, C::None, 20_000);
    // It keeps no table.
    let tables: Vec<_> = report.rules.iter().filter(|rule| rule.page == "blackjack.md#tables").collect();
    assert!(tables.iter().all(|rule| rule.verdict == Verdict::NotTested), "{report}");
    assert_eq!((tables.len(), report.outcome()), (10, Outcome::Passed), "{report}");
    assert_eq!(report.rules.iter().filter(|rule| rule.verdict == Verdict::Passed).count(), report.rules.len() - 10);
}

#[test]
fn each_rule_is_seen_when_it_is_broken() {
    for (rule, report) in
        find_out(&TESTER, CRIMES, CRIMES.len(), |crime, rule| tried_for(&TESTER, run, crime, rule, 1_000))
    {
        let noted = TESTER.rules.iter().any(|known| known.id == rule && !known.is_required());
        assert_eq!(report.outcome() == Outcome::Passed, noted, "{report}");
    }
}
