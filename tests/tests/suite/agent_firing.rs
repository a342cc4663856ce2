//! Whole firings with `carson-agent` as their engine: its real binary, behind the walls and Carson's proxy, and
//! a scripted model that speaks Chat Completions.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use carson_tests::fleet::{TestFleet, binary};
use carson_tests::model::{Reply, ScriptedModel, bash, say, too_many_requests, when, write};
use serde_json::Value;

use crate::claude_firing::{COMMIT, executing, judging, planning, reviewing};

const ROLE: &str = "implementer";
const KEY: &str = "sk-proj-real-91ab-key";

/// A fleet whose one account is the agent, and the model that it talks to.
pub(crate) struct Scene {
    pub(crate) model: ScriptedModel,
    pub(crate) fleet: TestFleet,
}

impl Scene {
    fn new(more: &str) -> Self {
        Self::given("", |_| more.to_owned())
    }

    /// With this at the top of the role's file, and that below its limits.
    pub(crate) fn given(top: &str, more: impl FnOnce(&TestFleet) -> String) -> Self {
        let (model, fleet) = (ScriptedModel::start().unwrap(), TestFleet::new());
        let key = fleet.home().join("provider.key");
        fs::write(&key, format!("{KEY}\n")).unwrap();
        fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
        let agent = binary().with_file_name("carson-agent");
        let account = format!(
            "engine = \"agent\"\nmodel = \"local-7b\"\nbinary = {agent:?}\nkey_file = \"provider.key\"\n\
             upstream = \"{}\"",
            model.base_url()
        );
        fleet.account("agent", &account);
        let limits = format!("{top}[limits]\nwall_clock = \"90s\"\n{}", more(&fleet));
        fleet.role(ROLE, "agent", &limits);
        assert_eq!(fleet.issue(ROLE, "Greet the owner", "In hello.txt."), 1);
        Self { model, fleet }
    }

    /// What is not played before goes well.
    pub(crate) fn goes_well(&self) -> &Self {
        let works = [bash(COMMIT), say("[OK] it greets")];
        self.model
            .on(planning(), say("1. Write hello.txt.\n[OK] planned"))
            .on(reviewing(), say("[APPROVE]"))
            .on(executing(), Reply::turns(works))
            .on(judging(), say("[APPROVE]"));
        self
    }

    pub(crate) fn fire(&self) -> Value {
        let ran = self.fleet.fire(ROLE);
        let unmatched = self.model.unmatched();
        assert!(unmatched.is_empty(), "{unmatched:#?}\n{ran:#?}");
        self.fleet.firing(ran.json()["id"].as_str().unwrap())
    }
}

#[test]
fn a_firing_ends_in_a_pull_request_and_the_key_is_nowhere() {
    let scene = Scene::new("");
    let row = scene.goes_well().fire();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert_eq!(scene.fleet.pulls().len(), 1);
    assert_eq!(
        (&row["engine"], &row["turns"], &row["tokens_in"]),
        (&"agent".into(), &5.into(), &5000.into()),
        "{row:#}"
    );
    for request in scene.model.requests() {
        let key = format!("Bearer {KEY}");
        assert_eq!(request.header("authorization"), Some(key.as_str()));
        assert_eq!(request.model(), "local-7b");
    }
    let said = scene.fleet.transcripts(row["id"].as_str().unwrap());
    assert!(said.iter().all(|text| !text.contains(KEY)));
}

#[test]
fn who_only_reads_has_no_tool_that_writes_and_writes_nothing() {
    let scene = Scene::new("");
    let tries = [
        write("hello.txt", "hello"),
        bash("echo hello >hello.txt"),
        say("1. Write it.\n[OK] planned"),
    ];
    scene.model.on(planning(), Reply::turns(tries));
    let row = scene.goes_well().fire();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let asked = scene.model.requests();
    let plans: Vec<_> = asked.iter().take(3).collect();
    assert!(
        !plans[0].tools().contains(&"write_file"),
        "{:?}",
        plans[0].tools()
    );
    let results = plans[2].tool_results();
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results[1].text.contains("Read-only"), "{results:?}");
}

#[test]
fn bounds_end_it_and_its_work_is_kept() {
    let scene = Scene::new("max_turns = 3\nmax_attempts = 1\n");
    scene.model.on(
        executing(),
        Reply::turns([bash(COMMIT), bash("date"), bash("date -u")]),
    );
    let row = scene.goes_well().fire();
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    assert_eq!(scene.fleet.pulls()[0]["draft"], true);
}

#[test]
fn refusals_of_its_endpoint_are_what_they_are_of_any_other() {
    for (reply, outcome) in [
        (too_many_requests(7200), "RATE_LIMITED"),
        (Reply::error(401, "authentication_error", "no"), "AUTH"),
    ] {
        let scene = Scene::new("");
        scene.model.on(when(), reply);
        let row = scene.fire();
        assert_eq!(row["outcome"], outcome, "{row:#}");
        let blocks = scene.fleet.ok(&["status", "--json"]);
        assert!(blocks.to_string().contains("\"agent\""), "{blocks:#}");
    }
}
