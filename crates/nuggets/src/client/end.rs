//! How a client's part in the game ended.

use alloc::string::String;
use netcore::Gone;

/// How a client's part in the game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The server said so; its words, ready to be printed.
    Quit(String),
    /// Nobody answered the first message within [`GIVE_UP`](super::GIVE_UP).
    NoAnswer,
    /// The user left before the server had let the client in.
    LeftEarly,
    /// The user left and the server said no goodbye within [`GOODBYE`](super::GOODBYE).
    NoGoodbye,
    /// The user left while the server's port was closed.
    Gone,
    /// The connection ended, and the server had said nothing about it.
    Disconnected(Gone),
}

impl End {
    /// Whether the game was played to its end, as the server's last message says.
    pub fn is_game_over(&self) -> bool {
        matches!(self, Self::Quit(text) if text.trim_start().starts_with("GAME OVER"))
    }
}
