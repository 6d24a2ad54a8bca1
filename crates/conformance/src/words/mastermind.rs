use mastermind::protocol::{MAX_MESSAGE, MAX_TOLD};

use super::{Form, Part, ended_by, wrong};
use crate::tape::{ChannelFormat, Description, Framed, MessageFormat, MessageFraming};

pub(crate) static WITH_SERVER: ChannelFormat = ChannelFormat { tester: PLAYER, program: SERVER, is_binary: false };
pub(crate) static WITH_CLIENT: ChannelFormat = ChannelFormat { tester: ROOM, program: PLAYER, is_binary: false };

const PLAYER: MessageFormat =
    MessageFormat { framing: MessageFraming::Stream(|bytes| frame(bytes, MAX_MESSAGE)), describe: player };
const SERVER: MessageFormat =
    MessageFormat { framing: MessageFraming::Stream(|bytes| frame(bytes, MAX_TOLD)), describe: server };
// The tester may end its lines in both allowed ways.
const ROOM: MessageFormat = MessageFormat {
    framing: MessageFraming::Stream(|bytes| frame(bytes, MAX_TOLD)),
    describe: |line| server(without_return(line)),
};

const SPACE: Part = Part::Word(" ");
const ANSWER: Part = Part::OneOf(&["yes", "no"]);
const CODE: Part = Part::Of(b"12345678", 4, 8, "a digit from 1 to 8");
const HIDDEN: Part = Part::Of(b"*", 4, 8, "a star");
const DIGIT: Part = Part::Of(b"12345678*", 1, 1, "a digit from 1 to 8, or a star");
const DECIMAL: Part = Part::Of(b"0123456789.", 1, 20, "a number");
const LIFELINE: Part = Part::OneOf(&["1", "2"]);
const AVAILABILITY: Part = Part::OneOf(&["available", "used", "blocked"]);
const ENDING: Part = Part::OneOf(&["won", "lost", "resigned", "late"]);
const DATE: Part = Part::Of(b"0123456789-", 10, 10, "a date");

const OF_PLAYERS: &[Form] = &[
    &[Part::Word("PLAY "), Part::Rest(1)],
    &[Part::Word("GUESS "), CODE],
    &[Part::Word("LIFELINE "), LIFELINE],
    &[Part::Word("HINT")],
    &[Part::Word("NEW")],
    &[Part::Word("NEW "), Part::Of(b"45678", 1, 1, "a digit from 4 to 8"), SPACE, ANSWER],
    &[Part::Word("RESIGN")],
    &[Part::Word("QUIT")],
];

const OF_SERVERS: &[Form] = &[
    &[Part::Word("ROOM solo "), Part::Number, SPACE, Part::Number, SPACE, ANSWER],
    &[Part::Word("ROOM race "), Part::Number, SPACE, Part::Number, SPACE, ANSWER, SPACE, Part::Number],
    &[Part::Word("ROOM daily "), Part::Number, SPACE, Part::Number, SPACE, ANSWER, SPACE, DATE],
    &[Part::Word("OK "), Part::Number],
    &[Part::Word("SEAT "), Part::Number, SPACE, Part::Rest(1)],
    &[Part::Word("LEFT "), Part::Number],
    &[Part::Word("WAIT "), Part::Number],
    &[Part::Word("GAME "), Part::Number, SPACE, Part::Number, SPACE, Part::Number, SPACE, ANSWER],
    &[Part::Word("ROW "), Part::Number, SPACE, Part::Number, SPACE, CODE, SPACE, Part::Number, SPACE, Part::Number],
    &[Part::Word("ROW "), Part::Number, SPACE, Part::Number, SPACE, HIDDEN, SPACE, Part::Number, SPACE, Part::Number],
    &[Part::Word("LIFELINE "), Part::Number, SPACE, Part::Number, SPACE, LIFELINE, SPACE, DIGIT, SPACE, DIGIT],
    &[Part::Word("TURN "), Part::Number, SPACE, AVAILABILITY, SPACE, AVAILABILITY, SPACE, Part::Number],
    &[
        Part::Word("HINT "),
        Part::Number,
        SPACE,
        Part::Number,
        SPACE,
        CODE,
        SPACE,
        DECIMAL,
        SPACE,
        DECIMAL,
        SPACE,
        Part::Number,
        SPACE,
        ANSWER,
    ],
    &[Part::Word("POSSIBLE "), Part::Of(b"12345678 ", 4, MAX_TOLD, "a code")],
    &[Part::Word("OVER "), Part::Number, SPACE, ENDING, SPACE, Part::Number, SPACE, Part::Number, SPACE, CODE],
    &[Part::Word("OVER "), Part::Number, SPACE, ENDING, SPACE, Part::Number, SPACE, Part::Number, SPACE, HIDDEN],
    &[Part::Word("NO "), Part::Rest(1)],
    &[Part::Word("BYE "), Part::Rest(1)],
];

fn frame(bytes: &[u8], most: usize) -> Framed {
    ended_by(b'\n', most, "a line feed", bytes)
}

fn without_return(line: &[u8]) -> &[u8] {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    text.strip_suffix(b"\r").unwrap_or(text)
}

// A carriage return may end the line, and the first word may be in lower case.
fn player(line: &[u8]) -> Description {
    let text = without_return(line);
    let mut upper = text.to_vec();
    let word = upper.iter().position(|&byte| byte == b' ').unwrap_or(upper.len());
    if let Some(word) = upper.get_mut(..word) {
        word.make_ascii_uppercase();
    }
    Description { text: text.escape_ascii().to_string(), wrong: wrong(OF_PLAYERS, &upper) }
}

fn server(line: &[u8]) -> Description {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    Description { text: text.escape_ascii().to_string(), wrong: wrong(OF_SERVERS, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_every_message_of_the_page() {
        let page = include_str!("../../../../docs/protocols/mastermind.md");
        let session = page.lines().filter_map(|line| line.strip_prefix("> ").or_else(|| line.strip_prefix("< ")));
        let examples: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("| `") && line.matches('|').count() == 4)
            .flat_map(|row| row.rsplit('|').nth(1).unwrap().split('`').skip(1).step_by(2))
            .collect();
        assert!(examples.len() > 20, "{examples:?}");
        for line in examples.into_iter().chain(session.filter(|line| *line != "NEW 9 no")) {
            let bytes = format!("{line}\n");
            let told = [player(bytes.as_bytes()), server(bytes.as_bytes())];
            assert!(told.iter().any(|told| told.wrong.is_none()), "{line}");
            assert!(matches!(frame(bytes.as_bytes(), MAX_TOLD), Framed::Whole(length) if length == bytes.len()));
        }
    }

    #[test]
    fn reports_the_first_byte_that_matches_no_message() {
        let of_server = |line: &[u8]| server(line).wrong;
        assert_eq!(of_server(b"ROW 1 1 1294 0 2\n"), Some((10, "expected a digit from 1 to 8".into())));
        assert_eq!(of_server(b"OK 1\r\n"), Some((4, "expected the end of the message".into())));
        assert_eq!(of_server(b"ok 1\n").map(|(at, _)| at), Some(0));
        assert_eq!(player(b"guess 1234\r\n").wrong, None);
        assert_eq!(player(b"LIFELINE 3\n").wrong, Some((9, "expected '1' or '2'".into())));
        assert!(matches!(frame(&[b'x'; 65], MAX_MESSAGE), Framed::Wrong(64, _)));
        assert!(matches!(frame(&[b'x'; 64], MAX_MESSAGE), Framed::Part));
    }
}
