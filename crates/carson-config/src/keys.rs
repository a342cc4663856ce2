//! Every key an operator can write, and the walk that checks a document against them.

use std::path::Path;

use toml_edit::{Document as Toml, Item, Value};

use crate::duration::parse_duration;
use crate::finding::Finding;

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
    Span,
    Zone,
    OneOf(&'static [&'static str]),
    /// A whole section.
    Section,
}

use Kind::{Bool, Count, Money, OneOf, Section, Span, Text, TextMap, Texts, Zone};

/// `*` is a name that the operator chooses.
pub(crate) const SETTINGS: &[(&str, Kind)] = &[
    ("fleet", Section),
    ("fleet.name", Text),
    ("fleet.zone", Zone),
    ("fleet.host", Text),
    ("fleet.max_firings", Count(1)),
    ("repos", Section),
    ("repos.*", Section),
    ("repos.*.url", Text),
    ("repos.*.forge", OneOf(&["github", "local"])),
    ("repos.*.slug", Text),
    ("repos.*.base", Text),
    ("repos.*.protected", Texts),
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
    ("github", Section),
    ("github.api_base", Text),
    ("github.token_file", Text),
    ("github.token_command", Texts),
    ("slack", Section),
    ("slack.api_base", Text),
    ("slack.channel", Text),
    ("slack.token_file", Text),
    ("slack.webhook_file", Text),
    ("database", Section),
    ("database.url", Text),
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
    ("splay", Span),
    ("limits", Section),
    ("limits.max_turns", Count(1)),
    ("limits.max_turns_read", Count(1)),
    ("limits.wall_clock", Span),
    ("limits.silence", Span),
    ("limits.max_attempts", Count(1)),
    ("limits.max_revisions", Count(0)),
    ("limits.max_firings_per_day", Count(1)),
    ("limits.max_cost_usd", Money),
    ("limits.max_output_mb", Count(1)),
    ("limits.max_open_prs", Count(1)),
    ("limits.fail_streak", Count(1)),
    ("limits.max_rejections", Count(0)),
    ("limits.max_work_attempts", Count(1)),
    ("tools", Section),
    ("tools.read", Texts),
    ("tools.write", Texts),
    ("promise", Section),
    ("promise.run", Text),
    ("promise.timeout", Span),
    ("identity", Section),
    ("identity.env", TextMap),
];

/// A document with the lines of its keys.
pub(crate) struct Document {
    text: String,
    parsed: Option<Toml<String>>,
}

impl Document {
    /// Reads a document; its syntax error is a finding.
    pub(crate) fn parse(file: &Path, text: &str, findings: &mut Vec<Finding>) -> Self {
        let parsed = match Toml::parse(text.to_owned()) {
            Ok(parsed) => Some(parsed),
            Err(error) => {
                let line = error.span().map(|span| line_of(text, span.start));
                let problem = format!("this is not TOML: {}", error.message().trim());
                findings.push(Finding::new(file, line, "", problem));
                None
            }
        };
        Self {
            text: text.to_owned(),
            parsed,
        }
    }

    /// The line of a dotted key.
    pub(crate) fn line(&self, key: &str) -> Option<usize> {
        let mut item = self.parsed.as_ref()?.as_item();
        let mut line = None;
        for part in key.split('.') {
            let table = item.as_table_like()?;
            let (name, next) = table.get_key_value(part)?;
            line = name
                .span()
                .or_else(|| next.span())
                .map(|span| line_of(&self.text, span.start));
            item = next;
        }
        line
    }

    /// All keys that hold a value, dotted.
    pub(crate) fn leaves(&self) -> Vec<String> {
        let mut leaves = Vec::new();
        if let Some(parsed) = &self.parsed {
            collect(parsed.as_item(), "", &mut leaves);
        }
        leaves
    }

    /// Holds every key against a table.
    pub(crate) fn check(
        &self,
        file: &Path,
        table: &[(&'static str, Kind)],
        findings: &mut Vec<Finding>,
    ) {
        if let Some(parsed) = &self.parsed {
            self.walk(parsed.as_item(), "", "", file, table, findings);
        }
    }

    fn walk(
        &self,
        item: &Item,
        path: &str,
        pattern: &str,
        file: &Path,
        table: &[(&'static str, Kind)],
        findings: &mut Vec<Finding>,
    ) {
        let Some(entries) = item.as_table_like() else {
            return;
        };
        for (name, value) in entries.iter() {
            let path = join(path, name);
            let line = self.line(&path);
            let known = [join(pattern, name), join(pattern, "*")]
                .into_iter()
                .find_map(|pattern| kind_of(table, &pattern).map(|kind| (pattern, kind)));
            match known {
                None => findings.push(unknown(file, line, &path, pattern, name, table)),
                Some((pattern, Section)) if value.is_table_like() => {
                    self.walk(value, &path, &pattern, file, table, findings);
                }
                Some((_, kind)) => {
                    if let Err(problem) = fits(kind, value) {
                        findings.push(Finding::new(file, line, &path, problem));
                    }
                }
            }
        }
    }
}

fn collect(item: &Item, path: &str, leaves: &mut Vec<String>) {
    match item.as_table_like() {
        Some(table) => {
            for (name, value) in table.iter() {
                collect(value, &join(path, name), leaves);
            }
        }
        None => leaves.push(path.to_owned()),
    }
}

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

fn kind_of(table: &[(&'static str, Kind)], pattern: &str) -> Option<Kind> {
    table
        .iter()
        .find(|(key, _)| *key == pattern)
        .map(|(_, kind)| *kind)
}

/// Whether a dotted path, with its own names, is a key of the settings.
pub(crate) fn is_setting(path: &str) -> bool {
    SETTINGS.iter().any(|(key, kind)| {
        !matches!(kind, Section)
            && key.split('.').count() == path.split('.').count()
            && key
                .split('.')
                .zip(path.split('.'))
                .all(|(key, own)| key == "*" || key == own)
    })
}

fn unknown(
    file: &Path,
    line: Option<usize>,
    path: &str,
    pattern: &str,
    name: &str,
    table: &[(&'static str, Kind)],
) -> Finding {
    let finding = Finding::new(file, line, path, "there is no such key".into());
    let siblings = table.iter().filter_map(|(key, _)| {
        let rest = if pattern.is_empty() {
            key
        } else {
            key.strip_prefix(pattern)?.strip_prefix('.')?
        };
        (!rest.contains('.') && rest != "*").then_some(rest)
    });
    let siblings: Vec<&str> = siblings.collect();
    match nearest(name, &siblings) {
        Some(near) => finding.hint(format!("did you mean {}?", join(parent(path), near))),
        None => finding.hint(format!("known here: {}", siblings.join(", "))),
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
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

fn fits(kind: Kind, item: &Item) -> Result<(), String> {
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
        Span => match item.as_str() {
            Some(text) => parse_duration(text).map(|_| ()),
            None => want("a duration in quotes, such as \"45m\""),
        },
        Zone => match item.as_str() {
            Some(text) if text.parse::<chrono_tz::Tz>().is_ok() => Ok(()),
            _ => want("an IANA zone, such as \"Europe/Berlin\""),
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
    }
}
