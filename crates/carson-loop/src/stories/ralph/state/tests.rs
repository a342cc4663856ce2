//! What is seen, and what git hides.

use std::os::unix::fs::symlink;

use carson_proc::find_on_path;

use super::*;

struct Repo {
    _dir: tempfile::TempDir,
    place: Place,
    env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
}

impl Repo {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let place = Place::find(&root.join("prd.json"), None, Some(&root)).unwrap();
        let env = vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("HOME".into(), root.clone().into()),
        ];
        let repo = Self {
            _dir: dir,
            place,
            env,
        };
        repo.write("docs/a.md", "a");
        repo.write(".env", "secret");
        repo
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.place.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn looker(&self, method: StateMethod) -> Looker<'_> {
        Looker {
            place: &self.place,
            method,
            git: find_on_path(Path::new("git"), std::env::var_os("PATH").as_deref()),
            env: &self.env,
        }
    }

    async fn git(&self, words: &[&str]) {
        let looker = self.looker(StateMethod::Git);
        assert!(looker.git(words).await.is_some(), "git {words:?}");
    }
}

fn names(changes: Vec<Vec<u8>>) -> Vec<String> {
    changes
        .into_iter()
        .map(|path| String::from_utf8(path).unwrap())
        .collect()
}

#[tokio::test]
async fn every_file_and_link_by_its_times() {
    let repo = Repo::new();
    symlink("a.md", repo.place.root.join("docs/link")).unwrap();
    let looker = repo.looker(StateMethod::Full);
    let before = looker.look().await.unwrap();
    assert_eq!(before.method, "full");
    assert!(before.state.changes(&before.state).is_empty());
    // The same bytes again are a change, as by `ls`.
    repo.write("docs/a.md", "a");
    repo.write("new file\nwith a line", "");
    repo.write(".runtime/events.log", "ours");
    repo.write("progress.log.md", "ours");
    repo.write(".git/config", "git's");
    fs::remove_file(repo.place.root.join(".env")).unwrap();
    fs::remove_file(repo.place.root.join("docs/link")).unwrap();
    symlink("/etc/passwd", repo.place.root.join("docs/link")).unwrap();
    let after = looker.look().await.unwrap();
    let right = [".env", "docs/a.md", "docs/link", "new file\nwith a line"];
    assert_eq!(names(before.state.changes(&after.state)), right);
}

#[tokio::test]
async fn git_is_asked_unless_it_hides_something() {
    let repo = Repo::new();
    repo.git(&["init", "-q"]).await;
    let auto = repo.looker(StateMethod::Auto);
    let before = auto.look().await.unwrap();
    assert_eq!(before.method, "git");
    repo.write("src/outside.txt", "x");
    let after = auto.look().await.unwrap();
    assert_eq!(
        names(before.state.changes(&after.state)),
        ["src/outside.txt"]
    );
    assert_eq!(
        repo.looker(StateMethod::Full).look().await.unwrap().method,
        "full"
    );

    repo.write(".gitignore", ".env\n");
    assert_eq!(auto.look().await.unwrap().method, "full");
    let refused = repo
        .looker(StateMethod::Git)
        .look()
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("unsafe with ignored paths"), "{refused}");
}
