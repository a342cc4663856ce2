use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::*;

fn shipped(file: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("deploy").join(file)
}

/// A file of deploy/ is the text; `CARSON_UPDATE=1` writes it.
fn is_shipped(file: &str, text: &str) {
    let path = shipped(file);
    if std::env::var_os("CARSON_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        return std::fs::write(path, text).unwrap();
    }
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        held, text,
        "deploy/{file}: run this test with CARSON_UPDATE=1"
    );
}

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn of_user<'a>(program: &'a str, path: &'a str) -> Place<'a> {
    Place {
        program,
        home: None,
        path,
        user: None,
        credentials: &[],
    }
}

#[test]
fn what_is_shipped_is_what_is_written() {
    // What only systemd knows, it puts in itself.
    let specified = |place: &Place<'_>| {
        let text = text(place).unwrap();
        text.replace("/HOME", "%h").replace("INSTANCE", "%i")
    };
    let path = format!("/HOME/.local/bin:/HOME/.cargo/bin:{PATH}");
    let own = specified(&of_user("/HOME/.cargo/bin/carson", &path));
    is_shipped("systemd/carson.service", &own);
    let packaged = specified(&of_user("/usr/bin/carson", &path));
    is_shipped("debian/carson.user.service", &packaged);
    let template = Place {
        user: Some("INSTANCE"),
        ..of_user("/usr/bin/carson", PATH)
    };
    is_shipped("systemd/carson@.service", &specified(&template));
}

#[test]
fn what_is_written_differs_from_what_is_shipped_only_where_it_must() {
    let shipped = std::fs::read_to_string(shipped("systemd/carson.service")).unwrap();
    let written = Place {
        home: Some("/srv/my fleet"),
        ..of_user("/opt/100%/carson", "/opt/a b/bin:/bin")
    };
    let written = text(&written).unwrap();
    let lines = written.lines().zip(shipped.lines());
    let other: Vec<&str> = lines
        .filter(|(ours, theirs)| ours != theirs)
        .map(|(ours, _)| ours)
        .collect();
    assert_eq!(
        other,
        [
            "Environment=\"PATH=/opt/a b/bin:/bin\"",
            "ExecStart=/opt/100%%/carson --home \"/srv/my fleet\" daemon"
        ]
    );
    assert_eq!(written.lines().count(), shipped.lines().count());
}

#[test]
fn a_path_is_one_word_whatever_is_in_it() {
    for (path, wanted) in [
        ("/a/$HOME", "/a/$$HOME"),
        ("/a \"b\"\\c", "\"/a \\\"b\\\"\\\\c\""),
        ("/ü", "\"/ü\""),
        ("/a;b", "\"/a;b\""),
    ] {
        let unit = text(&of_user(path, "/bin")).unwrap();
        let line = unit.lines().find(|line| line.starts_with("ExecStart="));
        assert_eq!(line, Some(&*format!("ExecStart={wanted} daemon")));
    }
    let injected = text(&of_user("/a\nUser=root", "/bin")).unwrap_err();
    assert!(injected.contains("no unit file can hold"), "{injected}");
}

#[test]
fn a_service_of_the_machine_runs_as_its_user_and_is_handed_secrets() {
    let github = Credential {
        name: "github".into(),
        file: "/etc/carson/100%.token".into(),
    };
    let place = Place {
        user: Some("ann"),
        credentials: &[github],
        ..of_user("/usr/bin/carson", "/bin")
    };
    let unit = text(&place).unwrap();
    let has = |line: &str| assert!(unit.lines().any(|one| one == line), "{line}\n{unit}");
    has("User=ann");
    has("LoadCredential=github:/etc/carson/100%%.token");
    has("WantedBy=multi-user.target");
    has("ProtectSystem=true");
    for both in [
        "Type=notify",
        "Delegate=yes",
        "KillMode=process",
        "WatchdogSec=120",
    ] {
        has(both);
    }
}

/// `systemd-analyze`, where this machine has it.
fn analyzed(args: &[&str], unit: &Path) -> Option<Output> {
    #[expect(clippy::disallowed_methods, reason = "a tool of this machine judges")]
    let mut command = Command::new("systemd-analyze");
    match command.args(args).arg(unit).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("NOT SEEN: what systemd-analyze says ({error})");
            None
        }
    }
}

/// Both units, with a program that is there.
fn units() -> (tempfile::TempDir, [PathBuf; 2]) {
    let dir = tempfile::tempdir().unwrap();
    let own = text(&of_user("/bin/true", PATH)).unwrap();
    let system = Place {
        user: Some("daemon"),
        ..of_user("/bin/true", PATH)
    };
    let system = text(&system).unwrap();
    let paths = [("own", own), ("system", system)].map(|(name, text)| {
        let path = dir.path().join(format!("carson-{name}.service"));
        std::fs::write(&path, text).unwrap();
        path
    });
    (dir, paths)
}

#[test]
fn systemd_finds_nothing_wrong_with_them() {
    let (_dir, units) = units();
    for unit in units {
        let Some(said) = analyzed(&["verify", "--recursive-errors=no", "--man=no"], &unit) else {
            return;
        };
        let text = String::from_utf8_lossy(&said.stderr);
        // systemd before 254 does not know it, and goes on without: the comment in the file says what then.
        let is_known = |line: &&str| line.contains("'DelegateSubgroup'");
        let about = text.lines().filter(|line| line.contains("carson-"));
        let (known, wrong): (Vec<&str>, Vec<&str>) = about.partition(is_known);
        assert!(wrong.is_empty(), "{text}");
        assert!(said.status.success() || !known.is_empty(), "{text}");
    }
}

#[test]
fn a_service_of_the_machine_is_exposed_no_more_than_it_was() {
    let (_dir, [own, system]) = units();
    let exposed = |unit: &Path| {
        let said = analyzed(&["security", "--offline=true", "--no-pager"], unit)?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let line = text
            .lines()
            .find(|line| line.contains("Overall exposure level"));
        let level = line.and_then(|line| line.rsplit_once(": ")?.1.split(' ').next());
        Some(
            level
                .unwrap_or_else(|| panic!("{text}"))
                .parse::<f64>()
                .unwrap(),
        )
    };
    let (Some(own), Some(system)) = (exposed(&own), exposed(&system)) else {
        return;
    };
    eprintln!("exposure: {own} of a user's, {system} of the machine's");
    assert!(system < own && system <= 8.9, "{own} {system}");
}
