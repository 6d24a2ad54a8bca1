use robots::{
    ClientMessage, DrawMessage, InputMessage, ServerMessage,
    protocol::{
        MAX_CLIENT_MESSAGE, MAX_DATAGRAM, MAX_PICTURE_ITEMS, MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE,
        shape::{Described, PartReader},
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// From a client to a server.
    Client,
    /// From a server to a client.
    Server,
    /// From a client to its GUI.
    Display,
    /// From a GUI to its client.
    Input,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Client, Self::Server, Self::Display, Self::Input];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Display => "display",
            Self::Input => "input",
        }
    }

    pub(crate) fn parts(self) -> PartReader {
        let (shape, max_message, max_items) = match self {
            // These messages contain no lists.
            Self::Client => (&ClientMessage::SHAPE, MAX_CLIENT_MESSAGE, 0),
            Self::Server => (&ServerMessage::SHAPE, MAX_SERVER_MESSAGE, MAX_SERVER_ITEMS),
            Self::Display => (&DrawMessage::SHAPE, MAX_DATAGRAM, MAX_PICTURE_ITEMS),
            // A move: its tag and a direction.
            Self::Input => (&InputMessage::SHAPE, 2, 0),
        };
        PartReader::new(shape, max_message, max_items)
    }
}
