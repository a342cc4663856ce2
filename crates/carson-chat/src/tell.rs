//! Answers of the operator's verbs as lines of text. They are escaped where they are posted.

use carson_core::text::counted;
use serde_json::Value;

/// Lines of one answer.
const LINES_MAX: usize = 200;
/// Lines of one plan.
const PLAN_MAX: usize = 10;
/// Longest line.
const LINE_MAX: usize = 400;

/// The answer of a verb, in lines.
pub(crate) fn told(verb: &str, answer: &Value) -> String {
    let lines = match verb {
        "status" => status(answer),
        "firings" => list(answer, "no firing yet", firing),
        "why" => why(answer),
        "queue" => list(answer, "no role works in a repository", queue),
        "plans" => list(answer, "nothing waits for you", plan),
        "memory list" => list(answer, "there are no lessons", lesson),
        "memory recall" => list(&answer["lessons"], "nothing is known of that", lesson),
        "memory propose" => vec![format!("proposed: {}", lesson(answer).join(" "))],
        "health" => health(answer),
        "shipped" => shipped(answer),
        "usage" => usage(answer),
        "outcomes" => outcomes(answer),
        "pause" => paused(answer),
        "resume" => resumed(answer),
        "breaker reset" => reset(answer),
        "stop" => vec![format!("firing {} was told to end", id(&answer["firing"]))],
        "quiet" => vec![format!(
            "nothing but alerts and questions until {}",
            when(&answer["until"])
        )],
        "ack" => vec![format!("seen: {}", word(&answer["title"]))],
        "fire" => fired(answer),
        _ => vec![answer.to_string()],
    };
    cut(lines)
}

fn cut(mut lines: Vec<String>) -> String {
    let left_out = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    if left_out > 0 {
        lines.push(format!("… and {left_out} more lines"));
    }
    let lines = lines
        .into_iter()
        .map(|line| match line.char_indices().nth(LINE_MAX) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None => line,
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// A value as a word of a line.
fn word(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

fn all(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The last eight digits of an id, as people name it.
fn id(value: &Value) -> String {
    let text = word(value);
    let digits: Vec<char> = text.chars().collect();
    digits[digits.len().saturating_sub(8)..].iter().collect()
}

/// An instant to the minute.
fn when(value: &Value) -> String {
    let text = word(value);
    let minute = text.get(..16).unwrap_or(&text);
    minute.replacen('T', " ", 1) + "Z"
}

fn list(value: &Value, none: &str, line: fn(&Value) -> Vec<String>) -> Vec<String> {
    let lines: Vec<String> = all(value).flat_map(line).collect();
    match lines.is_empty() {
        true => vec![none.to_owned()],
        false => lines,
    }
}

fn status(seen: &Value) -> Vec<String> {
    let waiting = seen["outbox"].as_u64().unwrap_or_default();
    let mut lines = vec![format!(
        "{}: {} running, ${:.2} today, {} {}",
        word(&seen["fleet"]),
        all(&seen["running"]).count(),
        seen["spent_today"].as_f64().unwrap_or_default(),
        counted(waiting, "post"),
        if waiting == 1 { "waits" } else { "wait" },
    )];
    for role in all(&seen["roles"]) {
        let next = match role["next"].is_null() {
            true => "never by itself".to_owned(),
            false => when(&role["next"]),
        };
        let last = match role["last"]["outcome"].is_null() {
            true => String::new(),
            false => format!(", last {}", word(&role["last"]["outcome"])),
        };
        let breaker = match role["breaker"].is_null() {
            true => "",
            false => ", its breaker is open",
        };
        lines.push(format!(
            "{}: next {next}{last}{breaker}",
            word(&role["name"])
        ));
    }
    if !seen["no_room"].is_null() {
        lines.push(format!("no room: {}", word(&seen["no_room"])));
    }
    for face in all(&seen["faces"]) {
        let (name, host) = (word(&face["name"]), word(&face["host"]));
        lines.push(format!("{name} is shut on {host}: {}", word(&face["why"])));
    }
    for pause in all(&seen["pauses"]) {
        lines.push(format!(
            "paused: {}, {}",
            word(&pause["scope"]),
            word(&pause["reason"])
        ));
    }
    for quiet in all(&seen["quiets"]) {
        let (sink, until) = (word(&quiet["sink"]), when(&quiet["until"]));
        lines.push(format!("quiet: {sink} until {until}"));
    }
    for block in all(&seen["blocks"]) {
        let (account, why) = (word(&block["account"]), word(&block["reason"]));
        lines.push(format!("account {account} is blocked: {why}"));
    }
    for stop in all(&seen["role_stops"]) {
        lines.push(format!("{}: {}", word(&stop["role"]), word(&stop["why"])));
    }
    for one in all(&seen["plans"]) {
        lines.extend(plan(one).into_iter().take(1));
    }
    lines
}

fn firing(row: &Value) -> Vec<String> {
    let how = match row["outcome"].is_null() {
        true => format!("runs ({})", word(&row["stage"])),
        false => word(&row["outcome"]),
    };
    let title = match row["title"].is_null() {
        true => String::new(),
        false => format!(" {}", word(&row["title"])),
    };
    let (id, role) = (id(&row["id"]), word(&row["role"]));
    vec![format!(
        "{id} {} {role}: {how}{title}",
        when(&row["claimed_at"])
    )]
}

fn why(reasons: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for key in ["verdict", "title", "reason", "outcome"] {
        if reasons[key].is_string() {
            lines.push(word(&reasons[key]));
        }
    }
    lines.extend(all(&reasons["chain"]).map(|fact| format!("• {}", word(fact))));
    lines.extend(all(&reasons["facts"]).map(|fact| format!("• {}", word(fact))));
    for stop in all(&reasons["stops"]) {
        lines.push(format!("• {}", word(&stop["why"])));
    }
    for role in all(&reasons["roles"]) {
        lines.push(format!(
            "• {}: {}",
            word(&role["role"]),
            word(&role["stands"])
        ));
    }
    if lines.is_empty() {
        lines.push("nothing is written down of it".to_owned());
    }
    lines
}

fn queue(of: &Value) -> Vec<String> {
    let head = format!("{} in {}:", word(&of["role"]), word(&of["repo"]));
    if of["unknown"].is_string() {
        return vec![format!("{head} unknown: {}", word(&of["unknown"]))];
    }
    let mut lines = vec![head];
    for one in all(&of["ready"]) {
        lines.push(format!("• #{} {}", one["number"], word(&one["title"])));
    }
    if of["more"].as_u64().is_some_and(|more| more > 0) {
        lines.push(format!("• and {} more", of["more"]));
    }
    for one in all(&of["held"]) {
        lines.push(format!("• waits: {}", word(&one["why"])));
    }
    if lines.len() == 1 {
        lines.push("• nothing".to_owned());
    }
    lines
}

fn plan(one: &Value) -> Vec<String> {
    let what = match one["issue"].is_null() {
        true => format!("a new issue in {}", word(&one["repo"])),
        false => format!("the plan on {}#{}", word(&one["repo"]), one["issue"]),
    };
    let state = match one["state"].as_str() {
        Some("cannot-be-asked") => format!("cannot be asked here ({})", word(&one["error"])),
        Some("expired") => "has expired".to_owned(),
        _ => "waits".to_owned(),
    };
    let mut lines = vec![format!(
        "{what} {state}, until {}",
        when(&one["expires_at"])
    )];
    let text = one["text"].as_str().unwrap_or_default();
    lines.extend(text.lines().take(PLAN_MAX).map(|line| format!("   {line}")));
    if text.lines().nth(PLAN_MAX).is_some() {
        lines.push("   … (all of it stands where it was asked, and in `carson plans`)".to_owned());
    }
    lines
}

fn lesson(row: &Value) -> Vec<String> {
    let state = match row["state"].is_null() {
        true => String::new(),
        false => format!(" [{}]", word(&row["state"])),
    };
    vec![format!("{}{state} {}", id(&row["id"]), word(&row["text"]))]
}

fn health(found: &Value) -> Vec<String> {
    let mut lines = vec![word(&found["line"])];
    lines.extend(all(&found["wrong"]).map(|wrong| format!("• {}", word(wrong))));
    for alert in all(&found["alerts"]) {
        let seen = match alert["seen"] == true {
            true => "seen",
            false => "not seen",
        };
        let (id, at) = (word(&alert["id"]), when(&alert["at"]));
        lines.push(format!(
            "alert {id} {at} ({seen}): {}",
            word(&alert["title"])
        ));
    }
    lines
}

fn shipped(merged: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for (title, key) in [("Merged:", "merged"), ("Ready to read:", "ready")] {
        if all(&merged[key]).next().is_some() {
            lines.push(title.to_owned());
            lines.extend(all(&merged[key]).map(|line| format!("• {}", word(line))));
        }
    }
    if lines.is_empty() {
        lines.push(format!("nothing since {}", when(&merged["since"])));
    }
    lines
}

fn usage(seen: &Value) -> Vec<String> {
    let all_used = &seen["all"];
    let mut lines = vec![format!(
        "since {}: {} sessions, {} turns, ${:.2}",
        when(&seen["since"]),
        all_used["sessions"],
        all_used["turns"],
        all_used["cost_usd"].as_f64().unwrap_or_default()
    )];
    for used in all(&seen["used"]) {
        let cost = used["cost_usd"].as_f64().unwrap_or_default();
        let (role, account) = (word(&used["role"]), word(&used["account"]));
        lines.push(format!(
            "• {role} with {account}: {} firings, ${cost:.2}",
            used["firings"]
        ));
    }
    lines
}

fn outcomes(ledger: &Value) -> Vec<String> {
    let mut lines = vec![format!("since {}", when(&ledger["since"]))];
    for pull in all(&ledger["pulls"]).take(20) {
        let (repo, end) = (word(&pull["repo"]), word(&pull["end"]));
        lines.push(format!(
            "• {repo}#{} {end} {}",
            pull["number"],
            word(&pull["title"])
        ));
    }
    if lines.len() == 1 {
        lines.push("no pull request".to_owned());
    }
    lines
}

fn paused(answer: &Value) -> Vec<String> {
    let mut lines = vec![format!("paused: {}", word(&answer["scope"]))];
    let before = &answer["instead_of"];
    if !before.is_null() {
        let until = match before["until"].is_null() {
            true => "it is resumed".to_owned(),
            false => when(&before["until"]),
        };
        let why = word(&before["reason"]);
        lines.push(format!(
            "that takes the place of a pause until {until}: {why}"
        ));
    }
    lines
}

fn resumed(answer: &Value) -> Vec<String> {
    let scope = word(&answer["scope"]);
    vec![match answer["resumed"] == true {
        true => format!("goes on: {scope}"),
        false => format!("was not paused: {scope}"),
    }]
}

fn reset(answer: &Value) -> Vec<String> {
    let role = word(&answer["role"]);
    vec![match answer["reset"] == true {
        true => format!("the breaker of {role} is closed"),
        false => format!("the breaker of {role} was closed already"),
    }]
}

fn fired(answer: &Value) -> Vec<String> {
    vec![match answer["firing"].is_null() {
        false => format!("firing {} began", id(&answer["firing"])),
        true => format!("it does not fire: {}", word(&answer["reason"])),
    }]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_of_any_size_is_bounded_and_one_of_any_form_is_told() {
        let row = json!({"id": "x".repeat(9_000), "text": "a\nb", "state": "held"});
        let many = Value::Array(vec![row; 5_000]);
        let text = told("memory list", &many);
        assert_eq!(text.lines().count(), LINES_MAX + 1);
        assert!(
            text.ends_with("… and 4800 more lines"),
            "{}",
            &text[text.len() - 40..]
        );
        let wide = json!({"scope": "y".repeat(9_000)});
        assert_eq!(told("pause", &wide).chars().count(), LINE_MAX + 1);
        for verb in [
            "status",
            "why",
            "usage",
            "outcomes",
            "health",
            "shipped",
            "fire",
            "nobody knows",
        ] {
            assert!(!told(verb, &json!(null)).is_empty(), "{verb}");
        }
    }
}
