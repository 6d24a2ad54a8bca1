use bytes::Bytes;
use netcore::DisconnectReason;

#[derive(Debug)]
pub(super) enum Arrived {
    Bytes(Bytes),
    End(End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Closed,
    Broken,
}

impl End {
    pub(super) const fn reason(self) -> DisconnectReason {
        match self {
            Self::Closed => DisconnectReason::Left,
            Self::Broken => DisconnectReason::Broken,
        }
    }
}
