//! A timer with the resolution of the system.
//!
//! Timers of the tokio runtime have a resolution of a millisecond, a tenth of a short turn. On Linux a timerfd is used,
//! which is polled like a socket; other systems use the timer of the runtime.

use std::io;

use tokio::time::Instant;

#[cfg(target_os = "linux")]
pub(crate) use self::exact::Alarm;
#[cfg(not(target_os = "linux"))]
pub(crate) use self::usual::Alarm;

#[cfg(target_os = "linux")]
mod exact {
    use std::os::fd::OwnedFd;

    use rustix::{
        io::{Errno, read},
        time::{
            Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
        },
    };
    use tokio::io::{Interest, unix::AsyncFd};

    use super::{Instant, io};

    /// A timer for one moment at a time.
    #[derive(Debug)]
    pub(crate) struct Alarm {
        timer: AsyncFd<OwnedFd>,
    }

    impl Alarm {
        /// A timer that is not set. Must be called within a tokio runtime.
        ///
        /// # Errors
        /// When the system has no timers left.
        pub(crate) fn new() -> io::Result<Self> {
            let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
            #[expect(deprecated, reason = "unsound for borrowed descriptors alone, and its replacement is unsafe")]
            let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
            Ok(Self { timer })
        }

        /// Sets the timer to `at`, or disarms it. A previous setting is discarded, even if it has already expired.
        ///
        /// # Errors
        /// When the system call fails.
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

        /// Waits until the timer expires.
        ///
        /// # Errors
        /// When the timer cannot be read.
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

#[cfg(not(target_os = "linux"))]
mod usual {
    use std::pin::Pin;

    use tokio::time::{Sleep, sleep_until};

    use super::{Instant, io};

    /// A timer for one moment at a time.
    #[derive(Debug)]
    pub(crate) struct Alarm {
        timer: Pin<Box<Sleep>>,
        set: bool,
    }

    impl Alarm {
        #[expect(clippy::unnecessary_wraps, reason = "same signature as on Linux")]
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self { timer: Box::pin(sleep_until(Instant::now())), set: false })
        }

        #[expect(clippy::unnecessary_wraps, reason = "same signature as on Linux")]
        pub(crate) fn set(&mut self, at: Option<Instant>) -> io::Result<()> {
            self.set = at.is_some();
            if let Some(at) = at {
                self.timer.as_mut().reset(at);
            }
            Ok(())
        }

        pub(crate) async fn rung(&mut self) -> io::Result<()> {
            if !self.set {
                std::future::pending::<()>().await;
            }
            self.timer.as_mut().await;
            self.set = false;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    #[test]
    fn it_expires_once_and_never_early() {
        run(async {
            let mut alarm = Alarm::new().unwrap();
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
        run(async {
            let mut alarm = Alarm::new().unwrap();
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
