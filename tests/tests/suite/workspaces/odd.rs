//! Odd repositories and odd sessions: layers and copies save the same tree.

use carson_tests::fleet::TestFleet;

use super::{MANY, OTHERS, commit_many, set};
use crate::faults::{fire, fleet};

/// What the repository has.
const FILES: [(&str, &str); 11] = [
    ("gone/a.txt", "a\n"),
    ("gone/deep/b.txt", "b\n"),
    ("moved/c.txt", "c\n"),
    ("moved/deep/d.txt", "d\n"),
    ("replaced/e.txt", "e\n"),
    ("file-to-dir", "f\n"),
    ("dir-to-file/g.txt", "g\n"),
    ("kept/h.txt", "h\n"),
    ("link-target/i.txt", "i\n"),
    ("kept/ignored.log", "k\n"),
    ("vendor/l.txt", "l\n"),
];

/// What it ignores, though it has some.
const IGNORED: (&str, &str) = (".gitignore", "*.log\nvendor/\n");

/// What its session does, without a commit.
const ODD: &str = r#"
rm -r gone
git mv moved elsewhere || { cp -r moved elsewhere; rm -r moved; }
mv elsewhere/deep elsewhere/deeper
rm -r replaced; mkdir replaced; echo new > replaced/new.txt
rm file-to-dir; mkdir file-to-dir; echo x > file-to-dir/x
rm -r dir-to-file; echo y > dir-to-file
ln kept/h.txt kept/hard; echo more >> kept/hard
ln -s ../kept kept/link; ln -s nowhere dangling
chmod 755 README.md; chmod 700 kept
mkdir -p "odd/a b"; echo 1 > "odd/a b/
newline"; echo 2 > $'odd/\xff\xfe'; echo 3 > odd/-n; echo 4 > 'odd/"quote"'; echo 5 > "odd/.gitattributes"
mkfifo odd/pipe
mkdir -p empty/dir locked; echo 6 > locked/in; chmod 000 locked/in; chmod 000 locked
head -c 3000000 /dev/zero > big.bin
touch -d 2001-01-01 link-target/i.txt; printf 'j\n' > link-target/i.txt; touch -d 2001-01-01 link-target/i.txt
git init --quiet inner; echo 7 > inner/file; git -C inner add file; git -C inner -c user.name=a -c user.email=a@b commit --quiet -m Inner
echo staged > staged.txt; git add staged.txt; echo changed > staged.txt
mv link-target aside; mv aside link-target 2>/dev/null || { mkdir link-target; mv aside/* link-target; rmdir aside; }
"#;

/// What git is told of the changes is what it finds when it looks at every file.
const SEEN: &str = r#"
export GIT_OPTIONAL_LOCKS=0
told=$(git status --porcelain -uall 2>&1; git diff --stat)
found=$(git -c core.fsmonitor=false status --porcelain -uall 2>&1; git -c core.fsmonitor=false diff --stat)
[ "$told" = "$found" ] || { echo "told: $told, found: $found"; exit 7; }
"#;

/// The tree of what was kept, and what is in it.
fn saved(agent: &str, kind: &str, user: bool) -> (String, Vec<String>) {
    saved_of(fleet_of(agent), kind, user)
}

/// The same on layers in a repository with so many files that git asks which of them were written; without the others.
fn saved_among_many(agent: &str) -> Vec<String> {
    let fleet = fleet_of(&format!(
        "git config core.fsmonitor >/dev/null || exit 8\n{agent}"
    ));
    commit_many(&fleet);
    let mut listed = saved_of(fleet, "layers", false).1;
    let all = listed.len();
    listed.retain(|line| !line.contains(OTHERS));
    assert_eq!(all - listed.len(), MANY);
    listed
}

fn fleet_of(agent: &str) -> TestFleet {
    let fleet = fleet(&format!("{agent}\n{SEEN}\necho '[PARTIAL] half'"), "");
    fleet.commit_to_main(&FILES);
    fleet.commit_to_main(&[IGNORED]);
    fleet
}

fn saved_of(fleet: TestFleet, kind: &str, user: bool) -> (String, Vec<String>) {
    set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
    let fleet: TestFleet = if user {
        fleet.as_ordinary_user()
    } else {
        fleet
    };
    let row = fire(&fleet);
    let row = fleet.firing(row["id"].as_str().unwrap());
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    assert_eq!(row["sandbox"]["workspace"], kind);
    assert!(fleet.benches().is_empty(), "{row:#}");
    let branch = row["branch"].as_str().unwrap();
    assert!(fleet.branches().contains(&branch.to_owned()), "{row:#}");
    let tree = fleet.git(&["rev-parse", &format!("{branch}^{{tree}}")]);
    let mut listed: Vec<String> = fleet
        .git(&[
            "ls-tree",
            "-r",
            "--format=%(objectmode) %(objectname) %(path)",
            branch,
        ])
        .lines()
        .map(str::to_owned)
        .collect();
    listed.sort();
    (tree.trim().to_owned(), listed)
}

#[test]
fn what_an_odd_session_leaves_is_the_same_on_layers_and_in_a_copy() {
    let (layers, copy) = (saved(ODD, "layers", false), saved(ODD, "copy", false));
    assert_eq!(layers.1, copy.1);
    assert_eq!(layers.0, copy.0);
    assert_eq!(saved_among_many(ODD), copy.1);
    let has = |path: &str| layers.1.iter().any(|line| line.ends_with(path));
    for there in [
        "replaced/new.txt",
        "elsewhere/deeper/d.txt",
        "kept/hard",
        "locked/in",
        "inner/file",
    ] {
        assert!(has(there), "{there}: {:#?}", layers.1);
    }
    for gone in [
        "gone/a.txt",
        "moved/c.txt",
        "replaced/e.txt",
        "dir-to-file/g.txt",
        "odd/pipe",
    ] {
        assert!(!has(gone), "{gone}: {:#?}", layers.1);
    }
}

#[test]
fn it_is_so_for_an_ordinary_user_who_renames_by_copying() {
    let (layers, copy) = (saved(ODD, "layers", true), saved(ODD, "copy", true));
    assert_eq!(layers, copy);
}

/// Only what was changed is looked at, so each kind of change is tried by itself, too.
#[test]
fn each_change_by_itself_is_seen() {
    let changes = [
        "echo x >> kept/h.txt",
        "rm kept/h.txt",
        "rm -r gone",
        "rm -r gone; mkdir gone",
        "rm -r gone/deep; mkdir gone/deep; echo other > gone/deep/b.txt",
        "mv gone/deep replaced/deep",
        "chmod 755 kept/h.txt",
        "ln -sf e.txt replaced/e.txt",
        "mv kept/h.txt h; mv replaced/e.txt kept/h.txt; mv h replaced/e.txt",
        "mv gone away; mv moved gone; mv away moved",
    ];
    for change in changes {
        let (layers, copy) = (saved(change, "layers", false), saved(change, "copy", false));
        assert_eq!(layers, copy, "{change}");
        assert_eq!(saved_among_many(change), copy.1, "{change}");
    }
}

/// What was made and is gone leaves no mark of the kernel's, and git is told what was written, not what is gone.
#[test]
fn what_a_session_made_itself_and_removed_is_seen_among_many_files() {
    let commits = "git add --all; git commit --quiet -m One; git status >/dev/null";
    for change in [
        format!("echo s > scratch.txt; {commits}; rm scratch.txt"),
        format!("echo s > scratch.txt; {commits}; rm scratch.txt; git add --all; git commit --quiet -m Two; echo x > new"),
        format!("echo s > scratch.txt; {commits}; rm scratch.txt; git commit --quiet -am Two; echo x > new"),
        format!("echo s > scratch.txt; {commits}; mv scratch.txt other.txt"),
        format!("echo s > scratch.txt; {commits}; rm scratch.txt; git reset --quiet --hard; echo x >> scratch.txt"),
        format!("mkdir -p new/deep; echo s > new/a; echo t > new/deep/b; {commits}; rm new/a"),
        format!("mkdir -p new/deep; echo s > new/a; echo t > new/deep/b; {commits}; rm -r new"),
        format!("mkdir -p new/deep; echo s > new/a; {commits}; rm -r new; echo s > new"),
        format!(
            "echo s > kept/two; {commits}; git branch one; git rm --quiet kept/two; git commit --quiet -m Two; \
             git checkout --quiet -B two one; git status >/dev/null; rm kept/two"
        ),
        "echo s > scratch.txt; git add -N scratch.txt; git status >/dev/null; rm scratch.txt; echo x > new".to_owned(),
        format!("echo s > scratch.txt; {commits}; git stash --quiet 2>/dev/null; rm scratch.txt"),
        // Whoever is asked knows of the first worktree alone.
        format!(
            "git worktree add --quiet -b second \"$CARSON_TMP/w\" && cd \"$CARSON_TMP/w\" && echo x >> kept/h.txt && \
             chmod 755 gone/a.txt && rm moved/c.txt && test \"$(git status --porcelain | wc -l)\" = 3 || exit 9; \
             cd \"$CARSON_WORKTREE\"; echo s > scratch.txt; {commits}; rm scratch.txt"
        ),
    ] {
        let change = format!("{change}; echo x > work.txt");
        let copy = saved(&change, "copy", false);
        assert_eq!(saved_among_many(&change), copy.1, "{change}");
        assert_eq!(saved(&change, "layers", false), copy, "{change}");
    }
}

/// What a session tracks no more and a rule ignores is gone, as `git add --all` has it; the file that lies there
/// still was never touched.
#[test]
fn what_a_session_stopped_tracking_is_gone_where_a_rule_ignores_it() {
    let log = "kept/ignored.log";
    for (change, gone) in [
        ("git rm --quiet --cached kept/ignored.log", &[log][..]),
        (
            "git rm --quiet --cached kept/ignored.log; git commit --quiet -m 'Let it go'; echo x > new",
            &[log],
        ),
        ("git rm -r --quiet --cached vendor", &["vendor/l.txt"]),
        (
            "rm \"$(git rev-parse --git-path index)\"; git add --all",
            &[log, "vendor/l.txt"],
        ),
        // Forms of an index that libgit2 does not read: nobody deleted what is not checked out.
        (
            "git sparse-checkout set --cone --sparse-index kept; echo x > kept/new",
            &[],
        ),
        (
            "git update-index --split-index; echo x > new; git add new",
            &[],
        ),
        // No rule ignores it: it is a file of the session's own.
        ("git rm --quiet --cached gone/deep/b.txt; echo x > new", &[]),
    ] {
        let (layers, copy) = (saved(change, "layers", false), saved(change, "copy", false));
        assert_eq!(layers, copy, "{change}");
        assert_eq!(saved_among_many(change), copy.1, "{change}");
        for (path, _) in FILES {
            let has = layers.1.iter().any(|line| line.ends_with(path));
            assert_eq!(has, !gone.contains(&path), "{change}: {path}");
        }
    }
}
