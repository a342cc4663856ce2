//! What became of the fleet's pull requests: `carson outcomes` counts what people did with each of them.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use crate::goes_on::person_commits;
use crate::limits::{ROLE, Script, commits, gives_up};

/// Commits a file of its own in each run; the first run gives up half way.
fn script() -> String {
    let all = commits();
    let (_, said_ok) = all.split_once('\n').unwrap();
    format!(
        "n=$(wc -l < \"${{0%.sh}}.log\")\n\
         echo $n > $n.txt; git add .; git commit --quiet -m \"Run $n\"\n\
         if [ $n = 1 ]; then {}fi\n{said_ok}",
        gives_up()
    )
}

/// Five pieces of work; what became of each.
struct Scene {
    script: Script,
    untouched: u64,
    changed: u64,
    reverted: u64,
    pending: u64,
    closed: u64,
}

impl Scene {
    fn new() -> Self {
        let script = Script::new(&[("codex", script())], "");
        let fleet = &script.fleet;
        assert_eq!(script.fire()["outcome"], "FAILED");
        let untouched = finished(&script);
        merge(fleet, untouched);

        fleet.issue(ROLE, "Greet the cat", "");
        let changed = finished(&script);
        let shown = fleet.ok(&["pr", "show", &changed.to_string(), "--json"]);
        person_commits(fleet, &[], shown["pull"]["head"].as_str().unwrap());
        merge(fleet, changed);

        fleet.issue(ROLE, "Greet the dog", "");
        let reverted = finished(&script);
        merge(fleet, reverted);
        take_back(fleet);

        fleet.issue(ROLE, "Greet the parrot", "");
        let pending = finished(&script);
        fleet.issue(ROLE, "Greet the goldfish", "");
        let closed = finished(&script);
        let _ = fleet.ok(&["pr", "close", &closed.to_string(), "--json"]);
        Self {
            script,
            untouched,
            changed,
            reverted,
            pending,
            closed,
        }
    }

    fn fleet(&self) -> &TestFleet {
        &self.script.fleet
    }

    fn forget(&self, pull: u64) {
        let file = format!("forge/widget/pulls/{pull:04}.md");
        fs::remove_file(self.fleet().home().join(file)).unwrap();
    }
}

/// Fires to the end; the number of the pull request.
fn finished(script: &Script) -> u64 {
    let row = script.fire();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    row["pr_number"].as_u64().unwrap()
}

fn merge(fleet: &TestFleet, pull: u64) {
    let _ = fleet.ok(&["pr", "merge", &pull.to_string(), "--yes", "--json"]);
}

/// A person takes back what was merged last.
fn take_back(fleet: &TestFleet) {
    let theirs = fleet.root().join("theirs");
    let theirs = theirs.to_str().unwrap();
    let _ = fleet.git(&["worktree", "add", "--quiet", theirs, "main"]);
    let _ = fleet.git(&["-C", theirs, "revert", "--no-edit", "-m", "1", "HEAD"]);
    let _ = fleet.git(&["worktree", "remove", theirs]);
}

fn pull(ledger: &Value, number: u64) -> &Value {
    let mut pulls = ledger["pulls"].as_array().unwrap().iter();
    let found = pulls.find(|pull| pull["number"] == number);
    found.unwrap_or_else(|| panic!("#{number} is not there: {ledger:#}"))
}

/// How often each thing became of them.
fn counts(sum: &Value) -> [u64; 8] {
    let all = [
        "pulls",
        "untouched",
        "changed",
        "merged",
        "reverted",
        "closed",
        "pending",
        "untold",
    ];
    all.map(|key| sum[key].as_u64().unwrap())
}

#[test]
fn what_people_did_with_each_pull_request_is_counted() {
    let scene = Scene::new();
    let fleet = scene.fleet();
    let ledger = fleet.ok(&["outcomes", "--json"]);
    for (number, end) in [
        (scene.untouched, "untouched"),
        (scene.changed, "changed"),
        (scene.reverted, "reverted"),
        (scene.pending, "pending"),
        (scene.closed, "closed"),
    ] {
        assert_eq!(pull(&ledger, number)["end"], end, "{ledger:#}");
    }
    assert_eq!(counts(&ledger["all"]), [5, 1, 1, 0, 1, 1, 1, 0]);
    assert_eq!(ledger["groups"][0]["name"], ROLE);
    assert_eq!(ledger["untold"].as_array().unwrap().len(), 0, "{ledger:#}");

    // What an attempt cost that told nobody is not known, and so is what its work cost.
    let first = pull(&ledger, scene.untouched);
    assert_eq!(
        (&first["firings"], &first["cost_usd"]),
        (&2.into(), &Value::Null)
    );
    let second = pull(&ledger, scene.changed);
    assert_eq!(second["firings"], 1);
    assert!(
        second["hours_to_merge"].as_f64().unwrap() < 1.0,
        "{second:#}"
    );
    let all = &ledger["all"];
    assert_eq!(all["cost_per_merged"], second["cost_usd"], "{all:#}");
    assert_eq!(
        (&all["cost_unknown"], &all["cost_estimated"]),
        (&1.into(), &true.into())
    );

    let ran = fleet.carson(&["outcomes"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let cells = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        cells(lines[0]).join(" "),
        "ROLE PRS UNTOUCHED CHANGED REVERTED CLOSED PENDING HOURS COST"
    );
    let [role, together] = [lines[1], lines[2]].map(cells);
    assert_eq!(
        role[..8],
        [ROLE, "5", "1", "1", "1", "1", "1", "0.0"],
        "{ran:#?}"
    );
    assert!(role[8].starts_with("~$"), "{ran:#?}");
    assert_eq!(role[1..], together[1..]);
    assert_eq!(
        lines[3],
        "1 pull request merged whose cost is not known and not counted"
    );
    let last = lines.last().unwrap();
    assert!(last.starts_with("5 pull requests since "), "{last}");
    let ends = "2 merged and stand, 1 of them untouched; 1 taken back within 14 days; \
                1 closed without merging; 1 still open";
    assert!(last.ends_with(ends), "{last}");
}

#[test]
fn they_are_put_together_by_engine_or_prompts_and_what_ended_is_asked_once() {
    let scene = Scene::new();
    let fleet = scene.fleet();
    let by_engine = fleet.ok(&["outcomes", "--by", "engine", "--json"]);
    assert_eq!(
        by_engine["groups"][0]["name"], "command/codex",
        "{by_engine:#}"
    );
    let id = scene.script.fire()["id"].as_str().unwrap().to_owned();
    let version = fleet.firing(&id)["prompt_version"].clone();
    let version = version.as_str().unwrap();
    let by_prompt = fleet.ok(&["outcomes", "--by", "prompt", "--json"]);
    let name = format!("{ROLE} {version}");
    assert_eq!(
        by_prompt["groups"][0]["name"],
        name.as_str(),
        "{by_prompt:#}"
    );

    // The forge has lost the files: what is open is not known any more; of the rest nobody asks.
    let before = fleet.ok(&["outcomes", "--json"]);
    let ended = [scene.untouched, scene.changed, scene.reverted, scene.closed];
    ended.iter().for_each(|pull| scene.forget(*pull));
    assert_eq!(fleet.ok(&["outcomes", "--json"])["all"], before["all"]);
    scene.forget(scene.pending);
    let after = fleet.ok(&["outcomes", "--json"]);
    assert_eq!(counts(&after["all"]), [5, 1, 1, 0, 1, 1, 0, 1]);
    let said = fleet.carson(&["outcomes"]).stdout;
    let untold = format!("not all is known of #{} in widget: ", scene.pending);
    assert!(
        said.contains(&untold) && said.trim_end().ends_with("1 not known"),
        "{said}"
    );

    // A remote that does not answer: what was found out before is shown, and that nobody looked since.
    fs::rename(fleet.remote(), fleet.root().join("away.git")).unwrap();
    let away = fleet.ok(&["outcomes", "--json"]);
    assert_eq!(away["all"], after["all"]);
    let why = away["untold"][1]["why"].as_str().unwrap();
    assert!(why.contains("cannot be read"), "{away:#}");

    for (args, word) in [(["--by", "day"], "day"), (["--since", "once"], "yesterday")] {
        let refused = fleet.carson(&[&["outcomes"], &args[..]].concat());
        assert_eq!(refused.code, Some(2), "{refused:#?}");
        assert!(refused.stderr.contains(word), "{refused:#?}");
    }
}

#[test]
fn a_fleet_that_opened_none_says_so() {
    let fleet = TestFleet::new();
    let said = fleet.carson(&["outcomes", "--since", "2h"]);
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.stdout.starts_with("no firing since "), "{said:#?}");
    let json = fleet.ok(&["outcomes", "--json"]);
    assert_eq!(counts(&json["all"]), [0; 8]);
    assert_eq!(
        (&json["groups"], &json["pulls"]),
        (&Value::Array(vec![]), &Value::Array(vec![]))
    );
}
