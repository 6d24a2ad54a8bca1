//! What is made of trouble on receiving.

use std::{io, time::Duration};

use netcore::Time;
use rustix::io::Errno;
use tracing::error;

use crate::LogLimit;

/// How long a socket in trouble is left alone.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Receives from one socket, and knows whether it is in trouble.
#[derive(Debug)]
pub(crate) struct Receiver {
    resume: Option<Time>,
    log: LogLimit,
}

impl Receiver {
    /// No trouble so far.
    pub(crate) fn new(now: Time) -> Self {
        Self { resume: None, log: LogLimit::new(now) }
    }

    /// Until when the socket is left alone, if it is.
    pub(crate) fn resume(&self) -> Option<Time> {
        self.resume
    }

    /// Takes in one datagram by `receive`. `None` when there is none, and while the socket is left alone because the system
    /// is in trouble (out of memory, say, or a network that is down): the game goes on when that is over.
    ///
    /// # Errors
    /// When the socket is none any more, so that there is nothing to wait for.
    pub(crate) fn take<T>(&mut self, now: Time, mut receive: impl FnMut() -> io::Result<T>) -> io::Result<Option<T>> {
        if self.resume.is_some_and(|resume| now < resume) {
            return Ok(None);
        }
        self.resume = None;
        loop {
            let error = match receive() {
                Ok(received) => return Ok(Some(received)),
                Err(error) => error,
            };
            match error.kind() {
                io::ErrorKind::WouldBlock => return Ok(None),
                // Some systems report here that a datagram sent earlier found a closed port.
                io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {}
                _ if is_dead(&error) => return Err(error),
                _ => {
                    if let Some(held_back) = self.log.admit(now) {
                        error!(%error, held_back, "cannot receive; trying again");
                    }
                    self.resume = Some(now.plus(BACK_OFF));
                    return Ok(None);
                }
            }
        }
    }
}

// Whether an error says that the descriptor is no socket.
fn is_dead(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::BADF | Errno::NOTSOCK))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    // What comes of receiving at `now` when the system answers with these, one after the other; all are asked for.
    fn take(receiver: &mut Receiver, now: u64, answers: &[Result<u32, Errno>]) -> io::Result<Option<u32>> {
        let mut answers = answers.iter();
        let received = receiver.take(at(now), || Ok((*answers.next().expect("not asked that often"))?));
        assert_eq!(answers.count(), 0, "not asked");
        received
    }

    #[test]
    fn trouble_of_the_system_is_waited_out() {
        for trouble in [Errno::NOMEM, Errno::NOBUFS, Errno::NETDOWN] {
            let mut receiver = Receiver::new(at(0));
            assert_eq!(take(&mut receiver, 0, &[Ok(7)]).unwrap(), Some(7));
            assert_eq!(take(&mut receiver, 10, &[Err(trouble)]).unwrap(), None, "{trouble}");
            // No busy loop: until then the socket is not even asked.
            assert_eq!(receiver.resume(), Some(at(110)));
            assert_eq!(take(&mut receiver, 109, &[]).unwrap(), None);
            assert_eq!(take(&mut receiver, 110, &[Err(trouble)]).unwrap(), None);
            assert_eq!(take(&mut receiver, 210, &[Ok(8)]).unwrap(), Some(8));
            assert_eq!(receiver.resume(), None);
        }
    }

    #[test]
    fn what_became_of_earlier_datagrams_is_passed_over() {
        let mut receiver = Receiver::new(at(0));
        let answers = [Err(Errno::CONNREFUSED), Err(Errno::INTR), Err(Errno::CONNRESET), Ok(7)];
        assert_eq!(take(&mut receiver, 0, &answers).unwrap(), Some(7));
        assert_eq!(take(&mut receiver, 0, &[Err(Errno::CONNREFUSED), Err(Errno::AGAIN)]).unwrap(), None);
        assert_eq!(receiver.resume(), None);
    }

    #[test]
    fn a_socket_that_is_none_is_an_error() {
        for dead in [Errno::BADF, Errno::NOTSOCK] {
            let error = take(&mut Receiver::new(at(0)), 0, &[Err(dead)]).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(dead.raw_os_error()));
        }
    }
}
