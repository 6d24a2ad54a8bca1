//! Programs run as the user of the league, so each can find the port of any seat.
//!
//! In its own network, a program reaches only its own port. Where programs share a network, a connection is accepted
//! only if its socket belongs to the processes of the seat's player.

use std::fmt;

use conformance::{Network, Owner};
use serde::{Deserialize, Serialize};

/// Weakest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protection {
    #[default]
    None,
    Sockets,
    Network,
}

impl Protection {
    /// The strongest one that the system offers.
    pub(crate) fn of_this_process() -> Self {
        match Network::new() {
            Ok(network) if !network.is_shared() => Self::Network,
            _ if Owner::is_shown() => Self::Sockets,
            _ => Self::None,
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sockets => "sockets",
            Self::Network => "network",
        }
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "Programs shared a network, and connections to seats were not checked",
            Self::Sockets => {
                "Programs shared a network, and a seat accepted connections only from the processes of its player"
            }
            Self::Network => "Each program had a separate network, in which it reached only its own seat",
        })
    }
}
