use std::{
    collections::VecDeque,
    net::{Ipv6Addr, TcpListener},
    thread,
    time::{Duration, Instant},
};

use blackjack::{Action, Card, DealerMessage, Dialect, Hand, Verdict};
use bytes::BytesMut;

use super::{ANSWERS, GRAMMAR, JOINS, QUIET};
use crate::{
    judge::{Judge, ScenarioResult},
    launch::{Launcher, Run},
    net::Connection,
    rule::Rule,
    sockets::unread,
    tester::Options,
    words::blackjack::{PlayerText, Reader, WITH_PLAYER, cards, of_player, quoted},
};

#[derive(Clone, Copy)]
pub(super) struct JoinArguments {
    pub(super) name: &'static str,
    pub(super) host: &'static str,
    /// Broken if the player does not join.
    pub(super) rule: &'static Rule,
}

pub(super) const USUAL_ARGUMENTS: JoinArguments = JoinArguments { name: "tester", host: "127.0.0.1", rule: &JOINS };
/// Between two messages, for players that treat one read as one message. Not before the response to a player's message.
const PACE: Duration = Duration::from_millis(50);
const GLANCE: Duration = Duration::from_millis(5);
/// How long to wait for forbidden messages.
const POLL: Duration = Duration::from_millis(2);
/// Between the numbers of successive cards, so that neither suits nor ranks are consecutive. Coprime to 52.
const STEP: u32 = 17;
/// Most scenarios use this many cards, all below ten. A player that does not know another card breaks only the rule
/// about it.
const USUAL: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// In separate writes, with pauses.
    Paced,
    Bytes,
    Merged,
    /// Writes from the middle of each message to the middle of the next.
    Straddling,
}

pub(super) struct TestDealer {
    pub(super) connection: Connection,
    reader: Reader<PlayerText>,
    // `None` after a message of the player.
    sent: Option<Instant>,
    listener: TcpListener,
    pub(super) options: Options,
    delivery: Delivery,
    /// Before each question; the player must not send meanwhile.
    pub(super) pause: Duration,
    pub(super) fastest: Duration,
    waiting: BytesMut,
    /// Deals all cards in turn instead of the usual ones.
    pub(super) shows_all: bool,
    deck: Vec<Card>,
    drawn: usize,
    // Dealt before the rest of the deck.
    stacked: VecDeque<Card>,
    shown: Vec<Card>,
    pub(super) hand: Hand,
    upcard: Option<Card>,
    round: usize,
}

impl TestDealer {
    pub(super) fn start(
        judge: &mut Judge,
        launcher: &dyn Launcher,
        options: Options,
        delivery: Delivery,
        call: JoinArguments,
    ) -> ScenarioResult<(Self, Box<dyn Run>)> {
        // A name may resolve to either address family.
        let both =
            (call.host != USUAL_ARGUMENTS.host).then(|| TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).ok()).flatten();
        let listener = both.map_or_else(|| TcpListener::bind((USUAL_ARGUMENTS.host, 0)), Ok)?;
        let port = listener.local_addr()?.port();
        let JoinArguments { name, host, .. } = call;
        let values = [("name", name.to_owned()), ("host", host.to_owned()), ("port", port.to_string())];
        let mut run = judge.start(launcher, &values)?;
        let Some(connection) = Connection::accept(&listener, &mut *run, options.start_deadline())? else {
            let ended = run.exit_clause();
            return judge.broken(call.rule, || format!("expected a connection to {host}:{port}, received none{ended}"));
        };
        // With the usual seed the deck begins at its first card.
        let first = options.drawn(52) % 52;
        let numbers = (1..=52).filter_map(|count| u8::try_from((first + count * STEP) % 52 + 1).ok());
        let mut dealer = Self {
            connection: connection.recorded(judge.open_channel("the table", &WITH_PLAYER)),
            reader: of_player(&GRAMMAR),
            sent: None,
            listener,
            options,
            delivery,
            pause: POLL,
            fastest: Duration::MAX,
            waiting: BytesMut::new(),
            shows_all: false,
            deck: numbers.filter_map(Card::new).collect(),
            drawn: 0,
            stacked: VecDeque::new(),
            shown: Vec::new(),
            hand: Hand::new(),
            upcard: None,
            round: 0,
        };
        let wanted = launcher.takes("name").then_some(name);
        match dealer.receive(judge) {
            Ok(PlayerText::Join(joined)) => {
                let rule = if name == USUAL_ARGUMENTS.name { &JOINS } else { call.rule };
                judge.check(rule, wanted.is_none_or(|wanted| joined == wanted), || {
                    format!("expected the name '{name}' in JOIN, received '{joined}'")
                });
                Ok((dealer, run))
            }
            Ok(PlayerText::Hit | PlayerText::Stand) => {
                judge.broken(call.rule, || "expected JOIN as the first message, received HIT or STAND".to_owned())
            }
            Err(what) => judge.broken(call.rule, || format!("expected JOIN, received {what}")),
        }
    }

    /// Sends now or with the next question, as the delivery requires.
    pub(super) fn send(&mut self, message: DealerMessage) {
        self.waiting.extend_from_slice(&message.to_bytes(Dialect::Text));
        let asks = matches!(message, DealerMessage::Decision | DealerMessage::Quit);
        if !matches!(self.delivery, Delivery::Merged | Delivery::Straddling) || asks {
            let bytes = self.waiting.split();
            self.raw(&bytes);
        }
    }

    // On a busy machine, a player takes longer to read the last message.
    fn pace(&mut self) {
        let Some(sent) = self.sent.take().filter(|_| self.delivery == Delivery::Paced) else { return };
        thread::sleep(PACE.saturating_sub(sent.elapsed()));
        let stream = &self.connection.stream;
        let Ok((peer, own)) = stream.peer_addr().and_then(|peer| Ok((peer, stream.local_addr()?))) else { return };
        while unread(peer, own).is_some_and(|bytes| bytes > 0) && sent.elapsed() < self.options.patience / 4 {
            thread::sleep(GLANCE);
        }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.pace();
        self.sent = Some(Instant::now());
        let waiting = self.waiting.split();
        for part in [&*waiting, bytes] {
            match self.delivery {
                Delivery::Bytes => self.connection.send_in_parts(part.chunks(1)),
                Delivery::Straddling => self.connection.send_in_parts(straddling(part)),
                Delivery::Paced | Delivery::Merged => self.connection.send(part),
            }
        }
    }

    pub(super) fn stack(&mut self, numbers: &[u8]) {
        self.stacked = numbers.iter().filter_map(|&number| Card::new(number)).collect();
    }

    pub(super) fn has_second(&self) -> bool {
        self.listener.accept().is_ok()
    }

    fn receive(&mut self, judge: &mut Judge) -> Result<PlayerText, String> {
        let by = self.options.deadline();
        let mut other = None;
        while let Some((message, bytes)) = self.reader.next(judge, &mut self.connection, by) {
            self.sent = None;
            if let Some(message) = message {
                return Ok(message);
            }
            other = Some(quoted(&bytes));
        }
        let rest = self.connection.closed.then(|| self.connection.rest()).filter(|rest| !rest.is_empty());
        Err(match (rest, other, self.connection.closed) {
            (Some(rest), ..) => format!("{} without NUL, and the end of the connection", quoted(&rest)),
            (_, Some(other), _) => other,
            (_, _, true) => "the end of the connection".to_owned(),
            (_, _, false) => "nothing in time".to_owned(),
        })
    }

    fn draw(&mut self) -> Card {
        let card = self.stacked.pop_front().unwrap_or_else(|| {
            let usual = |card: &&Card| (2..10).contains(&card.value());
            let deck: Vec<Card> = if self.shows_all {
                self.deck.clone()
            } else {
                self.deck.iter().filter(usual).take(USUAL).copied().collect()
            };
            let next = deck.iter().cycle().skip(self.drawn % deck.len()).take(deck.len());
            let next = next.enumerate().find(|(_, card)| !self.shown.contains(card));
            // A round never shows all cards.
            let (passed, card) = next.map_or((0, self.deck[0]), |(passed, card)| (passed, *card));
            self.drawn += passed + 1;
            card
        });
        self.shown.push(card);
        card
    }

    pub(super) fn card(&mut self) {
        let card = self.draw();
        self.hand.push(card);
        self.send(DealerMessage::Card(card));
    }

    pub(super) fn deal(&mut self, judge: &mut Judge) {
        self.round += 1;
        self.hand = Hand::new();
        self.shown.clear();
        self.send(DealerMessage::Begin);
        self.card();
        self.card();
        let upcard = self.draw();
        self.upcard = Some(upcard);
        self.send(DealerMessage::Upcard(upcard));
        self.request_decision(judge);
    }

    fn request_decision(&mut self, judge: &mut Judge) {
        self.pace();
        self.connection.more(Instant::now() + self.pause);
        let (early, round) = (self.connection.rest(), self.round);
        judge.check(&QUIET, early.is_empty(), || {
            format!("round {round}: expected nothing before DECISION, received {}", quoted(&early))
        });
        self.send(DealerMessage::Decision);
    }

    pub(super) fn answer(&mut self, judge: &mut Judge) -> ScenarioResult<Action> {
        let (round, asked) = (self.round, Instant::now());
        if self.connection.buffer.is_empty() {
            self.connection.more(self.options.deadline());
        }
        self.fastest = self.fastest.min(asked.elapsed());
        let action = match self.receive(judge) {
            Ok(PlayerText::Hit) => Ok(Action::Hit),
            Ok(PlayerText::Stand) => Ok(Action::Stand),
            Ok(PlayerText::Join(_)) => Err("JOIN".to_owned()),
            Err(what) => Err(what),
        };
        let action = action.map_err(|what| {
            let upcard = self.upcard.map_or_else(String::new, |card| format!(" against {card}"));
            let hand = format!("{}{upcard}", cards(self.hand.cards()));
            format!("round {round}, {hand}: expected HIT or STAND after DECISION, received {what}")
        });
        judge.expect(&ANSWERS, action)
    }

    pub(super) fn hand(&mut self, judge: &mut Judge) -> ScenarioResult {
        while self.answer(judge)? == Action::Hit {
            self.card();
            if self.hand.points().is_bust() {
                break;
            }
            self.request_decision(judge);
        }
        Ok(())
    }

    /// Like [`TestDealer::hand`]. Returns whether the first answer was this action.
    pub(super) fn answers_with(&mut self, judge: &mut Judge, wanted: Action) -> ScenarioResult<bool> {
        let first = self.answer(judge)?;
        if first == Action::Hit {
            self.card();
            if !self.hand.points().is_bust() {
                self.request_decision(judge);
                self.hand(judge)?;
            }
        }
        Ok(first == wanted)
    }

    pub(super) fn rounds(&mut self, judge: &mut Judge, rounds: usize) -> ScenarioResult {
        for _ in 0..rounds {
            self.deal(judge);
            self.hand(judge)?;
            let mut house = Hand::new();
            self.upcard.map(|card| house.push(card));
            while house.points().dealer_hits() {
                let card = self.draw();
                house.push(card);
            }
            self.result(Verdict::of(self.hand.points().total(), house.points().total()));
        }
        self.flush();
        Ok(())
    }

    pub(super) fn result(&mut self, verdict: Verdict) {
        let verdict = if self.hand.points().is_bust() { Verdict::Bust } else { verdict };
        self.send(DealerMessage::Result(verdict));
    }

    pub(super) fn flush(&mut self) {
        self.raw(&[]);
    }

    pub(super) fn is_closed(&mut self) -> bool {
        let by = self.options.deadline();
        while self.connection.more(by) {}
        self.connection.closed
    }
}

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
