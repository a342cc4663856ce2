//! Answers of a loop, for people.

use std::time::Duration;

use carson_core::text::{counted, instant};
use carson_loop::api::{
    Compared, Differs, History, RolledBack, StartAnswer, StatusAnswer, StopAnswer, TestAnswer,
    UpdateAnswer,
};
use carson_loop::place::Layout;
use carson_loop::status::Status;

use crate::print;

/// Paths that are listed.
const PATHS: usize = 20;

/// The flag that a command has which goes on with what one with a flag began.
pub fn flag(layout: Layout) -> &'static str {
    match layout {
        Layout::Native => "",
        Layout::Alpf => " --compat alpf",
    }
}

/// A text whose commands are for whoever keeps everything in ALPF's names.
pub fn alpf(text: &str) -> String {
    const COMMAND: &str = "carson loop ";
    let mut parts = text.split(COMMAND);
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Behind its verb, where it cannot be taken for a part of what follows.
        let verb = part.find(|c: char| !c.is_ascii_lowercase());
        let (verb, rest) = part.split_at(verb.unwrap_or(part.len()));
        told += &format!("{COMMAND}{verb}{}{rest}", flag(Layout::Alpf));
    }
    told
}

pub fn status(answer: &StatusAnswer, layout: Layout) -> Vec<String> {
    let reason = match layout {
        Layout::Native => reason(answer),
        Layout::Alpf => alpf(&reason(answer)),
    };
    let mut lines = vec![format!("{}: {reason}", answer.status)];
    if let Some(error) = &answer.config_error {
        lines.push(format!("config.json is broken: {error}"));
    }
    if let Some(error) = &answer.state_error {
        lines.push(format!("state.json is not believed: {error}"));
    }
    for (name, value) in [("task", &answer.task), ("promise", &answer.promise)] {
        lines.extend(value.iter().map(|value| format!("  {name:<9}{value}")));
    }
    let kept = if answer.promise_fulfilled {
        "kept"
    } else {
        "not kept"
    };
    // Nobody knows how many of a configuration that is broken.
    let of = match answer.max_attempts {
        0 => String::new(),
        most => format!(" of {most}"),
    };
    lines.push(format!(
        "  attempts {}{of}, the promise is {kept}",
        answer.attempt
    ));
    lines.push(format!("  time     {}", took(answer.elapsed_ms)));
    if let Some(owner) = &answer.owner {
        lines.push(format!("  runs as  {owner}"));
    }
    if let Some(at) = answer.updated_at {
        lines.push(format!("  changed  {}", instant(at)));
    }
    lines.push(format!("  files    {}", answer.dir.display()));
    lines
}

fn reason(answer: &StatusAnswer) -> String {
    match (&answer.died, answer.status) {
        (Some(owner), _) => format!("{owner} died; `carson loop run` goes on where it was"),
        (None, Status::Running) if answer.owner.is_none() => {
            "nobody runs it any more; `carson loop run` goes on where it was".to_owned()
        }
        (None, status) => match (&answer.reason, status) {
            (Some(reason), _) => reason.clone(),
            (None, Status::Idle) => "nothing was run yet".to_owned(),
            (None, _) => format!("attempt {}", answer.last_attempt),
        },
    }
}

pub fn history(answer: &History) {
    let row = |entry: &carson_loop::api::Entry| {
        let meta = &entry.meta;
        let check = meta.check.as_ref().map_or_else(
            || "not asked".to_owned(),
            |check| match check.passed {
                true => "passed".to_owned(),
                false => check.said(),
            },
        );
        let last = |text: &str| {
            text.lines()
                .map(str::trim)
                .rfind(|line| !line.is_empty())
                .map(str::to_owned)
        };
        vec![
            meta.attempt.to_string(),
            meta.outcome.to_string(),
            took(meta.took_ms),
            meta.changed.to_string(),
            meta.ended_by.clone(),
            check,
            last(&entry.output).unwrap_or_default(),
        ]
    };
    if answer.adopted > 0 {
        let count = counted(u64::from(answer.adopted), "older attempt");
        print::line(&format!(
            "{count} of another program: nothing but their number is known here"
        ));
    }
    if answer.left_out > 0 {
        let verb = if answer.left_out == 1 { "is" } else { "are" };
        let count = counted(answer.left_out as u64, "older attempt");
        print::line(&format!("{count} {verb} left out"));
    }
    let header = [
        "N",
        "OUTCOME",
        "TOOK",
        "CHANGED",
        "TASK",
        "CHECK",
        "LAST LINE",
    ];
    print::list(
        false,
        &answer.attempts,
        match answer.under_way {
            Some(_) => "no attempt has ended yet",
            None if answer.adopted > 0 => "no attempt was made since",
            None => "no attempt was made yet",
        },
        &header,
        row,
    );
    if let Some(n) = answer.under_way {
        print::line(&format!("attempt {n} has begun, and not ended yet"));
    }
}

pub fn rollback(answer: &RolledBack) -> Vec<String> {
    let to = match answer.attempt {
        0 => "before the first attempt".to_owned(),
        n => format!("where attempt {n} left it"),
    };
    let mut lines = vec![match answer.changed {
        0 if !answer.missed.is_empty() => {
            format!("nothing was changed, and not all of the tree is {to}")
        }
        0 => format!("the tree is {to} already"),
        count => format!("the tree is {to}: {} changed", counted(count, "path")),
    }];
    lines.extend(
        answer
            .paths
            .iter()
            .take(PATHS)
            .map(|path| format!("  {path}")),
    );
    if answer.paths.len() > PATHS {
        lines.push(format!("  and {} more", answer.changed as usize - PATHS));
    }
    if answer.index {
        lines.push("the index is as it was then".to_owned());
    }
    if !answer.kept.is_empty() {
        lines.push(format!("kept as you left it: {}", answer.kept.join(", ")));
    }
    if !answer.commits_since.is_empty() {
        lines.push("HEAD stays where it is; commits since:".to_owned());
        lines.extend(
            answer
                .commits_since
                .iter()
                .map(|commit| format!("  {commit}")),
        );
    }
    lines.extend(
        answer
            .missed
            .iter()
            .map(|missed| format!("not brought back: {missed}")),
    );
    lines
}

pub fn start(answer: &StartAnswer, layout: Layout) -> String {
    let compat = flag(layout);
    match answer.status {
        Status::Running => format!(
            "the loop runs (pid {}); `carson loop status{compat}` says how it stands, {} has what it prints",
            answer.pid,
            answer.log.display()
        ),
        status => {
            format!("the loop has ended already: {status}; `carson loop status{compat}` says why")
        }
    }
}

pub fn stop(answer: &StopAnswer) -> String {
    match answer.after_attempt {
        true => format!(
            "the loop (pid {}) stops behind the attempt that runs",
            answer.pid
        ),
        false => format!("the loop (pid {}) has ended: {}", answer.pid, answer.status),
    }
}

pub fn update(answer: &UpdateAnswer) -> String {
    match (answer.changed.is_empty(), answer.at_next_attempt) {
        (true, _) => "nothing changed: it was so already".to_owned(),
        (false, true) => format!(
            "changed {}: from the next attempt on",
            answer.changed.join(", ")
        ),
        (false, false) => format!("changed {}", answer.changed.join(", ")),
    }
}

pub fn test(answer: &TestAnswer) -> Vec<String> {
    let time = took(answer.check.took_ms);
    let mut lines: Vec<String> = answer.output.lines().map(str::to_owned).collect();
    lines.push(match answer.promise_fulfilled {
        true => format!("the promise is kept ({time})"),
        false => format!("the promise is not kept: {} ({time})", answer.check.said()),
    });
    lines
}

pub fn compare(answer: &Compared) -> Vec<String> {
    let (a, b) = (&answer.meta_a, &answer.meta_b);
    let short = |hash: Option<carson_loop::digest::Digest>| {
        hash.map_or_else(|| "none".to_owned(), |hash| hash.short())
    };
    let row = |what: Differs, name: &str, one: String, other: String| match answer
        .differs
        .contains(&what)
    {
        true => format!("  {name:<9}differs: {one} and {other}"),
        false => format!("  {name:<9}the same: {one}"),
    };
    let version = |meta: &carson_loop::meta::Meta| {
        meta.executor_version
            .clone()
            .unwrap_or_else(|| "unknown".into())
    };
    vec![
        format!(
            "attempt {} and attempt {}: {}",
            answer.a, answer.b, answer.says
        ),
        row(
            Differs::Input,
            "input",
            a.prompt_hash.short(),
            b.prompt_hash.short(),
        ),
        row(
            Differs::Tree,
            "tree",
            short(a.tree_before_hash),
            short(b.tree_before_hash),
        ),
        row(Differs::Executor, "executor", version(a), version(b)),
        format!("  result   {} and {}", a.outcome, b.outcome),
    ]
}

/// `attempt 2 and attempt 1`.
pub fn attempts(numbers: &[u32]) -> String {
    let named: Vec<String> = numbers
        .iter()
        .take(5)
        .map(|n| format!("attempt {n}"))
        .collect();
    named.join(", ")
}

/// A time as people read it.
pub fn took(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => carson_config::format_duration(Duration::from_secs(ms / 1_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_a_hint_has_the_flag() {
        for (text, right) in [
            (
                "`carson loop status` says why",
                "`carson loop status --compat alpf` says why",
            ),
            (
                "carson loop run --promise \"npm test\" -- a, `carson loop stop`",
                "carson loop run --compat alpf --promise \"npm test\" -- a, `carson loop stop --compat alpf`",
            ),
            ("wait", "wait"),
        ] {
            assert_eq!(alpf(text), right);
        }
    }
}
