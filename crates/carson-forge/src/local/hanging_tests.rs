use std::time::Instant;

use super::*;

fn fifo(path: &std::path::Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

fn widget() -> (tempfile::TempDir, LocalForge) {
    let dir = tempfile::tempdir().unwrap();
    let forge = LocalForge::at(dir.path().join("widget"));
    (dir, forge)
}

/// Seen: a pipe in place of an issue held a firing past its wall clock, `stop` and recovery.
#[tokio::test]
async fn a_pipe_in_place_of_a_file_is_named() {
    let (dir, forge) = widget();
    let new = NewIssue::default();
    forge.create_issue(&new).await.unwrap();
    let issues = dir.path().join("widget/issues");
    fifo(&issues.join("0002.md"));
    fifo(&issues.join("dropped.md"));
    let listed = forge.issues(None).await.unwrap();
    assert_eq!((listed.found.len(), listed.unread.len()), (1, 1));
    assert!(listed.unread[0].why.contains("no regular file"));
    let refused = [
        forge.issue(2).await.map(drop),
        forge.close_issue(2).await,
        forge.examine().await.map(drop),
    ];
    for refused in refused {
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("0002.md\": this is no regular file"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_disk_that_does_not_answer_is_not_waited_for() {
    let (dir, mut forge) = widget();
    forge.create_issue(&NewIssue::default()).await.unwrap();
    forge.patience = Duration::from_millis(100);
    // Opened for writing, it waits for a reader that never comes: as a dead disk does.
    let lock = dir.path().join("widget/.lock");
    std::fs::remove_file(&lock).unwrap();
    fifo(&lock);
    let asked = Instant::now();
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let before = threads();
    for _ in 0..40 {
        let late = forge.close_issue(1).await.unwrap_err().to_string();
        assert!(
            late.contains("no answer from the disk within 100ms"),
            "{late}"
        );
    }
    assert!(
        asked.elapsed() < Duration::from_secs(30),
        "bounded each time"
    );
    assert!(threads() <= before + 16, "of all that hang");
    // When the disk answers again, so does the forge.
    std::fs::File::open(&lock).unwrap();
    while threads() > before {
        assert!(asked.elapsed() < Duration::from_secs(60), "all come back");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    std::fs::remove_file(&lock).unwrap();
    forge.patience = PATIENCE;
    forge.close_issue(1).await.unwrap();
}
