//! The timer of a room.
//!
//! Tokio timers have a resolution of a millisecond, a tenth of a short turn. On Linux a room can have a timerfd
//! instead, but with hundreds of rooms setting them costs more than the turns.

use std::{
    io,
    task::{Context, Poll, ready},
};

use netcore::Time;
use tokio::time::Instant;

use crate::{Clock, Precision, Timer};

/// The timer of a [`Clock`].
#[derive(Debug)]
pub struct SystemTimer {
    clock: Clock,
    alarm: Alarm,
}

#[derive(Debug)]
enum Alarm {
    #[cfg(target_os = "linux")]
    Own(own::Alarm),
    Shared(shared::Alarm),
}

impl SystemTimer {
    /// Must be called within a tokio runtime.
    pub(crate) fn new(clock: Clock, precision: Precision) -> io::Result<Self> {
        let alarm = match precision {
            #[cfg(target_os = "linux")]
            Precision::System => Alarm::Own(own::Alarm::new()?),
            _ => Alarm::Shared(shared::Alarm::new()),
        };
        Ok(Self { clock, alarm })
    }
}

impl Timer for SystemTimer {
    fn set(&mut self, at: Option<Time>) -> io::Result<()> {
        let at = at.map(|at| self.clock.instant(at));
        match &mut self.alarm {
            #[cfg(target_os = "linux")]
            Alarm::Own(alarm) => alarm.set(at),
            Alarm::Shared(alarm) => {
                alarm.set(at);
                Ok(())
            }
        }
    }

    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.alarm {
            #[cfg(target_os = "linux")]
            Alarm::Own(alarm) => alarm.poll_expired(context),
            Alarm::Shared(alarm) => alarm.poll_expired(context).map(Ok),
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

    #[derive(Debug)]
    pub(crate) struct Alarm {
        // `None` until it is first set.
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
    use crate::TimeSource;
    use std::{future::poll_fn, time::Duration};

    async fn rung(timer: &mut SystemTimer) {
        poll_fn(|context| timer.poll_expired(context)).await.unwrap();
    }

    fn run(test: impl AsyncFn(Clock, SystemTimer)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for precision in [Precision::System, Precision::Millisecond] {
            runtime.block_on(async {
                let clock = Clock::start().with_precision(precision);
                test(clock, clock.timer().unwrap()).await;
            });
        }
    }

    #[test]
    fn an_alarm_expires_once_and_never_early() {
        run(async |clock, mut timer| {
            for micros in [0, 1, 300, 2_500] {
                let at = clock.now().plus(Duration::from_micros(micros));
                timer.set(Some(at)).unwrap();
                rung(&mut timer).await;
                assert!(clock.now() >= at);
                let again = tokio::time::timeout(Duration::from_millis(1), rung(&mut timer)).await;
                assert!(again.is_err(), "only once");
            }
        });
    }

    #[test]
    fn new_setting_replaces_the_previous_one() {
        run(async |clock, mut timer| {
            let start = clock.now();
            timer.set(Some(start)).unwrap();
            timer.set(Some(start.plus(Duration::from_millis(5)))).unwrap();
            rung(&mut timer).await;
            assert!(clock.now().since(start) >= Duration::from_millis(5));
            timer.set(Some(clock.now())).unwrap();
            timer.set(None).unwrap();
            assert!(tokio::time::timeout(Duration::from_millis(1), rung(&mut timer)).await.is_err());
        });
    }
}
