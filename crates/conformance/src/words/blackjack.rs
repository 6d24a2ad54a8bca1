//! The text dialect of blackjack.

use blackjack::Card;

use super::{Form, Part, ended_by, wrong};
use crate::{
    net::MAX_TEXT,
    tape::{Carrier, Framed, Speech, Talk, Told},
};

/// Between a dealer under test and a player of the tester.
pub(crate) static WITH_DEALER: Talk = Talk { tester: PLAYER, program: DEALER, is_binary: false };
/// Between a player under test and a dealer of the tester.
pub(crate) static WITH_PLAYER: Talk = Talk { tester: DEALER, program: PLAYER, is_binary: false };

const PLAYER: Speech = Speech { carrier: Carrier::Stream(frame), tell: |bytes| told(OF_PLAYERS, bytes) };
const DEALER: Speech = Speech { carrier: Carrier::Stream(frame), tell: |bytes| told(OF_DEALERS, bytes) };

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

/// Cards with commas in between.
pub(crate) fn cards<'c>(cards: impl IntoIterator<Item = &'c Card>) -> String {
    cards.into_iter().map(Card::to_string).collect::<Vec<_>>().join(", ")
}

fn frame(bytes: &[u8]) -> Framed {
    ended_by(0, MAX_TEXT, "a NUL", bytes)
}

fn told(forms: &[Form], message: &[u8]) -> Told {
    let text = message.strip_suffix(b"\0").unwrap_or(message);
    // A text of ASCII letters is what it says; all else is spelled out.
    Told { text: text.escape_ascii().to_string(), wrong: wrong(forms, text) }
}

#[cfg(test)]
mod tests {
    use blackjack::{DealerMessage, Dialect, Name, PlayerMessage, Verdict};

    use super::*;

    #[test]
    fn every_message_of_the_protocol_is_right() {
        let cards = Card::all().flat_map(|card| [DealerMessage::Card(card), DealerMessage::Upcard(card)]);
        let results = [Verdict::Win, Verdict::Lose, Verdict::Bust, Verdict::Push].map(DealerMessage::Result);
        let others = [DealerMessage::Begin, DealerMessage::Decision, DealerMessage::Quit];
        for message in cards.chain(results).chain(others) {
            let bytes = message.to_bytes(Dialect::Text);
            let Framed::Whole(length) = frame(&bytes) else { panic!("{message}") };
            assert_eq!((length, told(OF_DEALERS, &bytes).wrong), (bytes.len(), None), "{message}");
        }
        for message in [PlayerMessage::Hit, PlayerMessage::Stand, PlayerMessage::Join(Name::new(b"x").unwrap())] {
            assert_eq!(told(OF_PLAYERS, &message.to_bytes(Dialect::Text)).wrong, None, "{message}");
        }
    }
}
