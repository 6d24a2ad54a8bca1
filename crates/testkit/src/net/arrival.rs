use bytes::Bytes;
use netcore::Gone;

#[derive(Debug)]
pub(super) enum Arrived {
    Bytes(Bytes),
    End(End),
}

/// How a client's connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Closed,
    Broken,
}

impl End {
    pub(super) const fn gone(self) -> Gone {
        match self {
            Self::Closed => Gone::Left,
            Self::Broken => Gone::Broken,
        }
    }
}
