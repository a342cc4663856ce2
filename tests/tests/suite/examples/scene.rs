//! The scene of an example: a fleet with the shipped role, its work on a local forge, and one firing.

use std::fs;

use carson_tests::fleet::{REPO, TestFleet};
use serde_json::Value;

use super::form::{Answer, Example, Files, Input, Offered};
use super::roles;
use crate::crew::fixer::{file, head};
use crate::crew::{fire, pull};

/// An example after its firing.
pub(super) struct Played {
    pub fleet: TestFleet,
    /// The firing's row.
    pub row: Value,
    /// 0 where there is none.
    pub issue: u64,
    /// The pull request that it worked on.
    pub pull: Option<u64>,
}

/// Plays it.
pub(super) fn play(role: &str, example: &Example) -> Played {
    let input = &example.input;
    let fleet = TestFleet::new();
    if !input.files.is_empty() {
        let files: Vec<(&str, &str)> = input
            .files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        fleet.commit_to_main(&files);
    }
    fleet.script("when = []\n");
    shipped(&fleet, role, input);
    let (issue, pull, head) = match &input.pull {
        None if input.title.is_empty() => (0, None, String::new()),
        None => (reported(&fleet, input), None, String::new()),
        Some(offered) => {
            let (issue, number, head) = opened(&fleet, input, offered);
            (issue, Some(number), head)
        }
    };
    if let Some(answer) = &example.answer {
        let work = pull.unwrap_or(issue).to_string();
        let script = script(answer).replace("$WORK", &work);
        let script = script.replace("$HEAD", &head);
        fs::write(fleet.root().join("play.toml"), script).unwrap();
    }
    let row = fire(&fleet, role);
    Played {
        fleet,
        row,
        issue,
        pull,
    }
}

/// Adds the role as it is shipped, for the repositories of the example.
fn shipped(fleet: &TestFleet, role: &str, input: &Input) {
    let text = fs::read_to_string(roles().join(role).join("role.toml")).unwrap();
    assert!(text.contains("repos   = []"), "{role}: {text}");
    let others = input.others.iter().map(String::as_str);
    let repos: Vec<&str> = std::iter::once("widget").chain(others).collect();
    let mut text = text
        .replace("repos   = []", &format!("repos = {repos:?}"))
        .replace("engines = []", "engines = [\"play\"]");
    if let Some(line) = &input.coverage {
        assert!(text.contains("run     = \"\""), "{role}: {text}");
        text = text.replace("run     = \"\"", &format!("run = {}", toml_text(line)));
    }
    if let Some(check) = &input.check {
        text.push_str(&format!("\n[promise]\nrun = {}\n", toml_text(check)));
    }
    let dir = fleet.home().join("roles").join(role);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("role.toml"), text).unwrap();

    let mut more = "[repos.widget]\n".to_owned();
    if role == "merger" {
        more.push_str("policy = { merge = true }\n");
    }
    if let Some(test) = &input.test {
        more.push_str(&format!("red_to_green = {{ run = {} }}\n", toml_text(test)));
    }
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    let mut text = text.replace("[repos.widget]\n", &more);
    for name in &input.others {
        text.push_str(&format!("\n[repos.{name}]\nurl = {:?}\n", fleet.remote()));
    }
    fs::write(&path, text).unwrap();
}

/// Makes the issue.
fn reported(fleet: &TestFleet, input: &Input) -> u64 {
    let labels = input.labels.join(",");
    let args = [
        "issue",
        "create",
        input.title.as_str(),
        "--body",
        input.body.as_str(),
        "--label",
        labels.as_str(),
        "--repo",
        REPO,
        "--json",
    ];
    fleet.ok(&args)["number"].as_u64().unwrap()
}

/// Makes the pull request as an implementer would, and what others left beside it: the numbers of its issue and
/// of itself, and its commit.
fn opened(fleet: &TestFleet, input: &Input, offered: &Offered) -> (u64, u64, String) {
    let mut steps = edits(&offered.files);
    steps.push(step("commit", &input.title));
    steps.push(step("say", "[OK] done"));
    let script = fleet.root().join("hand.toml");
    fs::write(&script, part("execute", &steps)).unwrap();
    let account = format!("engine = \"rehearsal\"\nscript = {script:?}");
    fleet.account("hand", &account);
    fleet.role("hand", "hand", "stages = [\"execute\"]\n");
    let issue = fleet.issue("hand", &input.title, &input.body);
    // Older than the age at which anybody looks at it.
    let number = pull(fleet, 40);
    if let Some(body) = &offered.body {
        let path = format!("pulls/{number:04}.md");
        let text = fleet.forge_file(&path);
        let (front, _) = text.split_once("\n+++\n").unwrap();
        file(fleet, &path, &format!("{front}\n+++\n{body}"));
    }
    let head = head(fleet, number);
    beside(fleet, (number, &head), offered);
    (issue, number, head)
}

/// What programs and people left beside a pull request.
fn beside(fleet: &TestFleet, (number, head): (u64, &str), offered: &Offered) {
    for check in &offered.checks {
        let (conclusion, log) = (&check.conclusion, &check.log);
        let text = format!("+++\nconclusion = {conclusion:?}\n+++\n{log}");
        file(fleet, &format!("checks/{head}/{}.md", check.name), &text);
    }
    for (n, thread) in (1..).zip(&offered.threads) {
        let at: String = format!("pulls/{number:04}.threads/{n:04}");
        let place = format!(
            "+++\npath = {}\nline = {}\n+++\n",
            toml_text(&thread.path),
            thread.line
        );
        file(fleet, &format!("{at}.md"), &place);
        let says = format!("{}\n", thread.says);
        file(fleet, &format!("{at}.comments/0001.md"), &says);
    }
    let review =
        |n: u32, text: &str| file(fleet, &format!("pulls/{number:04}.reviews/{n:04}.md"), text);
    if let Some(ready) = offered.ship_ready {
        let ship = if ready { "yes" } else { "no" };
        let own = format!(
            "+++\nauthor = \"carson\"\nstate = \"commented\"\ncommit = \"{head}\"\n+++\n\
             <!-- carson:review key=example head={head} ship={ship} -->\n"
        );
        review(1, &own);
    }
    if let Some(no) = &offered.objection {
        let head = "+++\nauthor = \"ann\"\nstate = \"changes-requested\"\n+++\n";
        review(2, &format!("{head}{no}\n"));
    }
}

/// A session of each stage.
fn script(answer: &Answer) -> String {
    let plan = answer.plan.as_deref().unwrap_or("[OK] planned");
    let mut steps = edits(&answer.files);
    if let Some(message) = &answer.commit {
        steps.push(step("commit", message.trim()));
    }
    if let Some(outbox) = &answer.outbox {
        let outbox = outbox.trim();
        let writes = format!("cat >\"$CARSON_OUTBOX\" <<'END'\n{outbox}\nEND\n");
        steps.push(step("tool", &writes));
    }
    steps.push(step("say", answer.says.as_deref().unwrap_or_default()));
    let mut script = part("plan", &[step("say", plan)]) + &part("execute", &steps);
    for judges in ["review", "diff-review", "confirm"] {
        script.push_str(&part(judges, &[step("say", "[APPROVE]")]));
    }
    script
}

fn edits(files: &Files) -> Vec<String> {
    let edit = |(path, text): (&String, &String)| {
        let (path, text) = (toml_text(path), toml_text(text));
        format!("{{ edit = {{ path = {path}, content = {text} }} }}")
    };
    files.iter().map(edit).collect()
}

fn step(name: &str, text: &str) -> String {
    format!("{{ {name} = {} }}", toml_text(text))
}

fn part(stage: &str, steps: &[String]) -> String {
    format!("[[when]]\nstage = {stage:?}\ndo = [{}]\n", steps.join(", "))
}

/// A string of TOML is written as one of JSON.
fn toml_text(text: &str) -> String {
    Value::from(text).to_string()
}
