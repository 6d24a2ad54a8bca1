//! A dealer for one player under test.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use blackjack::{Action, Card, DealerMessage, Dialect, Hand, PlayerMessage, Verdict};
use bytes::BytesMut;

use super::rules::{ANSWERS, JOINS, QUIET};
use crate::{
    judge::{Judge, Played},
    launch::{Launcher, Run},
    net::Connection,
    rule::Rule,
    tester::Options,
    words::blackjack::{WITH_PLAYER, cards},
};

/// The name that the player is given.
const NAME: &str = "tester";
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
}

/// A dealer for one player. All 52 cards are shown in turn, so that none repeats within a round.
pub(super) struct Croupier {
    pub(super) connection: Connection,
    options: Options,
    delivery: Delivery,
    // What is sent with the next question.
    waiting: BytesMut,
    last: u8,
    hand: Hand,
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
    ) -> Played<(Self, Box<dyn Run>)> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let values = [("name", NAME.to_owned()), ("host", "127.0.0.1".to_owned()), ("port", port.to_string())];
        let mut run = judge.start(launcher, &values)?;
        let Some(connection) = Connection::accept(&listener, &mut *run, options.deadline())? else {
            let ended = run.obituary();
            return judge.broken(&JOINS, || format!("it did not connect to 127.0.0.1:{port}{ended}"));
        };
        let mut croupier = Self {
            connection: connection.recorded(judge.line("the table", &WITH_PLAYER)),
            options,
            delivery,
            waiting: BytesMut::new(),
            // With the usual seed the deck begins at its first card.
            last: u8::try_from(options.drawn(52) % 52)?,
            hand: Hand::new(),
            upcard: None,
            round: 0,
            blamed: &ANSWERS,
        };
        let joined = croupier.hear().and_then(|bytes| PlayerMessage::parse_text(&bytes).map_err(|_| told(&bytes)));
        let wanted = launcher.takes("name").then_some(NAME);
        let right =
            matches!(&joined, Ok(PlayerMessage::Join(name)) if wanted.is_none_or(|wanted| name.as_str() == wanted));
        judge.require(&JOINS, right, || match joined {
            Ok(PlayerMessage::Join(name)) => format!("its name is '{name}', although it was told '{NAME}'"),
            Ok(message) => format!("it begins with {message} and not with JOIN"),
            Err(what) => format!("it begins with {what} and not with JOIN"),
        })?;
        Ok((croupier, run))
    }

    /// Sends a message, now or with the next question.
    pub(super) fn say(&mut self, message: DealerMessage) {
        self.waiting.extend_from_slice(&message.to_bytes(Dialect::Text));
        let asks = matches!(message, DealerMessage::Decision | DealerMessage::Quit);
        if self.delivery != Delivery::Merged || asks {
            let bytes = self.waiting.split();
            self.raw(&bytes);
        }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        let waiting = self.waiting.split();
        for part in [&*waiting, bytes] {
            if self.delivery == Delivery::Bytes {
                self.connection.send_in_bytes(part);
            } else {
                self.connection.send(part);
            }
        }
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
        self.last = (self.last + STEP) % 52;
        #[expect(clippy::unwrap_used, reason = "1 to 52 are the numbers of cards")]
        Card::new(self.last + 1).unwrap()
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
        self.connection.more(Instant::now() + POLL);
        let (early, round) = (self.connection.rest(), self.round);
        judge.require(&QUIET, early.is_empty(), || format!("round {round}: {} came before DECISION", told(&early)))?;
        self.say(DealerMessage::Decision);
        Ok(())
    }

    pub(super) fn answer(&mut self, judge: &mut Judge) -> Played<Action> {
        let round = self.round;
        let heard = self.hear();
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
        judge.expect(self.blamed, action)
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
            let verdict = Verdict::of(self.hand.points().total(), dealer.points().total());
            self.say(DealerMessage::Result(verdict));
        }
        // Without another question all of it has to leave.
        self.raw(&[]);
        Ok(())
    }

    /// Whether the player closes the connection in time.
    pub(super) fn is_left(&mut self) -> bool {
        let by = self.options.deadline();
        while self.connection.more(by) {}
        self.connection.closed
    }
}

// Bytes of the player, for a message.
fn told(bytes: &[u8]) -> String {
    format!("'{}'", bytes.get(..60).unwrap_or(bytes).escape_ascii())
}
