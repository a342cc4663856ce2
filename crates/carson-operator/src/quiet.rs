//! What people are told less of: nothing but alerts for a while, and no alert twice that was seen.

use carson_home::Home;
use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::health::alerts;
use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// No longer: a fleet that is forgotten to be quiet says nothing for ever.
const MOST: TimeDelta = TimeDelta::days(7);

/// Tell nothing but alerts for a while. What is not told then is not told later: the brief has it.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quiet {
    /// For how long (2h), a week at most.
    pub r#for: String,
    /// Only there (`slack`); at every sink of the settings without it.
    pub sink: Option<String>,
}

/// It is quiet.
#[derive(Debug, Serialize)]
pub struct IsQuiet {
    /// Where.
    pub sinks: Vec<String>,
    /// Until when.
    pub until: DateTime<Utc>,
}

impl Ask for Quiet {
    const NAME: &'static str = "quiet";
    const WHAT: &'static str = "Tell the chat nothing but alerts for a while";
    const WHO: Who = Who::Operator;
    type Answer = IsQuiet;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let span = names::span(Some(&self.r#for))?.unwrap_or(MOST);
        if span > MOST {
            return Err(Refusal::Field {
                field: "for",
                problem: format!("{} is too long: a week at most", self.r#for),
            });
        }
        let until = home.clock.now() + span;
        let all = home.fleet.sinks.iter().map(|sink| sink.name());
        let known: Vec<&str> = all.collect();
        let sinks: Vec<&str> = match self.sink.as_deref() {
            None => known,
            Some(name) if known.contains(&name) => vec![name],
            Some(name) => {
                return Err(Refusal::Unknown {
                    what: "sink",
                    name: name.to_owned(),
                    known: known.into_iter().map(str::to_owned).collect(),
                });
            }
        };
        for sink in &sinks {
            home.store.set_quiet(sink, until, "operator").await?;
        }
        Ok(IsQuiet {
            sinks: sinks.into_iter().map(str::to_owned).collect(),
            until,
        })
    }
}

/// Say that an alert was seen: the same is not told again for a day.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ack {
    /// Its id, as `health` lists it.
    pub alert: String,
}

/// It was.
#[derive(Debug, Serialize)]
pub struct Acked {
    /// Its id.
    pub alert: String,
    /// What it says.
    pub title: String,
}

impl Ask for Ack {
    const NAME: &'static str = "ack";
    const WHAT: &'static str = "Say that an alert was seen: the same is not told again for a day";
    const WHO: Who = Who::Operator;
    type Answer = Acked;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let alerts = alerts(home).await?;
        let Some(alert) = alerts.iter().find(|one| one.id == self.alert) else {
            return Err(Refusal::Unknown {
                what: "alert",
                name: self.alert,
                known: alerts.into_iter().map(|one| one.id).collect(),
            });
        };
        let now = home.clock.now();
        home.store.see_alert(&alert.key, "operator", now).await?;
        Ok(Acked {
            alert: alert.id.clone(),
            title: alert.title.clone(),
        })
    }
}
