//! The minute's alarm clock: tokio-cron-scheduler, which sleeps until it has something to do.
//!
//! The crate asks its store twice a second what is due, whether anything is or not. The store is the
//! part of it that others may bring, and ours does not answer before there is something to say: half a
//! second before a job is due, which is what the crate sleeps before it looks at the clock. When the
//! clock was set, it says so at once, and when no timer rings, after a minute.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use carson_core::Clock;
use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Notify;
use tokio_cron_scheduler::job::job_data::{JobAndNextTick, JobStoredData};
use tokio_cron_scheduler::store::{DataStore, InitStore};
use tokio_cron_scheduler::{
    Job, JobScheduler, JobSchedulerError, MetaDataStorage, SimpleJobCode, SimpleMetadataStore,
    SimpleNotificationCode, SimpleNotificationStore,
};
use uuid::Uuid;

use crate::wall_clock_timer::Alarm;

/// How many wake-ups may wait to be heard. There is one job, so they never are many.
const CHANNEL: usize = 16;
/// The crate sleeps this long before it looks what is due.
const TICK: TimeDelta = TimeDelta::milliseconds(500);
/// Longer than any job's period: a wait that is not over by then was forgotten by its timer.
const PATIENCE: Duration = Duration::from_secs(61);
/// Every minute, in UTC: the crate's zones and repeated jobs are not used (their offsets freeze, and
/// they stop after a sleep).
const EVERY_MINUTE: &str = "0 * * * * *";

type Answer<T> = Pin<Box<dyn Future<Output = Result<T, JobSchedulerError>> + Send>>;

/// Wakes `look` at the start of every minute, whatever became of other timers. It carries no facts.
pub(crate) async fn start(
    look: Arc<Notify>,
    alarm: Alarm,
    clock: Clock,
) -> Result<JobScheduler, JobSchedulerError> {
    start_with(EVERY_MINUTE, look, alarm, clock).await
}

async fn start_with(
    cron: &str,
    look: Arc<Notify>,
    alarm: Alarm,
    clock: Clock,
) -> Result<JobScheduler, JobSchedulerError> {
    let scheduler = JobScheduler::new_with_storage_and_code(
        Box::new(SleepingStore::new(alarm, clock)),
        Box::<SimpleNotificationStore>::default(),
        Box::<SimpleJobCode>::default(),
        Box::<SimpleNotificationCode>::default(),
        CHANNEL,
    )
    .await?;
    let job = Job::new_async(cron, move |_, _| {
        let look = look.clone();
        Box::pin(async move { look.notify_one() })
    })?;
    scheduler.add(job).await?;
    scheduler.start().await?;
    Ok(scheduler)
}

/// The crate's own store, which answers what is due when something is.
struct SleepingStore {
    jobs: SimpleMetadataStore,
    alarm: Arc<Alarm>,
    clock: Clock,
}

impl SleepingStore {
    fn new(alarm: Alarm, clock: Clock) -> Self {
        Self {
            jobs: SimpleMetadataStore::default(),
            alarm: Arc::new(alarm),
            clock,
        }
    }
}

impl InitStore for SleepingStore {
    fn init(&mut self) -> Answer<()> {
        self.jobs.init()
    }

    fn inited(&mut self) -> Answer<bool> {
        self.jobs.inited()
    }
}

impl DataStore<JobStoredData> for SleepingStore {
    fn get(&mut self, id: Uuid) -> Answer<Option<JobStoredData>> {
        self.jobs.get(id)
    }

    fn add_or_update(&mut self, job: JobStoredData) -> Answer<()> {
        self.jobs.add_or_update(job)
    }

    fn delete(&mut self, id: Uuid) -> Answer<()> {
        self.jobs.delete(id)
    }
}

impl MetaDataStorage for SleepingStore {
    /// The scheduler holds this store locked while it waits: its jobs are added before it is started.
    fn list_next_ticks(&mut self) -> Answer<Vec<JobAndNextTick>> {
        let (jobs, alarm) = (self.jobs.data.clone(), self.alarm.clone());
        let (clock, ticks) = (self.clock.clone(), self.jobs.list_next_ticks());
        Box::pin(async move {
            let now = clock.now();
            let next = {
                let mut jobs = jobs.write().await;
                jobs.values_mut()
                    .for_each(|job| forget_the_future(job, now));
                jobs.values().filter_map(JobStoredData::next_tick_utc).min()
            };
            let sleep = alarm.wait(next.map(|next| next - TICK), now);
            // Rung or forgotten: both mean that it is time to look.
            let _ = tokio::time::timeout(PATIENCE, sleep).await;
            ticks.await
        })
    }

    fn set_next_and_last_tick(
        &mut self,
        id: Uuid,
        next: Option<DateTime<Utc>>,
        last: Option<DateTime<Utc>>,
    ) -> Answer<()> {
        self.jobs.set_next_and_last_tick(id, next, last)
    }

    fn time_till_next_job(&mut self) -> Answer<Option<Duration>> {
        self.jobs.time_till_next_job()
    }
}

/// A job whose next time lies behind the one that its cron line says now was left there by a clock that
/// was set back: the crate would keep it silent for as long as the step.
fn forget_the_future(job: &mut JobStoredData, now: DateTime<Utc>) {
    let next = job.schedule().and_then(|cron| cron.iter_after(now).next());
    if next.is_some() && job.next_tick_utc() > next {
        job.set_next_tick(next);
        job.set_last_tick(None);
    }
}

#[cfg(test)]
mod tests {
    use tokio_cron_scheduler::job::job_data::{CronJob, JobType, job_stored_data};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);
    const MOMENT: Duration = Duration::from_millis(700);

    fn alarm() -> Alarm {
        Alarm::new(LIMIT).unwrap()
    }

    /// A store with one job, which is due every year, and next at this time.
    async fn store(next: DateTime<Utc>, last: Option<DateTime<Utc>>) -> SleepingStore {
        let mut store = SleepingStore::new(alarm(), Clock::system());
        let cron = CronJob {
            schedule: "0 0 0 1 1 *".to_owned(),
        };
        let mut data = JobStoredData {
            id: Some(Uuid::nil().into()),
            last_updated: None,
            last_tick: None,
            next_tick: 0,
            job_type: JobType::Cron as i32,
            count: 0,
            extra: Vec::new(),
            ran: false,
            stopped: false,
            job: Some(job_stored_data::Job::CronJob(cron)),
            time_offset_seconds: 0,
        };
        data.set_next_tick(Some(next));
        data.set_last_tick(last);
        store.add_or_update(data).await.unwrap();
        store
    }

    #[tokio::test]
    async fn it_rings_at_its_time_again_and_again() {
        let (look, clock) = (Arc::new(Notify::new()), Clock::system());
        let ringing = start_with("* * * * * *", look.clone(), alarm(), clock.clone());
        let _scheduler = ringing.await.unwrap();
        let began = clock.now();
        for _ in 0..2 {
            let rung = tokio::time::timeout(LIMIT, look.notified());
            rung.await.unwrap();
        }
        assert!(
            clock.now() - began >= TimeDelta::seconds(1),
            "twice in a second"
        );
    }

    #[tokio::test]
    async fn it_is_not_looked_at_before_something_is_due() {
        let now = Clock::system().now();
        let mut far = store(now + TimeDelta::seconds(20), None).await;
        let asked = tokio::time::timeout(MOMENT, far.list_next_ticks());
        assert!(asked.await.is_err(), "answered with nothing to say");
        for due in [now - TimeDelta::hours(1), now + TimeDelta::seconds(1)] {
            let mut near = store(due, None).await;
            let asked = tokio::time::timeout(LIMIT, near.list_next_ticks());
            assert_eq!(asked.await.unwrap().unwrap().len(), 1);
        }
    }

    #[tokio::test]
    async fn a_clock_that_was_set_back_does_not_silence_it() {
        let now = Clock::system().now();
        let year = TimeDelta::days(366);
        let mut store = store(now + year * 2, Some(now + year)).await;
        let asked = tokio::time::timeout(MOMENT, store.list_next_ticks());
        let _ = asked.await;
        let jobs = store.jobs.data.read().await;
        let job = jobs.values().next().unwrap();
        assert_eq!(job.last_tick, None);
        assert!(job.next_tick_utc().unwrap() <= now + year);
    }
}
