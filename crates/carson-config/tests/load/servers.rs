//! What a role gives its sessions beside the tools of their CLI: MCP servers and skills.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use carson_config::load;
use carson_core::Stage;

use super::{ROLE, findings, good_home, options, write};

/// A home whose role ends with this.
fn home_with(more: &str) -> tempfile::TempDir {
    let home = good_home();
    let token = home.path().join("docs.token");
    fs::write(&token, "tk-1-lantern\n").unwrap();
    fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
    write(
        home.path(),
        "roles/implementer/role.toml",
        &format!("{ROLE}\n{more}\n"),
    );
    home
}

#[test]
fn a_server_is_what_was_written_of_it() {
    let home = home_with(
        "[tools.mcp.docs]\ncommand = [\"docs-server\", \"--at\", \"~/docs\"]\ntools = [\"search\", \"docs__page\"]\n\
         stages = [\"execute\"]\nenv = { DOCS_URL = \"https://docs.example\" }\nsecrets = { DOCS_TOKEN_FILE = \"docs.token\" }\n\
         [tools.mcp.more]\ncommand = [\"more\"]\ntools = [\"look\"]\n",
    );
    let skill = home.path().join("roles/implementer/skills/guests");
    fs::create_dir_all(&skill).unwrap();
    fs::create_dir_all(skill.with_file_name("Not a name")).unwrap();
    let loaded = load(&options(home.path(), &[])).unwrap();
    let role = loaded.fleet.roles.values().next().unwrap();
    let [docs, more] = role.servers.as_slice() else {
        panic!("{:?}", role.servers)
    };
    assert_eq!(
        docs.secrets["DOCS_TOKEN_FILE"],
        home.path().join("docs.token")
    );
    assert!(!docs.command[2].starts_with('~'), "{docs:?}");
    assert!(docs.serves(Stage::Execute) && !docs.serves(Stage::Plan));
    assert!(more.serves(Stage::Revise) && more.timeout == Duration::from_secs(60));
    let [guests] = role.skills.as_slice() else {
        panic!("{:?}", role.skills)
    };
    assert_eq!((guests.name.as_str(), &guests.dir), ("guests", &skill));
    let shown = serde_json::to_string(&docs).unwrap();
    assert!(
        !shown.contains("docs.example") && shown.contains("DOCS_URL"),
        "{shown}"
    );
}

#[test]
fn what_is_wrong_with_a_server_or_a_skill_is_found_with_what_to_do() {
    let server =
        |more: &str| format!("[tools.mcp.docs]\ncommand = [\"x\"]\ntools = [\"search\"]\n{more}\n");
    for (more, at, says) in [
        (
            "[tools.mcp.docs]\ntools = [\"a\"]\n".to_owned(),
            "tools.mcp.docs.command",
            "it is missing",
        ),
        (
            "[tools.mcp.docs]\ncommand = [\"x\"]\n".to_owned(),
            "tools.mcp.docs.tools",
            "it is missing",
        ),
        (
            server("").replace("\"search\"", "\"search\", \"se\u{430}rch\""),
            "tools.mcp.docs.tools.1",
            "no name of a tool",
        ),
        (
            server("").replace("\"search\"", "\"search\", \"search\""),
            "tools.mcp.docs.tools.1",
            "named twice",
        ),
        (
            server("").replace("search", &"s".repeat(60)),
            "tools.mcp.docs.tools.0",
            "longer than 64",
        ),
        (
            server("").replace("mcp.docs", "mcp.a-name-that-is-far-too-long"),
            "tools.mcp.a-name-that-is-far-too-long",
            "longer than 20",
        ),
        (
            server("").replace("mcp.docs", "mcp.a__b"),
            "tools.mcp.a__b",
            "a__b",
        ),
        (
            server("env = { DOCS_TOKEN = \"t\" }"),
            "tools.mcp.docs.env.DOCS_TOKEN",
            "secrets = { DOCS_TOKEN_FILE",
        ),
        (
            server("env = { CARSON_FIRING = \"t\" }"),
            "tools.mcp.docs.env.CARSON_FIRING",
            "no variable that it may have",
        ),
        (
            server("secrets = { T_FILE = \"gone\" }"),
            "tools.mcp.docs.secrets.T_FILE",
            "cannot be read",
        ),
        (
            server("timeout = \"1h\""),
            "tools.mcp.docs.timeout",
            "ten minutes",
        ),
        (
            server("stages = [\"exekute\"]"),
            "tools.mcp.docs.stages",
            "did you mean \"execute\"?",
        ),
        (
            server("comand = [\"x\"]"),
            "tools.mcp.docs.comand",
            "did you mean tools.mcp.docs.command?",
        ),
        (
            "[tools]\nskills = [\"~/.ssh\"]\n".to_owned(),
            "tools.skills.0",
            "holds credentials",
        ),
        (
            "[tools]\nskills = [\"~\"]\n".to_owned(),
            "tools.skills.0",
            "your whole home",
        ),
        (
            "[tools]\nskills = [\"/srv/A Skill\"]\n".to_owned(),
            "tools.skills.0",
            "no name of a skill",
        ),
        (
            "[tools]\nskills = [\"/srv/a\", \"/opt/a\"]\n".to_owned(),
            "tools.skills.1",
            "another skill \"a\"",
        ),
    ] {
        let home = home_with(&more);
        let found = findings(home.path());
        assert!(
            found.contains(at) && found.contains(says),
            "{more}: {found}"
        );
    }
    let open = home_with(&server("secrets = { T_FILE = \"docs.token\" }"));
    let token = open.path().join("docs.token");
    fs::set_permissions(token, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(findings(open.path()).contains("chmod 600"));
}
