//! The tables of all rules, and what must hold for any of their cases.

use super::{bypass_checks, credential_read, delete_outside, pipe_to_shell, protected_push};
use crate::{Call, Context, Decision, decide};

/// Identifier, cases to block, cases to allow.
type Table = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const TABLES: [Table; 5] = [
    (
        protected_push::RULE.id,
        protected_push::cases::BLOCK,
        protected_push::cases::ALLOW,
    ),
    (
        bypass_checks::RULE.id,
        bypass_checks::cases::BLOCK,
        bypass_checks::cases::ALLOW,
    ),
    (
        delete_outside::RULE.id,
        delete_outside::cases::BLOCK,
        delete_outside::cases::ALLOW,
    ),
    (
        credential_read::RULE.id,
        credential_read::cases::BLOCK,
        credential_read::cases::ALLOW,
    ),
    (
        pipe_to_shell::RULE.id,
        pipe_to_shell::cases::BLOCK,
        pipe_to_shell::cases::ALLOW,
    ),
];

fn firing() -> Context {
    let mut ctx = Context::new("/home/dev/wt");
    ctx.tmp = "/home/dev/tmp-7".to_owned();
    ctx.branch = "carson/7-fix".to_owned();
    ctx.home = "/home/dev".to_owned();
    ctx
}

fn judged(command: &str) -> Decision {
    decide(&Call::shell(command, "/home/dev/wt"), &firing())
}

fn rule_of(decision: &Decision) -> &str {
    decision.block().map_or("allowed", |block| block.rule.id)
}

#[test]
fn every_case_of_every_table() {
    let mut wrong = Vec::new();
    for (rule, block, allow) in TABLES {
        for case in block {
            let decision = judged(case);
            if rule_of(&decision) != rule {
                wrong.push(format!("MISS {rule}: {case:?} was {decision:?}"));
            }
        }
        for case in allow {
            let decision = judged(case);
            if decision != Decision::Allow {
                wrong.push(format!("FALSE BLOCK in {rule}: {case:?} was {decision:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_tables_are_large_and_balanced() {
    let block: usize = TABLES.iter().map(|(_, block, _)| block.len()).sum();
    let allow: usize = TABLES.iter().map(|(_, _, allow)| allow.len()).sum();
    println!("{block} to block, {allow} to allow");
    assert!(block + allow >= 300);
    assert!(
        allow * 10 >= (block + allow) * 4,
        "at least 40 % must be look-alikes"
    );
}
