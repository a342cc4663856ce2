//! Against a service manager that is a script: what is asked of it, and what becomes of the file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

/// A `systemctl` that writes down what it is asked, and answers as files beside it say.
const SYSTEMCTL: &str = r#"#!/bin/sh
dir="${0%/*}"
echo "$*" >>"$dir/asked"
for word; do
    case "$word" in
    show) cat "$dir/show" 2>/dev/null ;;
    restart | disable) [ ! -e "$dir/refuses" ] || { echo "Job for carson.service failed." >&2; exit 1; } ;;
    esac
done
"#;

struct Scene {
    dir: TempDir,
    around: Surroundings,
    target: Target,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir_all(dir.path().join("run/systemd")).unwrap();
        fs::write(dir.path().join("run/bus"), "").unwrap();
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join("systemctl");
        fs::write(&program, SYSTEMCTL).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let around = Surroundings {
            uid: 1_000,
            path: vec![PathBuf::from("/nowhere"), bin],
            booted: true,
            runtime: dir.path().join("run"),
        };
        let app = App::new(Some(dir.path().join("home")), false).unwrap();
        let which = Which {
            system: None,
            manager: Some(crate::args::service::Manager::Systemd),
            credential: Vec::new(),
        };
        let mut target = Target::of(&app, &which, dir.path()).unwrap();
        target.file = dir.path().join("config/systemd/user").join(UNIT);
        Self {
            dir,
            around,
            target,
        }
    }

    fn services(&self) -> Services {
        services(&self.around, &self.target).unwrap()
    }

    fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.dir.path().join("bin/asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }

    fn says(&self, file: &str, text: &str) {
        fs::write(self.dir.path().join("bin").join(file), text).unwrap();
    }

    async fn install(&self, force: bool) -> Result<Installed, CommandError> {
        install(&self.target, Some(&self.services()), force).await
    }
}

#[tokio::test]
async fn it_is_written_enabled_and_started_and_asked_again_it_is_the_same() {
    let scene = Scene::new();
    let first = scene.install(false).await.unwrap();
    assert_eq!((first.changed, first.aside), (true, None));
    let asked = [
        "--user daemon-reload",
        "--user enable carson.service",
        "--user reset-failed carson.service",
        "--user restart carson.service",
    ];
    assert_eq!(scene.asked(), asked);
    let text = fs::read_to_string(&scene.target.file).unwrap();
    assert!(text.starts_with(&scene.target.text), "{text}");
    let home = scene.dir.path().join("home");
    assert!(
        text.contains(&format!(" --home {} daemon\n", home.display())),
        "{text}"
    );
    let again = scene.install(false).await.unwrap();
    assert!(!again.changed);
}

#[tokio::test]
async fn what_somebody_edited_stays_unless_it_is_forced_and_is_kept_then() {
    let scene = Scene::new();
    scene.install(false).await.unwrap();
    let edited = format!("{}\nNice=5\n", scene.target.marked());
    fs::write(&scene.target.file, &edited).unwrap();
    let refused = scene.install(false).await.unwrap_err();
    assert!(refused.message.contains("somebody's own"), "{refused:?}");
    assert!(refused.hints.iter().any(|hint| hint.contains("--force")));
    let refused = uninstall(&scene.target, Some(&scene.services())).await;
    assert!(refused.unwrap_err().message.contains("and leaves it"));
    assert_eq!(fs::read_to_string(&scene.target.file).unwrap(), edited);
    let done = scene.install(true).await.unwrap();
    let aside = done.aside.unwrap();
    assert_eq!(fs::read_to_string(aside).unwrap(), edited);
    assert_eq!(Written::of(&scene.target.file).unwrap(), Written::Ours);
}

#[tokio::test]
async fn it_is_stopped_before_its_unit_goes_and_a_refusal_leaves_it() {
    let scene = Scene::new();
    let none = uninstall(&scene.target, Some(&scene.services())).await;
    assert!(!none.unwrap());
    assert_eq!(scene.asked(), [""; 0]);
    scene.install(false).await.unwrap();
    scene.says("refuses", "");
    let refused = uninstall(&scene.target, Some(&scene.services())).await;
    assert!(
        refused
            .unwrap_err()
            .message
            .contains("Job for carson.service failed")
    );
    assert!(scene.target.file.exists());
    fs::remove_file(scene.dir.path().join("bin/refuses")).unwrap();
    fs::remove_file(scene.dir.path().join("bin/asked")).unwrap();
    assert!(
        uninstall(&scene.target, Some(&scene.services()))
            .await
            .unwrap()
    );
    let asked = [
        "--user disable --now carson.service",
        "--user daemon-reload",
        "--user reset-failed carson.service",
    ];
    assert_eq!(scene.asked(), asked);
    assert!(!scene.target.file.exists());
}

#[tokio::test]
async fn a_daemon_that_does_not_start_is_told_with_what_says_why() {
    let scene = Scene::new();
    scene.says("refuses", "");
    let error = scene.install(false).await.unwrap_err();
    assert!(
        error
            .message
            .contains("`systemctl --user restart carson.service` failed: Job for"),
        "{error:?}"
    );
    assert!(
        error.hints[0].contains("journalctl --user -u carson"),
        "{error:?}"
    );
}

#[tokio::test]
async fn its_state_is_what_the_manager_and_the_process_say() {
    let scene = Scene::new();
    let me = std::process::id();
    scene.install(false).await.unwrap();
    scene.says(
        "show",
        &format!(
            "LoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\n\
             MainPID={me}\nResult=success\nNRestarts=2\nStatusText=roles: 3\n"
        ),
    );
    let state = state::look(&scene.target, &scene.services(), 0)
        .await
        .unwrap();
    assert!(state.runs());
    assert_eq!(
        (state.pid, state.restarts, state.written),
        (Some(me), 2, Written::Ours)
    );
    // Root starts no program of somebody else's to ask it.
    assert_eq!(state.running_version, None);
    let shown = state.lines().join("\n");
    for part in [
        "as Carson wrote it",
        "active (running), enabled",
        "started again 2 times",
        "says     roles: 3",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    scene.says(
        "show",
        "ActiveState=failed\nSubState=failed\nUnitFileState=\nMainPID=0\nResult=exit-code\nNRestarts=5\n",
    );
    fs::remove_file(&scene.target.file).unwrap();
    let state = state::look(&scene.target, &scene.services(), 0)
        .await
        .unwrap();
    assert!(!state.runs());
    let shown = state.lines().join("\n");
    assert!(
        shown.contains("`carson service install` writes it"),
        "{shown}"
    );
    assert!(shown.contains("its last run ended by exit-code"), "{shown}");
}

#[test]
fn a_machine_without_systemd_a_session_or_rights_is_told_what_to_do() {
    let scene = Scene::new();
    let without = |change: fn(&mut Surroundings)| {
        let mut around = scene.around.clone();
        change(&mut around);
        around
    };
    for (around, machine, wanted, hint) in [
        (
            without(|around| around.booted = false),
            false,
            "may be a container",
            "`carson daemon`",
        ),
        (
            without(|around| around.path.clear()),
            true,
            "may be a container",
            "service print",
        ),
        (
            without(|around| around.uid = 0),
            false,
            "never run as root",
            "--system USER",
        ),
        (
            without(|around| around.runtime = "/nowhere".into()),
            false,
            "there is no bus in /nowhere",
            "enable-linger",
        ),
    ] {
        let error = Services::systemd(&around, machine).unwrap_err();
        assert!(error.message.contains(wanted), "{error:?}");
        assert!(
            error.hints.iter().any(|one| one.contains(hint)),
            "{error:?}"
        );
    }
    assert!(must_be_root(&scene.around, "install", "ann").is_err());
    assert!(must_be_root(&without(|around| around.uid = 0), "install", "ann").is_ok());
    assert!(Services::launchd(&scene.around).is_err());
}

#[test]
fn a_service_of_the_machine_is_a_users_that_exists_and_is_not_root() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::new(Some(dir.path().join("home")), false).unwrap();
    let of = |user: &str| {
        let which = Which {
            system: Some(user.to_owned()),
            manager: None,
            credential: Vec::new(),
        };
        Target::of(&app, &which, dir.path())
    };
    let target = of("nobody").unwrap();
    assert_eq!(
        target.file,
        dir.path().join("etc/systemd/system/carson.service")
    );
    assert!(target.text.contains("\nUser=nobody\n"), "{}", target.text);
    assert!(
        of("root")
            .unwrap_err()
            .message
            .contains("never run as root")
    );
    assert!(
        of("no-such-user-here")
            .unwrap_err()
            .message
            .contains("there is no user")
    );
}
