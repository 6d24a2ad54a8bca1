#[derive(Debug, Clone, Copy)]
pub struct Malformed {
    /// The defect, as a file name.
    pub name: &'static str,
    pub bytes: &'static [u8],
}

const fn malformed(name: &'static str, bytes: &'static [u8]) -> Malformed {
    Malformed { name, bytes }
}

/// The longest datagram that IPv4 carries.
static LONGEST: [u8; nuggets::protocol::MAX_DATAGRAM] = [b'K'; nuggets::protocol::MAX_DATAGRAM];
static LONGEST_KEY: [u8; nuggets::protocol::MAX_DATAGRAM] = {
    let mut bytes = [b'h'; nuggets::protocol::MAX_DATAGRAM];
    (bytes[0], bytes[1], bytes[2], bytes[3]) = (b'K', b'E', b'Y', b' ');
    bytes
};

/// A nuggets server must survive these without moving any player.
pub const MALFORMED: &[Malformed] = &[
    malformed("empty", b""),
    malformed("one-nul", b"\0"),
    malformed("nuls", b"\0\0\0\0\0\0\0\0"),
    malformed("a-space", b" "),
    malformed("a-newline", b"\n"),
    malformed("spectate-and-a-space", b"SPECTATE "),
    malformed("spectate-and-a-newline", b"SPECTATE\n"),
    malformed("spectate-and-a-nul", b"SPECTATE\0"),
    malformed("spectate-and-text", b"SPECTATE please"),
    malformed("spectatex", b"SPECTATEX"),
    malformed("spectat", b"SPECTAT"),
    malformed("play-without-space", b"PLAY"),
    malformed("play-with-a-newline", b"PLAY\nAnn"),
    malformed("play-with-a-tab", b"PLAY\tAnn"),
    malformed("play-glued-to-the-name", b"PLAYAnn"),
    malformed("key-without-space", b"KEY"),
    malformed("key-without-character", b"KEY "),
    malformed("key-glued-to-the-character", b"KEYh"),
    malformed("key-with-two-characters", b"KEY hh"),
    malformed("key-with-two-different-characters", b"KEY hQ"),
    malformed("key-and-a-newline", b"KEY h\n"),
    malformed("key-and-a-nul", b"KEY h\0"),
    malformed("key-behind-two-spaces", b"KEY  h"),
    malformed("key-behind-a-newline", b"KEY\nh"),
    malformed("key-in-utf-8", "KEY \u{e9}".as_bytes()),
    malformed("two-messages", b"KEY h\nKEY l"),
    malformed("quit-key-and-a-newline", b"KEY Q\n"),
    malformed("lower-case-play", b"play Ann"),
    malformed("lower-case-key", b"key h"),
    malformed("lower-case-spectate", b"spectate"),
    malformed("mixed-case", b"Key h"),
    malformed("behind-a-space", b" KEY h"),
    malformed("behind-a-nul", b"\0KEY h"),
    malformed("server-ok", b"OK A"),
    malformed("server-grid", b"GRID 21 79"),
    malformed("server-gold", b"GOLD 5 5 240"),
    malformed("server-display", b"DISPLAY\n...\n"),
    malformed("server-quit", b"QUIT GAME OVER:"),
    malformed("server-error", b"ERROR unknown keystroke"),
    malformed("format-strings", b"%s%s%s%n%x%d"),
    malformed("format-strings-behind-key", b"KEY %s%n"),
    malformed("shell", b"$(reboot); `reboot` | reboot"),
    malformed("terminal-escapes", b"\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b5m\r\n"),
    malformed("a-bare-letter", b"h"),
    malformed("not-utf-8", b"\xff\xfe\xfd\xc0\x80"),
    malformed("overlong-number", b"KEY 99999999999999999999999999"),
    malformed("longest", &LONGEST),
    malformed("longest-key", &LONGEST_KEY),
];

#[cfg(test)]
mod tests {
    use super::*;
    use nuggets::ClientMessage;
    use std::collections::BTreeSet;

    #[test]
    fn malformed_datagrams_are_rejected_and_have_unique_names() {
        for Malformed { name, bytes } in MALFORMED {
            assert!(ClientMessage::parse(bytes).is_err(), "{name}");
        }
        let names: BTreeSet<&str> = MALFORMED.iter().map(|malformed| malformed.name).collect();
        assert_eq!(names.len(), MALFORMED.len());
    }
}
