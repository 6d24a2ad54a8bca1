//! Both dialects to the byte.

use blackjack::{
    Blackjack, Card, DealerMessage, Dialect, MAX_NAME, Name, PlayerMessage, Request, Verdict,
    protocol::{DealerDecoder, PlayerDecoder},
};
use bytes::BytesMut;
use netcore::{DecodeError, Framing, Protocol};
use proptest::prelude::*;

fn card(number: u8) -> Card {
    Card::new(number).unwrap()
}

fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).unwrap()
}

fn hex(text: &str) -> Vec<u8> {
    text.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn dealer_messages_have_the_documented_bytes() {
    for (message, text, binary) in [
        (DealerMessage::Begin, "BEGIN\0", "00 00 00 01 02"),
        (DealerMessage::Card(card(1)), "CARD Ace of Clubs\0", "00 00 00 02 03 01"),
        (DealerMessage::Card(card(52)), "CARD King of Spades\0", "00 00 00 02 03 34"),
        (DealerMessage::Upcard(card(25)), "DEALER Queen of Diamonds\0", "00 00 00 02 04 19"),
        (DealerMessage::Decision, "DECISION\0", "00 00 00 01 05"),
        (DealerMessage::Result(Verdict::Win), "RESULT WIN\0", "00 00 00 02 08 01"),
        (DealerMessage::Result(Verdict::Lose), "RESULT LOOSE\0", "00 00 00 02 08 02"),
        (DealerMessage::Result(Verdict::Bust), "RESULT BUST\0", "00 00 00 02 08 03"),
        (DealerMessage::Result(Verdict::Push), "RESULT PUSH\0", "00 00 00 02 08 04"),
        (DealerMessage::Quit, "QUIT\0", "00 00 00 01 09"),
    ] {
        assert_eq!(message.to_bytes(Dialect::Text), text.as_bytes());
        assert_eq!(message.to_bytes(Dialect::Binary), hex(binary));
        for dialect in [Dialect::Text, Dialect::Binary] {
            let mut bytes = BytesMut::from(&message.to_bytes(dialect)[..]);
            assert_eq!(DealerDecoder::new(dialect).decode(&mut bytes), Ok(Some(message)));
            assert!(bytes.is_empty());
        }
    }
    assert_eq!(DealerMessage::parse_text(b"RESULT LOSE"), Ok(DealerMessage::Result(Verdict::Lose)));
}

#[test]
fn player_messages_have_the_documented_bytes() {
    for (message, text, binary) in [
        (PlayerMessage::Join(name("Ann")), "JOIN Ann\0", "00 00 00 05 01 01 41 6e 6e"),
        (PlayerMessage::Hit, "HIT\0", "00 00 00 01 06"),
        (PlayerMessage::Stand, "STAND\0", "00 00 00 01 07"),
    ] {
        assert_eq!(message.to_bytes(Dialect::Text), text.as_bytes());
        assert_eq!(message.to_bytes(Dialect::Binary), hex(binary));
    }
}

#[test]
fn first_byte_permanently_selects_the_dialect() {
    let join = |dialect| Request { dialect, message: PlayerMessage::Join(name("Ann")) };
    let hit = |dialect| Request { dialect, message: PlayerMessage::Hit };
    for (dialect, other) in [(Dialect::Text, Dialect::Binary), (Dialect::Binary, Dialect::Text)] {
        let mut decoder = PlayerDecoder::default();
        let mut decode = |bytes: &[u8]| Blackjack::decode(&mut decoder, bytes, Framing::Stream);
        assert_eq!(decode(&join(dialect).message.to_bytes(dialect)), Ok(join(dialect)));
        assert_eq!(decode(&hit(dialect).message.to_bytes(dialect)), Ok(hit(dialect)));
        // In text, a zero byte is an empty message; in binary, the bytes of a text are a length out of range.
        assert!(decode(&hit(other).message.to_bytes(other)).is_err());
    }
    for byte in (1..=255).filter(|&byte| byte != b'J') {
        assert!(PlayerDecoder::default().length(&[byte]).is_err(), "{byte}");
    }
}

#[test]
fn player_texts_are_parsed_exactly() {
    let long = format!("JOIN {}", "x".repeat(MAX_NAME + 1));
    for text in [
        "",
        "HIT ",
        " HIT",
        "hit",
        "Hit",
        "HIT\n",
        "STAND\r",
        "STAY",
        "JOIN",
        "JOIN ",
        "JOIN  Ann",
        "JOIN Ann ",
        "JOIN Ann B",
        "join Ann",
        "JOIN A\tB",
        "JOIN \u{e9}",
        "BEGIN",
        "QUIT",
        "DECISION",
        &long,
    ] {
        assert!(PlayerMessage::parse_text(text.as_bytes()).is_err(), "'{text}'");
    }
    let longest = format!("JOIN {}", "x".repeat(MAX_NAME));
    assert!(PlayerMessage::parse_text(longest.as_bytes()).is_ok());
}

#[test]
fn binary_messages_have_exactly_their_size() {
    for bytes in ["06 00", "07 00", "01", "01 01", "01 02 41", "01 01 20", "00", "02", "05", "0a", "ff"] {
        assert!(PlayerMessage::parse_binary(&hex(bytes)).is_err(), "{bytes}");
    }
    for bytes in
        ["02 00", "03", "03 00", "03 35", "03 01 01", "04", "04 00", "05 05", "08", "08 00", "08 05", "09 01", "06"]
    {
        let error = DealerMessage::parse_binary(&hex(bytes)).expect_err(bytes);
        assert_ne!(error, DecodeError::Incomplete, "{bytes}: nothing more would come");
    }
    for (bytes, wrong) in [("00 00 00 00", true), ("00 00 01 01", true), ("00 00 01 00", false), ("00 00 00", false)] {
        let length = PlayerDecoder::default().length(&hex(bytes));
        assert_eq!(length.is_err(), wrong, "{bytes}");
    }
}

#[test]
fn unterminated_text_is_refused_at_its_bound() {
    let mut buffer = BytesMut::from(&b"JOIN "[..]);
    let refused = loop {
        match PlayerDecoder::default().length(&buffer) {
            Ok(None) => buffer.extend_from_slice(b"x"),
            other => break other,
        }
    };
    assert_eq!(refused, Err(DecodeError::TooLong { length: 257, max: 256 }));
}

#[test]
fn frame_holds_exactly_one_message() {
    let whole = |bytes: &[u8]| {
        let mut decoder = PlayerDecoder::default();
        let read = Blackjack::decode(&mut decoder, bytes, Framing::Whole);
        (read.map(|request| request.message), decoder)
    };
    let join = PlayerMessage::Join(name("Ann"));
    for bytes in [&b"JOIN Ann"[..], b"JOIN Ann\0", b"\0\0\0\x05\x01\x01Ann"] {
        assert_eq!(whole(bytes).0, Ok(join.clone()), "{bytes:?}");
    }
    let longest = [b"JOIN ".to_vec(), vec![b'x'; 252]].concat();
    for (bytes, why) in [
        (&b""[..], DecodeError::Incomplete),
        (b"\0\0\0", DecodeError::Incomplete),
        (b"\0\0\0\x05\x01\x01An", DecodeError::Incomplete),
        (b"JOIN Ann\0\0", DecodeError::Trailing { at: 9, extra: 1 }),
        (b"JOIN Ann\0HIT", DecodeError::Trailing { at: 9, extra: 3 }),
        (b"\0\0\0\x05\x01\x01Annie", DecodeError::Trailing { at: 9, extra: 2 }),
        (b"\0\0\x01\x01", DecodeError::TooLong { length: 257, max: 256 }),
        (&longest, DecodeError::TooLong { length: 257, max: 256 }),
    ] {
        let (read, decoder) = whole(bytes);
        assert_eq!(read, Err(why), "{bytes:?}");
        // The next message may be of either dialect.
        for bytes in [&b"JOIN Ann\0"[..], b"\0\0\0\x05\x01\x01Ann"] {
            assert!(decoder.clone().decode(bytes).is_ok());
        }
    }
    let (_, mut decoder) = whole(b"JOIN Ann");
    for (bytes, message) in
        [(&b"HIT"[..], PlayerMessage::Hit), (b"STAND\0", PlayerMessage::Stand), (b"HIT\0", PlayerMessage::Hit)]
    {
        assert_eq!(decoder.decode(bytes).map(|request| request.message), Ok(message));
    }
    assert!(decoder.decode(b"\0\0\0\x01\x06").is_err(), "the dialect is chosen for good");
    for dialect in [Dialect::Text, Dialect::Binary] {
        let bytes = DealerMessage::Decision.to_bytes(dialect);
        let mut buffer = BytesMut::new();
        buffer.extend_from_slice(&bytes);
        buffer.extend_from_slice(&bytes);
        let decoder = DealerDecoder::new(dialect);
        assert_eq!(decoder.decode_whole(&bytes), Ok(DealerMessage::Decision));
        assert!(matches!(decoder.decode_whole(&buffer), Err(DecodeError::Trailing { .. })));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_rejected_or_round_trip(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(message) = PlayerMessage::parse_text(&bytes) {
            prop_assert_eq!(message.to_bytes(Dialect::Text), [&bytes[..], &[0]].concat());
        }
        if let Ok(message) = PlayerMessage::parse_binary(&bytes) {
            prop_assert_eq!(&message.to_bytes(Dialect::Binary)[4..], &bytes[..]);
        }
        if let Ok(message) = DealerMessage::parse_binary(&bytes) {
            prop_assert_eq!(&message.to_bytes(Dialect::Binary)[4..], &bytes[..]);
        }
        let _ = DealerMessage::parse_text(&bytes);
        let (mut decoder, mut buffer) = (PlayerDecoder::default(), BytesMut::from(&bytes[..]));
        while let Ok(Some(_)) = Blackjack::take(&mut decoder, &mut buffer) {}
    }
}
