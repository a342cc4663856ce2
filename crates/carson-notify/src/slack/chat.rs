//! What an operator writes about listening in Slack: whom to believe, and when to tell what.

use std::time::Duration;

use carson_core::section::Around;
use chrono::NaiveTime;

use super::written::SlackSection;
use crate::chat::Chat;
use crate::section::Daily;

/// When the day's work is told where people are listened to and nobody says when.
const BRIEF: &str = "07:30";
const RECAP: &str = "22:00";
/// A plan waits for a day, on its issue too.
const HOURS: std::ops::RangeInclusive<u32> = 1..=24;

/// What the section says of it; `None` when it says nothing, or a problem.
pub(super) fn check(section: &SlackSection, around: &mut dyn Around) -> Option<Chat> {
    for (key, ids) in [
        ("trusted", &section.trusted),
        ("operators", &section.operators),
    ] {
        for id in ids.iter().filter(|id| !is_id(id)) {
            let problem = format!("{id:?} is no member's id");
            let hint = "trusted = [\"U012ABC34\"]: in Slack, a member's profile, “Copy member ID”";
            around.problem(key, &problem, hint);
        }
    }
    if !HOURS.contains(&section.approve_hours) {
        let problem = "a question waits for 1 to 24 hours, as its plan does";
        around.problem("approve_hours", problem, "approve_hours = 24");
    }
    let Some(file) = &section.app_token_file else {
        for (key, ids) in [
            ("trusted", &section.trusted),
            ("operators", &section.operators),
        ] {
            if !ids.is_empty() {
                let warning = "nobody is listened to without app_token_file";
                around.warning(key, warning, "app_token_file = \"slack.app-token\"");
            }
        }
        return None;
    };
    let Some(token) = &section.token_file else {
        let problem = "whom it listens to is answered with token_file";
        around.problem("app_token_file", problem, "token_file = \"slack.token\"");
        return None;
    };
    if section.trusted.is_empty() {
        let warning = "nobody is trusted, so nobody is listened to";
        around.warning("trusted", warning, "trusted = [\"U012ABC34\"]");
    }
    let path = around.path(file);
    around.secret("app_token_file", &path)?;
    Some(Chat {
        api_base: section.api_base.clone(),
        channel: section.channel.clone(),
        token_file: around.path(token),
        app_token_file: path,
        trusted: section.trusted.clone(),
        operators: section.operators.clone(),
        approve_within: Duration::from_secs(u64::from(section.approve_hours) * 3_600),
    })
}

/// When the day's work is told: as it is written, and by itself where people are listened to.
pub(super) fn daily(section: &SlackSection, listens: bool, around: &mut dyn Around) -> Daily {
    let mut time = |key: &str, written: &Option<String>, usual: &str| {
        let text = match written {
            Some(text) => text.as_str(),
            None if listens => usual,
            None => "",
        };
        if text.is_empty() {
            return None;
        }
        let time = NaiveTime::parse_from_str(text, "%H:%M").ok();
        if time.is_none() {
            let problem = format!("{text:?} is no time of the day");
            around.problem(key, &problem, "07:30, or \"\" for never");
        }
        time
    };
    Daily {
        brief: time("brief", &section.brief, BRIEF),
        recap: time("recap", &section.recap, RECAP),
    }
}

/// A member's id, as Slack makes them.
fn is_id(text: &str) -> bool {
    let rest = text.strip_prefix(['U', 'W']);
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    rest.is_some_and(|rest| (2..=20).contains(&rest.len()) && rest.chars().all(plain))
}
