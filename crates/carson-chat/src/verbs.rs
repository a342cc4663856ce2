//! The verbs of the chat: what is typed, and which verb of the operator's that is.

use serde_json::{Value, json};

/// Who may say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    /// Whoever is trusted, in the settings or since.
    Trusted,
    /// Whom the settings trust (`slack.trusted`).
    Settings,
    /// Whom the settings name as operators (`slack.operators`).
    Operators,
}

/// What an argument must look like, whatever it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Any word, or several in quotes.
    Text,
    /// Six or more digits of a firing's id, one of them a number.
    Firing,
    /// `12` or `widget#12`.
    Issue,
    /// Eight digits, as `health` lists alerts.
    Alert,
    /// A member: `@ann`, or an id.
    Member,
    /// `2h`.
    Span,
    /// Any word but `all`.
    Role,
}

/// How it is done.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    /// By this verb of the operator's, with this ask.
    Asks(&'static str, fn(&[String]) -> Value),
    /// The list of verbs.
    Help,
    /// Decides the plan on an issue: yes, or no.
    Decides(bool),
    /// Trusts a member, or no more.
    Trusts(bool),
    /// Asks whether an issue is to be made.
    Issue,
}

/// A verb of the chat.
#[derive(Clone, Copy)]
pub struct ChatVerb {
    /// Its word, the first one of a line, in lower case.
    pub name: &'static str,
    /// What follows it, exactly.
    pub arguments: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Who may.
    pub may: May,
    /// Whether something is other than before.
    pub changes: bool,
    /// Whether doing it twice is more than doing it once.
    pub(crate) only_once: bool,
    pub(crate) shapes: &'static [Shape],
    pub(crate) does: Does,
}

impl std::fmt::Debug for ChatVerb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ChatVerb").field(&self.name).finish()
    }
}

impl ChatVerb {
    /// Its line: `why ROLE|ISSUE|FIRING`.
    #[must_use]
    pub fn usage(&self) -> String {
        format!("{} {}", self.name, self.arguments)
            .trim_end()
            .to_owned()
    }
}

/// One that only looks.
const fn looks(
    name: &'static str,
    arguments: &'static str,
    what: &'static str,
    shapes: &'static [Shape],
    does: Does,
) -> ChatVerb {
    ChatVerb {
        name,
        arguments,
        what,
        may: May::Trusted,
        changes: false,
        only_once: false,
        shapes,
        does,
    }
}

/// One that changes something.
const fn changes(
    name: &'static str,
    arguments: &'static str,
    what: &'static str,
    shapes: &'static [Shape],
    does: Does,
) -> ChatVerb {
    ChatVerb {
        changes: true,
        ..looks(name, arguments, what, shapes, does)
    }
}

/// One that is not done again where nobody knows whether it was done.
const fn once(verb: ChatVerb) -> ChatVerb {
    ChatVerb {
        only_once: true,
        ..verb
    }
}

const fn of(may: May, verb: ChatVerb) -> ChatVerb {
    ChatVerb { may, ..verb }
}

fn nothing(_: &[String]) -> Value {
    json!({})
}

/// `fleet`, `repo:NAME`, `account:NAME`, or a role.
fn scope(words: &[String]) -> Value {
    match words[0].split_once(':') {
        _ if words[0] == "fleet" => json!({}),
        Some(("repo", name)) => json!({"repo": name}),
        Some(("account", name)) => json!({"account": name}),
        _ => json!({"role": words[0]}),
    }
}

/// Every verb there is.
pub const VERBS: &[ChatVerb] = &[
    looks(
        "status",
        "",
        "Roles, stops, what runs, what was spent",
        &[],
        Does::Asks("status", nothing),
    ),
    looks(
        "runs",
        "",
        "The newest firings, those that run first",
        &[],
        Does::Asks("firings", |_| json!({"limit": 15})),
    ),
    looks(
        "why",
        "ROLE|ISSUE|FIRING",
        "Why a role fired or did not, where an issue (widget#12) stands, how a firing ended",
        &[Shape::Text],
        Does::Asks("why", |words| json!({"what": words[0]})),
    ),
    looks(
        "queue",
        "",
        "What waits in the roles' queues, and on what",
        &[],
        Does::Asks("queue", nothing),
    ),
    changes(
        "pause",
        "fleet|ROLE|repo:NAME|account:NAME",
        "Nothing of it fires until it is resumed; what runs goes on",
        &[Shape::Text],
        Does::Asks("pause", scope),
    ),
    changes(
        "resume",
        "fleet|ROLE|repo:NAME|account:NAME",
        "It fires again",
        &[Shape::Text],
        Does::Asks("resume", scope),
    ),
    changes(
        "reset",
        "ROLE",
        "Closes a role's breaker",
        &[Shape::Text],
        Does::Asks("breaker reset", |words| json!({"role": words[0]})),
    ),
    changes(
        "stop",
        "FIRING",
        "Ends a running firing; its work is saved",
        &[Shape::Firing],
        Does::Asks("stop", |words| json!({"firing": words[0]})),
    ),
    looks(
        "plans",
        "",
        "What waits for a yes or a no",
        &[],
        Does::Asks("plans", nothing),
    ),
    changes(
        "approve",
        "ISSUE",
        "Yes to the plan that waits on an issue (12, or widget#12)",
        &[Shape::Issue],
        Does::Decides(true),
    ),
    changes(
        "reject",
        "ISSUE",
        "No to it: nothing of it is filed, and the issue waits for a person",
        &[Shape::Issue],
        Does::Decides(false),
    ),
    looks(
        "memory",
        "",
        "The newest lessons and candidates",
        &[],
        Does::Asks("memory list", |_| json!({"limit": 15})),
    ),
    once(changes(
        "remember",
        "\"TEXT\"",
        "Proposes a lesson; nobody is told it before it is promoted",
        &[Shape::Text],
        Does::Asks(
            "memory propose",
            |words| json!({"text": words[0], "scope": "fleet", "evidence": ["note:said in the chat"]}),
        ),
    )),
    looks(
        "recall",
        "\"WORDS\"",
        "What the fleet knows of them",
        &[Shape::Text],
        Does::Asks("memory recall", |words| json!({"query": words[0]})),
    ),
    of(
        May::Settings,
        changes(
            "trust",
            "@MEMBER",
            "Listens to a member as well",
            &[Shape::Member],
            Does::Trusts(true),
        ),
    ),
    of(
        May::Settings,
        changes(
            "untrust",
            "@MEMBER",
            "Listens to them no more",
            &[Shape::Member],
            Does::Trusts(false),
        ),
    ),
    looks(
        "usage",
        "",
        "Usage windows, what each role spent in a week, what the night will cost",
        &[],
        Does::Asks("usage", nothing),
    ),
    looks(
        "outcomes",
        "",
        "What became of the pull requests of 30 days",
        &[],
        Does::Asks("outcomes", nothing),
    ),
    looks(
        "shipped",
        "",
        "What was merged in a week, and what is ready to be",
        &[],
        Does::Asks("shipped", nothing),
    ),
    looks(
        "health",
        "",
        "Whether the fleet itself is well, and the alerts of a day with their ids",
        &[],
        Does::Asks("health", nothing),
    ),
    changes(
        "quiet",
        "DURATION",
        "Nothing but alerts and questions is posted here for so long (2h); the brief has the rest",
        &[Shape::Span],
        Does::Asks("quiet", |words| json!({"for": words[0], "sink": "slack"})),
    ),
    changes(
        "ack",
        "ALERT",
        "An alert was seen: the same is not told again for a day",
        &[Shape::Alert],
        Does::Asks("ack", |words| json!({"alert": words[0]})),
    ),
    once(changes(
        "issue",
        "REPO: TITLE",
        "Asks whether to make an issue that a role may take up; a button makes it",
        &[Shape::Text, Shape::Text],
        Does::Issue,
    )),
    of(
        May::Operators,
        once(changes(
            "run",
            "ROLE",
            "Lets one role fire now",
            &[Shape::Role],
            Does::Asks("fire", |words| json!({"role": words[0]})),
        )),
    ),
    looks("help", "", "This list", &[], Does::Help),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_chat_lists_each_verb() {
        let mut table = String::from("| verb | what it does | who |\n|---|---|---|\n");
        for verb in VERBS {
            let who = match verb.may {
                May::Trusted => "trusted",
                May::Settings => "`slack.trusted`",
                May::Operators => "`slack.operators`",
            };
            let usage = verb.usage().replace('|', "\\|");
            table.push_str(&format!("| `{usage}` | {} | {who} |\n", verb.what));
        }
        let page = include_str!("../../../docs/CHAT.md");
        assert!(page.contains(&table), "docs/CHAT.md must hold:\n{table}");
    }
}
