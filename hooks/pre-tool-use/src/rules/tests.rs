//! The tables of all rules, and what must hold for any of their cases.

use super::themes::THEMES;
use super::{
    bypass_checks, credential_read, delete_outside, everyday, lookalikes, pipe_to_shell,
    protected_push,
};
use crate::{Call, Context, Decision, decide};

/// Identifier, cases to block, cases to allow.
type Table = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const TABLES: [Table; 7] = [
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
    ("everyday", &[], everyday::ALLOW),
    ("lookalikes", &[], lookalikes::ALLOW),
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
    for (block, allow) in THEMES {
        for (rule, case) in *block {
            let decision = judged(case);
            if rule_of(&decision) != *rule {
                wrong.push(format!("MISS {rule}: {case:?} was {}", rule_of(&decision)));
            }
        }
        for case in *allow {
            let decision = judged(case);
            if decision != Decision::Allow {
                wrong.push(format!("FALSE BLOCK: {case:?} was {decision:?}"));
            }
        }
    }
    assert_none(wrong);
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

/// A text in single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Every case that must be blocked, with its rule.
fn blocked_cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let themes = THEMES.iter().flat_map(|(block, _)| block.iter().copied());
    TABLES
        .into_iter()
        .flat_map(|(rule, block, _)| block.iter().map(move |case| (rule, *case)))
        .chain(themes)
}

/// Asserts that no case of `cases` is judged wrongly, naming all that are.
fn assert_none(wrong: Vec<String>) {
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_blocked_command_is_allowed_as_data() {
    let mut wrong = Vec::new();
    for (_, case) in blocked_cases() {
        let text = quoted(case);
        for data in [
            format!("echo {text}"),
            format!("printf '%s\\n' {text} >> notes.md"),
            format!("git commit -m {text}"),
            format!("git commit --message={text}"),
            format!("grep -rn -e {text} docs"),
            format!("gh pr create --title x --body {text}"),
            format!("cat > notes.md <<'DATA'\n{case}\nDATA"),
            format!("git commit -F - <<'DATA'\n{case}\nDATA\ngit status"),
            format!("x={text}; echo \"$x\""),
            format!(": {text}"),
        ] {
            let decision = judged(&data);
            if decision != Decision::Allow {
                wrong.push(format!("{data:?} was {}", rule_of(&decision)));
            }
        }
    }
    assert_none(wrong);
}

#[test]
fn a_blocked_command_stays_blocked_in_any_shell_around_it() {
    let mut wrong = Vec::new();
    for (rule, case) in blocked_cases() {
        let text = quoted(case);
        for wrapped in [
            format!("bash -c {text}"),
            format!("sh -ec {text}"),
            format!("sudo -u root bash -lc {text}"),
            format!("env -i A=1 sh -c {text}"),
            format!("timeout -k 1 5 nice -n 3 setsid stdbuf -oL bash -c {text}"),
            format!("nohup bash -c {text} >/dev/null 2>&1 &"),
            format!("command exec sh -c {text}"),
            format!("eval {text}"),
            format!("builtin eval {text}"),
            format!("watch -n 5 {text}"),
            format!("echo {text} | bash"),
            format!("bash <<< {text}"),
            format!("bash <<'AROUND'\n{case}\nAROUND"),
            format!("find . -maxdepth 0 -exec sh -c {text} \\;"),
            format!("echo x | xargs -I@@ sh -c {text}"),
            format!("parallel -j1 bash -c {} ::: x", quoted(&text)),
            format!("(\n{case}\n)"),
            format!("{{\n{case}\n}}"),
            format!("x=$(\n{case}\n)"),
            format!("if true; then\n{case}\nfi"),
            format!("for i in 1 2; do\n{case}\ndone"),
            format!("f() {{\n{case}\n}}; f"),
            format!("true && {{\n{case}\n}}"),
            format!("cat <(\n{case}\n)"),
            format!("git status\n{case}\ngit status"),
        ] {
            // `find` and `parallel` put something else in place of `{}`, wherever it stands.
            let replaced = wrapped.starts_with("find") || wrapped.starts_with("parallel");
            if replaced && case.contains("{}") {
                continue;
            }
            let decision = judged(&wrapped);
            if rule_of(&decision) != rule {
                wrong.push(format!("{rule}: {wrapped:?} was {}", rule_of(&decision)));
            }
        }
    }
    assert_none(wrong);
}

#[test]
fn a_plain_blocked_command_stays_blocked_behind_every_wrapper() {
    let plain = |case: &str| {
        let letters = |c: char| c.is_ascii_alphanumeric() || " ./_:+-".contains(c);
        let first = case.split(' ').next().unwrap_or_default();
        case.chars().all(letters) && !["source", ".", "eval", "exec", "time", "cd"].contains(&first)
    };
    let mut wrong = Vec::new();
    for (rule, case) in blocked_cases().filter(|(_, case)| plain(case)) {
        for wrapper in [
            "sudo",
            "sudo -n -E",
            "sudo --user=root",
            "doas -u root",
            "env",
            "env A=1 B=2",
            "nice",
            "nice -n 10",
            "nohup",
            "time",
            "time -p",
            "timeout 5",
            "timeout -s KILL 5s",
            "setsid -w",
            "stdbuf -oL -eL",
            "command",
            "exec",
            "builtin",
            "ionice -c 3",
            "chrt -b 0",
            "taskset 1",
            "busybox",
            "strace -f -o x",
            "xvfb-run",
            "watch",
            "echo | xargs",
            "true | xargs -r",
            "!",
        ] {
            let wrapped = format!("{wrapper} {case}");
            let decision = judged(&wrapped);
            // `xargs` adds a word nobody knows, which may trip an earlier rule too.
            let blocked = wrapper.contains("xargs") && decision != Decision::Allow;
            if rule_of(&decision) != rule && !blocked {
                wrong.push(format!("{rule}: {wrapped:?} was {}", rule_of(&decision)));
            }
        }
    }
    assert_none(wrong);
}

#[test]
fn entering_the_worktree_first_changes_nothing() {
    let mut wrong = Vec::new();
    for (rule, block, allow) in TABLES {
        for (case, expected) in block
            .iter()
            .map(|c| (c, rule))
            .chain(allow.iter().map(|c| (c, "allowed")))
        {
            for enter in [
                "cd /home/dev/wt && ",
                "cd /home/dev/wt\n",
                "cd \"$PWD\"; ",
                "cd sub && cd .. && ",
            ] {
                let decision = judged(&format!("{enter}{case}"));
                if rule_of(&decision) != expected {
                    wrong.push(format!("{enter:?} {case:?} was {}", rule_of(&decision)));
                }
            }
        }
    }
    assert_none(wrong);
}
