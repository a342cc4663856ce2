//! Six roles, their CLI, and their calendars.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use carson_tests::fleet::TestFleet;

/// A role and when it fires.
pub(super) struct Role {
    pub name: &'static str,
    /// As its settings say it, in UTC.
    cadence: &'static str,
    /// The hours between two slots, or the most of them.
    pub period: u64,
    /// The same as the cadence, by weekday (0 is Monday) and hour.
    is_due: fn(u64, u64) -> bool,
    /// Of a hundred hours, those in which an issue arrives for it.
    pub arrivals: u64,
    more: &'static str,
}

impl Role {
    /// Whether an hour since Monday 00:00 is a slot of its.
    pub(super) fn is_due(&self, hour: u64) -> bool {
        (self.is_due)(hour / 24 % 7, hour % 24)
    }
}

/// The promise of `checked`, and what somebody makes of it.
pub(super) const PROMISE: &str = "test -s README.md";
pub(super) const WRONG_PROMISE: &str = "pytst -q";

pub(super) const ROLES: [Role; 6] = [
    Role {
        name: "hourly",
        cadence: "0 * * * *",
        period: 1,
        is_due: |_, _| true,
        arrivals: 14,
        // Far fewer than it has slots.
        more: "max_firings_per_day = 14\n",
    },
    Role {
        name: "steady",
        cadence: "0 */2 * * *",
        period: 2,
        is_due: |_, hour| hour % 2 == 0,
        arrivals: 10,
        more: "",
    },
    Role {
        name: "spared",
        cadence: "0 */3 * * *",
        period: 3,
        is_due: |_, hour| hour % 3 == 0,
        arrivals: 10,
        more: "",
    },
    Role {
        name: "checked",
        cadence: "0 */4 * * *",
        period: 4,
        is_due: |_, hour| hour % 4 == 0,
        arrivals: 8,
        more: "[promise]\nrun = \"test -s README.md\"\n",
    },
    Role {
        name: "office",
        cadence: "0 9-17 * * 1-5",
        period: 1,
        is_due: |day, hour| day < 5 && (9..=17).contains(&hour),
        arrivals: 5,
        more: "",
    },
    Role {
        name: "keeper",
        cadence: "0 6 * * *",
        period: 24,
        is_due: |_, hour| hour == 6,
        arrivals: 0,
        more: "",
    },
];

/// What people wait for at most: pull requests are read by day only.
const LIMITS: &str = "[limits]\nwall_clock = \"33s\"\nmax_open_prs = 30\n";

/// Speaks as Codex does. What is the matter with its provider stands in a file of its account's name; what its
/// issue wants of it, in the issue.
const AGENT: &str = r#"#!/bin/bash
prompt=$(cat)
world=$2
trouble=$(cat "$world/$1.trouble" 2>/dev/null)
say() { printf '{"type":"item.completed","item":{"type":"agent_message","text":"%s"}}\n' "$1"; }
ends() { say "$1"; printf '{"type":"turn.completed","usage":{"input_tokens":1000,"output_tokens":10}}\n'; exit 0; }
case $trouble in
    '') ;;
    broken) exit 3 ;;
    *) printf '{"type":"turn.failed","error":{"message":"%s"}}\n' "$trouble"; exit 1 ;;
esac
name=${CARSON_WORK:-notes-$CARSON_FIRING}
tried=$world/tried.$name
wrote() { printf '%s\n' "$1-$CARSON_FIRING" > "$name.$1"; echo "WROTE $1-$CARSON_FIRING"; git add .; git commit --quiet -m "$1 of $name"; }
wants() { [[ $prompt == *"It wants: $1."* ]]; }
if [ -e "$world/slow" ]; then wrote half; touch "$world/reached.$CARSON_ROLE"; sleep 60; fi
if wants an-answer && [[ $prompt != *'The answer is blue.'* ]]; then ends '[BLOCKED] which colour?'; fi
if wants two-firings && [ ! -e "$tried" ]; then touch "$tried"; wrote half; ends '[PARTIAL] the other half'; fi
if wants too-much; then wrote part; ends '[PARTIAL] there is always more'; fi
wrote all
ends 'Done.\n[OK] all of it'
"#;

/// Adds accounts and roles.
pub(super) fn furnish(fleet: &TestFleet) {
    let program = fleet.root().join("cli/agent");
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::write(&program, AGENT).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let world = fleet.shared();
    for account in ["main", "spare"] {
        let body = format!(
            "engine = \"command\"\nbinary = {program:?}\nargs = [{account:?}, {world:?}]\nspeaks = \"codex\"\nmodel = \"gpt-5\""
        );
        fleet.account(account, &body);
    }
    for role in &ROLES {
        let stages = match role.more.contains("[promise]") {
            true => "[\"execute\", \"verify\"]",
            false => "[\"execute\"]",
        };
        let (own, limits) = match role.more.starts_with('[') {
            true => (role.more, LIMITS.to_owned()),
            false => ("", format!("{LIMITS}{}", role.more)),
        };
        let more = format!("stages = {stages}\n{limits}{own}");
        fleet.role_at(role.name, "main", role.cadence, &more);
    }
    let task = "work = { from = \"none\", task = \"Write the day down.\" }";
    edit(
        &fleet.home().join("roles/keeper/role.toml"),
        "work = { from = \"issues\", label = \"for:keeper\" }",
        task,
    );
    let spared = fleet.home().join("roles/spared/role.toml");
    edit(&spared, "[\"main\"]", "[\"main\", \"spare\"]");
    let floor = "[fleet]\nmin_free_mb = 8\n";
    edit(&fleet.home().join("carson.toml"), "[fleet]\n", floor);
}

/// Changes a file of the operator's, which must hold what is replaced.
pub(super) fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from:?} is not in {text}");
    fs::write(path, text.replace(from, to)).unwrap();
}
