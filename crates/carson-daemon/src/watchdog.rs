//! Whether the loop really turns, and who hears of it: systemd's watchdog.
//!
//! A thread that sleeps well is no sign of life. So the loop is asked to look, and only when it has
//! come round since is anything said.

use std::sync::Arc;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::sync::{Notify, watch};
use tracing::{debug, warn};

/// The loop's end: it beats once a round.
#[derive(Debug)]
pub(crate) struct Heart(watch::Sender<u64>);

/// Who wants to know.
#[derive(Clone, Debug)]
pub(crate) struct Pulse {
    rounds: watch::Receiver<u64>,
    look: Arc<Notify>,
}

/// A heart, and its pulse; `look` wakes the loop.
pub(crate) fn pair(look: &Arc<Notify>) -> (Heart, Pulse) {
    let (sender, rounds) = watch::channel(0);
    let look = look.clone();
    (Heart(sender), Pulse { rounds, look })
}

impl Heart {
    pub(crate) fn beat(&self) {
        self.0
            .send_modify(|rounds| *rounds = rounds.wrapping_add(1));
    }
}

impl Pulse {
    /// Asks the loop to come round; whether it does within the time.
    pub(crate) async fn is_felt(&self, within: Duration) -> bool {
        let mut rounds = self.rounds.clone();
        rounds.mark_unchanged();
        self.look.notify_one();
        tokio::time::timeout(within, rounds.changed())
            .await
            .is_ok_and(|changed| changed.is_ok())
    }
}

/// Says something to the service manager, if there is one.
pub(crate) fn say(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        debug!(%error, "the service manager does not listen");
    }
}

/// Feeds the watchdog of the service manager, if it has one, at half of its time.
pub(crate) fn watch_over(pulse: Pulse) {
    let Some(limit) = sd_notify::watchdog_enabled() else {
        return;
    };
    let half = (limit / 2).max(Duration::from_millis(1));
    tokio::spawn(async move {
        loop {
            let round = tokio::time::Instant::now();
            if pulse.is_felt(half).await {
                say(&[NotifyState::Watchdog]);
            } else {
                warn!(?half, "the loop does not turn; the watchdog is not fed");
            }
            tokio::time::sleep_until(round + half).await;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_loop_that_turns_is_felt_and_one_that_hangs_is_not() {
        let look = Arc::new(Notify::new());
        let (heart, pulse) = pair(&look);
        let moment = Duration::from_millis(30);
        // Beats of before are no life.
        heart.beat();
        assert!(!pulse.is_felt(moment).await);
        let turning = tokio::spawn(async move {
            loop {
                look.notified().await;
                heart.beat();
            }
        });
        assert!(pulse.is_felt(Duration::from_secs(30)).await);
        assert!(pulse.is_felt(Duration::from_secs(30)).await);
        turning.abort();
        let _ = turning.await;
        // Its end of the channel is gone with it.
        assert!(!pulse.is_felt(Duration::from_secs(30)).await);
    }
}
