//! The morning's brief and the evening's recap: filed once a day for each sink that wants them, on however many
//! hosts and after however many starts, because a day's post has one id.

use carson_core::outcome::Severity;
use carson_firing::Brief;
use carson_home::calendar::day_of;
use carson_home::{Draft, Home, Word};
use carson_operator::Ask as _;
use carson_operator::health::Health;
use carson_store::{NewPost, PostKind};
use chrono::{DateTime, Datelike as _, NaiveTime, TimeDelta, Utc};
use uuid::Uuid;

use super::runner::{Done, Report};

/// Later than this it is told no more: the next one has it.
const LATE: TimeDelta = TimeDelta::hours(2);
/// What tells these ids from all others.
const IDS: u128 = 0xca50_da11;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Brief = 1,
    Recap = 2,
}

/// Files what is due and was not filed yet.
pub(super) async fn post(home: Home) -> Done {
    let mut filed = 0;
    for sink in &home.fleet.sinks {
        let daily = sink.daily();
        for (which, time) in [(Which::Brief, daily.brief), (Which::Recap, daily.recap)] {
            let Some(time) = time else { continue };
            let Some(day) = due(&home, time) else {
                continue;
            };
            let id = id(which, day, sink.name());
            let is_filed = home.store.is_filed(id).await;
            if is_filed.map_err(super::error_chain)? {
                continue;
            }
            let (title, text) = told(&home, which).await?;
            let message = home.word(&Word {
                severity: Severity::Info,
                title: &title,
                text: &text,
                role: None,
            });
            let draft = Draft {
                thread: None,
                kind: PostKind::Root,
                message: &message,
                at: home.clock.now(),
            };
            let post = NewPost {
                id,
                ..home.post_for(sink.name(), &draft)
            };
            home.store
                .file_post(&post)
                .await
                .map_err(super::error_chain)?;
            filed += 1;
        }
    }
    Ok(Report::counted(filed, "brief filed", "briefs filed"))
}

/// The day, where its time has come and is not long past.
fn due(home: &Home, time: NaiveTime) -> Option<i32> {
    let (now, zone) = (home.clock.now(), home.fleet.zone);
    let today = now.with_timezone(&zone).date_naive();
    // A time that a day does not have, when clocks are set forward, is told with the next one.
    let at = today.and_time(time).and_local_timezone(zone).earliest()?;
    let at = at.with_timezone(&Utc);
    (at <= now && now < at + LATE).then(|| today.num_days_from_ce())
}

/// The same on every host.
fn id(which: Which, day: i32, sink: &str) -> Uuid {
    let named = sink
        .bytes()
        .fold(0_u64, |all, byte| all.rotate_left(8) ^ u64::from(byte));
    let day = u128::from(day.unsigned_abs());
    Uuid::from_u128(IDS << 96 | u128::from(named) << 32 | day << 4 | which as u128)
}

async fn told(home: &Home, which: Which) -> Result<(String, String), String> {
    let now = home.clock.now();
    let (name, since): (_, DateTime<Utc>) = match which {
        Which::Brief => ("Morning brief", now - TimeDelta::days(1)),
        Which::Recap => ("Evening recap", day_of(home.fleet.zone, now).0),
    };
    let brief = Brief::since(home, since)
        .await
        .map_err(super::error_chain)?;
    let health = Health {}.answer(home).await.map_err(super::error_chain)?;
    let mut text = format!("{}\nHealth: {}", brief.text(), health.line);
    for wrong in health.wrong.iter().take(5) {
        text.push_str(&format!("\n• {wrong}"));
    }
    Ok((format!("{name} of {}", home.fleet.name), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_days_post_has_an_id_of_its_own() {
        let mut all = Vec::new();
        for which in [Which::Brief, Which::Recap] {
            for day in [739_000, 739_001, 800_000] {
                for sink in ["slack", "webhook", "ntfy"] {
                    all.push(id(which, day, sink));
                }
            }
        }
        let ids: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(ids.len(), all.len());
        assert_eq!(id(Which::Brief, 739_000, "slack"), all[0]);
    }
}
