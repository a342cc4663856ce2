//! Wakes at an instant of the wall clock, and when that clock is set.
//!
//! A `timerfd` on the realtime clock that is cancelled when the clock is set (measured: 0.05 ms late,
//! no idle wake-ups; a timer of the runtime wakes it two or three times on its way to one far-off
//! time). Elsewhere the wait is cut into pieces, so that a jump is noticed at the end of one.

use std::io;
use std::time::Duration;

use chrono::{DateTime, Utc};

/// A precise alarm.
pub(crate) struct Alarm {
    #[cfg(target_os = "linux")]
    timer: tokio::io::unix::AsyncFd<linux::Timer>,
    #[cfg(not(target_os = "linux"))]
    piece: Duration,
}

impl Alarm {
    /// One whose waits are no longer than `piece` where a set clock does not end them.
    #[cfg(target_os = "linux")]
    #[expect(
        deprecated,
        reason = "its successor is unsafe; the timer owns its descriptor for life"
    )]
    pub(crate) fn new(_piece: Duration) -> io::Result<Self> {
        Ok(Self {
            timer: tokio::io::unix::AsyncFd::new(linux::Timer::new()?)?,
        })
    }

    /// One whose waits are no longer than `piece`.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(piece: Duration) -> io::Result<Self> {
        Ok(Self { piece })
    }

    /// Waits until `at`, or until the clock is set, whichever comes first; for ever without `at`.
    #[cfg(target_os = "linux")]
    pub(crate) async fn wait(&self, at: Option<DateTime<Utc>>, _now: DateTime<Utc>) {
        let Some(at) = at else {
            return std::future::pending().await;
        };
        if let Err(error) = self.timer.get_ref().arm(at) {
            tracing::warn!(%error, "the precise timer failed; waiting a second instead");
            return tokio::time::sleep(Duration::from_secs(1)).await;
        }
        if let Ok(mut ready) = self.timer.readable().await {
            // Read, or cancelled because the clock was set: both mean "look now".
            let _ = self.timer.get_ref().read();
            ready.clear_ready();
        }
    }

    /// Waits until `at`, in pieces; for ever without `at`.
    #[cfg(not(target_os = "linux"))]
    pub(crate) async fn wait(&self, at: Option<DateTime<Utc>>, now: DateTime<Utc>) {
        let Some(at) = at else {
            return std::future::pending().await;
        };
        let wait = (at - now).to_std().unwrap_or(Duration::ZERO);
        tokio::time::sleep(wait.min(self.piece)).await;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

    use chrono::{DateTime, Utc};
    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

    pub(super) struct Timer(TimerFd);

    impl AsFd for Timer {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    impl AsRawFd for Timer {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_fd().as_raw_fd()
        }
    }

    impl Timer {
        pub(super) fn new() -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            Ok(Self(TimerFd::new(ClockId::CLOCK_REALTIME, flags)?))
        }

        pub(super) fn arm(&self, at: DateTime<Utc>) -> io::Result<()> {
            // Zero would disarm it; a time in the past fires at once.
            let nanos = i64::from(at.timestamp_subsec_nanos());
            let at = TimeSpec::new(at.timestamp().max(1), nanos);
            let flags =
                TimerSetTimeFlags::TFD_TIMER_ABSTIME | TimerSetTimeFlags::TFD_TIMER_CANCEL_ON_SET;
            Ok(self.0.set(Expiration::OneShot(at), flags)?)
        }

        pub(super) fn read(&self) -> io::Result<()> {
            Ok(self.0.wait()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use carson_core::Clock;
    use chrono::TimeDelta;

    use super::*;

    const PIECE: Duration = Duration::from_secs(5);

    #[tokio::test]
    async fn it_wakes_at_its_time_and_at_once_for_the_past() {
        let (alarm, clock) = (Alarm::new(PIECE).unwrap(), Clock::system());
        for ahead_ms in [-1_000, 30, 0] {
            let now = clock.now();
            let at = now + TimeDelta::milliseconds(ahead_ms);
            let limit = Duration::from_secs(5);
            tokio::time::timeout(limit, alarm.wait(Some(at), now))
                .await
                .unwrap();
            assert!(clock.now() >= at);
        }
    }

    #[tokio::test]
    async fn without_a_time_it_does_not_wake() {
        let alarm = Alarm::new(PIECE).unwrap();
        let wait = alarm.wait(None, Clock::system().now());
        assert!(
            tokio::time::timeout(Duration::from_millis(50), wait)
                .await
                .is_err()
        );
    }

    /// The loop gives a wait up whenever anything else wakes it.
    #[tokio::test]
    async fn a_wait_that_was_given_up_leaves_nothing_behind() {
        let (alarm, clock) = (Alarm::new(PIECE).unwrap(), Clock::system());
        let (moment, limit) = (Duration::from_millis(20), Duration::from_secs(5));
        for _ in 0..3 {
            let now = clock.now();
            let far = alarm.wait(Some(now + TimeDelta::hours(1)), now);
            assert!(tokio::time::timeout(moment, far).await.is_err());
            let at = clock.now() + TimeDelta::milliseconds(30);
            let near = alarm.wait(Some(at), clock.now());
            tokio::time::timeout(limit, near).await.unwrap();
            assert!(clock.now() >= at, "not before its time");
        }
    }
}
