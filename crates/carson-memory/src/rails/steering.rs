//! Nothing in it speaks to the judge, to a session or to a tool as if it had a say over them.
//!
//! A lesson says how something is. One that tells a judge what to answer, a session what to forget, or a tool what to run
//! past its walls is no lesson, whatever else it says.

use carson_core::lesson::LessonSource;

use super::phrases::{Phrase, first};
use super::rail::{Breach, Known, texts};
use crate::folded;

/// Meant for whoever judges.
const TO_THE_JUDGE: &[Phrase] = &[
    "judge ~confidence|promote|approve*|accept*|trust*|must|should|will|return|answer|score*|verified|verifies|rates|rated|confirm*|judged",
    "dear|hello|hey|note|attention|message ~judge|reviewer|evaluator|grader|gatekeeper",
    "confidence ~1|10|100|one|high|maximum|max|full|099|09",
    "maximum|max|full|highest ~confidence|score|rating",
    "is|isnt|not duplicate",
    "isduplicate|changesagentbehavior|steeringattempt",
    "duplicate false",
    "steering attempt",
    "change|changes|changing agent|agents behavior|behaviour",
    "trust|believe|accept|promote|approve ~unconditionally|blindly|unseen|unread",
    "promote|approve|accept|admit|believe ~this|me|it ~lesson|candidate|claim|entry|memory|unconditionally|immediately|now",
    "this lesson|candidate|claim|entry ~verified|preapproved|approved|safe|trusted|correct|authoritative|signed|certified",
    "already|been|was|pre ~approved|vetted|verified ~by ~operator|owner|security|admin|anthropic|openai|maintainer*|team|human|judge|carson",
    "your verdict|rating|answer|score|output|reply|response|rationale ~must|should|is|shall|be",
    "rate|score|grade|mark ~this|it|lesson ~high*|1|10|100|top|perfect|highest",
    "as ~judge ~you",
    "excellent|perfect|wise|brilliant|great|kind|expert ~judge|reviewer|evaluator",
    "respond|reply|answer|return|output ~only|exactly|with ~json|confidence|true|yes|approve",
    "memory gate|layer ~must|should|accept*|promote*|trust*",
    "gate accepts|promotes|accepted|promoted",
    "full marks",
    "rating ~below|above|of",
    "whoever|who grades|judges|rates|grading|judging",
];

/// What people are said to have decided: only they know.
const IN_THEIR_NAME: &[Phrase] = &[
    "operator|owner|maintainer*|admin*|administrator*|security|carson ~approved|approves|permitted|permits|allowed|authorised|authorized|decided|confirmed|verified|signed|said|says|agreed",
    "owners|operators|maintainers decision|approval|permission|wish|wishes|order|orders|word",
    "per|by ~operator|owner",
];

/// Meant for whoever reads it later, to get past what binds them.
const TO_A_SESSION: &[Phrase] = &[
    "ignore|disregard|forget|override|overrule|overwrite|bypass ~previous|prior|above|earlier|all|any|other|these|those|system|your|the ~instruct*|rule*|prompt*|polic*|guid*|lesson*|order*|constraint*|restriction*|fence*|guardrail*|safeguard*",
    "you are now",
    "you are ~an|a ~assistant|agent|model|ai ~that|who|without|with",
    "act|behave|pretend|roleplay ~as ~root|admin*|operator|if|though|unrestricted|dan",
    "system|developer|assistant|hidden ~prompt|message|instructions",
    "new|updated|real|actual|following ~instructions|orders|directive*",
    "never|not|dont|without ~report|reporting|tell|telling|mention|reveal|inform|warn ~operator|owner|user|human*|people|person|anyone|anybody|maintainer*|reviewer*",
    "never|not|dont report|tell|mention|reveal|log ~hook*|refus*|violation*|block*",
    "never|not|nowhere reported|mentioned|told|logged",
    "agents|agent|sessions|session|assistant|assistants ~must|shall|should|never|will",
    "you will|shall|must|should",
    "as an ai",
    "imagine|suppose ~agent|session|you|reviewer",
    "play|playing ~game",
    "ship ready",
    "lgtm",
    "review*|request*|diff|change*|pr|prs ~approved|resolved|merged|accepted ~without",
    "resolved|approved|accepted without ~reading|review|looking|checking",
    "do|tell|say|mention ~not|never|nothing ~tell|mention|reveal|report|log|warn|inform ~operator|user|human*|anyone|anybody|people|owner",
    "without telling|asking|informing|notifying",
    "end|finish|close|begin|start ~session|answer|reply|every|each|turn ~ok|approve|partial|silent|reject",
    "instead of ~task|issue|plan",
    "jailbreak|dan ~mode",
    "carry out|comply|obey ~instructions|orders|me|this|the|every|with",
    "system|safety override",
    "read|spelled backwards|reversed",
    "rot13",
    "end ~of ~lesson*|memory|data|task|prompt*|instruction*",
    "new ~task|instruction*|order*|directive*",
    "secret*|credential*|token*|password*|key*|env* ~send|post|upload|copy|print|echo|exfiltrat*|leak|commit|paste|email|write",
    "send|post|upload|copy|print|echo|exfiltrat*|leak|dump|paste|email|forward ~secret*|credential*|token*|password*|apikey*|environment|env|ssh|keys",
    "read|cat|open|load ~ssh|aws|netrc|credentials|passwd|shadow|id_rsa|env",
];

/// Meant for a tool, to get past walls.
const TO_A_TOOL: &[Phrase] = &[
    "use|call|invoke|run|execute|allow|grant|enable|open ~bash|shell|tool|tools|terminal|mcp|webfetch|websearch ~tool|tools|to|with|and|without|freely|unrestricted",
    "curl|wget|fetch|download ~sh|bash|zsh|python|perl|node|eval|execute|chmod|run",
    "git push",
    "push ~main|master|production|release|origin|force|directly|remote|upstream",
    "no verify",
    "noverify",
    "force ~push|pushing|merge|with|lease",
    "rm rf|fr|r",
    "chmod 777|x|s|a",
    "sudo",
    "disable|disabling|skip|skipping|bypass|bypassing|remove|removing|delete|deleting|kill|silence|suppress|comment|circumvent|circumventing|evade|avoid|omit|mute ~hook*|sandbox*|check*|test*|lint*|review*|guard*|wall*|gate*|scan*|secret*|verification|signature*|signing|breaker|limit*|redact*|landlock|seccomp|audit*|ci|permission*|approval*|coverage|validation|security",
    "turn|switch ~off ~hook*|sandbox*|check*|tests|lint*|review*|guard*|scan*|verification|signature*|signing|breaker|security|tls|ssl|certificate*|validation",
    "hook*|sandbox*|guard*|wall*|verification|signature*|permission*|approval*|review|reviews|tls|ssl|certificate* ~disabled|off|skipped|bypassed|optional|ignored|unnecessary|stops ~nothing|now|for|in|at|here|always|to|tonight|and",
    "hook*|sandbox*|verification|review|tls|ssl ~disabled|off|optional|bypassed",
    "hook|guard|wall|walls|sandbox stops|keeps ~nothing|nobody",
    "branch|branches ~writable|unprotected|unguarded",
    "finding*|vulnerabilit* ~false|ignored|resolved ~positives|without",
    "password*|secret*|key*|token* ~plain|clear ~text",
    "merge|merges anything",
    "id rsa|ed25519",
    "dangerously skip",
    "dangerously*",
    "yolo",
    "npm|cargo|pip|twine|gem publish|upload",
    "merge ~without|before ~review|approval|checks|tests|waiting|reading",
    "approve|approves|approving|merge|merges|merging ~every|all|any ~pull|pr|prs|request*",
    "delete|deleting|remove|removing|weaken|weakening|loosen|loosening|change|changing|edit|editing ~test|tests|assertion*|check|checks ~pass|passes|green|succeed",
    "outbox|lessons ~json",
    "crontab|systemctl|launchctl",
    "authorized keys",
    "authorized_keys",
    "eval|exec ~base64|curl|decode*|atob",
    "base64 ~d|decode|sh|bash",
    "nc|netcat|socat|telnet ~e|listen|connect|reverse|l",
    "reverse shell",
    "dev tcp",
    "add ~collaborator|deploy|key|webhook ~to|key|with",
    "rewrite|edit|change|delete|weaken|loosen ~test*|assertion* ~pass|passes|green|succeed|until|so",
    "mark|make|report|claim|pretend ~tests|checks|task|issue|work ~pass*|done|green|complete*|successful",
    "exit 0",
    "return true ~always",
];

/// What only a machine's own text has.
const MARKS: [&str; 39] = [
    "<<<data",
    "data>>>",
    "</system",
    "<system",
    "</data",
    "</memory",
    "</lesson",
    "</task",
    "[lesson",
    "; instruction]",
    "; hint]",
    "<function_calls",
    "<invoke",
    "<!--",
    "<details",
    "](javascript",
    "@everyone",
    "/carson ",
    "fixes #",
    "closes #",
    "&#",
    "\\u00",
    "%20",
    "<|im_start|>",
    "<|im_end|>",
    "[inst]",
    "[/inst]",
    "### instruction",
    "### system",
    "\nsystem:",
    "\nassistant:",
    "\nhuman:",
    "\nuser:",
    "{\"confidence",
    "\"confidence\":",
    "[ok]",
    "[approve]",
    "[already-done]",
    "```",
];

/// What names somewhere else: no part of a claim, but of what shows one.
const ADDRESSES: [&str; 2] = ["http://", "https://"];

/// Phrases that are looked for where blanks were left out.
const RUN_TOGETHER: [&str; 12] = [
    "ignoreprevious",
    "ignoreall",
    "ignoretheabove",
    "disregardprevious",
    "disregardall",
    "systemprompt",
    "youarenow",
    "promotethislesson",
    "approvethislesson",
    "confidence10",
    "steeringattempt",
    "changesagentbehavior",
];

pub(super) fn breach(known: &Known<'_>) -> Option<Breach> {
    let candidate = known.candidate;
    let mut claimed = candidate.body.iter().chain([&candidate.text]);
    let steers = claimed
        .clone()
        .find_map(|text| has(text, &ADDRESSES))
        .or_else(|| texts(known).find_map(|text| steers(&text)));
    if let Some(why) = steers {
        return Some(Breach::Rejects(why));
    }
    if candidate.source == LessonSource::Operator {
        return None;
    }
    let said = claimed.find_map(|text| first(&folded::words(text), IN_THEIR_NAME))?;
    Some(Breach::Holds(format!(
        "it speaks for people (\u{201c}{said}\u{201d}): they decide"
    )))
}

/// The first of the marks that it has.
fn has(text: &str, marks: &[&str]) -> Option<String> {
    let lower = format!("\n{}", text.to_lowercase());
    let mark = marks.iter().find(|mark| lower.contains(**mark))?;
    Some(format!(
        "it has {:?}, which is no part of a claim",
        mark.trim()
    ))
}

/// What in a text speaks to somebody as if it had a say.
fn steers(text: &str) -> Option<String> {
    let words = folded::words(text);
    for (to, phrases) in [
        ("the judge", TO_THE_JUDGE),
        ("a session", TO_A_SESSION),
        ("a tool", TO_A_TOOL),
    ] {
        if let Some(said) = first(&words, phrases) {
            return Some(format!("it speaks to {to} (\u{201c}{said}\u{201d})"));
        }
    }
    if let Some(mark) = has(text, &MARKS) {
        return Some(mark);
    }
    let together = words.concat();
    let found = RUN_TOGETHER
        .iter()
        .find(|phrase| together.contains(**phrase))?;
    Some(format!("it says {found:?}"))
}
