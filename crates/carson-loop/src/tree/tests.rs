use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use carson_proc::{Command, Limits, capture};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

fn write(root: &Path, name: &str, text: &str) {
    let file = root.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn mode(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs git as nobody configured it; what it prints.
fn git(dir: &Path, args: &[&str]) -> Vec<u8> {
    let program = carson_proc::find_on_path(Path::new("git"), std::env::var_os("PATH").as_deref());
    let command = Command::new(program.unwrap(), dir)
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(args)
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let done = runtime.block_on(capture(&command, &Limits::within(Duration::from_secs(30))));
    let done = done.unwrap();
    assert!(done.success(), "{args:?}: {}", done.stderr.text());
    done.stdout.bytes()
}

fn seen(root: &Path, rules: &Rules) -> Vec<String> {
    let seen = Look::at(root, rules).snapshot().unwrap();
    let files = seen.entries().filter(|(_, entry)| !entry.is_dir());
    files.map(|(path, _)| path.to_string()).collect()
}

/// A tree with ignore rules of every kind, and some files.
fn repository() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    git(root, &["init", "--quiet"]);
    for (name, text) in [
        (".gitignore", "*.log\n/build/\n!keep.log\n"),
        ("sub/.gitignore", "secret*\n/only-here\n"),
        ("a.txt", "a"),
        ("x.log", "x"),
        ("keep.log", "k"),
        ("build/out", "o"),
        ("build/kept.txt", "k"),
        ("build/deep/kept.txt", "k"),
        ("build-notes", "n"),
        ("sub/secret.key", "s"),
        ("sub/only-here", "h"),
        ("sub/deeper/only-here", "h"),
        ("sub/x.log", "x"),
        (".hidden", "h"),
        (".carson/loop/state.json", "{}"),
        ("excluded", "e"),
    ] {
        write(root, name, text);
    }
    write(root, ".git/info/exclude", "excluded\n");
    git(
        root,
        &[
            "add",
            "--force",
            "a.txt",
            "build/kept.txt",
            "build/deep/kept.txt",
        ],
    );
    dir
}

#[test]
fn what_counts_is_what_git_would_take_up() {
    let dir = repository();
    let said = git(dir.path(), &["ls-files", "-z", "-co", "--exclude-standard"]);
    let said = String::from_utf8(said).unwrap();
    let mut said: Vec<&str> = said.split_terminator('\0').collect();
    said.retain(|name| !name.starts_with(".carson"));
    said.sort_unstable();
    assert_eq!(
        seen(dir.path(), &Rules::of_repository(dir.path(), None)),
        said
    );
    // From a directory below, by the same rules.
    let sub = dir.path().join("sub");
    let rules = Rules::of_repository(&sub, None);
    assert_eq!(seen(&sub, &rules), [".gitignore", "deeper/only-here"]);
    let below = dir.path().join("build");
    let rules = Rules::of_repository(&below, None);
    assert_eq!(seen(&below, &rules), ["deep/kept.txt", "kept.txt", "out"]);
}

#[test]
fn everything_is_everything_but_what_is_named() {
    let dir = repository();
    let rules = Rules::everything(dir.path())
        .leaving_out(["build/", "*.key"])
        .without([path("sub/deeper"), path("a.txt")]);
    let all = seen(dir.path(), &rules);
    for there in [
        "x.log",
        "sub/only-here",
        "excluded",
        "build/kept.txt",
        "build/deep/kept.txt",
    ] {
        assert!(all.contains(&there.to_owned()), "{there}: {all:?}");
    }
    for gone in [
        "build/out",
        "sub/secret.key",
        "sub/deeper/only-here",
        "a.txt",
    ] {
        assert!(!all.contains(&gone.to_owned()), "{gone}: {all:?}");
    }
}

#[test]
fn without_a_repository_the_files_in_the_tree_say_what_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), ".gitignore", "node_modules\n");
    write(dir.path(), "node_modules/x", "x");
    write(dir.path(), "a", "a");
    let rules = Rules::of_repository(dir.path(), None);
    assert_eq!(seen(dir.path(), &rules), [".gitignore", "a"]);
}

#[test]
fn names_of_every_kind_of_index_are_read() {
    for (format, settings) in [
        ("sha1", &["update-index", "--index-version", "2"][..]),
        ("sha1", &["update-index", "--index-version", "4"]),
        ("sha1", &["update-index", "--split-index"]),
        ("sha256", &["update-index", "--index-version", "3"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "--quiet", "--object-format", format]);
        let names = [
            "a",
            "a-b",
            "a/b",
            "a/bcd/e",
            "long-".repeat(30).as_str(),
            "z\nz",
        ]
        .map(str::to_owned);
        for name in &names[1..] {
            write(dir.path(), name, "x");
        }
        git(dir.path(), &["add", "."]);
        git(dir.path(), settings);
        write(dir.path(), "later", "x");
        git(dir.path(), &["add", "later"]);
        git(dir.path(), &["add", "--intent-to-add", "z\nz"]);
        let git = GitDir::of(dir.path()).unwrap();
        let found = super::tracked::tracked(&git);
        let found: Vec<String> = found
            .into_iter()
            .map(|name| String::from_utf8(name).unwrap())
            .collect();
        assert_eq!(
            found,
            ["a-b", "a/b", "a/bcd/e", "later", &names[4], "z\nz"],
            "{format} {settings:?}"
        );
        // Written by us, it says the same to git, which holds its sum against it.
        let index = Index::of(&fs::read(git.index()).unwrap()).unwrap();
        let (whole, without) = match index.with(&Index::default(), |_| false) {
            None => {
                assert!(settings.contains(&"--split-index"), "{settings:?}");
                continue;
            }
            Some(both) => both,
        };
        assert!(without.is_empty() && whole.differs(&index).is_empty());
        let says = || super::tests::git(dir.path(), &["ls-files", "--stage", "--debug"]);
        let before = says();
        fs::write(git.index(), whole.bytes()).unwrap();
        assert_eq!(says(), before);
        super::tests::git(dir.path(), &["fsck"]);
    }
}

#[test]
fn an_index_of_two_has_no_file_that_is_a_directory() {
    let index = |names: &[&str]| {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "--quiet"]);
        for name in names {
            write(dir.path(), name, name);
        }
        git(dir.path(), &["add", "."]);
        Index::of(&fs::read(dir.path().join(".git/index")).unwrap()).unwrap()
    };
    let (now, then) = (index(&["a", "b/c", "z"]), index(&["a/x", "b", "y"]));
    let names = |paths: BTreeSet<Vec<u8>>| {
        let all = paths.into_iter().map(String::from_utf8);
        all.collect::<Result<Vec<_>, _>>().unwrap()
    };
    let taken = |path: &[u8]| path != b"a" && path != b"b/c";
    let (both, without) = now.with(&then, taken).unwrap();
    assert_eq!(names(without), ["a/x", "b"]);
    assert_eq!(names(now.differs(&both)), ["y", "z"]);
    assert_eq!(names(both.into_paths()), ["a", "b/c", "y"]);
}

#[test]
fn odd_things_are_told_by_their_kind_and_hold_nobody_up() {
    let dir = tempfile::tempdir().unwrap();
    let (root, mode) = (dir.path(), nix::sys::stat::Mode::S_IRWXU);
    fs::create_dir(root.join("sub")).unwrap();
    for pipe in ["pipe", ".gitignore", "sub/.gitignore"] {
        nix::unistd::mkfifo(&root.join(pipe), mode).unwrap();
    }
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    symlink("/etc/passwd", root.join("out")).unwrap();
    symlink("..", root.join("sub/up")).unwrap();
    symlink(OsStr::from_bytes(b"no\xff"), root.join("dangling")).unwrap();
    let seen = Look::at(root, &Rules::of_repository(root, None))
        .snapshot()
        .unwrap();
    let kinds = seen
        .entries()
        .map(|(path, entry)| format!("{path} {}", entry.what));
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            ".gitignore pipe",
            "dangling link",
            "out link",
            "pipe pipe",
            "socket socket",
            "sub directory",
            "sub/.gitignore pipe",
            "sub/up link",
        ]
    );
    let link = &seen.get(&path("dangling")).unwrap().what;
    assert_eq!(
        *link,
        What::Link {
            to: Target(b"no\xff".to_vec())
        }
    );
}

#[test]
fn there_is_a_bound_on_everything() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        write(dir.path(), name, "12345");
    }
    let rules = Rules::everything(dir.path());
    let bounds = Bounds {
        entries: 2,
        file: 4,
    };
    let look = Look {
        bounds,
        ..Look::at(dir.path(), &rules)
    };
    assert!(matches!(
        look.snapshot(),
        Err(TreeError::TooMany { most: 2, .. })
    ));
    let bounds = Bounds {
        entries: 9,
        file: 4,
    };
    let seen = Look { bounds, ..look }.snapshot().unwrap();
    assert_eq!(seen.missed().len(), 3, "{:?}", seen.missed());
    // Deeper than any path that a call could name.
    let mut deep = dir.path().to_owned();
    for _ in 0..250 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    let seen = Look::at(dir.path(), &rules).snapshot().unwrap();
    assert!(
        seen.missed()
            .iter()
            .any(|missed| missed.why.contains("200 directories"))
    );
    let cancel = carson_proc::Cancel::new();
    cancel.cancel();
    let look = Look {
        cancel: Some(&cancel),
        ..Look::at(dir.path(), &rules)
    };
    assert!(matches!(look.snapshot(), Err(TreeError::Cancelled)));
}

#[test]
fn a_change_of_the_same_size_in_the_same_moment_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let rules = Rules::everything(dir.path());
    write(dir.path(), "old", "old");
    write(dir.path(), "a", "one");
    let mut before = Look::at(dir.path(), &rules).snapshot().unwrap();
    for round in 0..50 {
        write(dir.path(), "a", ["two", "one"][round % 2]);
        let look = Look {
            before: Some(&before),
            ..Look::at(dir.path(), &rules)
        };
        let after = look.snapshot().unwrap();
        let changes = before.changes(&after);
        assert_eq!(changes.len(), 1, "{round}: {changes:?}");
        assert_eq!(changes[0].kind(), ChangeKind::Content);
        before = after;
    }
}

#[test]
fn each_kind_of_change_has_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for name in ["content", "deleted", "mode", "kind", "renamed"] {
        write(root, name, name);
    }
    symlink("here", root.join("link")).unwrap();
    let rules = Rules::everything(root);
    let before = Look::at(root, &rules).snapshot().unwrap();
    write(root, "content", "CONTENT");
    write(root, "added", "new");
    fs::remove_file(root.join("deleted")).unwrap();
    mode(&root.join("mode"), 0o755);
    fs::remove_file(root.join("kind")).unwrap();
    fs::create_dir(root.join("kind")).unwrap();
    fs::rename(root.join("renamed"), root.join("to")).unwrap();
    fs::remove_file(root.join("link")).unwrap();
    symlink("there", root.join("link")).unwrap();
    let after = Look::at(root, &rules).snapshot().unwrap();
    let changes = before.changes(&after);
    let told: Vec<String> = changes.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "added (added)",
            "content (changed)",
            "deleted (deleted)",
            "kind (replaced)",
            "link (changed)",
            "mode (mode changed)",
            "renamed (deleted)",
            "to (added)",
        ]
    );
    assert_eq!(renames(&changes), [(&path("renamed"), &path("to"))]);
}

/// What is done to a tree.
#[derive(Clone, Debug)]
enum Step {
    Write(String, u8),
    Link(String, u8),
    Dir(String),
    Mode(String, u32),
    Remove(String),
    Rename(String, String),
}

fn name() -> impl Strategy<Value = String> {
    let part = prop_oneof![Just("a"), Just("b"), Just("a-b"), Just("ä\n"), Just("-c")];
    proptest::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (name(), any::<u8>()).prop_map(|(name, byte)| Step::Write(name, byte)),
        1 => (name(), any::<u8>()).prop_map(|(name, byte)| Step::Link(name, byte)),
        1 => name().prop_map(Step::Dir),
        2 => (name(), 0..8_u32).prop_map(|(name, bits)| Step::Mode(name, 0o400 | bits << 6 | bits)),
        2 => name().prop_map(Step::Remove),
        1 => (name(), name()).prop_map(|(from, to)| Step::Rename(from, to)),
    ]
}

/// What cannot be done is not.
fn apply(root: &Path, step: &Step) {
    let at = |name: &str| root.join(name);
    match step {
        Step::Write(name, byte) => {
            let file = at(name);
            let _ = file.parent().map(fs::create_dir_all);
            let is_link = file
                .symlink_metadata()
                .is_ok_and(|found| found.is_symlink());
            let _ = (!is_link).then(|| fs::write(file, [*byte, b'\n']));
        }
        Step::Link(name, byte) => drop(symlink(format!("to-{byte}"), at(name))),
        Step::Dir(name) => drop(fs::create_dir_all(at(name))),
        Step::Mode(name, bits) => {
            let file = at(name);
            if file
                .symlink_metadata()
                .is_ok_and(|found| !found.is_symlink())
            {
                mode(&file, *bits);
            }
        }
        Step::Remove(name) => {
            drop(fs::remove_file(at(name)).or_else(|_| fs::remove_dir_all(at(name))));
        }
        Step::Rename(from, to) => drop(fs::rename(at(from), at(to))),
    }
}

/// Directories that the test may not leave closed, or nobody could remove it.
struct Opened(TempDir);

impl Drop for Opened {
    fn drop(&mut self) {
        let mut todo = vec![self.0.path().to_owned()];
        while let Some(dir) = todo.pop() {
            mode(&dir, 0o700);
            let items = fs::read_dir(dir).unwrap().map(|item| item.unwrap());
            todo.extend(
                items
                    .filter(|item| item.file_type().unwrap().is_dir())
                    .map(|item| item.path()),
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn whatever_was_done_to_a_tree_is_undone(
        first in proptest::collection::vec(step(), 0..25),
        then in proptest::collection::vec(step(), 0..25),
    ) {
        let (dir, kept) = (Opened(tempfile::tempdir().unwrap()), tempfile::tempdir().unwrap());
        let root = dir.0.path();
        let mut contents = Contents::open(kept.path()).unwrap();
        let rules = Rules::everything(root);
        first.iter().for_each(|step| apply(root, step));
        let before = Look::at(root, &rules).keeping(&mut contents).unwrap();
        then.iter().for_each(|step| apply(root, step));
        let after = Look::at(root, &rules).keeping(&mut contents).unwrap();
        // What an ordinary user may not read is not kept.
        prop_assume!(before.missed().is_empty() && after.missed().is_empty());
        let changes = before.changes(&after);
        prop_assert_eq!(changes.is_empty(), before.hash() == after.hash());
        let missed = undo(root, &contents, &changes).unwrap();
        prop_assert_eq!(&missed, &[]);
        let again = Look::at(root, &rules).snapshot().unwrap();
        prop_assert_eq!(before.changes(&again), []);
    }
}

#[test]
fn a_link_that_came_on_the_way_leads_nobody_out() {
    let (dir, kept, out) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let root = dir.path();
    write(root, "d/file", "ours");
    let mut contents = Contents::open(kept.path()).unwrap();
    let rules = Rules::everything(root);
    let before = Look::at(root, &rules).keeping(&mut contents).unwrap();
    write(root, "d/file", "changed");
    let after = Look::at(root, &rules).snapshot().unwrap();
    // Behind the look's back.
    fs::remove_dir_all(root.join("d")).unwrap();
    write(out.path(), "file", "theirs");
    symlink(out.path(), root.join("d")).unwrap();
    let missed = undo(root, &contents, &before.changes(&after)).unwrap();
    assert_eq!(missed.len(), 1, "{missed:?}");
    assert_eq!(
        fs::read_to_string(out.path().join("file")).unwrap(),
        "theirs"
    );
}

#[test]
fn what_is_ignored_in_a_directory_that_goes_stays() {
    let (dir, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = dir.path();
    write(root, ".gitignore", "*.o\n");
    let rules = Rules::of_repository(root, None);
    let mut contents = Contents::open(kept.path()).unwrap();
    let before = Look::at(root, &rules).keeping(&mut contents).unwrap();
    write(root, "new/made.o", "o");
    write(root, "new/made.c", "c");
    let after = Look::at(root, &rules).snapshot().unwrap();
    let missed = undo(root, &contents, &before.changes(&after)).unwrap();
    assert_eq!(missed, []);
    assert!(root.join("new/made.o").exists() && !root.join("new/made.c").exists());
}
