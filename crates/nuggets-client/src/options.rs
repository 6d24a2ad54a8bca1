//! What the command line says about a client at a terminal.

use std::{net::SocketAddr, sync::Arc};

use cmdkit::Directory;
use nuggets::Participant;

use crate::bot::Style;

/// What the command line says about a [`Player`](crate::play::Player).
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) part: Participant,
    pub(crate) addresses: Vec<SocketAddr>,
    /// Who tells where the server is if it moves.
    pub(crate) directory: Option<Arc<Directory>>,
    /// How the bot plays, if one does.
    pub(crate) bot: Option<Style>,
    /// Whether it takes part in the next game by itself.
    pub(crate) rematch: bool,
    /// Where, in words.
    pub(crate) place: String,
    pub(crate) bell: bool,
}
