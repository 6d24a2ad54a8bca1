//! How the messages of a protocol are delimited and described.

/// The message formats of both sides of a connection.
pub(crate) struct Talk {
    /// The format of the tester's messages.
    pub(crate) tester: Speech,
    /// The format of the program's messages.
    pub(crate) program: Speech,
    /// Whether reports show the bytes beside the description.
    pub(crate) is_binary: bool,
}

/// The message format of one side.
pub(crate) struct Speech {
    pub(crate) carrier: Carrier,
    /// Describes a message, which may be invalid.
    pub(crate) tell: fn(&[u8]) -> Description,
}

/// How messages are delimited.
pub(crate) enum Carrier {
    /// Each datagram is a message.
    Datagrams,
    /// Messages follow each other in a stream. The function finds the end of the first message.
    Stream(fn(&[u8]) -> Framed),
}

/// The front of a stream.
pub(crate) enum Framed {
    /// A message of this length.
    Whole(usize),
    /// An incomplete message.
    Part,
    /// An invalid message: the offset of the byte where decoding stops, and the error.
    Wrong(usize, String),
}

/// The description of a message.
pub(crate) struct Description {
    pub(crate) text: String,
    /// The offset of the first wrong byte, and the error.
    pub(crate) wrong: Option<(usize, String)>,
}

impl Description {
    /// Describes a valid message.
    pub(crate) fn right(text: impl Into<String>) -> Self {
        Self { text: text.into(), wrong: None }
    }
}

/// Standard input and output of a program: typed input and printed lines.
pub(crate) static TERMINAL: Talk = Talk { tester: TYPED, program: PRINTED, is_binary: false };

const TYPED: Speech = Speech {
    carrier: Carrier::Datagrams,
    tell: |bytes| Description::right(format!("types '{}'", bytes.escape_ascii())),
};

const PRINTED: Speech = Speech {
    carrier: Carrier::Datagrams,
    tell: |bytes| Description::right(format!("prints '{}'", String::from_utf8_lossy(bytes))),
};
