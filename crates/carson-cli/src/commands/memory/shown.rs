//! How lessons are shown on a terminal.

use carson_core::FiringId;
use carson_core::text::instant;
use carson_firing::lessons::GateRun;
use carson_memory::lift::{Compared, Says};
use carson_operator::memory::ShownLesson;
use carson_operator::memory::audit::Chain;
use carson_operator::memory::exchange::Imported;
use carson_operator::memory::lift::Lifted;
use carson_operator::memory::recall::{Fit, Known};
use carson_operator::memory::revert::TakenBackLesson;

use crate::print;

pub(super) const HEADER: [&str; 6] = ["LESSON", "STATE", "SCOPE", "SEVERITY", "SURE", "TEXT"];

pub(super) fn row(lesson: &ShownLesson) -> Vec<String> {
    vec![
        lesson.id.short(),
        lesson.state.to_string(),
        lesson.scope.to_string(),
        lesson.severity.to_string(),
        format!("{:.2}", lesson.confidence),
        flat(&lesson.text),
    ]
}

/// As one line: what a stranger wrote makes no line that looks like ours.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Line by line, each seen to be theirs.
fn quoted(text: &str) -> String {
    let lines = text.lines().map(|line| format!("  | {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn lesson(as_json: bool, lesson: &ShownLesson) {
    if as_json {
        return print::json(lesson);
    }
    print::line(&format!(
        "lesson {} ({}, {}, {})",
        lesson.id, lesson.kind, lesson.severity, lesson.scope
    ));
    print::line(&format!("  {}", flat(&lesson.text)));
    if let Some(body) = &lesson.body {
        print::line(&format!("  the whole of it:\n{}", quoted(body)));
    }
    let since = instant(lesson.since);
    print::line(&format!(
        "  {} since {since} ({:.2}): {}",
        lesson.state,
        lesson.confidence,
        flat(&lesson.why)
    ));
    if let Some(from) = lesson.valid_from {
        let to = lesson
            .valid_to
            .map_or_else(String::new, |to| format!(" to {}", instant(to)));
        print::line(&format!("  so in the world from {}{to}", instant(from)));
    }
    for one in &lesson.evidence {
        print::line(&format!("  evidence  {}", flat(&one.to_string())));
    }
    print::line(&format!(
        "  proposed  {} ({}), {}",
        lesson.by,
        lesson.source,
        instant(lesson.recorded_at)
    ));
}

pub(super) fn known(known: &Known, explain: bool) {
    if let Some(why) = &known.fell_back {
        print::warning(&format!("found by words alone: {why}"));
    }
    if known.lessons.is_empty() {
        print::line("nothing that fits is remembered");
    }
    for one in &known.lessons {
        print::line(&format!(
            "{}  {:.2}  {}  {}",
            one.id.short(),
            one.score,
            one.scope,
            flat(&one.text)
        ));
        if explain {
            for (way, fit) in [("by words", &one.by_words), ("by meaning", &one.by_meaning)] {
                if let Some(Fit { rank, fit }) = fit {
                    print::line(&format!("          {way}: place {rank}, fits by {fit:.2}"));
                }
            }
        }
    }
    for one in &known.left {
        print::line(&format!(
            "{}  {:.2}  not told: {}",
            one.id.short(),
            one.score,
            one.why
        ));
    }
}

pub(super) fn imported(as_json: bool, done: &Imported) {
    if as_json {
        return print::json(done);
    }
    let mut parts = vec![format!("{} brought", done.imported)];
    for (count, what) in [
        (done.believed, "believed at once"),
        (done.held, "held, though believed there: a rule is broken"),
    ] {
        if count > 0 {
            parts.push(format!("{count} of them {what}"));
        }
    }
    parts.push(format!("{} were here", done.known));
    if done.updated > 0 {
        parts.push(format!("{} of them with newer decisions", done.updated));
    }
    print::line(&parts.join(", "));
    for id in &done.differing {
        print::warning(&format!(
            "lesson {} says something else in the file: what is known here stands",
            id.short()
        ));
    }
    for repo in &done.unknown_repos {
        print::warning(&format!(
            "{repo} is no repository of the settings: what was learned there is held"
        ));
    }
    if !done.passed_over.is_empty() {
        let sorts = done.passed_over.iter();
        let sorts: Vec<String> = sorts
            .map(|(sort, count)| format!("{count} {sort}"))
            .collect();
        print::line(&format!("passed over, no lessons: {}", sorts.join(", ")));
    }
}

pub(super) fn taken_back(one: &TakenBackLesson) {
    let told = if one.still_told {
        "sessions are told it"
    } else {
        "no session is told it any more"
    };
    print::line(&format!(
        "lesson {} is {}: {told}",
        one.id.short(),
        one.state
    ));
    if !one.seen_by.is_empty() {
        let seen: Vec<String> = one.seen_by.iter().map(FiringId::short).collect();
        print::line(&format!("  told before: firings {}", seen.join(", ")));
    }
    for pull in &one.open_pulls {
        print::warning(&format!(
            "  pull request #{} of {} was made by one of them",
            pull.number, pull.repo
        ));
    }
}

pub(super) fn chain(as_json: bool, chain: &Chain) {
    if as_json {
        return print::json(chain);
    }
    lesson(false, &chain.lesson);
    for one in &chain.evidence {
        let bears = if one.bears_out {
            "bears it out"
        } else {
            "does not bear it out"
        };
        let why = one
            .why
            .as_deref()
            .map_or_else(String::new, |why| format!(" ({why})"));
        print::line(&format!(
            "  found     {}: {}{why}, {bears}",
            flat(&one.evidence),
            one.found
        ));
    }
    print::line(&format!(
        "  worth     {:.2}; told as {}",
        chain.structural, chain.canon
    ));
    for one in &chain.judgements {
        let score = one
            .score
            .map_or_else(|| "no score".to_owned(), |score| format!("{score:.2}"));
        let rails = if one.rails.is_empty() {
            String::new()
        } else {
            format!(": {}", one.rails.join("; "))
        };
        print::line(&format!(
            "  gate      {} {} ({score}){rails}",
            instant(one.at),
            one.decision
        ));
    }
    for one in &chain.history {
        print::line(&format!(
            "  history   {} {} by {}: {}",
            instant(one.at),
            one.state,
            flat(&one.by),
            flat(&one.why)
        ));
    }
    for one in &chain.told {
        let outcome = one
            .outcome
            .map_or_else(|| "runs".to_owned(), |outcome| outcome.to_string());
        let (firing, role, score) = (one.firing.short(), &one.role, one.score);
        let how = match one.canon.as_str() {
            "off" => "kept from".to_owned(),
            "demoted" => "told to".to_owned(),
            canon => format!("told as {canon} to"),
        };
        let demoted = if one.canon == "demoted" {
            " as a hint whose evidence has changed"
        } else {
            ""
        };
        print::line(&format!(
            "  told      {how} firing {firing} of {role}{demoted} ({score:.2}): {outcome}"
        ));
    }
}

pub(super) fn gate(as_json: bool, run: &GateRun, dry: bool) {
    if as_json {
        return print::json(run);
    }
    if let Some(why) = &run.stopped {
        print::warning(&format!("the gate stopped: {why}"));
    }
    if let Some(why) = &run.no_judge {
        print::warning(&format!("no more judges are asked: {why}"));
    }
    let header = ["LESSON", "DECISION", "WORTH", "SCORE", "WHY"];
    let rows = run.judged.iter().map(|one| {
        vec![
            one.id.short(),
            one.decision.to_owned(),
            format!("{:.2}", one.structural),
            one.score
                .map_or_else(|| "-".to_owned(), |score| format!("{score:.2}")),
            one.why.clone(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        print::table(&header, rows);
    }
    let was = if dry { "would be promoted" } else { "promoted" };
    print::line(&format!(
        "{} looked at, {} {was}, {} judges asked, {} left for the next run; before that {} proposed by failures, {} by \
         reviewers, {} held as contradicted",
        run.judged.len(),
        run.promoted,
        run.judges_asked,
        run.deferred,
        run.harvested.len(),
        run.reviewed.len(),
        run.contradicted.len()
    ));
}

pub(super) fn lift(as_json: bool, lifted: &Lifted) {
    if as_json {
        return print::json(lifted);
    }
    for one in &lifted.roles {
        print::line(&format!("role {}", one.role));
        one.compared.iter().for_each(compared);
    }
    if lifted.roles.is_empty() {
        print::line("no evidence: no firing was told anything yet");
    }
    for one in &lifted.lessons {
        print::line(&format!("lesson {}  {}", one.id.short(), one.text));
        one.compared.iter().for_each(compared);
    }
    for id in &lifted.proposed_for_revert {
        print::warning(&format!(
            "lesson {0} does harm: carson memory revert {0}",
            id.short()
        ));
    }
}

fn compared(one: &Compared) {
    let says = match one.says {
        Says::Better => "better",
        Says::Worse => "worse",
        Says::NoEvidence => "no evidence",
    };
    let numbers = match &one.numbers {
        None => "too few firings".to_owned(),
        Some(found) => format!(
            "{:.2} of {} told, {:.2} of {} not told, difference {:+.2} (95 % between {:+.2} and {:+.2})",
            found.told,
            found.told_count,
            found.not_told,
            found.not_told_count,
            found.difference,
            found.low,
            found.high
        ),
    };
    print::line(&format!("  {:<9} {says}: {numbers}", one.what));
}
