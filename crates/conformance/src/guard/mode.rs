//! What this system allows a guard to do.

use std::{ffi::OsStr, process::Stdio, sync::OnceLock};

use super::{Guard, MYSELF, inside::NOTHING};
use crate::limits::Limits;

/// How a guard keeps hold of what a program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// In a namespace of processes, which root may create: all end with the first.
    Root,
    /// In a namespace of users with one of processes inside: the processes of the program alone are counted, too.
    User,
    /// The guard is the parent of all orphans, finds them and ends them.
    Plain,
}

impl Mode {
    pub(super) const ALL: [Self; 3] = [Self::Root, Self::User, Self::Plain];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::User => "user",
            Self::Plain => "plain",
        }
    }

    /// The first that works here. It is tried once.
    pub(crate) fn of_system() -> Self {
        static MODE: OnceLock<Mode> = OnceLock::new();
        *MODE.get_or_init(|| Self::ALL.into_iter().find(|mode| mode.works()).unwrap_or(Self::Plain))
    }

    fn works(self) -> bool {
        let limits = Limits::default();
        let mut command = Guard::command(OsStr::new(MYSELF), &NOTHING.map(str::to_owned), &limits, self, false);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Guard::start(&mut command).is_ok()
    }
}
