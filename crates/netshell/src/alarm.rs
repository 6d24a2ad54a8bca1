//! The timer of a room.
//!
//! Timers of the tokio runtime have a resolution of a millisecond, a tenth of a short turn. So a room can have a timer of
//! its own on Linux, a timerfd, which is polled like a socket. Setting it programs the hardware; with hundreds of rooms in
//! a process that costs more than the rooms' turns, and then they share the timers of the runtime.

use std::io;

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

    /// Waits until the timer expires.
    ///
    /// # Errors
    /// When the timer cannot be read.
    pub(crate) async fn rung(&mut self) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Own(alarm) => alarm.rung().await,
            Self::Shared(alarm) => {
                alarm.rung().await;
                Ok(())
            }
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

    use super::{Instant, io};

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

        pub(crate) async fn rung(&mut self) -> io::Result<()> {
            loop {
                let mut guard = self.timer.readable().await?;
                match read(self.timer.get_ref(), &mut [0; 8]) {
                    Ok(_) => return Ok(()),
                    Err(Errno::AGAIN) => guard.clear_ready(),
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
}

mod shared {
    use std::pin::Pin;

    use tokio::time::{Instant, Sleep, sleep_until};

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

        pub(crate) async fn rung(&mut self) {
            match &mut self.timer {
                Some(timer) if self.set => timer.as_mut().await,
                _ => std::future::pending().await,
            }
            self.set = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
                alarm.rung().await.unwrap();
                assert!(Instant::now() >= at);
                let again = tokio::time::timeout(Duration::from_millis(1), alarm.rung()).await;
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
            alarm.rung().await.unwrap();
            assert!(start.elapsed() >= Duration::from_millis(5));
            alarm.set(Some(Instant::now())).unwrap();
            alarm.set(None).unwrap();
            assert!(tokio::time::timeout(Duration::from_millis(1), alarm.rung()).await.is_err());
        });
    }
}
