//! How messages of a protocol are told apart and told to people.

/// The languages of both sides of a connection.
pub(crate) struct Talk {
    /// What the tester sends.
    pub(crate) tester: Speech,
    /// What the program under test sends.
    pub(crate) program: Speech,
    /// Whether the bytes are to be shown beside what they say.
    pub(crate) is_binary: bool,
}

/// The language of one side.
pub(crate) struct Speech {
    pub(crate) carrier: Carrier,
    /// Says what a message says. It may be no message of the protocol.
    pub(crate) tell: fn(&[u8]) -> Told,
}

/// How messages lie on the wire.
pub(crate) enum Carrier {
    /// Each datagram is one.
    Datagrams,
    /// They follow each other; this finds the end of the first.
    Stream(fn(&[u8]) -> Framed),
}

/// What stands at the front of a stream.
pub(crate) enum Framed {
    /// A message of this length.
    Whole(usize),
    /// The message is not complete.
    Part,
    /// No message: the offset of the byte where decoding stops, and what is wrong.
    Wrong(usize, String),
}

/// What a message says.
pub(crate) struct Told {
    pub(crate) text: String,
    /// The offset of the first byte that is wrong, and what is wrong with it.
    pub(crate) wrong: Option<(usize, String)>,
}

impl Told {
    /// Of a message that is right.
    pub(crate) fn right(text: impl Into<String>) -> Self {
        Self { text: text.into(), wrong: None }
    }
}

/// Standard input and output of a program: what is typed, and lines.
pub(crate) static TERMINAL: Talk = Talk { tester: TYPED, program: PRINTED, is_binary: false };

const TYPED: Speech =
    Speech { carrier: Carrier::Datagrams, tell: |bytes| Told::right(format!("types '{}'", bytes.escape_ascii())) };

const PRINTED: Speech = Speech {
    carrier: Carrier::Datagrams,
    tell: |bytes| Told::right(format!("prints '{}'", String::from_utf8_lossy(bytes))),
};
