use alloc::string::String;
use netcore::DisconnectReason;

/// How a client's part in the game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The server sent a QUIT with this printable text.
    Quit(String),
    /// No response to the first message arrived within [`GIVE_UP`](super::GIVE_UP).
    NoAnswer,
    /// The user left before the server had admitted the client.
    LeftEarly,
    /// The user left, but no goodbye arrived within [`GOODBYE`](super::GOODBYE).
    NoGoodbye,
    /// The user left while the server's port was closed.
    Gone,
    /// The connection ended without a QUIT.
    Disconnected(DisconnectReason),
}

impl End {
    /// Whether the text of the QUIT states that the game was completed.
    pub fn is_game_over(&self) -> bool {
        matches!(self, Self::Quit(text) if text.trim_start().starts_with("GAME OVER"))
    }
}
