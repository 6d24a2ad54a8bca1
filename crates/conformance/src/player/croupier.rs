//! A dealer for one player under test.

use std::{
    collections::VecDeque,
    net::{Ipv6Addr, TcpListener},
    time::{Duration, Instant},
};

use blackjack::{Action, Card, DealerMessage, Dialect, Hand, PlayerMessage, Verdict};
use bytes::BytesMut;

use super::rules::{ANSWERS, JOINS, MANY_ROUNDS, NAMES, QUIET};
use crate::{
    judge::{Judge, Played},
    launch::{Launcher, Run},
    net::Connection,
    rule::Rule,
    tester::Options,
    words::blackjack::{WITH_PLAYER, cards},
};

/// How a player is told to join.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) host: &'static str,
}

/// The usual one.
pub(super) const CALL: Call = Call { name: "tester", host: "127.0.0.1" };
/// How long a player has for what it must not say.
const POLL: Duration = Duration::from_millis(2);
/// Cards are shown in steps of this, so that neither suits nor ranks come in a row. It has no factor in common with 52.
const STEP: u8 = 17;

/// How messages are put into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Each message in a write of its own.
    Whole,
    /// Each byte in a write of its own.
    Bytes,
    /// All messages up to the next question in one write.
    Merged,
    /// From the middle of each message to the middle of the next in one write.
    Straddling,
}

/// A dealer for one player. All 52 cards are shown in turn, so that none repeats within a round.
pub(super) struct Croupier {
    pub(super) connection: Connection,
    listener: TcpListener,
    pub(super) options: Options,
    delivery: Delivery,
    /// How long to wait before each question for what the player must not say.
    pub(super) pause: Duration,
    /// The shortest time that an answer took.
    pub(super) fastest: Duration,
    // What is sent with the next question.
    waiting: BytesMut,
    last: u8,
    // Cards that come before the others, and those that this round has shown.
    stacked: VecDeque<Card>,
    shown: Vec<Card>,
    pub(super) hand: Hand,
    upcard: Option<Card>,
    round: usize,
    /// The rule that is broken when no answer comes.
    pub(super) blamed: &'static Rule,
}

impl Croupier {
    /// Starts the player, lets it connect and takes its JOIN.
    pub(super) fn welcome(
        judge: &mut Judge,
        launcher: &dyn Launcher,
        options: Options,
        delivery: Delivery,
        call: Call,
    ) -> Played<(Self, Box<dyn Run>)> {
        // A name may stand for an address of either family.
        let both = (call.host != CALL.host).then(|| TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).ok()).flatten();
        let listener = both.map_or_else(|| TcpListener::bind((CALL.host, 0)), Ok)?;
        let port = listener.local_addr()?.port();
        let Call { name, host } = call;
        let values = [("name", name.to_owned()), ("host", host.to_owned()), ("port", port.to_string())];
        let mut run = judge.start(launcher, &values)?;
        let Some(connection) = Connection::accept(&listener, &mut *run, options.deadline())? else {
            let ended = run.obituary();
            return judge.broken(&JOINS, || format!("it did not connect to {host}:{port}{ended}"));
        };
        let mut croupier = Self {
            connection: connection.recorded(judge.line("the table", &WITH_PLAYER)),
            listener,
            options,
            delivery,
            pause: POLL,
            fastest: Duration::MAX,
            waiting: BytesMut::new(),
            // With the usual seed the deck begins at its first card.
            last: u8::try_from(options.drawn(52) % 52)?,
            stacked: VecDeque::new(),
            shown: Vec::new(),
            hand: Hand::new(),
            upcard: None,
            round: 0,
            blamed: &ANSWERS,
        };
        let joined = croupier.hear().and_then(|bytes| PlayerMessage::parse_text(&bytes).map_err(|_| told(&bytes)));
        let wanted = launcher.takes("name").then_some(name);
        let right =
            matches!(&joined, Ok(PlayerMessage::Join(name)) if wanted.is_none_or(|wanted| name.as_str() == wanted));
        judge.require(&JOINS, right, || match joined {
            Ok(PlayerMessage::Join(other)) => format!("its name is '{other}', although it was told '{name}'"),
            Ok(message) => format!("it begins with {message} and not with JOIN"),
            Err(what) => format!("it begins with {what} and not with JOIN"),
        })?;
        Ok((croupier, run))
    }

    /// Sends a message, now or with the next question.
    pub(super) fn say(&mut self, message: DealerMessage) {
        self.waiting.extend_from_slice(&message.to_bytes(Dialect::Text));
        let asks = matches!(message, DealerMessage::Decision | DealerMessage::Quit);
        if !matches!(self.delivery, Delivery::Merged | Delivery::Straddling) || asks {
            let bytes = self.waiting.split();
            self.raw(&bytes);
        }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        let waiting = self.waiting.split();
        for part in [&*waiting, bytes] {
            match self.delivery {
                Delivery::Bytes => self.connection.send_in_parts(part.chunks(1)),
                Delivery::Straddling => self.connection.send_in_parts(straddling(part)),
                Delivery::Whole | Delivery::Merged => self.connection.send(part),
            }
        }
    }

    /// Lets these cards be the next ones.
    pub(super) fn stack(&mut self, numbers: &[u8]) {
        self.stacked = numbers.iter().filter_map(|&number| Card::new(number)).collect();
    }

    /// Whether the player has opened another connection.
    pub(super) fn has_second(&self) -> bool {
        self.listener.accept().is_ok()
    }

    // The next message of the player, without its NUL, or what came instead.
    fn hear(&mut self) -> Result<BytesMut, String> {
        let text = self.connection.text(self.options.deadline());
        text.ok_or_else(|| match (self.connection.closed, &*self.connection.buffer) {
            (_, bytes) if !bytes.is_empty() => format!("{} without NUL", told(bytes)),
            (true, _) => "the end of the connection".to_owned(),
            (false, _) => "nothing in time".to_owned(),
        })
    }

    // The next card of the deck.
    fn draw(&mut self) -> Card {
        let card = self.stacked.pop_front().unwrap_or_else(|| {
            loop {
                self.last = (self.last + STEP) % 52;
                #[expect(clippy::unwrap_used, reason = "1 to 52 are the numbers of cards")]
                let card = Card::new(self.last + 1).unwrap();
                if !self.shown.contains(&card) {
                    return card;
                }
            }
        });
        self.shown.push(card);
        card
    }

    pub(super) fn card(&mut self) {
        let card = self.draw();
        self.hand.push(card);
        self.say(DealerMessage::Card(card));
    }

    /// Deals a round up to the first question.
    pub(super) fn deal(&mut self, judge: &mut Judge) -> Played {
        self.round += 1;
        self.hand = Hand::new();
        self.shown.clear();
        self.say(DealerMessage::Begin);
        self.card();
        self.card();
        let upcard = self.draw();
        self.upcard = Some(upcard);
        self.say(DealerMessage::Upcard(upcard));
        self.ask(judge)
    }

    fn ask(&mut self, judge: &mut Judge) -> Played {
        // What is there before the question cannot be its answer.
        self.connection.more(Instant::now() + self.pause);
        let (early, round) = (self.connection.rest(), self.round);
        judge.require(&QUIET, early.is_empty(), || format!("round {round}: {} came before DECISION", told(&early)))?;
        self.say(DealerMessage::Decision);
        Ok(())
    }

    pub(super) fn answer(&mut self, judge: &mut Judge) -> Played<Action> {
        let (round, asked) = (self.round, Instant::now());
        let heard = self.hear();
        self.fastest = self.fastest.min(asked.elapsed());
        // A long game shows all cards, however they are sent.
        let is_usual = self.delivery == Delivery::Whole || *self.blamed == MANY_ROUNDS;
        let is_said = heard.is_ok();
        let action = match heard.as_deref().map(PlayerMessage::parse_text) {
            Ok(Ok(PlayerMessage::Hit)) => Ok(Action::Hit),
            Ok(Ok(PlayerMessage::Stand)) => Ok(Action::Stand),
            _ => {
                let what = heard.map_or_else(|what| what, |bytes| told(&bytes));
                let upcard = self.upcard.map_or_else(String::new, |card| format!(" against {card}"));
                let hand = format!("{}{upcard}", cards(self.hand.cards()));
                Err(format!("round {round}, {hand}: {what} came for DECISION, not HIT or STAND"))
            }
        };
        let blamed = match is_said {
            // Whatever was dealt before, this is no answer.
            true if action.is_err() => &ANSWERS,
            // A player that ends in any game says nothing of this one.
            false if is_usual && judge.has_failed(&ANSWERS) => &ANSWERS,
            false if is_usual && judge.has_failed(&NAMES) => &NAMES,
            _ => self.blamed,
        };
        judge.expect(blamed, action)
    }

    /// Plays the hand of a round that was dealt. The RESULT is not sent yet.
    pub(super) fn hand(&mut self, judge: &mut Judge) -> Played {
        while self.answer(judge)? == Action::Hit {
            self.card();
            if self.hand.points().is_bust() {
                break;
            }
            self.ask(judge)?;
        }
        Ok(())
    }

    /// Plays such a hand, and returns whether the first answer was this one.
    pub(super) fn answers_with(&mut self, judge: &mut Judge, wanted: Action) -> Played<bool> {
        let first = self.answer(judge)?;
        if first == Action::Hit {
            self.card();
            if !self.hand.points().is_bust() {
                self.ask(judge)?;
                self.hand(judge)?;
            }
        }
        Ok(first == wanted)
    }

    pub(super) fn rounds(&mut self, judge: &mut Judge, rounds: usize) -> Played {
        for _ in 0..rounds {
            self.deal(judge)?;
            self.hand(judge)?;
            let mut dealer = Hand::new();
            self.upcard.map(|card| dealer.push(card));
            while dealer.points().dealer_hits() {
                let card = self.draw();
                dealer.push(card);
            }
            self.result(Verdict::of(self.hand.points().total(), dealer.points().total()));
        }
        self.flush();
        Ok(())
    }

    /// Ends a round like this, unless the player is bust.
    pub(super) fn result(&mut self, verdict: Verdict) {
        let verdict = if self.hand.points().is_bust() { Verdict::Bust } else { verdict };
        self.say(DealerMessage::Result(verdict));
    }

    /// Sends what would wait for the next question.
    pub(super) fn flush(&mut self) {
        self.raw(&[]);
    }

    /// Whether the player closes the connection in time.
    pub(super) fn is_left(&mut self) -> bool {
        let by = self.options.deadline();
        while self.connection.more(by) {}
        self.connection.closed
    }
}

// Pieces of whole messages, each from the middle of one to the middle of the next.
fn straddling(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let mut cuts: Vec<usize> = Vec::new();
    for (end, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == 0) {
        cuts.push(start + (end + 1 - start) / 2);
        start = end + 1;
    }
    cuts.push(bytes.len());
    let starts: Vec<usize> = std::iter::once(0).chain(cuts.iter().copied()).collect();
    starts.into_iter().zip(cuts).map(|(from, to)| bytes.get(from..to).unwrap_or_default())
}

// Bytes of the player, for a message.
fn told(bytes: &[u8]) -> String {
    format!("'{}'", bytes.get(..60).unwrap_or(bytes).escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::straddling;

    #[test]
    fn pieces_end_in_the_middle_of_messages() {
        let pieces: Vec<_> = straddling(b"BEGIN\0CARD x\0").collect();
        assert_eq!(pieces, [&b"BEG"[..], b"IN\0CAR", b"D x\0"]);
        assert_eq!(straddling(b"").collect::<Vec<_>>(), [b""]);
    }
}
