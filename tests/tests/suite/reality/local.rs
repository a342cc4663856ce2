//! The story on files.

use std::fs;
use std::sync::Arc;

use carson_forge::{ChangedFile, CheckRun, Compared, FileStatus, Forge, LOG_TAIL, Mergeability};

use super::house::{House, spec};
use super::story::{self, Scene};

struct Local {
    dir: tempfile::TempDir,
    house: Arc<House>,
    forge: Forge,
}

impl Local {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let house = Arc::new(House::default());
        let forge = house.open(spec("local", None).as_ref(), dir.path(), "");
        Self { dir, house, forge }
    }

    /// A person writes a file.
    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Scene for Local {
    fn forge(&self) -> &Forge {
        &self.forge
    }

    async fn push(&self, branch: &str) -> String {
        let sha = "1".repeat(40);
        let file = ChangedFile {
            path: "new.txt".into(),
            status: FileStatus::Added,
            additions: 1,
            deletions: 0,
        };
        let compared = Compared {
            sha: sha.clone(),
            mergeability: Mergeability::Clean,
            files: vec![file],
            commits: Vec::new(),
        };
        let mut branches = self.house.branches.lock().unwrap();
        branches.insert(branch.to_owned(), compared);
        sha
    }

    async fn object(&self, pull: u64, body: &str) {
        let sha = "1".repeat(40);
        let head = format!(
            "state = \"changes-requested\"\ncommit = \"{sha}\"\nsubmitted_at = \"2026-01-01T00:00:00Z\"\n"
        );
        let text = format!("+++\n{head}+++\n{body}\n");
        self.write(&format!("pulls/{pull:04}.reviews/0001.md"), &text);
    }

    async fn say(&self, pull: u64, body: &str) {
        let thread = format!("pulls/{pull:04}.threads/0001");
        let head = "+++\npath = \"new.txt\"\nline = 1\n+++\n";
        self.write(&format!("{thread}.md"), head);
        self.write(&format!("{thread}.comments/0001.md"), &format!("{body}\n"));
    }

    async fn check(&self, sha: &str) {
        let failed = "conclusion = \"failed\"\nended_at = \"2026-01-01T00:00:10Z\"\n";
        let log = "line\n".repeat(LOG_TAIL) + "the end\n";
        self.write(
            &format!("checks/{sha}/build.md"),
            &format!("+++\n{failed}+++\n{log}"),
        );
        self.write(
            &format!("checks/{sha}/lint.md"),
            "+++\nurl = \"https://ci.example/2\"\n+++\n",
        );
    }
}

#[tokio::test]
async fn a_pull_request_goes_its_way_on_files() {
    let local = Local::new();
    story::a_pull_request_is_opened_read_discussed_and_merged(&local).await;
}

#[tokio::test]
async fn the_other_verbs_work_on_files() {
    let local = Local::new();
    story::the_other_verbs(local.forge()).await;
    assert_eq!(local.forge().links(1).await.unwrap(), None);
}

#[tokio::test]
async fn of_a_log_the_end_is_read_and_no_name_leads_elsewhere() {
    let local = Local::new();
    let sha = "a".repeat(40);
    local.check(&sha).await;
    let checks = local.forge().checks(&sha).await.unwrap();
    let log = local.forge().log_tail(&checks[0]).await.unwrap().unwrap();
    assert!(log.len() <= LOG_TAIL && log.ends_with("line\nthe end\n"));
    assert!(log.starts_with("line\n"), "from the beginning of a line");
    assert_eq!(local.forge().log_tail(&checks[1]).await.unwrap(), None);
    local.write("secret.md", "+++\n+++\nnobody's\n");
    for log in ["../secret", "x/secret", &format!("{sha}/../../secret"), ""] {
        let check = CheckRun {
            log: Some(log.to_owned()),
            ..checks[0].clone()
        };
        assert_eq!(local.forge().log_tail(&check).await.unwrap(), None, "{log}");
    }
    assert!(local.forge().checks("../..").await.unwrap().is_empty());
}
