//! Ways of a guard to keep hold of a program.

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
}
