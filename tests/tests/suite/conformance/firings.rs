//! One whole firing of those engines that have no file of their own for them: who plans reads, behind the walls and by
//! the list of tools; who executes works; the provider's key is nowhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use carson_tests::fleet::TestFleet;
use carson_tests::model::{
    OPENCODE_MODEL, Reply, ScriptedModel, bash, codex_binary, codex_env, gemini_binary,
    opencode_binary, say, write,
};
use serde_json::Value;

use crate::claude_firing::{COMMIT, executing, planning};

const ROLE: &str = "implementer";
const KEY: &str = "sk-real-4f7a-key";

/// A fleet with this account, and the model that it talks to.
struct Scene {
    model: ScriptedModel,
    fleet: TestFleet,
}

impl Scene {
    fn new(account: impl FnOnce(&ScriptedModel, &TestFleet) -> String) -> Self {
        let (model, fleet) = (ScriptedModel::start().unwrap(), TestFleet::new());
        let key = fleet.home().join("provider.key");
        fs::write(&key, format!("{KEY}\n")).unwrap();
        fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
        fleet.account("one", &account(&model, &fleet));
        let more = "stages = [\"plan\", \"execute\"]\n[limits]\nwall_clock = \"100s\"\n";
        fleet.role(ROLE, "one", more);
        assert_eq!(fleet.issue(ROLE, "Greet the owner", "In hello.txt."), 1);
        Self { model, fleet }
    }

    /// The plan tries to write in every way, and reads; then the work is done.
    fn fire(&self) -> Value {
        let plans = [
            bash("git log --oneline"),
            bash("touch by-shell.txt || echo refused"),
            write("by-tool.txt", "written"),
            say("1. Write hello.txt.\n[OK] planned"),
        ];
        self.model.on(planning(), Reply::turns(plans)).on(
            executing(),
            Reply::turns([bash(COMMIT), say("[OK] it greets")]),
        );
        let ran = self.fleet.fire(ROLE);
        let unmatched = self.model.unmatched();
        assert!(unmatched.is_empty(), "{unmatched:#?}\n{ran:#?}");
        let row = self.fleet.firing(ran.json()["id"].as_str().unwrap());
        assert_eq!(row["outcome"], "OK", "{row:#}");
        self.only_the_work_is_there(&row);
        self.each_session_is_fresh();
        row
    }

    fn only_the_work_is_there(&self, row: &Value) {
        let branch = row["branch"].as_str().unwrap();
        let changed = ["diff", "--name-only", &format!("main..{branch}")];
        assert_eq!(self.fleet.git(&changed), "hello.txt\n", "{row:#}");
        let log = ["log", "-1", "--format=%an: %s", branch];
        assert_eq!(
            self.fleet.git(&log),
            "Carson (implementer): Add a greeting\n"
        );
        let message = self.fleet.git(&["log", "-1", "--format=%B", branch]);
        assert!(message.contains("Carson-Role: implementer"), "{message}");
        assert_eq!(self.fleet.pulls().len(), 1);
        // What the plan tried came to nothing, and what it read was there.
        let asked = self.model.requests();
        let mut plan = asked
            .iter()
            .filter(|one| one.prompt().starts_with("You plan "));
        let tried = plan.next_back().unwrap().tool_results();
        assert_eq!(tried.len(), 3, "{tried:#?}");
        assert!(tried[0].text.contains("A commit"), "{tried:#?}");
    }

    fn each_session_is_fresh(&self) {
        let asked = self.model.requests();
        let openings = asked.iter().filter(|one| one.turn() == 0);
        assert_eq!(openings.count(), 2, "a plan and its execution");
        for prompt in ["You plan ", "You do one piece of work "] {
            let mut of = asked.iter().filter(|one| one.prompt().starts_with(prompt));
            assert_eq!(of.next().unwrap().turn(), 0, "{prompt}");
        }
    }

    /// The provider had the key, and no session, row or transcript.
    fn the_key_is_nowhere(&self, row: &Value, header: &str) {
        for request in self.model.requests() {
            assert_eq!(request.header(header), Some(KEY));
        }
        let said = self.fleet.transcripts(row["id"].as_str().unwrap());
        assert_eq!(said.len(), 2);
        assert!(said.iter().all(|text| !text.contains(KEY)));
    }
}

/// An account whose key Carson's proxy holds.
fn held(engine: &str, binary: &Path, model: &str, more: &str, upstream: &ScriptedModel) -> String {
    format!(
        "engine = {engine:?}\nmodel = {model:?}\nbinary = {binary:?}\nkey_file = \"provider.key\"\n{more}\
         upstream = \"{}\"",
        upstream.base_url()
    )
}

#[test]
fn gemini() {
    let scene = Scene::new(|model, _| {
        held(
            "gemini",
            &gemini_binary().unwrap(),
            "gemini-2.5-pro",
            "",
            model,
        )
    });
    let row = scene.fire();
    scene.the_key_is_nowhere(&row, "x-goog-api-key");
    assert_eq!(
        (&row["engine"], &row["turns"]),
        (&"gemini".into(), &6.into()),
        "{row:#}"
    );
    assert_eq!(
        (&row["tokens"], &row["cost_estimated"]),
        (&6300.into(), &true.into()),
        "{row:#}"
    );
}

#[test]
fn opencode() {
    let scene = Scene::new(|model, _| {
        let api = "api = \"anthropic\"\n";
        held(
            "opencode",
            &opencode_binary().unwrap(),
            OPENCODE_MODEL,
            api,
            model,
        )
    });
    let row = scene.fire();
    scene.the_key_is_nowhere(&row, "x-api-key");
    assert_eq!(
        (&row["engine"], &row["turns"]),
        (&"opencode".into(), &6.into()),
        "{row:#}"
    );
    assert_eq!(
        (&row["tokens"], &row["cost_estimated"]),
        (&6300.into(), &false.into()),
        "{row:#}"
    );
}

/// Codex, by the flags that an operator gives it.
#[test]
fn command() {
    let scene = Scene::new(|model, fleet| {
        let env = codex_env(model, &fleet.root().join("codex")).unwrap();
        let env: Vec<String> = env
            .iter()
            .map(|(name, value)| format!("{name} = {value:?}"))
            .collect();
        let args = [
            "exec",
            "--json",
            "--ephemeral",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "-",
        ];
        format!(
            "engine = \"command\"\nspeaks = \"codex\"\nbinary = {:?}\nargs = {args:?}\nmodel = \"gpt-5.5\"\n\
             env = {{ {} }}",
            codex_binary().unwrap(),
            env.join(", ")
        )
    });
    let row = scene.fire();
    assert_eq!(row["engine"], "command", "{row:#}");
}
