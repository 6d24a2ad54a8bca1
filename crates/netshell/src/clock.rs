use std::{
    future, io,
    task::{Context, Poll, ready},
    time::Duration,
};

use netcore::Time;
use tokio::time::{Instant, sleep_until};

/// The time of a server loop. [`Clock`] is the system's; a simulation has its own.
pub trait TimeSource {
    /// A timer that follows this time.
    type Timer: Timer;

    /// The current time.
    fn now(&self) -> Time;

    /// Creates a timer that is not set. Fails if the system has no timers left.
    fn timer(&self) -> io::Result<Self::Timer>;
}

/// A timer with one setting at a time.
pub trait Timer {
    /// Sets or disarms the timer, and discards the previous setting, even if it has expired.
    fn set(&mut self, at: Option<Time>) -> io::Result<()>;

    /// Ready once for each setting that has expired.
    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// The accuracy of deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// As accurate as the system permits, with a separate timer on Linux.
    #[default]
    System,
    /// At most a millisecond late, with the timers of the runtime. Cheaper in a process with many rooms.
    Millisecond,
}

/// The [`Time`] of a room: its start time plus the time elapsed since.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    first: Time,
    precision: Precision,
}

impl Clock {
    /// Creates a clock that shows [`Time::ZERO`] now.
    pub fn start() -> Self {
        Self::start_at(Time::ZERO)
    }

    /// Creates a clock that shows `first` now, for a resumed room.
    pub fn start_at(first: Time) -> Self {
        Self { start: Instant::now(), first, precision: Precision::default() }
    }

    /// Sets the accuracy of deadlines.
    #[must_use]
    pub const fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.first.plus(self.start.elapsed())
    }

    /// The instant at which the clock shows `time`; its start if `time` is earlier.
    pub fn instant(&self, time: Time) -> Instant {
        // Longer than any server runs, and representable by the system.
        const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
        self.start + time.since(self.first).min(FAR)
    }

    /// Waits until the clock shows `time`, forever if it is `None`. Must be called within a tokio runtime.
    pub async fn until(&self, time: Option<Time>) {
        match time {
            Some(time) => sleep_until(self.instant(time)).await,
            None => future::pending().await,
        }
    }
}

impl TimeSource for Clock {
    type Timer = SystemTimer;

    fn now(&self) -> Time {
        Self::now(self)
    }

    /// Must be called within a tokio runtime.
    fn timer(&self) -> io::Result<SystemTimer> {
        SystemTimer::new(*self, self.precision)
    }
}

// The timer of a room.
//
// Tokio timers have a resolution of a millisecond, a tenth of a short turn. On Linux a room can have a timerfd
// instead, but with hundreds of rooms setting them costs more than the turns.

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
    use std::{future::poll_fn, time::Duration};

    use super::*;
    use crate::TimeSource;

    #[test]
    fn a_clock_continues_from_its_start_time() {
        let first = Time::from_millis(5_000);
        let clock = Clock::start_at(first);
        assert!(clock.now() >= first);
        assert_eq!(clock.instant(Time::from_millis(5_250)) - clock.instant(first), Duration::from_millis(250));
        assert_eq!(clock.instant(Time::ZERO), clock.instant(first));
    }

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
