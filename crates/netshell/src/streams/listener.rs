//! Where connections come in, and what is made of trouble there.

use std::{io, net::SocketAddr, task::Poll, time::Duration};

use netcore::Time;

use super::{ready::Source, stream::Listen};

/// How long a listener pauses when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Something that listens, and whether it has to pause.
#[derive(Debug)]
pub(super) struct Listener<L> {
    socket: L,
    source: Source,
    // Until then the system has no room.
    paused: Option<Time>,
}

/// What looking after a listener has brought.
#[derive(Debug)]
pub(super) enum Accepted<S> {
    /// A connection, and the address of its other end.
    Connection(S, SocketAddr),
    /// Nothing is there.
    Nothing,
    /// The system has no room for another connection just now.
    Full(io::Error),
}

impl<L: Listen> Listener<L> {
    /// Listens; `source` wakes when there is something to do.
    pub(super) const fn new(socket: L, source: Source) -> Self {
        Self { socket, source, paused: None }
    }

    /// Takes in one connection, if one is there. If another may be, its source wakes again.
    pub(super) fn accept(&mut self, now: Time) -> Accepted<L::Stream> {
        if self.paused.is_some_and(|until| now < until) {
            return Accepted::Nothing;
        }
        self.paused = None;
        let Poll::Ready(accepted) = self.socket.poll_accept(&mut self.source.context()) else {
            return Accepted::Nothing;
        };
        match accepted {
            Ok((stream, address)) => {
                self.source.wake();
                Accepted::Connection(stream, address)
            }
            Err(error) if is_about_one_connection(&error) => {
                self.source.wake();
                Accepted::Nothing
            }
            Err(error) => {
                self.paused = Some(now.plus(PAUSE));
                Accepted::Full(error)
            }
        }
    }

    /// Looks whether a pause is over. Whether it pauses, or did until now, so that time alone matters.
    pub(super) fn elapsed(&self) -> bool {
        if self.paused.is_some() {
            self.source.wake();
        }
        self.paused.is_some()
    }
}

// Errors that concern the connection that was to be taken in, not the next one.
fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::ready::ReadyList;
    use std::{collections::VecDeque, task::Context};
    use tokio::net::TcpStream;

    /// A system that answers like this, one after the other.
    struct Scripted(VecDeque<io::ErrorKind>);

    impl Listen for Scripted {
        type Stream = TcpStream;

        fn poll_accept(&mut self, _: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
            self.0.pop_front().map_or(Poll::Pending, |kind| Poll::Ready(Err(kind.into())))
        }
    }

    #[test]
    fn trouble_with_one_connection_is_passed_over_and_a_full_system_is_left_alone_for_a_while() {
        let ready = ReadyList::new();
        let answers = [io::ErrorKind::ConnectionAborted, io::ErrorKind::OutOfMemory, io::ErrorKind::OutOfMemory];
        let mut listener = Listener::new(Scripted(answers.into()), ready.source('l'));
        assert_eq!(ready.next(), Some('l'));
        let at = Time::from_millis;
        assert!(matches!(listener.accept(at(0)), Accepted::Nothing));
        assert_eq!(ready.next(), Some('l'), "there may be another one");
        assert!(matches!(listener.accept(at(0)), Accepted::Full(_)));
        assert_eq!(ready.next(), None, "no busy loop");
        assert!(listener.elapsed() && ready.next() == Some('l'));
        assert!(matches!(listener.accept(at(99)), Accepted::Nothing), "the system is not asked");
        assert!(matches!(listener.accept(at(100)), Accepted::Full(_)));
        assert!(matches!(listener.accept(at(200)), Accepted::Nothing));
        assert!(!listener.elapsed(), "the pause is over");
    }
}
