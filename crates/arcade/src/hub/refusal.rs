//! Why somebody is refused, in words and for programs.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use netcore::Full;

/// Declares what is refused, and its names in the numbers.
macro_rules! kinds {
    ($($kind:ident: $name:literal,)*) => {
        /// What is refused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($kind,)*
        }

        impl Kind {
            pub(crate) const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// Its name in the numbers.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    Requests: "requests",
    Connections: "connections",
    Handshakes: "handshakes",
    Sockets: "sockets",
    Bodies: "bodies",
    Answers: "answers",
    Queries: "queries",
    Replays: "replays",
    Learners: "learners",
    Slices: "slices",
    Rooms: "rooms",
    Files: "files",
    Name: "name",
    Origin: "origin",
    Banned: "banned",
    Claims: "claims",
    Tries: "tries",
    Reports: "reports",
    Maps: "maps",
    Bots: "bots",
}

impl Kind {
    /// What a caller is told who is refused for this reason whatever others have.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Requests => "too many requests; wait a moment",
            Self::Name => "this hub is not known by that name; its host can let it be called so by --name",
            Self::Origin => "pages of other sites may not do this",
            Self::Banned => "the host of this hub has banned your address",
            Self::Tries => "too many wrong codes and words from your address; wait a moment",
            Self::Reports => "your address has reported enough; the host of this hub has to read it first",
            Self::Claims => "your address has taken enough names today; come back tomorrow",
            _ => "the hub is at its limit, or your address has its share; try again in a moment",
        }
    }
}

/// Why somebody does not get something that is shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: Kind,
    pub(crate) full: Full,
}

impl Refusal {
    /// Whether it is the caller's address that has its share, and not the hub that is busy.
    pub(crate) fn is_of_host(self) -> bool {
        matches!(self.full, Full::Share(_))
    }

    /// When to try again.
    pub(crate) const fn after(self) -> Duration {
        Duration::from_secs(match self.kind {
            Kind::Queries | Kind::Slices | Kind::Requests => 2,
            Kind::Answers | Kind::Bodies | Kind::Replays => 5,
            Kind::Rooms | Kind::Maps => 60,
            _ => 30,
        })
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = if self.is_of_host() { "from your address" } else { "at this hub" };
        match self.kind {
            Kind::Connections | Kind::Handshakes | Kind::Files => {
                write!(f, "too many connections {whose} are open; close some pages and try again")
            }
            Kind::Sockets => write!(f, "too many sockets {whose} are open; close some pages and try again"),
            Kind::Bodies => write!(f, "too many requests {whose} have not arrived yet; try again in a moment"),
            Kind::Answers => write!(f, "too many answers {whose} are not read yet; try again in a moment"),
            Kind::Queries => write!(f, "too many look-ups of results {whose} are under way; try again in a moment"),
            Kind::Replays => write!(f, "too many matches {whose} are being replayed; try again in a moment"),
            Kind::Learners | Kind::Slices => {
                write!(f, "too many pages {whose} watch it learn just now; try again later")
            }
            Kind::Bots => write!(f, "too many bots {whose} play already; have some of them leave, or try again later"),
            Kind::Maps => write!(f, "too many rooms {whose} have a map of their own; try again later"),
            Kind::Rooms => {
                let (Full::All(count) | Full::Share(count)) = self.full;
                write!(f, "{count} rooms {whose} are open already; join one of them, or wait until one is closed")
            }
            Kind::Requests | Kind::Name | Kind::Origin | Kind::Banned | Kind::Claims | Kind::Tries | Kind::Reports => {
                f.write_str(self.kind.sentence())
            }
        }
    }
}

/// How often something was refused, by kind.
#[derive(Debug, Default)]
pub(crate) struct Refusals([AtomicU64; Kind::ALL.len()]);

impl Refusals {
    pub(crate) fn count(&self, kind: Kind) {
        self.0[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// All kinds, and how often each was refused.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Kind::ALL.iter().map(|&kind| (kind.name(), self.0[kind as usize].load(Ordering::Relaxed)))
    }
}
