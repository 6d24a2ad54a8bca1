//! Delegation of the methods that a wrapper of a room does not change.

/// Methods of [`netcore::Room`] that a wrapper passes on to the room in its field `room`.
macro_rules! forward {
    ($($method:ident),*) => { $(super::forward::forward!(@$method);)* };
    (@split) => {
        fn split(&mut self, peer: netcore::PeerId, bytes: &[u8]) -> netcore::Split {
            self.room.split(peer, bytes)
        }
    };
    (@admits) => {
        fn admits(&self, datagram: &[u8]) -> netcore::Admission {
            self.room.admits(datagram)
        }
    };
    (@deadline) => {
        fn deadline(&self) -> Option<netcore::Time> {
            self.room.deadline()
        }
    };
    (@outcome) => {
        fn outcome(&self) -> Option<netcore::Outcome> {
            self.room.outcome()
        }
    };
    (@status) => {
        fn status(&self) -> netcore::Status {
            self.room.status()
        }
    };
}

pub(super) use forward;
