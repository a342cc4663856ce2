//! The real Claude Code behind the proxy.

use carson_tests::model::{Reply, ScriptedModel, bash, claude_binary, claude_env, say, when};

use super::*;

const KEY: &str = "sk-ant-api03-real-7c1e-key";

/// What a session of a CLI can look at without its hook in the way.
const LOOK: &str = "env; grep -r -e '7c1e''-key' \"$HOME\" \"$TMPDIR\" \"$CARSON_WORKTREE\" && \
                    echo FO''UND; echo looked";

/// The same where there is no hook, and more.
const LOOK_DEEPER: &str = "tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' '\\n' < /proc/$$/environ; \
                           cat KEYFILE 2>&1; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'";

struct Scene {
    model: ScriptedModel,
    fleet: TestFleet,
}

impl Scene {
    /// A role with one execute session, and a model that has it look around.
    fn new(
        account: impl Fn(&ScriptedModel, &TestFleet) -> String,
        more: impl Fn(&str) -> String,
    ) -> Self {
        let model = ScriptedModel::start().unwrap();
        let fleet = TestFleet::new();
        fleet.account("claude", &account(&model, &fleet));
        let address = model.base_url();
        let address = address.strip_prefix("http://").unwrap();
        fleet.role(ROLE, "claude", &bounded(&more(address)));
        fleet.issue(ROLE, "Look around", "");
        model.on(when(), Reply::turns([bash(LOOK), say("[SILENT]")]));
        Self { model, fleet }
    }

    /// Everything that the session saw and said.
    fn everything(&self, row: &Value) -> String {
        let mut seen = self.fleet.transcripts(row["id"].as_str().unwrap());
        let requests = self.model.requests();
        seen.extend(
            requests
                .iter()
                .flat_map(carson_tests::model::Request::tool_results)
                .map(|one| one.text),
        );
        seen.join("\n")
    }
}

/// Claude Code with more of its account, in TOML.
fn claude(env: &[(String, String)], more: &str) -> String {
    let env: Vec<String> = env
        .iter()
        .map(|(name, value)| format!("{name} = {value:?}"))
        .collect();
    format!(
        "engine = \"claude\"\nbinary = {:?}\nmodel = \"claude-sonnet-5\"\nenv = {{ {} }}\n{more}",
        claude_binary().unwrap(),
        env.join(", ")
    )
}

/// Its variables, but for those that it signs in by.
fn without_sign_in(model: &ScriptedModel, fleet: &TestFleet) -> Vec<(String, String)> {
    let mut env = claude_env(model, fleet.root());
    let own = [
        "HOME",
        "IS_SANDBOX",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
    ];
    env.retain(|(name, _)| !own.contains(&name.as_str()));
    env
}

fn with_key(model: &ScriptedModel, fleet: &TestFleet) -> String {
    let key = fleet.home().join("provider.key");
    fs::write(&key, KEY).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let more = format!("key_file = {key:?}\nupstream = \"{}\"", model.base_url());
    claude(&without_sign_in(model, fleet), &more)
}

#[test]
fn claude_code_works_behind_the_proxy() {
    let sign_in = |model: &ScriptedModel, fleet: &TestFleet| {
        let mut env = without_sign_in(model, fleet);
        env.push(("ANTHROPIC_API_KEY".into(), "sk-test".into()));
        env.push(("ANTHROPIC_BASE_URL".into(), model.base_url()));
        claude(&env, "")
    };
    let scene = Scene::new(sign_in, |address| format!("egress = [\"{address}\"]"));

    let (row, said) = fired(&scene.fleet);

    assert_eq!(row["outcome"], "SILENT", "{row:#}\n{said}");
    assert_eq!(scene.model.count(), 2);
    let address = scene.model.base_url();
    let counted = host(&row, address.strip_prefix("http://").unwrap());
    assert!(counted["allowed"].as_u64().unwrap() >= 1, "{row:#}");
    assert!(counted["bytes_up"].as_u64().unwrap() > 1_000, "{row:#}");
    // Nothing else was asked for.
    assert_eq!(row["egress"].as_array().unwrap().len(), 1, "{row:#}");
}

#[test]
fn a_provider_that_is_not_allowed_is_said_to_be_the_reason() {
    let sign_in = |model: &ScriptedModel, fleet: &TestFleet| {
        let mut env = without_sign_in(model, fleet);
        env.push(("ANTHROPIC_API_KEY".into(), "sk-test".into()));
        env.push(("ANTHROPIC_BASE_URL".into(), "https://model.invalid".into()));
        claude(&env, "")
    };
    let scene = Scene::new(sign_in, |_| "egress = [\"elsewhere.invalid:443\"]".into());
    let check = scene.fleet.carson(&["config", "check"]);
    assert!(
        format!("{check:?}").contains("could not reach its provider"),
        "{check:#?}"
    );

    let (row, said) = fired(&scene.fleet);

    assert_eq!(row["outcome"], "FAILED", "{row:#}\n{said}");
    let counted = host(&row, "model.invalid:443");
    assert!(counted["refused"].as_u64().unwrap() >= 1, "{row:#}");
    let why = scene.fleet.carson(&["why", ROLE]).stdout;
    assert!(why.contains("model.invalid:443: refused"), "{why}");
}

#[test]
fn a_key_is_used_and_never_seen() {
    for egress in [false, true] {
        let more = |address: &str| match egress {
            // The API is not a rule: the proxy itself goes there.
            true => "egress = [\"elsewhere.example:443\"]".to_owned(),
            false => {
                assert!(!address.is_empty());
                String::new()
            }
        };
        let scene = Scene::new(with_key, more);

        let (row, said) = fired(&scene.fleet);

        assert_eq!(row["outcome"], "SILENT", "egress {egress}: {row:#}\n{said}");
        let requests = scene.model.requests();
        assert_eq!(requests.len(), 2);
        for request in &requests {
            assert_eq!(request.header("x-api-key"), Some(KEY));
            assert_eq!(request.header("authorization"), None);
        }
        let seen = scene.everything(&row);
        assert!(seen.contains("looked"), "{seen}");
        assert!(seen.contains("ANTHROPIC_API_KEY=carson-firing-"), "{seen}");
        for secret in [KEY, "FOUND"] {
            assert!(
                !seen.contains(secret),
                "egress {egress}: {secret} in {seen}"
            );
        }
        // Nor does anything that Carson keeps have it.
        for kept in ["state", "logs", "transcripts"] {
            assert_eq!(hits(&scene.fleet.home().join(kept)), 0, "{kept}");
        }
    }
}

#[test]
fn a_program_without_a_hook_does_not_find_the_key_either() {
    let fleet = TestFleet::new();
    let page = Page::at("127.0.0.1").unwrap();
    let key = fleet.home().join("provider.key");
    fs::write(&key, KEY).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let deeper = LOOK_DEEPER.replace("KEYFILE", &key.display().to_string());
    let ask = "curl --silent --data '{}' --header \"Authorization: Bearer $OPENAI_API_KEY\" \
               \"$OPENAI_BASE_URL/responses\"; \
               curl --silent --data '{}' \"$OPENAI_BASE_URL/responses\"";
    scripted(
        &fleet,
        &format!("{ask}\n{{ {LOOK}\n{deeper}; }} 2>&1 | tr A-Za-z N-ZA-Mn-za-m"),
        "",
    );
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let account = format!(
        "engine = \"command\"\nkey_file = {key:?}\nupstream = \"http://{}/v1\"",
        page.address
    );
    fs::write(&settings, text.replace("engine = \"command\"", &account)).unwrap();

    let (row, said) = fired(&fleet);

    assert!(said.contains("the page"), "{said}\n{row:#}");
    assert!(said.contains("the API of one firing only"), "{said}");
    assert!(said.contains("OPENAI_API_KEY=carson-firing-"), "{said}");
    assert_eq!(page.asked(), 1, "{said}");
    for secret in [KEY, "FOUND"] {
        assert!(!said.contains(secret), "{secret}: {said}");
    }
    // Its token and its address are of no use any more.
    let base = said
        .lines()
        .find_map(|line| line.strip_prefix("OPENAI_BASE_URL=http://"));
    let address = base.unwrap().split('/').next().unwrap();
    assert!(std::net::TcpStream::connect(address).is_err(), "{address}");
}

/// A CLI that hides how long its provider wants to be left alone: the proxy has seen it.
#[tokio::test(flavor = "multi_thread")]
async fn the_wait_that_only_the_proxy_saw_is_kept() {
    let server = wiremock::MockServer::start().await;
    let busy = wiremock::ResponseTemplate::new(529).insert_header("retry-after", "5");
    let busy = wiremock::Mock::given(wiremock::matchers::any()).respond_with(busy);
    busy.up_to_n_times(1).mount(&server).await;
    let well = wiremock::Mock::given(wiremock::matchers::any());
    well.respond_with(wiremock::ResponseTemplate::new(200))
        .mount(&server)
        .await;
    let fleet = TestFleet::new();
    let key = fleet.home().join("provider.key");
    fs::write(&key, KEY).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let ask = "code=$(curl --silent --output /dev/null --write-out '%{http_code}' --data '{}' \
               --header \"Authorization: Bearer $OPENAI_API_KEY\" \"$OPENAI_BASE_URL/responses\")\n\
               [ \"$code\" = 200 ] || { echo 'the engine is overloaded' >&2; exit 1; }";
    scripted(&fleet, ask, "");
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let account = format!(
        "engine = \"command\"\nspeaks = \"openai\"\nkey_file = {key:?}\nupstream = \"{}/v1\"",
        server.uri()
    );
    fs::write(&settings, text.replace("engine = \"command\"", &account)).unwrap();

    let (row, said) = fired(&fleet);

    assert_eq!(row["retries"], 1, "{row:#}\n{said}");
    let events = row["events"].as_array().unwrap();
    let waited = events.iter().find(|event| event["kind"] == "session.retry");
    let waited = waited.unwrap()["data"]["wait_ms"].as_u64().unwrap();
    // Its own first wait is shorter than three seconds.
    assert!((3_500..=5_000).contains(&waited), "{row:#}");
    assert_eq!(row["outcome"], "SILENT", "{row:#}\n{said}");
}

/// With a key of the API the CLI may hide when the limit ends, or say it in no words: the headers do.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_whose_headers_name_two_hours_blocks_for_two_hours() {
    for (name, value, minutes) in [
        ("retry-after", "7200", 115..=120),
        ("x-ratelimit-reset-requests", "2h0m0s", 115..=120),
        ("x-ratelimit-reset-requests", "soon", 13..=15),
        ("retry-after", "9000000000000", 13..=15),
    ] {
        let server = wiremock::MockServer::start().await;
        let limited = wiremock::ResponseTemplate::new(429).insert_header(name, value);
        let limited = wiremock::Mock::given(wiremock::matchers::any()).respond_with(limited);
        limited.mount(&server).await;
        let fleet = TestFleet::new();
        let key = fleet.home().join("provider.key");
        fs::write(&key, KEY).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let ask = "curl --silent --data '{}' --header \"Authorization: Bearer $OPENAI_API_KEY\" \
                   \"$OPENAI_BASE_URL/responses\"\necho 'Error code: 429' >&2; exit 1";
        scripted(&fleet, ask, "");
        let settings = fleet.home().join("carson.toml");
        let text = fs::read_to_string(&settings).unwrap();
        let account = format!(
            "engine = \"command\"\nspeaks = \"openai\"\nkey_file = {key:?}\nupstream = \"{}/v1\"",
            server.uri()
        );
        fs::write(&settings, text.replace("engine = \"command\"", &account)).unwrap();

        let (row, said) = fired(&fleet);

        assert_eq!(row["outcome"], "RATE_LIMITED", "{row:#}\n{said}");
        let blocks = fleet.ok(&["block", "list", "--json"]);
        let stands = crate::limits::minutes(&blocks[0]);
        assert!(minutes.contains(&stands), "{name}: {value}: {blocks:#}");
    }
}

/// Files below a folder that have the key in them.
fn hits(dir: &std::path::Path) -> usize {
    let Ok(entries) = fs::read_dir(dir) else {
        return 0;
    };
    let has = |path: &std::path::Path| {
        fs::read(path)
            .is_ok_and(|bytes| bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()))
    };
    let mut found = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        found += if path.is_dir() {
            hits(&path)
        } else {
            usize::from(has(&path))
        };
    }
    found
}

#[test]
fn a_key_that_cannot_be_read_costs_the_work_nothing() {
    let scene = Scene::new(with_key, |_| String::new());
    let key = scene.fleet.home().join("provider.key");
    let check = scene.fleet.carson(&["config", "check"]);
    assert_eq!(check.code, Some(0), "{check:#?}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let check = scene.fleet.carson(&["config", "check"]);
    assert_ne!(check.code, Some(0), "{check:#?}");
    assert!(format!("{check:?}").contains("chmod 600"), "{check:#?}");
    let outlook = scene.fleet.carson(&["fire", ROLE]);
    assert_ne!(outlook.code, Some(0), "{outlook:#?}");
    assert_eq!(scene.model.count(), 0);
}

#[test]
fn a_dry_run_says_how_the_account_signs_in() {
    let scene = Scene::new(with_key, |_| String::new());
    let said = scene.fleet.carson(&["fire", ROLE, "--dry-run"]).stdout;
    assert!(
        said.contains("which only the firing's proxy reads"),
        "{said}"
    );
    assert!(said.contains(&scene.model.base_url()), "{said}");
    assert!(!said.contains(KEY), "{said}");
}
