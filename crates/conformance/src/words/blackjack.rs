use std::time::{Duration, Instant};

use blackjack::{Card, DealerMessage, Dialect, PlayerMessage};
use bytes::{Buf as _, BytesMut};

use super::{Form, Part, prefix, wrong};
use crate::{
    judge::Judge,
    net::{Connection, MAX_TEXT},
    rule::Rule,
    tape::{ChannelFormat, Description, Framed, MessageFormat, MessageFraming},
};

pub(crate) static WITH_DEALER: ChannelFormat = ChannelFormat { tester: PLAYER, program: DEALER, is_binary: false };
pub(crate) static WITH_PLAYER: ChannelFormat = ChannelFormat { tester: DEALER, program: PLAYER, is_binary: false };

const PLAYER: MessageFormat = MessageFormat {
    framing: MessageFraming::Stream(|bytes| frame(OF_PLAYERS, bytes)),
    describe: |bytes| describe(OF_PLAYERS, bytes),
};
const DEALER: MessageFormat = MessageFormat {
    framing: MessageFraming::Stream(|bytes| frame(OF_DEALERS, bytes)),
    describe: |bytes| describe(OF_DEALERS, bytes),
};

const RANKS: Part = Part::OneOf(&[
    "Ace", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Jack", "Queen", "King",
]);
const SUITS: Part = Part::OneOf(&["Clubs", "Diamonds", "Hearts", "Spades"]);

const OF_PLAYERS: &[Form] = &[&[Part::Word("JOIN "), Part::Rest(1)], &[Part::Word("HIT")], &[Part::Word("STAND")]];
const OF_DEALERS: &[Form] = &[
    &[Part::Word("BEGIN")],
    &[Part::Word("CARD "), RANKS, Part::Word(" of "), SUITS],
    &[Part::Word("DEALER "), RANKS, Part::Word(" of "), SUITS],
    &[Part::Word("DECISION")],
    &[Part::Word("RESULT "), Part::OneOf(&["WIN", "LOOSE", "BUST", "PUSH"])],
    &[Part::Word("QUIT")],
];

pub(crate) fn cards<'c>(cards: impl IntoIterator<Item = &'c Card>) -> String {
    cards.into_iter().map(Card::to_string).collect::<Vec<_>>().join(", ")
}

#[derive(Debug, PartialEq, Eq)]
enum Front {
    Ended(usize),
    Unended(usize),
    Part,
    Endless,
}

// Texts without a NUL are split at the vocabulary of the protocol.
fn front(forms: &[Form], bytes: &[u8]) -> Front {
    let end = bytes.iter().take(MAX_TEXT + 1).position(|&byte| byte == 0);
    let text = bytes.get(..end.unwrap_or(bytes.len().min(MAX_TEXT))).unwrap_or_default();
    if let Some(end) =
        end.filter(|_| DealerMessage::parse_text(text).is_ok() || PlayerMessage::parse_text(text).is_ok())
    {
        return Front::Ended(end);
    }
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let begins = |rest: &[u8]| {
        let rest = rest.trim_ascii_start();
        let words = forms.iter().filter_map(|form| match form.first() {
            Some(Part::Word(word)) => Some(word.as_bytes()),
            _ => None,
        });
        !rest.is_empty() && words.into_iter().any(|word| rest.starts_with(word) || word.starts_with(rest))
    };
    let message = prefix(forms, &text[blanks..]).map(|length| blanks + length);
    match (message.filter(|&length| begins(&text[length..])), end) {
        (Some(length), _) => Front::Unended(length),
        (None, Some(end)) => Front::Ended(end),
        (None, None) if bytes.len() > MAX_TEXT => Front::Endless,
        (None, None) => Front::Part,
    }
}

fn frame(forms: &[Form], bytes: &[u8]) -> Framed {
    match front(forms, bytes) {
        Front::Ended(end) => Framed::Whole(end + 1),
        Front::Unended(length) => Framed::Whole(length),
        // Recorded on arrival, before the tester's reaction. The NUL may follow.
        Front::Part if wrong(forms, bytes).is_none() => Framed::Whole(bytes.len()),
        Front::Part => Framed::Part,
        Front::Endless => Framed::Wrong(MAX_TEXT, format!("expected a NUL within {MAX_TEXT} bytes")),
    }
}

fn describe(forms: &[Form], message: &[u8]) -> Description {
    if message == b"\0" {
        return Description::right("(a zero byte)");
    }
    let text = message.strip_suffix(b"\0").unwrap_or(message);
    Description { text: text.escape_ascii().to_string(), wrong: wrong(forms, text) }
}

/// A misspelled message breaks `grammar`.
pub(crate) fn of_dealer(grammar: &'static Rule) -> Reader<DealerMessage> {
    Reader::new("dealer", OF_DEALERS, dealer_message, grammar)
}

pub(crate) fn of_player(grammar: &'static Rule) -> Reader<PlayerText> {
    Reader::new("player", OF_PLAYERS, player_message, grammar)
}

pub(crate) fn quoted(bytes: &[u8]) -> String {
    format!("'{}'", bytes.get(..60).unwrap_or(bytes).escape_ascii())
}

/// Parsed leniently. A name may contain any characters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PlayerText {
    Join(String),
    Hit,
    Stand,
}

fn dealer_message(text: &[u8]) -> (Option<DealerMessage>, bool) {
    let parsed = DealerMessage::parse_text(text).ok();
    // `LOSE` is accepted but must not be sent.
    let is_exact = parsed.is_some_and(|message| message.to_bytes(Dialect::Text).strip_suffix(b"\0") == Some(text));
    (parsed.or_else(|| loose_dealer_message(text)), is_exact)
}

// Ignores case, blanks and any text after the message.
fn loose_dealer_message(text: &[u8]) -> Option<DealerMessage> {
    let text = String::from_utf8_lossy(text);
    let words: Vec<String> = text.split_ascii_whitespace().map(str::to_ascii_uppercase).collect();
    let title = |word: &str| {
        format!("{}{}", word.get(..1).unwrap_or_default(), word.get(1..).unwrap_or_default().to_ascii_lowercase())
    };
    let text = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [kind @ ("CARD" | "DEALER"), rank, "OF", suit, ..] => format!("{kind} {} of {}", title(rank), title(suit)),
        ["RESULT", result, ..] => format!("RESULT {result}"),
        [kind @ ("BEGIN" | "DECISION" | "QUIT"), ..] => kind.to_owned(),
        _ => return None,
    };
    DealerMessage::parse_text(text.as_bytes()).ok()
}

fn player_message(text: &[u8]) -> (Option<PlayerText>, bool) {
    let is_exact = PlayerMessage::parse_text(text).is_ok();
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let message = match &*word.to_ascii_uppercase() {
        "JOIN" => Some(PlayerText::Join(rest.to_owned())),
        "HIT" => Some(PlayerText::Hit),
        "STAND" => Some(PlayerText::Stand),
        _ => None,
    };
    (message, is_exact)
}

/// After this time without bytes, a complete message has no NUL.
const QUIET: Duration = Duration::from_millis(500);
/// After this time without bytes, the received bytes are not a message.
const SILENCE: Duration = Duration::from_secs(1);

/// Returns the message that a text resembles, and whether it is spelled exactly.
type Parse<M> = fn(&[u8]) -> (Option<M>, bool);

pub(crate) struct Reader<M> {
    sender: &'static str,
    forms: &'static [Form],
    parse: Parse<M>,
    grammar: &'static Rule,
    // The number of bytes at the last arrival.
    length: usize,
    arrived: Instant,
    // A text arrived without its NUL, so the reader no longer waits for one.
    is_unended: bool,
}

impl<M> Reader<M> {
    fn new(sender: &'static str, forms: &'static [Form], parse: Parse<M>, grammar: &'static Rule) -> Self {
        Self { sender, forms, parse, grammar, length: 0, arrived: Instant::now(), is_unended: false }
    }

    pub(crate) fn next(
        &mut self,
        judge: &mut Judge,
        connection: &mut Connection,
        by: Instant,
    ) -> Option<(Option<M>, BytesMut)> {
        let (text, is_ended) = self.text(connection, by)?;
        let (message, is_exact) = (self.parse)(&text);
        judge.check(self.grammar, is_exact && is_ended, || match (is_ended, &message) {
            (true, _) => format!("expected a message of a {}, received {}", self.sender, quoted(&text)),
            (false, Some(_)) => "expected a zero byte after each message, received none".to_owned(),
            (false, None) => {
                let start = quoted(&text);
                format!(
                    "expected a NUL at the end of a message, received {} bytes without one, starting with {start}",
                    text.len()
                )
            }
        });
        Some((message, text))
    }

    // Also returns whether the text has its NUL.
    fn text(&mut self, connection: &mut Connection, by: Instant) -> Option<(BytesMut, bool)> {
        loop {
            // The NUL of a text that was returned without it.
            while self.is_unended && connection.buffer.first() == Some(&0) {
                connection.buffer.advance(1);
            }
            let buffer = &mut connection.buffer;
            if buffer.len() != self.length {
                (self.length, self.arrived) = (buffer.len(), Instant::now());
            }
            match front(self.forms, buffer) {
                Front::Ended(end) => {
                    let text = buffer.split_to(end);
                    buffer.advance(1);
                    return Some((self.consume(connection, text), true));
                }
                Front::Unended(length) => {
                    self.is_unended = true;
                    let text = buffer.split_to(length);
                    return Some((self.consume(connection, text), false));
                }
                Front::Endless => {
                    let text = buffer.split_to(MAX_TEXT);
                    return Some((self.consume(connection, text), false));
                }
                Front::Part => {}
            }
            let text = buffer.trim_ascii();
            let is_message = prefix(self.forms, text) == Some(text.len());
            let wait = match (is_message, self.is_unended) {
                (true, true) => Duration::ZERO,
                (true, false) => QUIET,
                (false, _) => SILENCE,
            };
            let quiet_at = self.arrived + wait;
            if !buffer.is_empty() && (Instant::now() >= quiet_at || connection.closed && is_message) {
                self.is_unended |= is_message;
                let text = buffer.split();
                return Some((self.consume(connection, text), false));
            }
            let until = if buffer.is_empty() { by } else { by.min(quiet_at) };
            let has_come = connection.more(until);
            if !has_come && (connection.closed && !is_message || Instant::now() >= by) {
                return None;
            }
        }
    }

    fn consume(&mut self, connection: &Connection, text: BytesMut) -> BytesMut {
        connection.mark_read(1);
        (self.length, self.arrived) = (connection.buffer.len(), Instant::now());
        text
    }
}

#[cfg(test)]
mod tests {
    use blackjack::{Name, Verdict};

    use super::*;

    #[test]
    fn accepts_every_message_of_the_protocol() {
        let cards = Card::all().flat_map(|card| [DealerMessage::Card(card), DealerMessage::Upcard(card)]);
        let results = [Verdict::Win, Verdict::Lose, Verdict::Bust, Verdict::Push].map(DealerMessage::Result);
        let others = [DealerMessage::Begin, DealerMessage::Decision, DealerMessage::Quit];
        for message in cards.chain(results).chain(others) {
            let bytes = message.to_bytes(Dialect::Text);
            let Framed::Whole(length) = frame(OF_DEALERS, &bytes) else { panic!("{message}") };
            assert_eq!(dealer_message(&bytes[..length - 1]), (Some(message), true));
            assert_eq!((length, describe(OF_DEALERS, &bytes).wrong), (bytes.len(), None), "{message}");
        }
        for message in [PlayerMessage::Hit, PlayerMessage::Stand, PlayerMessage::Join(Name::new(b"x").unwrap())] {
            assert_eq!(describe(OF_PLAYERS, &message.to_bytes(Dialect::Text)).wrong, None, "{message}");
        }
    }
    #[test]
    fn texts_without_nul_are_split_at_words() {
        let of_dealer = |bytes: &[u8]| front(OF_DEALERS, bytes);
        assert_eq!(of_dealer(b"BEGIN"), Front::Part);
        assert_eq!(of_dealer(b"BEGINCARD T"), Front::Unended(5));
        assert_eq!(of_dealer(b"BEGIN\nCA"), Front::Unended(5));
        assert_eq!(of_dealer(b"\nCARD Two of ClubsCARD"), Front::Unended(18));
        assert_eq!(of_dealer(b"RESULT WINQUIT\0"), Front::Unended(10));
        assert_eq!(of_dealer(b"RESULT WIN (20)\0QUIT"), Front::Ended(15));
        assert_eq!(of_dealer(b"BEGIN\n"), Front::Part);
        assert_eq!(of_dealer(b"BEGIN\n\0"), Front::Ended(6));
        assert_eq!(of_dealer(&[b'B'; 300]), Front::Endless);
        assert_eq!(front(OF_PLAYERS, b"HITSTAND"), Front::Unended(3));
        assert_eq!(front(OF_PLAYERS, b"JOIN HIT\0"), Front::Ended(8));
    }

    #[test]
    fn parses_misspelled_messages() {
        for (text, right) in [
            ("RESULT LOSE", "RESULT LOOSE"),
            ("begin", "BEGIN"),
            ("CARD  ten of  Hearts ", "CARD Ten of Hearts"),
            ("RESULT WIN 20 18", "RESULT WIN"),
        ] {
            let right = DealerMessage::parse_text(right.as_bytes()).unwrap();
            assert_eq!(dealer_message(text.as_bytes()), (Some(right), false), "{text}");
        }
        assert_eq!(dealer_message(b"WELCOME tester"), (None, false));
        assert_eq!(player_message(b"hit"), (Some(PlayerText::Hit), false));
        assert_eq!(player_message(b"JOIN Ann van Dam"), (Some(PlayerText::Join("Ann van Dam".into())), false));
    }
}
