use std::{io, net::SocketAddr, task::Poll, time::Duration};

use netcore::Time;

use super::{ready::Source, stream::Listen};

const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Listener<L> {
    socket: L,
    source: Source,
    paused: Option<Time>,
}

#[derive(Debug)]
pub(super) enum Accepted<S> {
    Connection(S, SocketAddr),
    Nothing,
    Full(io::Error),
}

impl<L: Listen> Listener<L> {
    pub(super) const fn new(socket: L, source: Source) -> Self {
        Self { socket, source, paused: None }
    }

    /// Accepts one connection. If there may be more, wakes the source again.
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

    /// Wakes the source during a back-off, so that [`Listener::accept`] detects its end. Returns whether there is a
    /// back-off.
    pub(super) fn elapsed(&self) -> bool {
        if self.paused.is_some() {
            self.source.wake();
        }
        self.paused.is_some()
    }
}

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

    struct Scripted(VecDeque<io::ErrorKind>);

    impl Listen for Scripted {
        type Stream = TcpStream;

        fn poll_accept(&mut self, _: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
            self.0.pop_front().map_or(Poll::Pending, |kind| Poll::Ready(Err(kind.into())))
        }
    }

    #[test]
    fn errors_of_one_connection_are_skipped_and_errors_of_the_system_cause_a_back_off() {
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
