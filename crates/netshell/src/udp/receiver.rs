use std::{io, time::Duration};

use netcore::Time;
use rustix::io::Errno;
use tracing::error;

use crate::LogLimit;

const BACK_OFF: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) resume: Option<Time>,
    log: LogLimit,
}

impl Receiver {
    pub(crate) fn new(now: Time) -> Self {
        Self { resume: None, log: LogLimit::new(now) }
    }

    /// Receives one datagram; `None` if there is none, and during the back-off after a system error (out of memory, or
    /// the network is down).
    ///
    /// # Errors
    /// If the descriptor is no longer a socket.
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
                // Some systems report here that an earlier datagram was sent to a closed port.
                io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {}
                _ if is_dead(&error) => return Err(error),
                _ => {
                    if let Some(held_back) = self.log.admit(now) {
                        error!(%error, held_back, "cannot receive; retrying");
                    }
                    self.resume = Some(now.plus(BACK_OFF));
                    return Ok(None);
                }
            }
        }
    }
}

fn is_dead(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::BADF | Errno::NOTSOCK))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn take(receiver: &mut Receiver, now: u64, answers: &[Result<u32, Errno>]) -> io::Result<Option<u32>> {
        let mut answers = answers.iter();
        let result = receiver.take(at(now), || Ok((*answers.next().expect("not asked that often"))?));
        assert_eq!(answers.count(), 0, "not asked");
        result
    }

    #[test]
    fn errors_of_the_system_cause_a_back_off() {
        for trouble in [Errno::NOMEM, Errno::NOBUFS, Errno::NETDOWN] {
            let mut receiver = Receiver::new(at(0));
            assert_eq!(take(&mut receiver, 0, &[Ok(7)]).unwrap(), Some(7));
            assert_eq!(take(&mut receiver, 10, &[Err(trouble)]).unwrap(), None, "{trouble}");
            // Not read until then, which prevents a busy loop.
            assert_eq!(receiver.resume, Some(at(110)));
            assert_eq!(take(&mut receiver, 109, &[]).unwrap(), None);
            assert_eq!(take(&mut receiver, 110, &[Err(trouble)]).unwrap(), None);
            assert_eq!(take(&mut receiver, 210, &[Ok(8)]).unwrap(), Some(8));
            assert_eq!(receiver.resume, None);
        }
    }

    #[test]
    fn errors_of_earlier_datagrams_are_skipped() {
        let mut receiver = Receiver::new(at(0));
        let answers = [Err(Errno::CONNREFUSED), Err(Errno::INTR), Err(Errno::CONNRESET), Ok(7)];
        assert_eq!(take(&mut receiver, 0, &answers).unwrap(), Some(7));
        assert_eq!(take(&mut receiver, 0, &[Err(Errno::CONNREFUSED), Err(Errno::AGAIN)]).unwrap(), None);
        assert_eq!(receiver.resume, None);
    }

    #[test]
    fn a_descriptor_that_is_not_a_socket_is_an_error() {
        for dead in [Errno::BADF, Errno::NOTSOCK] {
            let error = take(&mut Receiver::new(at(0)), 0, &[Err(dead)]).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(dead.raw_os_error()));
        }
    }
}
