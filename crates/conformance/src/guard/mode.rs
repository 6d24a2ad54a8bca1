//! The guard modes.

/// How a guard keeps control of the processes that a program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// In a process namespace, which root may create. All processes end with the first.
    Root,
    /// In a user namespace with a process namespace inside. Task limits also count only the program's processes.
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
}
