//! Every key an operator can write, and what its value must be. docs/CONFIG.md says the same to
//! people, and a test holds the two against each other.

use toml_edit::{Item, Value};

use crate::duration::parse_duration;
use crate::upkeep::Hours;

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Texts,
    TextMap,
    Bool,
    /// A whole number from here on.
    Count(i64),
    Money,
    /// A share in percent, in quotes.
    Share,
    Span,
    /// A duration above nothing.
    SomeTime,
    Zone,
    /// A span of hours of the day.
    TimeOfDay,
    OneOf(&'static [&'static str]),
    /// A whole section.
    Section,
    /// The design names it, and this version does nothing with it yet.
    Planned,
}

use Kind::{
    Bool, Count, Money, OneOf, Planned, Section, Share, SomeTime, Span, Text, TextMap, Texts,
    TimeOfDay, Zone,
};

/// `*` is a name that the operator chooses.
pub(crate) const SETTINGS: &[(&str, Kind)] = &[
    ("fleet", Section),
    ("fleet.name", Text),
    ("fleet.zone", Zone),
    ("fleet.host", Text),
    ("fleet.max_firings", Count(1)),
    ("fleet.min_free_mb", Count(0)),
    ("fleet.max_cost_usd_per_day", Money),
    ("fleet.max_cost_usd_per_month", Money),
    ("repos", Section),
    ("repos.*", Section),
    ("repos.*.url", Text),
    ("repos.*.forge", OneOf(&["github", "local"])),
    ("repos.*.slug", Text),
    ("repos.*.base", Text),
    ("repos.*.protected", Texts),
    ("repos.*.allow_secrets", Texts),
    ("repos.*.allow_ci", Bool),
    ("repos.*.allow_unshown", Texts),
    ("accounts", Section),
    ("accounts.*", Section),
    (
        "accounts.*.engine",
        OneOf(&["claude", "command", "rehearsal"]),
    ),
    ("accounts.*.binary", Text),
    ("accounts.*.args", Texts),
    ("accounts.*.env", TextMap),
    ("accounts.*.model", Text),
    ("accounts.*.script", Text),
    ("accounts.*.key_file", Text),
    ("accounts.*.api", OneOf(&["anthropic", "openai"])),
    ("accounts.*.upstream", Text),
    ("accounts.*.key_header", Text),
    ("accounts.*.allow_provider", Texts),
    (
        "accounts.*.limits",
        OneOf(&["codex", "gemini", "opencode", "openai"]),
    ),
    ("accounts.*.warn_at", Share),
    ("accounts.*.reserve", Share),
    ("github", Section),
    ("github.api_base", Text),
    ("github.token_file", Text),
    ("github.token_command", Texts),
    ("github.app", Planned),
    ("slack", Section),
    ("slack.api_base", Text),
    ("slack.channel", Text),
    ("slack.token_file", Text),
    ("slack.webhook_file", Text),
    ("slack.app_token_file", Planned),
    ("slack.trusted", Planned),
    ("database", Section),
    ("database.url", Text),
    ("housekeeping", Section),
    ("housekeeping.quiet_hours", TimeOfDay),
    ("housekeeping.keep_days", Count(1)),
    ("housekeeping.keep_mb", Count(1)),
    ("housekeeping.keep_backups", Count(1)),
    ("heartbeat", Section),
    ("heartbeat.url", Text),
    ("heartbeat.url_file", Text),
    ("heartbeat.every", SomeTime),
    ("heartbeat.alert_after_down", SomeTime),
    ("page", Planned),
];

pub(crate) const ROLE: &[(&str, Kind)] = &[
    ("title", Text),
    ("enabled", Bool),
    ("repos", Texts),
    ("cadence", Texts),
    ("zone", Zone),
    ("work", Section),
    ("work.from", OneOf(&["issues", "none"])),
    ("work.label", Text),
    ("engines", Texts),
    ("stages", Texts),
    ("catch_up", OneOf(&["one", "none"])),
    ("max_late", Span),
    ("overlap", OneOf(&["skip", "queue-one"])),
    ("hook_failure", OneOf(&["open", "closed"])),
    ("sandbox", OneOf(&["required", "best-effort", "off"])),
    ("network", OneOf(&["own", "host"])),
    ("push", OneOf(&["carson", "agent"])),
    ("pass", Texts),
    ("splay", Span),
    ("egress", Texts),
    ("priority", OneOf(&["normal", "low"])),
    ("hosts", Planned),
    ("scope", Planned),
    ("limits", Section),
    ("limits.max_turns", Count(1)),
    ("limits.max_turns_read", Count(1)),
    ("limits.wall_clock", SomeTime),
    ("limits.silence", SomeTime),
    ("limits.max_attempts", Count(1)),
    ("limits.max_revisions", Count(0)),
    ("limits.max_firings_per_day", Count(1)),
    ("limits.max_cost_usd", Money),
    ("limits.max_output_mb", Count(1)),
    ("limits.max_salvage_mb", Count(1)),
    ("limits.max_processes", Count(16)),
    ("limits.max_file_mb", Count(1)),
    ("limits.max_memory_mb", Count(64)),
    ("limits.max_open_prs", Count(1)),
    ("limits.fail_streak", Count(1)),
    ("limits.max_rejections", Count(0)),
    ("limits.max_work_attempts", Count(1)),
    ("limits.max_tool_calls", Planned),
    ("limits.max_cost_usd_per_day", Money),
    ("limits.cooldown", SomeTime),
    ("tools", Section),
    ("tools.read", Texts),
    ("tools.write", Texts),
    ("promise", Section),
    ("promise.run", Text),
    ("promise.timeout", SomeTime),
    ("promise.verify_runs", Planned),
    ("identity", Section),
    ("identity.env", TextMap),
    ("paths", Section),
    ("paths.read", Texts),
    ("paths.write", Texts),
];

/// `25%` is 0.25.
pub(crate) fn parse_share(text: &str) -> Option<f64> {
    let number: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    (0.0..=100.0).contains(&number).then_some(number / 100.0)
}

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

pub(crate) fn kind_of(table: &[(&'static str, Kind)], pattern: &str) -> Option<Kind> {
    table
        .iter()
        .find(|(key, _)| *key == pattern)
        .map(|(_, kind)| *kind)
}

/// What the value of a dotted path, with its own names, must be; `None` for what is no setting.
pub(crate) fn setting(path: &str) -> Option<Kind> {
    let is = |key: &str| {
        key.split('.').count() == path.split('.').count()
            && key
                .split('.')
                .zip(path.split('.'))
                .all(|(key, own)| key == "*" || key == own)
    };
    let found = SETTINGS.iter().find(|(key, _)| is(key));
    found
        .map(|(_, kind)| *kind)
        .filter(|kind| !matches!(kind, Section))
}

/// The known word that a misspelt one most likely means.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let scored = known
        .iter()
        .map(|word| (strsim::jaro_winkler(name, word), *word));
    scored
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}

/// Whether a value is what a key wants; else what is wrong with it.
pub(crate) fn fits(kind: Kind, item: &Item) -> Result<(), String> {
    let shown = || item.to_string().trim().chars().take(60).collect::<String>();
    let want = |what: &str| Err(format!("{} is not {what}", shown()));
    let texts = |item: &Item| {
        item.as_array()
            .is_some_and(|array| array.iter().all(Value::is_str))
    };
    match kind {
        Text if item.is_str() => Ok(()),
        Text => want("a text in quotes"),
        Texts if texts(item) => Ok(()),
        Texts => want("a list of texts"),
        TextMap => match item.as_table_like() {
            Some(map) if map.iter().all(|(_, value)| value.is_str()) => Ok(()),
            _ => want("a table of texts"),
        },
        Bool if item.is_bool() => Ok(()),
        Bool => want("true or false"),
        Count(least) => match item.as_integer() {
            Some(number) if number >= least && number <= i64::from(u32::MAX) => Ok(()),
            _ => want(&format!("a whole number of at least {least}")),
        },
        Money => match item
            .as_float()
            .or(item.as_integer().map(|whole| whole as f64))
        {
            Some(amount) if amount > 0.0 && amount.is_finite() => Ok(()),
            _ => want("an amount above 0"),
        },
        Share => match item.as_str().map(parse_share) {
            Some(Some(_)) => Ok(()),
            _ => want("a share in quotes, from \"0%\" to \"100%\""),
        },
        Span => match item.as_str() {
            Some(text) => parse_duration(text).map(|_| ()),
            None => want("a duration in quotes, such as \"45m\""),
        },
        SomeTime => match item.as_str().map(parse_duration) {
            Some(Ok(span)) if span.is_zero() => want("a duration above 0"),
            _ => fits(Span, item),
        },
        Zone => match item.as_str() {
            Some(text) if text.parse::<chrono_tz::Tz>().is_ok() => Ok(()),
            _ => want("an IANA zone, such as \"Europe/Berlin\""),
        },
        TimeOfDay => match item.as_str() {
            Some(text) => text.parse::<Hours>().map(drop),
            None => want("a span of hours in quotes, such as \"02:00-05:00\""),
        },
        OneOf(words) => match item.as_str() {
            Some(text) if words.contains(&text) => Ok(()),
            Some(
                "codex" | "gemini" | "opencode" | "agent" | "forgejo" | "pulls" | "queue"
                | "stories",
            ) => want(&format!("built yet; this version has {}", words.join(", "))),
            _ => want(&format!("one of {}", words.join(", "))),
        },
        Section => want("a section"),
        Planned => Err("this key is planned, and not built yet".to_owned()),
    }
}

#[cfg(test)]
mod tests;
