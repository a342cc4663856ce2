//! What one stage's answer means for the whole firing, played by a rehearsal: it is Carson's own
//! doing, whatever CLI gave the answer. `claude_firing.rs` has what a CLI could spoil.

use carson_tests::fleet::TestFleet;
use serde_json::Value;

const ROLE: &str = "implementer";
const COMMITS: &str = r#"{ edit = { path = "hello.txt", content = "Good evening.\n" } }, { commit = "Add a greeting" }"#;

/// One firing after its end.
struct Fired {
    fleet: TestFleet,
    row: Value,
    code: Option<i32>,
}

impl Fired {
    /// A firing whose sessions do this in these stages (stage, TOML of the steps), and elsewhere what lets
    /// it go on.
    fn playing(more: &str, parts: &[(&str, &str)]) -> Self {
        let execute = format!("{COMMITS}, {{ say = \"[OK] it greets\" }}");
        let well = [
            ("plan", "{ say = \"1. Write hello.txt.\\n[OK] planned\" }"),
            ("execute", execute.as_str()),
            ("review", "{ say = \"[APPROVE]\" }"),
            ("diff-review", "{ say = \"[APPROVE]\" }"),
        ];
        let script: String = parts
            .iter()
            .chain(&well)
            .map(|(stage, steps)| format!("[[when]]\nstage = {stage:?}\ndo = [{steps}]\n"))
            .collect();
        let fleet = TestFleet::new();
        fleet.script(&script);
        fleet.role(ROLE, "play", more);
        assert_eq!(fleet.issue(ROLE, "Greet the owner", "In hello.txt."), 1);
        let ran = fleet.fire(ROLE);
        let row = fleet.firing(ran.json()["id"].as_str().unwrap());
        // Whatever the end, nothing of the firing stays behind.
        assert_eq!(fleet.benches(), Vec::<std::path::PathBuf>::new());
        Self {
            fleet,
            row,
            code: ran.code,
        }
    }

    /// The outcome and the exit code, which must not contradict each other.
    fn end(&self) -> (&str, i32) {
        let outcome = self.row["outcome"].as_str().unwrap_or_default();
        (outcome, self.code.unwrap_or(-1))
    }

    fn branch(&self) -> &str {
        self.row["branch"].as_str().unwrap_or_default()
    }

    /// The stages that it came through.
    fn came_through(&self, stage: &str) -> bool {
        let stages = self.row["stages"].as_array().unwrap();
        stages.iter().any(|it| it["name"] == stage)
    }

    /// The one pull request there is.
    fn pull(&self) -> Value {
        let [pull] = <[Value; 1]>::try_from(self.fleet.pulls()).unwrap();
        pull
    }

    fn is_for_nobody_to_review(&self) {
        let pull = self.pull();
        assert_eq!(pull["draft"], true);
        let labels = pull["labels"].as_array().unwrap();
        assert!(labels.contains(&"do-not-review".into()), "{pull:#?}");
        assert_eq!(pull["head"].as_str(), Some(self.branch()));
        assert_eq!(self.fleet.branches(), [self.branch()]);
    }

    /// Everything that was said on the issue.
    fn comments(&self) -> String {
        self.fleet.ok(&["issue", "show", "1", "--json"])["comments"].to_string()
    }
}

#[test]
fn a_plan_that_is_refused_is_never_executed() {
    let refuses = "{ say = \"1. The owner is asleep.\\n[REJECT]\" }";
    let fired = Fired::playing("", &[("review", refuses)]);

    assert_eq!(fired.end(), ("REJECTED", 12), "{:#?}", fired.row);
    assert!(fired.came_through("review") && !fired.came_through("execute"));
    assert_eq!(fired.fleet.pulls(), Vec::<Value>::new());
    assert_eq!(fired.fleet.labels(1), ["for:implementer"]);
    let comment = fired.comments();
    assert!(comment.contains("The owner is asleep."), "{comment}");
}

#[test]
fn a_diff_that_is_refused_stays_a_draft_with_the_findings() {
    let refuses = "{ say = \"1. hello.txt:1 is impolite.\\n[REJECT]\" }";
    let fired = Fired::playing("", &[("diff-review", refuses)]);

    assert_eq!(fired.end(), ("REJECTED", 12), "{:#?}", fired.row);
    fired.is_for_nobody_to_review();
    assert_eq!(fired.fleet.labels(1), ["for:implementer"]);
    let body = fired.pull()["body"].to_string();
    let reason = fired.row["reason"].to_string();
    for told in [body, fired.comments(), reason] {
        assert!(told.contains("hello.txt:1 is impolite."), "{told}");
    }
}

#[test]
fn turns_that_changed_nothing_leave_nothing() {
    let looks = "{ tool = \"git status --short\" }, ".repeat(3);
    let fired = Fired::playing("[limits]\nmax_turns = 2\n", &[("execute", &looks)]);

    assert_eq!(fired.end(), ("FAILED", 13), "{:#?}", fired.row);
    assert_eq!(fired.fleet.pulls(), Vec::<Value>::new());
    assert_eq!(fired.fleet.branches(), Vec::<String>::new());
}

#[test]
fn success_without_a_commit_becomes_a_draft_that_nobody_reviews() {
    let forgets = r#"{ edit = { path = "hello.txt", content = "Good evening.\n" } }, { say = "[OK] it greets" }"#;
    let fired = Fired::playing("", &[("execute", forgets)]);

    assert_eq!(fired.end(), ("NO_COMMIT", 10), "{:#?}", fired.row);
    let file = ["show", &format!("{}:hello.txt", fired.branch())];
    assert_eq!(fired.fleet.git(&file), "Good evening.\n");
    let log = ["log", "-1", "--format=%s", fired.branch()];
    let subject = fired.fleet.git(&log);
    assert!(subject.starts_with("Unfinished work"), "{subject}");
    fired.is_for_nobody_to_review();
    let file = format!("pulls/{:04}.md", fired.pull()["number"].as_u64().unwrap());
    let file = fired.fleet.forge_file(&file);
    assert!(
        file.contains("\"do-not-review\"") && file.contains("draft = true"),
        "{file}"
    );
    assert!(!fired.came_through("diff-review"));
    assert_eq!(fired.fleet.labels(1), ["for:implementer"]);
}

/// Steps whose session is still there when somebody stops it; one that nobody stops says that all is well.
fn unless_stopped(steps: &str, ms: u32) -> String {
    format!("{steps}{{ sleep_ms = {ms} }}, {{ say = \"[OK] it greets\" }}")
}

/// A limit that leaves a scripted session all its turns, of which each call is one.
const ALL_TURNS: &str = "[limits]\nmax_turns = 1000\nmax_attempts = 1\n";

#[test]
fn the_tool_call_over_the_cap_ends_the_session_and_its_work_becomes_a_draft() {
    let calls: String = (1..=3)
        .map(|n| format!("{{ tool = \"echo {n}\" }}, "))
        .collect();
    let capped = |cap: u32, ms: u32| {
        let steps = unless_stopped(&format!("{COMMITS}, {calls}"), ms);
        let more = format!("{ALL_TURNS}max_tool_calls = {cap}\n");
        Fired::playing(&more, &[("execute", &steps)])
    };

    let fired = capped(2, 60_000);

    assert_eq!(fired.end(), ("PARTIAL", 10), "{:#?}", fired.row);
    let reason = fired.row["reason"].to_string();
    assert!(reason.contains("tool call budget"), "{reason}");
    fired.is_for_nobody_to_review();
    assert_eq!(capped(3, 0).end(), ("OK", 0), "as many as it may have");
}

#[test]
fn the_same_call_with_the_same_result_ends_the_session() {
    let again = "{ tool = \"git status --short\" }, ".repeat(3);
    for (before, end) in [
        (format!("{COMMITS}, "), ("PARTIAL", 10)),
        (String::new(), ("FAILED", 13)),
    ] {
        let steps = unless_stopped(&format!("{before}{again}"), 60_000);

        let fired = Fired::playing(ALL_TURNS, &[("execute", &steps)]);

        assert_eq!(fired.end(), end, "{:#?}", fired.row);
        let reason = fired.row["reason"].to_string();
        assert!(
            reason.contains("the same call of Bash had the same result 3 times in a row"),
            "{reason}"
        );
    }
}

#[test]
fn the_same_call_with_another_result_each_time_does_not() {
    let counts =
        "{ tool = 'n=$(cat \"$HOME/n\" || echo 0); echo $((n + 1)) > \"$HOME/n\"; exit $n' }, ";
    let steps = unless_stopped(&format!("{COMMITS}, {}", counts.repeat(6)), 0);

    let fired = Fired::playing(ALL_TURNS, &[("execute", &steps)]);

    assert_eq!(fired.end(), ("OK", 0), "{:#?}", fired.row);
}

#[test]
fn two_hundred_calls_that_change_nothing_end_the_session() {
    let looks = "{ tool = \"true\" }, { tool = \"false\" }, ".repeat(105);

    let idle = Fired::playing(ALL_TURNS, &[("execute", &unless_stopped(&looks, 60_000))]);

    assert_eq!(idle.end(), ("FAILED", 13), "{:#?}", idle.row);
    let reason = idle.row["reason"].to_string();
    assert!(reason.contains("changed nothing in its tree"), "{reason}");
}

#[test]
fn a_shell_that_changes_a_file_among_many_calls_is_work() {
    let looks = "{ tool = \"true\" }, { tool = \"false\" }, ".repeat(60);
    let greets = "{ tool = \"echo 'Good evening.' > hello.txt\" }, ";
    let steps = format!("{looks}{greets}{looks}{{ commit = \"Add a greeting\" }}, ");

    let fired = Fired::playing(ALL_TURNS, &[("execute", &unless_stopped(&steps, 0))]);

    assert_eq!(fired.end(), ("OK", 0), "{:#?}", fired.row);
}
