//! The environment of a session: exactly what the dry run shows, and nothing that was not asked
//! for by name.

use std::collections::BTreeMap;
use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

const SCRIPT: &str = r#"
[[when]]
do = [{ edit = { path = "a.txt", content = "a\n" } }, { commit = "A" }, { say = "[OK] done" }]
"#;

/// What a shell adds by itself, and what each run of the supervisor carries.
const NOT_OURS: [&str; 5] = ["PWD", "OLDPWD", "SHLVL", "_", "CARSON_RUN"];

fn fleet() -> TestFleet {
    let fleet = TestFleet::new()
        .with_env("CARGO_INCREMENTAL", "0")
        .with_env("CARGO_REGISTRY_TOKEN", "canary-by-pattern")
        .with_env("GH_TOKEN", "canary-by-name")
        .with_env("LD_LIBRARY_PATH", "/nowhere")
        .with_env("SSH_AUTH_SOCK", "/nowhere/agent")
        .with_env("LANG", "C.UTF-8");
    fleet.script(SCRIPT);
    let dump = fleet.shared().join("env");
    let more = format!(
        "stages = [\"execute\", \"verify\"]\npass = [\"CARGO_*\", \"GH_TOKEN\", \"LD_L*\"]\n\
         promise = {{ run = \"env > {}\" }}\n[identity]\nenv = {{ LANG = \"C\", X = \"canary-given\" }}\n",
        dump.display()
    );
    fleet.role("hand", "play", &more);
    fleet.issue("hand", "Work", "Please.");
    fleet
}

#[test]
fn a_session_sees_what_the_dry_run_shows() {
    let fleet = fleet();
    let shown = fleet.ok(&["fire", "hand", "--dry-run", "--json"]);
    let shown: BTreeMap<String, Value> = shown["environment"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].as_str().unwrap().to_owned(), one.clone()))
        .collect();
    let all = format!("{shown:?}");
    assert!(!all.contains("canary"), "{all}");
    assert_eq!(shown["LANG"]["from"], "the role's identity");
    assert_eq!(shown["GH_TOKEN"]["value"], "[passed]");
    assert_eq!(shown["X"]["value"], "[given]");

    let ran = fleet.fire("hand");

    assert_eq!(ran.json()["outcome"], "OK", "{ran:#?}");
    let text = fs::read_to_string(fleet.shared().join("env")).unwrap();
    let seen: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(name, _)| !NOT_OURS.contains(name))
        .collect();
    let names: Vec<&str> = seen.keys().copied().collect();
    // What the promise runs in has nothing of a session's own, and asks for nothing.
    let of_all = |(name, one): &(&String, &Value)| {
        one["from"] != "the session itself" && *name != "CARSON_OUTBOX"
    };
    let promised: Vec<&str> = shown
        .iter()
        .filter(of_all)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, promised, "{text}");
    assert_eq!(seen["GH_TOKEN"], "canary-by-name");
    assert_eq!(seen["CARGO_INCREMENTAL"], "0");
    assert_eq!(seen["LANG"], "C", "identity comes last");
    for name in ["CARGO_REGISTRY_TOKEN", "LD_LIBRARY_PATH", "SSH_AUTH_SOCK"] {
        assert!(!seen.contains_key(name), "{name}: {text}");
    }
    let home = fleet.home().join("benches");
    for name in [
        "HOME",
        "TMPDIR",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
    ] {
        assert!(
            seen[name].starts_with(home.to_str().unwrap()),
            "{name}: {text}"
        );
    }
}

#[test]
fn what_opens_a_role_is_shown() {
    let fleet = fleet();
    let open = "stages = [\"execute\"]\nsandbox = \"off\"\npush = \"agent\"\n";
    fleet.role("open", "play", open);
    for args in [
        &["roles", "show", "open"][..],
        &["config", "check"],
        &["doctor"],
    ] {
        let ran = fleet.carson(args);
        assert!(ran.stdout.contains("nothing but the hook"), "{ran:#?}");
        assert!(ran.stdout.contains("past Carson's checks"), "{ran:#?}");
    }
    let role = fleet.ok(&["roles", "show", "open", "--json"]);
    assert_eq!(
        (&role["sandbox"], &role["push"]),
        (&"off".into(), &"agent".into())
    );
    let hand = fleet.carson(&["roles", "show", "hand"]);
    assert!(!hand.stdout.contains("past Carson's checks"), "{hand:#?}");
    fleet.issue("open", "Work", "Please.");
    let ran = fleet.fire("open");
    let row = fleet.firing(ran.json()["id"].as_str().unwrap());
    assert_eq!(row["sandbox"]["asked"], "off", "{row:#}");
}

/// Walls are put around places, not around names of places.
#[test]
fn a_home_that_a_link_or_dots_lead_to_fires_as_any() {
    for way in ["link", "operator/../link", "link/../home"] {
        let mut fleet = fleet();
        std::os::unix::fs::symlink(fleet.home(), fleet.root().join("link")).unwrap();
        let home = fleet.root().join(way);
        fleet.set_env("CARSON_HOME", &home);
        let ran = fleet.fire("hand");
        assert_eq!(ran.json()["outcome"], "OK", "{way}: {ran:#?}");
        assert_eq!(fleet.benches(), Vec::<std::path::PathBuf>::new(), "{way}");
    }
}
