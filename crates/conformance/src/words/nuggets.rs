use nuggets::protocol::printable;

use super::{Form, Part, wrong};
use crate::tape::{ChannelFormat, Description, MessageFormat, MessageFraming};

pub(crate) static WITH_SERVER: ChannelFormat = ChannelFormat { tester: CLIENT, program: SERVER, is_binary: false };
pub(crate) static WITH_CLIENT: ChannelFormat = ChannelFormat { tester: SERVER, program: CLIENT, is_binary: false };

const CLIENT: MessageFormat =
    MessageFormat { framing: MessageFraming::Datagrams, describe: |bytes| describe(OF_CLIENTS, bytes) };
const SERVER: MessageFormat =
    MessageFormat { framing: MessageFraming::Datagrams, describe: |bytes| describe(OF_SERVERS, bytes) };

const OF_CLIENTS: &[Form] =
    &[&[Part::Word("PLAY "), Part::Rest(1)], &[Part::Word("SPECTATE")], &[Part::Word("KEY "), Part::Byte]];
const OF_SERVERS: &[Form] = &[
    &[Part::Word("OK "), Part::Letter],
    &[Part::Word("GRID "), Part::Number, Part::Word(" "), Part::Number],
    &[Part::Word("GOLD "), Part::Number, Part::Word(" "), Part::Number, Part::Word(" "), Part::Number],
    &[Part::Word("DISPLAY\n"), Part::Rest(0)],
    &[Part::Word("QUIT "), Part::Rest(0)],
    &[Part::Word("ERROR "), Part::Rest(0)],
];

fn describe(forms: &[Form], datagram: &[u8]) -> Description {
    let text = printable(datagram.strip_suffix(b"\n").unwrap_or(datagram), b"\n");
    Description { text, wrong: wrong(forms, datagram) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_wrong_byte_of_invalid_messages_only() {
        let messages: [&[u8]; 7] =
            [b"OK A", b"GRID 3 14", b"GOLD 0 0 250", b"DISPLAY\n", b"DISPLAY\n@\n", b"QUIT x\ny", b"ERROR "];
        for message in messages {
            assert_eq!(describe(OF_SERVERS, message).wrong, None);
        }
        assert_eq!(describe(OF_SERVERS, b"GOLD 1 x 3").wrong, Some((7, "expected a digit".into())));
        assert_eq!(describe(OF_CLIENTS, b"KEY hh").wrong, Some((5, "expected the end of the message".into())));
        assert_eq!(describe(OF_CLIENTS, b"KEY h").wrong, None);
    }
}
