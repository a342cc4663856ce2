//! The porter before a real server that means harm.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carson_redact::Redactor;
use serde_json::{Value, json};

use crate::behind::Behind;
use crate::front;
use crate::granted::GrantedServer;
use crate::notes::Notes;
use crate::words::ANSWER;

const SECRET: &str = "tk-41-heron-lantern";

/// A porter before a server of this kind.
struct Scene {
    dir: tempfile::TempDir,
    behind: Behind,
}

impl Scene {
    fn of(kind: &str) -> Self {
        Self::granting(kind, &["search"])
    }

    fn granting(kind: &str, tools: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("token"), SECRET).unwrap();
        fs::write(at("events"), "").unwrap();
        let server = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/server.py");
        let env = BTreeMap::from([
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("TOKEN_FILE".to_owned(), at("token").display().to_string()),
        ]);
        let granted = GrantedServer {
            program: PathBuf::from("/usr/bin/python3"),
            args: vec![server.to_owned(), kind.to_owned()],
            cwd: dir.path().to_owned(),
            env,
            tools: tools.iter().map(|name| (*name).to_owned()).collect(),
            secrets: Vec::new(),
            // Ten thousand lines take their time on a machine that has much to do.
            call_ms: if kind == "flood" { 30_000 } else { 1_500 },
        };
        let redactor = Redactor::new([SECRET.to_owned().into()]);
        let notes = Notes::of("docs", Some(at("events")), &redactor);
        Self {
            behind: Behind::new("docs", granted, redactor, notes),
            dir,
        }
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let asked = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let answer = front::answer(asked.to_string().as_bytes(), &mut self.behind).await;
        let answer = answer.unwrap();
        assert_eq!(
            (&answer["jsonrpc"], &answer["id"]),
            (&json!("2.0"), &json!(7))
        );
        answer
    }

    /// What a call comes to: its words, and whether it went wrong.
    async fn call(&mut self, tool: &str) -> (String, bool) {
        let params = json!({ "name": tool, "arguments": { "q": 1 }, "_meta": { "session": "s" } });
        let answer = self.ask("tools/call", params).await;
        let content = answer["result"]["content"].as_array().unwrap();
        let [only] = content.as_slice() else {
            panic!("{answer}")
        };
        let failed = answer["result"]["isError"].as_bool().unwrap();
        (only["text"].as_str().unwrap().to_owned(), failed)
    }

    /// Ends the server; what people hear.
    async fn notes(mut self) -> String {
        self.behind.end().await;
        fs::read_to_string(self.dir.path().join("events")).unwrap()
    }
}

#[tokio::test]
async fn a_cli_sees_the_granted_tools_and_nothing_else_of_a_server() {
    let mut scene = Scene::granting("plain", &["search", "fly"]);
    let begun = scene
        .ask("initialize", json!({ "protocolVersion": "2025-06-18" }))
        .await;
    assert_eq!(begun["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(begun["result"]["capabilities"], json!({ "tools": {} }));
    let listed = scene.ask("tools/list", json!({})).await;
    let search = json!({
        "name": "search",
        "description": "Finds [redacted:known] things.",
        "inputSchema": { "type": "object", "description": "of [redacted:known]" },
    });
    assert_eq!(listed["result"], json!({ "tools": [search] }), "{listed}");
    assert_eq!(scene.call("search").await, ("found".to_owned(), false));
    let mut all = format!("{begun}{listed}");
    for tool in [
        "hidden",
        "docs__search",
        "se\u{430}rch",
        "SEARCH",
        "fly",
        "",
        "odd",
    ] {
        let (said, failed) = scene.call(tool).await;
        assert!(
            failed && said.contains("no tool that this session has"),
            "{tool}: {said}"
        );
    }
    for method in [
        "resources/list",
        "resources/read",
        "prompts/list",
        "server/discover",
        "x",
    ] {
        let answer = scene
            .ask(method, json!({ "uri": "file:///etc/passwd" }))
            .await;
        assert_eq!(answer["error"]["code"], -32601, "{method}");
        all.push_str(&answer.to_string());
    }
    assert!(!all.contains("OBEY"), "{all}");
    let notes = scene.notes().await;
    assert!(
        notes.contains("mcp_failed") && notes.contains("it has no tool \\\"fly\\\""),
        "{notes}"
    );
    assert!(
        notes.contains("mcp_refused") && notes.contains("hidden"),
        "{notes}"
    );
}

#[tokio::test]
async fn an_answer_is_bounded_and_has_no_secret() {
    let mut scene = Scene::of("huge");
    let (said, failed) = scene.call("search").await;
    assert!(
        !failed && said.len() <= ANSWER && said.contains("bytes left out"),
        "{}",
        said.len()
    );
    let mut scene = Scene::of("leaks");
    let (said, failed) = scene.call("search").await;
    assert_eq!(
        (said.as_str(), failed),
        ("it is [redacted:known]\n[image]", false)
    );
    let mut scene = Scene::of("env");
    let (said, _) = scene.call("search").await;
    let names: Vec<String> = serde_json::from_str(&said).unwrap();
    let given: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| *name != "LC_CTYPE")
        .collect();
    // One more: by which who it leaves behind is found.
    assert_eq!(given, ["CARSON_RUN", "PATH", "TOKEN_FILE"]);
}

#[tokio::test]
async fn who_floods_hangs_or_dies_costs_a_call_and_no_session() {
    let begun = Instant::now();
    let mut scene = Scene::of("line");
    let (said, failed) = scene.call("search").await;
    assert!(failed && said.contains("longer than 1 MiB"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    let mut scene = Scene::of("silent");
    let (said, failed) = scene.call("search").await;
    assert!(failed && said.contains("no answer to tools/call"), "{said}");
    let mut scene = Scene::of("asks");
    let asked = Instant::now();
    let (said, failed) = scene.call("search").await;
    assert!(failed && asked.elapsed() < Duration::from_secs(8), "{said}");
    let mut scene = Scene::of("flood");
    assert_eq!(scene.call("search").await, ("found".to_owned(), false));
    let mut scene = Scene::of("dies");
    assert_eq!(
        scene.ask("tools/list", json!({})).await["result"],
        json!({ "tools": [] })
    );
    let (said, failed) = scene.call("search").await;
    assert!(failed && said.contains("I have no database"), "{said}");
    let notes = scene.notes().await;
    assert_eq!(notes.matches("I have no database").count(), 1, "{notes}");
}

#[tokio::test]
async fn an_answer_without_an_end_is_read_in_bounded_memory() {
    let mut scene = Scene::of("endless");
    let (said, failed) = scene.call("search").await;
    assert!(failed, "{said}");
    let resident = fs::read_to_string("/proc/self/status").unwrap();
    let resident = resident
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"));
    let resident = resident.and_then(|line| line.split_whitespace().next());
    let kib: u64 = resident.unwrap().parse().unwrap();
    assert!(kib < 200 * 1024, "{kib}");
}

#[tokio::test]
async fn what_a_server_leaves_behind_ends_with_it() {
    carson_proc::become_subreaper().unwrap();
    let mut scene = Scene::of("daemon");
    assert_eq!(scene.call("search").await.0, "found");
    let left = fs::read_to_string(scene.dir.path().join("daemon")).unwrap();
    let left = Path::new("/proc").join(left.trim()).join("cmdline");
    assert!(!fs::read(&left).unwrap().is_empty());
    scene.notes().await;
    // A dead one that nobody has reaped has no command line any more.
    assert!(fs::read(&left).unwrap_or_default().is_empty());
}
