//! Decisions by file, where there is no chat.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use carson_operator::plans;
use carson_store::Decision;

use super::stage::Stage;

/// What somebody leaves there, and what is wrong with it.
type Attempt<'a> = (&'a str, Box<dyn Fn() + 'a>);

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn only_the_owners_file_with_the_hash_of_the_text_decides() {
    let stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    let dir = stage.home.fleet.layout.root.join("approvals");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, Permissions::from_mode(0o700)).unwrap();
    let file = dir.join(format!("{}.approve", plan.id));
    let aside = dir.join(format!("{}.approve.refused", plan.id));
    let elsewhere = stage.home.fleet.layout.root.join("elsewhere");
    write(&elsewhere, &plan.hash, 0o600);
    let attempts: [Attempt<'_>; 5] = [
        (
            "another hash",
            Box::new(|| write(&file, &"0".repeat(40), 0o600)),
        ),
        (
            "others may write it",
            Box::new(|| write(&file, &plan.hash, 0o622)),
        ),
        ("a link", Box::new(|| symlink(&elsewhere, &file).unwrap())),
        ("a directory", Box::new(|| fs::create_dir(&file).unwrap())),
        (
            "more than a hash",
            Box::new(|| write(&file, &plan.hash.repeat(9), 0o600)),
        ),
    ];
    for (what, attempt) in &attempts {
        attempt();
        plans::follow(&stage.home).await.unwrap();
        assert_eq!(stage.row(&plan).await.decision, None, "{what}");
        assert!(
            fs::symlink_metadata(&file).is_err(),
            "{what}: it is tried again"
        );
        match aside.is_dir() {
            true => fs::remove_dir(&aside).unwrap(),
            false => fs::remove_file(&aside).unwrap(),
        }
    }
    fs::set_permissions(&dir, Permissions::from_mode(0o777)).unwrap();
    write(&file, &plan.hash, 0o600);
    plans::follow(&stage.home).await.unwrap();
    assert_eq!(
        stage.row(&plan).await.decision,
        None,
        "others may write there"
    );
    let refused = stage.events().await;
    assert_eq!(refused.len(), attempts.len() + 1, "{refused:?}");

    fs::set_permissions(&dir, Permissions::from_mode(0o700)).unwrap();
    write(&file, &format!("{}\n", plan.hash), 0o600);
    plans::follow(&stage.home).await.unwrap();
    let row = stage.row(&plan).await;
    assert_eq!(row.decision, Some(Decision::Approved));
    assert_eq!(row.decided_by.as_deref(), Some("the operator, by a file"));
    assert_eq!(stage.issues().await, 2);
    assert!(!file.exists());
}
