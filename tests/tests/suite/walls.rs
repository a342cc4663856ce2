//! What stands around a session by default, and where its grants lead: whole firings whose agent is
//! a shell script, as root and as an ordinary user.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use carson_proc::sandbox::Level;
use carson_tests::fleet::TestFleet;
use serde_json::Value;

const ROLE: &str = "scout";

/// What must never be seen.
const SECRET: &str = "never-to-be-seen";

/// Prints `NAME: refused` or `NAME: done`.
const TRY: &str = r#"try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name: done"; else echo "$name: refused"; fi; }"#;

/// A kernel as it is, and one without namespaces.
const KERNELS: [&str; 2] = ["", r#"{"namespaces":false}"#];

/// A fleet on such a kernel.
fn fleet(force: &str) -> TestFleet {
    match force {
        "" => TestFleet::new(),
        force => TestFleet::new().with_env("CARSON_SANDBOX_FORCE", force),
    }
}

/// Fires a role whose session is this script, once as whoever runs the tests or as an ordinary
/// user; its row, and what the session printed.
fn fired(fleet: &TestFleet, script: &str, account: &str, role: &str) -> (Value, String) {
    let path = fleet.root().join("agent");
    let text = format!("#!/bin/bash\ncat >/dev/null\n{TRY}\n{script}\necho '[SILENT]'\n");
    fs::write(&path, text).unwrap();
    executable(&path);
    let body = format!("engine = \"command\"\nbinary = {path:?}\n{account}");
    fleet.account("script", &body);
    let limits = "[limits]\nwall_clock = \"90s\"\n";
    fleet.role(
        ROLE,
        "script",
        &format!("stages = [\"execute\"]\n{role}\n{limits}"),
    );
    fleet.hand_over();
    fleet.issue(ROLE, "Look around", "");
    let ran = fleet.fire(ROLE);
    let id = ran.json()["id"].as_str().map(str::to_owned);
    let row = fleet.firing(&id.unwrap_or_else(|| panic!("{ran:#?}")));
    let said = fleet.transcripts(row["id"].as_str().unwrap()).join("\n");
    (row, said)
}

fn executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// On each kernel, as each user.
fn everywhere(check: impl Fn(TestFleet)) {
    for force in KERNELS {
        check(fleet(force));
        if nix::unistd::geteuid().is_root() {
            check(fleet(force).as_ordinary_user());
        }
    }
}

#[test]
fn a_link_that_an_earlier_session_left_leads_no_grant_elsewhere() {
    everywhere(|fleet| {
        let (operator, shared) = (fleet.root().join("operator"), fleet.shared());
        put(&operator.join("docs/letter"), SECRET);
        put(&operator.join("key"), SECRET);
        put(&operator.join("docs/config.toml"), SECRET);
        put(&shared.join("plain"), "a plain file\n");
        // What every session of this fleet may write, and these links with it.
        symlink(operator.join("docs"), shared.join("state")).unwrap();
        symlink(operator.join("key"), shared.join("data")).unwrap();
        let env = format!(
            "env = {{ CODEX_HOME = {:?}, DATA = {:?}, PLAIN = {:?} }}",
            shared.join("state"),
            shared.join("data"),
            shared.join("plain"),
        );
        let script = format!(
            "cat {docs}/letter \"$DATA\" \"$PLAIN\" \"$CODEX_HOME\"/*\n\
             try write touch \"$CODEX_HOME/evil\"\ntry outside touch {docs}/evil\n",
            docs = operator.join("docs").display()
        );
        let (row, said) = fired(&fleet, &script, &env, "");
        assert!(said.contains("a plain file"), "{said}\n{row:#}");
        assert!(!said.contains(SECRET), "{said}\n{row:#}");
        // It is a copy of its own.
        assert!(said.contains("write: done"), "{said}\n{row:#}");
        assert!(!operator.join("docs/evil").exists(), "{said}\n{row:#}");
    });
}

#[test]
fn carson_runs_no_program_that_a_session_could_have_left_on_the_path() {
    everywhere(|mut fleet| {
        let (bin, sprung) = (fleet.shared().join("bin"), fleet.root().join("sprung"));
        let real = std::env::var("PATH").unwrap();
        for name in ["git", "ssh", "git-upload-pack", "sh"] {
            let planted = bin.join(name);
            let text = format!(
                "#!/bin/bash\necho {name} for $(tr '\\0' ' ' < /proc/$PPID/cmdline) >> {sprung:?}\nPATH={real:?} exec {name} \"$@\"\n"
            );
            put(&planted, &text);
            executable(&planted);
        }
        fleet.set_env("PATH", format!("{}:{real}", bin.display()));
        let (row, said) = fired(&fleet, "echo \"on the path: $PATH\"", "", "");
        // The session's own is as the operator's.
        let own = format!("on the path: {}", bin.display());
        assert!(said.contains(&own), "{said}\n{row:#}");
        let doctor = fleet.carson(&["doctor"]);
        let left = fs::read_to_string(&sprung).unwrap_or_default();
        assert_eq!(left, "", "{row:#}\n{doctor:#?}");
    });
}

/// Files of root's in the system's own places, gone with it.
struct OfRoot(PathBuf);

impl OfRoot {
    fn new() -> Self {
        let name = format!("carson-test-{}", std::process::id());
        let dir = Path::new("/usr/local/etc").join(name);
        for (file, mode) in [("secret", 0o600), ("of-group", 0o640), ("open", 0o644)] {
            let path = dir.join(file);
            let text = if mode == 0o644 {
                "an open file"
            } else {
                SECRET
            };
            put(&path, text);
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        Self(dir)
    }
}

impl Drop for OfRoot {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_only_root_may_read_is_not_seen_by_roots_sessions() {
    if !nix::unistd::geteuid().is_root() {
        return; // An ordinary user has no such files.
    }
    let files = OfRoot::new();
    let script = format!("cat {}/*", files.0.display());
    let fleet = fleet("");
    let (row, said) = fired(&fleet, &script, "", "");
    assert!(said.contains("an open file"), "{said}\n{row:#}");
    let has_mounts = row["sandbox"]["namespaces"].to_string().contains("mount");
    assert!(!has_mounts || !said.contains(SECRET), "{said}\n{row:#}");
}

#[test]
fn credentials_and_histories_are_not_granted_with_their_directory() {
    let fleet = fleet("");
    let operator = fleet.root().join("operator");
    let closed = [
        ".m2/settings.xml",
        ".gradle/gradle.properties",
        ".config/pip/pip.conf",
        ".config/op/config",
        ".config/gh/hosts.yml",
        ".config/google-chrome/Default/Cookies",
        ".local/share/fish/fish_history",
    ];
    for file in closed {
        put(&operator.join(file), SECRET);
    }
    put(&operator.join(".m2/repository/x.pom"), "an artefact");
    let granted = [".m2", ".gradle", ".config", ".local/share"];
    let granted = granted.map(|dir| operator.join(dir));
    // The fleet's roles say `paths` in one line already.
    let script = format!(
        "cd {}; cat .m2/repository/x.pom {}",
        operator.display(),
        closed.join(" ")
    );
    let role = fleet.home().join("roles").join(ROLE).join("role.toml");
    let body = fired_with(&fleet, &script, &role, &granted);
    assert!(body.1.contains("an artefact"), "{body:#?}");
    let mounts = body.0["sandbox"]["namespaces"].to_string();
    assert!(
        !mounts.contains("mount") || !body.1.contains(SECRET),
        "{body:#?}"
    );
}

#[test]
fn what_is_closed_inside_a_written_place_is_not_reached_by_renaming_what_is_above_it() {
    for ordinary in [false, true] {
        let fleet = match ordinary {
            true if !nix::unistd::geteuid().is_root() => continue,
            true => fleet("").as_ordinary_user(),
            false => fleet(""),
        };
        let local = fleet.root().join("operator/.local");
        put(&local.join("share/keyrings/login.keyring"), SECRET);
        let script = format!(
            "cd {}; try rename mv share share.old; mkdir -p share; cat */keyrings/*",
            local.display()
        );
        // The fleet's roles say `paths` in one line already.
        let role = fleet.home().join("roles").join(ROLE).join("role.toml");
        fired(&fleet, "true", "", "");
        let granted = format!("paths = {{ write = [{local:?}, ");
        let text = fs::read_to_string(&role).unwrap();
        assert!(text.contains("paths = { write = ["), "{text}");
        let agent = fs::read_to_string(fleet.root().join("agent")).unwrap();
        fs::write(&role, text.replace("paths = { write = [", &granted)).unwrap();
        fs::write(
            fleet.root().join("agent"),
            agent.replace("\ntrue\n", &format!("\n{script}\n")),
        )
        .unwrap();
        // The second one sees what the first one did.
        for time in ["Once", "Twice"] {
            fleet.issue(ROLE, time, "");
            let ran = fleet.fire(ROLE).json();
            let row = fleet.firing(ran["id"].as_str().unwrap_or_else(|| panic!("{ran:#}")));
            let said = fleet.transcripts(row["id"].as_str().unwrap()).join("\n");
            assert!(said.contains("rename:"), "{said}\n{row:#}");
            let mounts = row["sandbox"]["namespaces"].to_string();
            let safe = said.contains("rename: refused") && !said.contains(SECRET);
            assert!(!mounts.contains("mount") || safe, "{said}\n{row:#}");
        }
    }
}

#[test]
fn a_key_that_carson_holds_is_granted_to_nobody() {
    let fleet = fleet("");
    let key = fleet.root().join("operator/key");
    put(&key, SECRET);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fleet.account(
        "holder",
        &format!("engine = \"claude\"\nkey_file = {key:?}\n"),
    );
    fired(
        &fleet,
        &format!("try key cat {0}; cat {0}", key.display()),
        "",
        "",
    );
    let role = fleet.home().join("roles").join(ROLE).join("role.toml");
    let text = fs::read_to_string(&role).unwrap();
    for granted in ["read = [KEY], write = [", "write = [KEY, "] {
        let granted = format!("paths = {{ {}", granted.replace("KEY", &format!("{key:?}")));
        fs::write(&role, text.replace("paths = { write = [", &granted)).unwrap();
        fleet.issue(ROLE, "Look again", "");
        let ran = fleet.fire(ROLE).json();
        let said = fleet.transcripts(ran["id"].as_str().unwrap_or_else(|| panic!("{ran:#}")));
        let said = said.join("\n");
        assert!(said.contains("key: refused"), "{granted}: {said}\n{ran:#}");
    }
}

#[test]
fn nothing_that_carson_believes_is_granted_to_be_written() {
    let fleet = fleet("");
    fired(&fleet, "true", "", "");
    let role = fleet.home().join("roles").join(ROLE).join("role.toml");
    let text = fs::read_to_string(&role).unwrap();
    let granted = format!("paths = {{ write = [{:?}, ", fleet.remote());
    fs::write(&role, text.replace("paths = { write = [", &granted)).unwrap();
    fleet.issue(ROLE, "Look again", "");
    let row = fleet.fire(ROLE).json();
    assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("role.scout.grants"), "{reason}");
    assert!(
        reason.contains("a repository that Carson pushes to"),
        "{reason}"
    );
}

/// The same with more to read.
fn fired_with(fleet: &TestFleet, script: &str, role: &Path, read: &[PathBuf]) -> (Value, String) {
    let first = fired(fleet, script, "", "");
    assert!(!first.1.contains("an artefact"), "{first:#?}");
    let text = fs::read_to_string(role).unwrap();
    let more = format!("paths = {{ read = {read:?}, write");
    fs::write(role, text.replace("paths = { write", &more)).unwrap();
    fleet.issue(ROLE, "Look again", "");
    let ran = fleet.fire(ROLE);
    let id = ran.json()["id"].as_str().map(str::to_owned);
    let row = fleet.firing(&id.unwrap_or_else(|| panic!("{ran:#?}")));
    let said = fleet.transcripts(row["id"].as_str().unwrap()).join("\n");
    (row, said)
}

/// A page of this machine; it answers for as long as the test runs.
fn page(text: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
            let answer = format!("{head}Content-Length: {}\r\n\r\n{text}", text.len());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

const NEIGHBOUR: &str = "the neighbour's page";
const GATEWAY: &str = "the gateway's page";

/// What a session without a list sees of this machine's network.
fn looked(force: &str, role: &str) -> (Value, String, bool) {
    let (neighbour, gateway) = (page(NEIGHBOUR), page(GATEWAY));
    let script = format!(
        "exec 4<>/dev/tcp/127.0.0.1/{neighbour} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&4 && timeout 5 cat <&4\n\
         curl --silent --max-time 10 http://127.0.0.1:{neighbour}/\n\
         curl --silent --max-time 10 http://localhost:{neighbour}/\n\
         curl --silent --max-time 5 http://169.254.169.254/latest/meta-data/\n\
         curl --silent --max-time 10 \"$GATEWAY\"\n\
         grep -qi ':{neighbour:04X} ' /proc/net/tcp && echo 'the neighbour is listed'\n"
    );
    let fleet = fleet(force);
    let env = format!("env = {{ GATEWAY = \"http://127.0.0.1:{gateway}/\" }}");
    let (row, said) = fired(&fleet, &script, &env, role);
    let probe = fleet.carson(&["sandbox", "--probe", "--json"]).stdout;
    let level: Level = serde_json::from_str(&probe).unwrap();
    let has = level.has(carson_proc::sandbox::Ns::Net);
    (row, said, has)
}

#[test]
fn without_a_list_this_machine_and_its_metadata_are_out_of_reach() {
    let (row, said, has_networks) = looked("", "");
    if !has_networks {
        return; // `nor_is_it_hidden_where_there_are_no_networks` is about such a machine.
    }
    assert_eq!(row["sandbox"]["network"], "isolated", "{row:#}");
    assert!(!said.contains(NEIGHBOUR), "{said}\n{row:#}");
    assert!(!said.contains("is listed"), "{said}\n{row:#}");
    assert!(said.contains(GATEWAY), "the account named it: {said}");
    let refused = row["egress"].as_array().unwrap().iter();
    let refused = refused.filter(|host| host["refused"].as_u64() > Some(0));
    assert!(refused.count() >= 2, "{row:#}");
    assert!(row["sandbox"]["network_asked"].is_null(), "{row:#}");
}

#[test]
fn nor_is_it_hidden_where_there_are_no_networks() {
    let (row, said, _) = looked(KERNELS[1], "");
    assert!(said.contains(NEIGHBOUR), "{said}\n{row:#}");
    assert_eq!(row["sandbox"]["network"], "open", "{row:#}");
    let weaker = row["sandbox"]["weaker"].to_string();
    assert!(weaker.contains("no network of its own"), "{weaker}");
}

#[test]
fn a_role_that_asks_for_this_machines_network_has_it_and_it_is_said() {
    let (row, said, _) = looked("", "network = \"host\"");
    assert!(said.contains(NEIGHBOUR), "{said}\n{row:#}");
    assert_eq!(row["sandbox"]["network_asked"], "host", "{row:#}");
    let fleet = fleet("");
    fleet.account("script", "engine = \"command\"\nbinary = \"/bin/true\"");
    fleet.role(ROLE, "script", "network = \"host\"\n");
    let said = fleet.carson(&["doctor"]).stdout;
    assert!(said.contains("network = \"host\""), "{said}");
}

#[test]
fn modes_that_give_rights_away_are_refused_and_others_are_not() {
    everywhere(|fleet| {
        let script = r#"cd "$CARSON_TMP" && echo x > file
            try plain chmod 0755 file
            try sticky chmod 1755 file
            try setuid chmod 4755 file
            try setgid chmod 2755 file
            try both chmod u+s,g+s file
            try install install -m 4755 file other
            try open python3 -c 'import os; os.open("new", os.O_CREAT|os.O_WRONLY, 0o4755)'
            try mknod python3 -c 'import os, stat; os.mknod("node", stat.S_IFREG|0o4755)'
            try fchmod python3 -c 'import os; os.fchmod(os.open("file", os.O_RDONLY), 0o4755)'
            try opens python3 -c 'import os; os.open("new2", os.O_CREAT|os.O_WRONLY, 0o755)'
            [ -z "$(find . -perm /6000)" ] && echo 'none has it'
            "#;
        let (row, said) = fired(&fleet, script, "", "");
        for line in ["plain", "sticky", "opens"] {
            assert!(said.contains(&format!("{line}: done")), "{line}: {said}");
        }
        for line in [
            "setuid", "setgid", "both", "install", "open", "mknod", "fchmod",
        ] {
            let refused = format!("{line}: refused");
            assert!(said.contains(&refused), "{line}: {said}\n{row:#}");
        }
        assert!(said.contains("none has it"), "{said}");
    });
}

#[test]
fn memory_and_watches_are_bounded_without_being_asked_for() {
    everywhere(|fleet| {
        let script = "echo \"watches: $(cat /proc/sys/user/max_inotify_instances)\"";
        let (row, said) = fired(&fleet, script, "", "");
        let sandbox = &row["sandbox"];
        if sandbox["namespaces"].to_string().contains("user") {
            assert!(said.contains("watches: 64\n"), "{said}\n{row:#}");
        }
        let probe = fleet.carson(&["sandbox", "--probe", "--json"]).stdout;
        let level: Level = serde_json::from_str(&probe).unwrap();
        assert_eq!(sandbox["cgroup"]["memory"], level.cgroup.memory, "{row:#}");
    });
}
