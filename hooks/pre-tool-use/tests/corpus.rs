//! Cases of corpora that were written without a look at the hook, chosen for what they have shown: one a
//! line, what is said of it, the tool and its input.

#![cfg(test)]

use carson_hook::{Call, Context, Decision, decide};

/// The corpora's firing.
fn context() -> Context {
    let mut ctx = Context::new("/home/u/wt/firing-1");
    ctx.tmp = "/home/u/bench/tmp".to_owned();
    ctx.home = "/home/u/bench/home".to_owned();
    ctx.branch = "carson/implementer/12-x".to_owned();
    ctx
}

/// What the hook says of a line: the rule, or `allow`.
fn said(tool: &str, input: &str) -> &'static str {
    let event =
        format!(r#"{{"tool_name":"{tool}","tool_input":{input},"cwd":"/home/u/wt/firing-1"}}"#);
    match decide(&Call::from_json(&event).unwrap(), &context()) {
        Decision::Allow => "allow",
        Decision::Block(block) => block.rule.id,
    }
}

#[test]
fn every_case_of_the_corpora() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for line in include_str!("corpus.txt").lines() {
        let mut parts = line.splitn(3, ' ');
        let mut next = || parts.next().unwrap();
        let (expected, tool, input) = (next(), next(), next());
        seen += 1;
        let answer = said(tool, input);
        if answer != expected {
            wrong.push(format!("{expected} was {answer}: {tool} {input}"));
        }
    }
    assert!(seen > 300, "{seen} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
