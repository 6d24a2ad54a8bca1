//! The timer of a room.
//!
//! Timers of the tokio runtime have a resolution of a millisecond, a tenth of a short turn. So a room can have a timer of
//! its own on Linux, a timerfd, which is polled like a socket. Setting it programs the hardware; with hundreds of rooms in
//! a process that costs more than the rooms' turns, and then they share the timers of the runtime.

use std::{
    io,
    task::{Context, Poll, ready},
};

use tokio::time::Instant;

use crate::Precision;

/// A timer for one moment at a time.
#[derive(Debug)]
pub(crate) enum Alarm {
    #[cfg(target_os = "linux")]
    Own(own::Alarm),
    Shared(shared::Alarm),
}

impl Alarm {
    /// A timer that is not set. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the system has no timers left.
    pub(crate) fn new(precision: Precision) -> io::Result<Self> {
        match precision {
            #[cfg(target_os = "linux")]
            Precision::System => Ok(Self::Own(own::Alarm::new()?)),
            _ => Ok(Self::Shared(shared::Alarm::new())),
        }
    }

    /// Sets the timer to `at`, or disarms it. A previous setting is discarded, even if it has already expired.
    ///
    /// # Errors
    /// When the system call fails.
    pub(crate) fn set(&mut self, at: Option<Instant>) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Own(alarm) => alarm.set(at),
            Self::Shared(alarm) => {
                alarm.set(at);
                Ok(())
            }
        }
    }

    /// Ready once the timer has expired; otherwise the task is woken when it expires.
    ///
    /// # Errors
    /// When the timer cannot be read.
    pub(crate) fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Own(alarm) => alarm.poll_expired(context),
            Self::Shared(alarm) => alarm.poll_expired(context).map(Ok),
        }
    }
}

#[cfg(target_os = "linux")]
mod own {
    use std::os::fd::OwnedFd;

    use rustix::{
        io::{Errno, read},
        time::{
            Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
        },
    };
    use tokio::io::{Interest, unix::AsyncFd};

    use super::{Context, Instant, Poll, io, ready};

    /// A timerfd.
    #[derive(Debug)]
    pub(crate) struct Alarm {
        timer: AsyncFd<OwnedFd>,
    }

    impl Alarm {
        pub(crate) fn new() -> io::Result<Self> {
            let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
            #[expect(deprecated, reason = "unsound for borrowed descriptors alone, and its replacement is unsafe")]
            let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
            Ok(Self { timer })
        }

        pub(crate) fn set(&mut self, at: Option<Instant>) -> io::Result<()> {
            const ZERO: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
            let left = at.map(|at| at.saturating_duration_since(Instant::now()));
            let it_value = left.map_or(ZERO, |left| Timespec {
                tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
                // Zero would disarm it.
                tv_nsec: i64::from(left.subsec_nanos()).max(i64::from(left.as_secs() == 0)),
            });
            let value = Itimerspec { it_interval: ZERO, it_value };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &value)?;
            Ok(())
        }

        pub(crate) fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            loop {
                let mut guard = ready!(self.timer.poll_read_ready(context))?;
                match read(self.timer.get_ref(), &mut [0; 8]) {
                    Ok(_) => return Poll::Ready(Ok(())),
                    Err(Errno::AGAIN) => guard.clear_ready(),
                    Err(Errno::INTR) => {}
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            }
        }
    }
}

mod shared {
    use std::{future::Future as _, pin::Pin};

    use tokio::time::{Sleep, sleep_until};

    use super::{Context, Instant, Poll, ready};

    /// A timer of the runtime.
    #[derive(Debug)]
    pub(crate) struct Alarm {
        // None until it is set for the first time.
        timer: Option<Pin<Box<Sleep>>>,
        set: bool,
    }

    impl Alarm {
        pub(crate) const fn new() -> Self {
            Self { timer: None, set: false }
        }

        pub(crate) fn set(&mut self, at: Option<Instant>) {
            self.set = at.is_some();
            let Some(at) = at else { return };
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(at),
                none => *none = Some(Box::pin(sleep_until(at))),
            }
        }

        pub(crate) fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<()> {
            let Some(timer) = self.timer.as_mut().filter(|_| self.set) else { return Poll::Pending };
            ready!(timer.as_mut().poll(context));
            self.set = false;
            Poll::Ready(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::poll_fn, time::Duration};

    async fn rung(alarm: &mut Alarm) {
        poll_fn(|context| alarm.poll_expired(context)).await.unwrap();
    }

    const EACH: [Precision; 2] = [Precision::System, Precision::Millisecond];

    fn run(test: impl AsyncFn(Alarm)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for precision in EACH {
            runtime.block_on(async { test(Alarm::new(precision).unwrap()).await });
        }
    }

    #[test]
    fn it_expires_once_and_never_early() {
        run(async |mut alarm| {
            for micros in [0, 1, 300, 2_500] {
                let at = Instant::now() + Duration::from_micros(micros);
                alarm.set(Some(at)).unwrap();
                rung(&mut alarm).await;
                assert!(Instant::now() >= at);
                let again = tokio::time::timeout(Duration::from_millis(1), rung(&mut alarm)).await;
                assert!(again.is_err(), "only once");
            }
        });
    }

    #[test]
    fn a_previous_setting_is_discarded() {
        run(async |mut alarm| {
            let start = Instant::now();
            alarm.set(Some(start)).unwrap();
            // This setting has expired without being awaited.
            alarm.set(Some(start + Duration::from_millis(5))).unwrap();
            rung(&mut alarm).await;
            assert!(start.elapsed() >= Duration::from_millis(5));
            alarm.set(Some(Instant::now())).unwrap();
            alarm.set(None).unwrap();
            assert!(tokio::time::timeout(Duration::from_millis(1), rung(&mut alarm)).await.is_err());
        });
    }
}
