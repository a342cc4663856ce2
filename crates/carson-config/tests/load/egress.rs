//! Where sessions may connect to, and how they sign in.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use carson_config::load;

use super::{ROLE, SETTINGS, good_home, options, write};

fn found(home: &Path) -> Vec<String> {
    let findings = load(&options(home, &[])).unwrap_err();
    findings.to_string().lines().map(str::to_owned).collect()
}

#[test]
fn egress_is_closed_by_being_there_and_open_without() {
    let home = good_home();
    let of = |home: &Path| {
        load(&options(home, &[]))
            .unwrap()
            .fleet
            .roles
            .into_values()
            .next()
    };
    assert_eq!(of(home.path()).unwrap().egress, None);
    let with = |rules: &str| {
        let role = ROLE.replace("splay = ", &format!("egress = {rules}\nsplay = "));
        write(home.path(), "roles/implementer/role.toml", &role);
    };
    with("[]");
    assert!(of(home.path()).unwrap().egress.unwrap().0.is_empty());
    with("[\"API.Example.com.:443\", \"*.example.org:443\"]");
    let rules = of(home.path()).unwrap().egress.unwrap().0;
    let shown: Vec<String> = rules.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["api.example.com:443", "*.example.org:443"]);
}

#[test]
fn each_wrong_rule_of_egress_has_its_line_and_a_hint() {
    let home = good_home();
    let rules = "egress = [\n  \"a.example:443\",\n  \"https://b.example/x\",\n  \"*.*.c\",\n  \
                 \"a.example:443\",\n]\nsplay = ";
    write(
        home.path(),
        "roles/implementer/role.toml",
        &ROLE.replace("splay = ", rules),
    );
    let line = 1 + ROLE
        .lines()
        .position(|line| line.starts_with("splay"))
        .unwrap();
    let found = found(home.path()).join("\n");
    for (after, said) in [
        (2, "did you mean \"b.example:443\"?"),
        (3, "host:port"),
        (4, "twice"),
    ] {
        let at = format!("role.toml:{}", line + after);
        let one = found
            .split("role.toml:")
            .any(|part| format!("role.toml:{part}").starts_with(&at) && part.contains(said));
        assert!(one, "{at} {said}: {found}");
    }
}

#[test]
fn a_key_file_is_a_sign_in_of_its_own() {
    let home = good_home();
    write(home.path(), "provider.key", "sk-real\n");
    let with = |lines: &str| {
        let env = "env = { CLAUDE_CONFIG_DIR = \"~/.claude\" }";
        write(home.path(), "carson.toml", &SETTINGS.replace(env, lines));
    };
    with("key_file = \"provider.key\"");
    let fleet = load(&options(home.path(), &[])).unwrap().fleet;
    let key = fleet.accounts.into_values().next().unwrap().key.unwrap();
    assert_eq!(key.api, carson_core::Api::Anthropic);
    assert_eq!(key.upstream, "https://api.anthropic.com");
    assert_eq!(
        key.file,
        home.path().canonicalize().unwrap().join("provider.key")
    );

    with("key_file = \"provider.key\"\nenv = { ANTHROPIC_API_KEY = \"sk-2\" }");
    assert!(found(home.path()).join(" ").contains("ANTHROPIC_API_KEY"));
    with("key_file = \"provider.key\"\napi = \"openai\"");
    assert!(found(home.path()).join(" ").contains("Claude Code speaks"));
    with("key_file = \"provider.key\"\nupstream = \"http://api.example\"");
    assert!(found(home.path()).join(" ").contains("not https"));
    with("upstream = \"https://api.example\"");
    assert!(found(home.path()).join(" ").contains("needs a key_file"));
    with("key_file = \"provider.key\"\nkey_header = \"a b\"");
    assert!(found(home.path()).join(" ").contains("no name of a header"));

    with("key_file = \"provider.key\"");
    let file = home.path().join("provider.key");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    assert!(found(home.path()).join(" ").contains("chmod 600"));
}

#[test]
fn a_role_that_could_not_reach_its_provider_is_warned_of() {
    let home = good_home();
    let with = |rules: &str| {
        let role = ROLE.replace("splay = ", &format!("egress = {rules}\nsplay = "));
        write(home.path(), "roles/implementer/role.toml", &role);
        let warnings = load(&options(home.path(), &[])).unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect::<String>()
    };
    let warned = with("[\"*.example.org:443\"]");
    assert!(
        warned.contains("could not reach its provider at api.anthropic.com:443"),
        "{warned}"
    );
    assert!(warned.contains("add \"api.anthropic.com:443\""), "{warned}");
    for good in ["[\"api.anthropic.com:443\"]", "[\"*.anthropic.com:443\"]"] {
        assert_eq!(with(good), "");
    }
    // Another address is another host; a key that Carson holds needs none.
    let settings = |lines: &str| {
        let env = "env = { CLAUDE_CONFIG_DIR = \"~/.claude\" }";
        write(home.path(), "carson.toml", &SETTINGS.replace(env, lines));
    };
    settings("env = { ANTHROPIC_BASE_URL = \"http://gateway.example:8080/x\" }");
    assert!(with("[]").contains("gateway.example:8080"));
    assert_eq!(with("[\"gateway.example:8080\"]"), "");
    write(home.path(), "provider.key", "sk-real\n");
    settings("key_file = \"provider.key\"");
    assert_eq!(with("[]"), "");
}
