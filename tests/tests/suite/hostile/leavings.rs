//! What a session leaves behind is hostile: no firing, no `prune` and no daemon that looks at it runs
//! its code, waits for it or fills the machine with it.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use serde_json::Value;

use crate::daemon::Daemon;
use crate::faults::{fleet, nothing_lost};

/// A firing, `prune` or daemon that looks at what a session left stays below this.
pub(super) const MEMORY_KB: u64 = 200 * 1024;

/// Where a program that ran outside of every wall leaves its mark: no session can write there.
pub(super) fn mark(fleet: &TestFleet) -> PathBuf {
    fleet.root().join("operator/ran")
}

/// What a command of Carson's did.
pub(super) struct Done {
    pub row: Value,
    pub took: Duration,
}

/// Runs a command to its end and watches its memory.
fn watched(fleet: &TestFleet, args: &[&str]) -> (Value, Duration, u64) {
    let begun = Instant::now();
    let mut command = fleet.command(args);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (pid, mut peak) = (child.id(), 0);
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stdout, &mut text).unwrap();
        text
    });
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(high_water(pid).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = reader.join().unwrap();
    let said = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{args:?}: {text}"));
    (said, begun.elapsed(), peak)
}

pub(super) fn high_water(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Lets a session do this and end with `[OK]`; nothing of it may have run outside, and the firing
/// must have stayed small.
fn play(fleet: &TestFleet) -> Done {
    let (row, took, peak_kb) = watched(fleet, &["fire", "hand", "--json"]);
    assert!(
        !mark(fleet).exists(),
        "a program of the session ran outside: {row:#}"
    );
    assert!(peak_kb < MEMORY_KB, "the firing took {peak_kb} kB: {row:#}");
    Done { row, took }
}

/// The same with a role that has a minute and a half, by the clock: enough for a session to make its
/// trap on a busy machine, so that what is tested is who looks at it.
pub(super) fn within_its_time(agent: &str) -> (TestFleet, Done) {
    let fleet = fleet(agent, "[limits]\nwall_clock = \"90s\"\n");
    let done = play(&fleet);
    assert!(!done.row["ended_at"].is_null(), "{:#}", done.row);
    // Its wall clock, and two looks that are given up.
    assert!(done.took < Duration::from_secs(240), "{:?}", done.took);
    (fleet, done)
}

/// A repository inside, with a filter of its own, staged as a link: git's status of it would run the
/// filter.
const FILTER: &str = r#"
mkdir sub; cd sub; git init --quiet; echo one > a; git add a; git commit --quiet -m One
git config filter.x.clean "touch MARK; cat"; git config filter.x.smudge "touch MARK; cat"
git config core.fsmonitor "touch MARK"; echo '* filter=x' > .gitattributes; touch a; cd ..
git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub
echo work > work.txt; git add work.txt; git commit --quiet -m Work
"#;

#[test]
fn a_repository_inside_runs_no_filter_of_its_own() {
    for shut in [
        "",
        "chmod 000 sub\n",
        "mkdir shut; mv sub shut/sub; chmod 000 shut\n",
    ] {
        let fleet = fleet("true", "");
        let agent = FILTER.replace("MARK", mark(&fleet).to_str().unwrap());
        write_agent(&fleet, &format!("{agent}{shut}echo '[PARTIAL] half'"));
        let done = play(&fleet);
        assert_eq!(done.row["outcome"], "PARTIAL", "{:#}", done.row);
        nothing_lost(&fleet, &done.row, &["work\n", "one\n"]);
        assert!(!mark(&fleet).exists());
    }
}

/// The shell script that the fleet's sessions are.
pub(super) fn write_agent(fleet: &TestFleet, agent: &str) {
    let script = format!("#!/bin/bash\nset -e\ncat >/dev/null\n{agent}\n");
    fs::write(fleet.root().join("cli/agent"), script).unwrap();
}

/// Ten objects that make a hundred million paths.
const BOMB: &str = r#"
blob=$(echo bomb | git hash-object -w --stdin)
tree=$(for n in 1 2 3 4 5 6 7 8; do printf '100644 blob %s\tf%s\n' $blob $n; done | git mktree)
for level in 1 2 3 4 5 6 7 8 9; do
    tree=$(for n in 1 2 3 4 5 6 7 8; do printf '040000 tree %s\td%s\n' $tree $n; done | git mktree)
done
commit=$(git commit-tree -p HEAD -m Bomb $tree)
git update-ref refs/heads/$CARSON_BRANCH $commit
"#;

#[test]
fn a_bomb_of_trees_is_kept_and_neither_shown_nor_pushed() {
    let agent = format!("{BOMB}\necho '[OK] done'");
    let (fleet, done) = within_its_time(&agent);
    assert_eq!(done.row["outcome"], "BLOCKED", "{:#}", done.row);
    assert!(
        done.row["reason"]
            .as_str()
            .unwrap()
            .contains("paths were changed"),
        "{:#}",
        done.row
    );
    assert_eq!(fleet.branches(), Vec::<String>::new());
    assert!(done.row["salvage_ref"].as_str().is_some(), "{:#}", done.row);
    // Neither does who comes later.
    let (_, took, peak_kb) = watched(&fleet, &["prune", "--json"]);
    assert!(
        took < Duration::from_secs(60) && peak_kb < MEMORY_KB,
        "{took:?}, {peak_kb} kB"
    );
}

#[test]
fn a_daemon_that_finds_a_bomb_in_a_dead_firing_starts_all_the_same() {
    let agent = format!("{BOMB}\ntouch {{SHARED}}/made; sleep 600");
    let fleet = fleet("true", "");
    write_agent(
        &fleet,
        &agent.replace("{SHARED}", fleet.shared().to_str().unwrap()),
    );
    let mut command = fleet.command(&["fire", "hand", "--json"]);
    let mut firing = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the bomb", || {
        fleet.shared().join("made").exists().then_some(())
    });
    firing.kill().unwrap();
    firing.wait().unwrap();
    let daemon = Daemon::start(&fleet, &[]);
    let ended = until("recovery", || {
        let rows = fleet.ok(&["firings", "--json"]);
        (!rows[0]["ended_at"].is_null()).then(|| rows[0].clone())
    });
    assert_eq!(ended["outcome"], "BLOCKED", "{ended:#}");
    let peak_kb = high_water(daemon.pid()).unwrap();
    assert!(peak_kb < MEMORY_KB, "{peak_kb} kB");
}

#[test]
fn a_blob_of_gigabytes_in_a_few_bytes_is_not_unpacked() {
    // A gigabyte of zeros is a megabyte here, the same block a hundred times; the header says how
    // many there are, and its name is that of its content.
    let agent = r#"oid=$(python3 - <<'END'
import hashlib, os, subprocess, zlib
def packed(text):
    maker = zlib.compressobj(9, zlib.DEFLATED, -15)
    return maker.compress(text) + maker.flush(zlib.Z_FULL_FLUSH)
header, block, times = b"blob 1100000000\0", bytes(11_000_000), 100
name, adler = hashlib.sha1(header), zlib.adler32(header)
for _ in range(times):
    name.update(block)
    adler = zlib.adler32(block, adler)
name = name.hexdigest()
objects = subprocess.check_output(["git", "rev-parse", "--git-path", "objects"], text=True).strip()
os.makedirs(f"{objects}/{name[:2]}", exist_ok=True)
with open(f"{objects}/{name[:2]}/{name[2:]}", "wb") as file:
    file.write(b"\x78\x01" + packed(header) + packed(block) * times + b"\x03\x00" + adler.to_bytes(4, "big"))
print(name)
END
)
git update-index --add --cacheinfo 100644,$oid,bomb.bin
git commit --quiet -m Bomb; echo '[OK] done'"#;
    let (fleet, done) = within_its_time(agent);
    let reason = done.row["reason"].as_str().unwrap();
    assert!(reason.contains("which is too much"), "{:#}", done.row);
    assert_ne!(done.row["outcome"], "OK", "{:#}", done.row);
    assert_eq!(fleet.branches(), Vec::<String>::new());
}

#[test]
fn hundreds_of_thousands_of_forged_names_are_read_up_to_a_bound() {
    let agent = r#"
commondir=$(git rev-parse --git-common-dir)
echo work > work.txt; git add .; git commit --quiet -m Work
head=$(git rev-parse HEAD)
seq 300000 | sed "s/.*/0000000000000000000000000000000000000000 $(printf '%040x' 7) a <a@b> 1 +0000\tforged/" >> $commondir/logs/HEAD
mkdir -p $commondir/logs/refs/heads; seq -f '%040.0f' 300000 | sed 's/$/ 1111111111111111111111111111111111111111 a <a@b> 1 +0000\tx/' > $commondir/logs/refs/heads/many
{ echo '# pack-refs with: sorted'; seq 300000 | sed "s|.*|$head refs/heads/n&|"; } > $commondir/packed-refs
echo '[OK] done'"#;
    let (fleet, done) = within_its_time(agent);
    let kept = fleet.kept();
    fs::write(fleet.root().join("content"), "work\n").unwrap();
    assert!(
        kept.contains(&fleet.blob(&fleet.root().join("content"))),
        "{:#}",
        done.row
    );
    assert!(done.took < Duration::from_secs(60), "{:?}", done.took);
}

#[test]
fn hundreds_of_repositories_inside_hold_nobody_up() {
    let agent = r#"
echo work > work.txt; git add work.txt; git commit --quiet -m Work
mkdir r; cd r; git init --quiet; echo inside > a; git add a; git commit --quiet -m Inside; cd ..
for n in $(seq 400); do cp -r r r$n; done
echo '[PARTIAL] half'"#;
    let (fleet, done) = within_its_time(agent);
    assert_eq!(done.row["outcome"], "PARTIAL", "{:#}", done.row);
    nothing_lost(&fleet, &done.row, &["work\n", "inside\n"]);
}

#[test]
fn thousands_of_odd_repositories_do_not_hide_a_commit() {
    let agent = r#"
echo work > work.txt; git add work.txt; git commit --quiet -m Work
python3 - <<'END'
import os
for n in range(3000):
    os.makedirs(f'odd/{n}/.git/refs'); os.mkfifo(f'odd/{n}/.git/HEAD'); open(f'odd/{n}/file', 'w').write(f'{n}')
END
echo '[OK] done'"#;
    let (fleet, done) = within_its_time(agent);
    assert_eq!(done.row["facts"]["commits"], 1, "{:#}", done.row);
    assert_eq!(fleet.branches().len(), 1, "{:#}", done.row);
}

#[test]
fn directories_deeper_than_a_path_are_kept_out_of_the_way() {
    let agent = r#"
echo work > work.txt; git add work.txt; git commit --quiet -m Work
name=$(printf 'd%.0s' $(seq 200))
for n in $(seq 100); do mkdir $name; cd $name; done; echo deep > file
echo '[OK] done'"#;
    let (fleet, done) = within_its_time(agent);
    assert_eq!(done.row["facts"]["commits"], 1, "{:#}", done.row);
    // What lies too deep cannot be kept: the bench stays, and is listed.
    assert_eq!(fleet.benches().len(), 1);
    let _ = fleet.carson(&["prune", "--json"]);
    let status = fleet.ok(&["status", "--json"]);
    let id = done.row["id"].as_str().unwrap();
    assert_eq!(status["stuck"][0]["bench"], id, "{status:#}");
    assert!(
        status["stuck"][0]["why"]
            .as_str()
            .unwrap()
            .contains("too deep"),
        "{status:#}"
    );
    // Until an operator has seen enough of it.
    let checked = fleet.carson(&["doctor"]).stdout;
    assert!(
        checked.contains("workspaces.stuck") && checked.contains(&format!("bench {id} stays")),
        "{checked}"
    );
    let gone = fleet.ok(&["prune", "--discard", id, "--json"]);
    assert_eq!(gone["bench"]["did"], "gone", "{gone:#}");
    assert_eq!(fleet.benches(), Vec::<PathBuf>::new());
    assert_eq!(
        fleet.ok(&["status", "--json"])["stuck"],
        serde_json::json!([])
    );
}

#[test]
fn names_that_git_refuses_are_kept_under_others_and_the_bench_goes() {
    let agent = r#"
echo work > work.txt; git add work.txt; git commit --quiet -m Work
mkdir -p .GIT 'git~1' sub/.Git; echo one > .GIT/one; echo two > 'git~1/two'; echo three > sub/.Git/three
printf 'four\n' > '.git. '
printf '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n' > .gitmodules
echo '[PARTIAL] half'"#;
    let (fleet, done) = within_its_time(agent);
    assert_eq!(done.row["outcome"], "PARTIAL", "{:#}", done.row);
    nothing_lost(
        &fleet,
        &done.row,
        &["work\n", "one\n", "two\n", "three\n", "four\n"],
    );
}

#[test]
fn a_forged_index_hides_nothing() {
    // The stat data of the changed file stand in the index, as if git had looked at it, with the
    // old content's name. Git itself believes that.
    let agent = r#"
echo '# Other' > README.md; touch -d '2001-01-01' README.md
old=$(git rev-parse HEAD:README.md)
git update-index --add README.md; git update-index --cacheinfo 100644,$old,README.md
python3 - <<'END'
import os, struct, hashlib, subprocess
path = subprocess.check_output(['git', 'rev-parse', '--git-path', 'index'], text=True).strip()
data = bytearray(open(path, 'rb').read()[:-20])
at = data.index(b'README.md') - 62
s = os.stat('README.md')
low = lambda n: n & 0xffffffff
struct.pack_into('>10I', data, at, low(int(s.st_ctime)), s.st_ctime_ns % 10**9, low(int(s.st_mtime)), s.st_mtime_ns % 10**9,
                 low(s.st_dev), low(s.st_ino), 0o100644, s.st_uid, s.st_gid, low(s.st_size))
open(path, 'wb').write(data + hashlib.sha1(data).digest())
END
test -z "$(git status --porcelain)"
echo '[PARTIAL] half'"#;
    let fleet = fleet(agent, "");
    let done = play(&fleet);
    assert_eq!(done.row["facts"]["dirty"], true, "{:#}", done.row);
    nothing_lost(&fleet, &done.row, &["# Other\n"]);
}

#[test]
fn what_the_hook_s_file_says_decides_nothing_and_fills_nothing() {
    let agent = r#"
echo work > work.txt; git add .; git commit --quiet -m Work
line='{"event":"blocked","rule":"x","tool":"Bash","reason":"forged","call":"y"}'
yes "$line" | head -n 40000 >> $CARSON_HOOK_EVENTS
truncate -s 3G $CARSON_HOOK_EVENTS; yes "$line" | head -n 40000 >> $CARSON_HOOK_EVENTS
echo '[PARTIAL] half'"#;
    let fleet = fleet(agent, "");
    let done = play(&fleet);
    assert_eq!(done.row["outcome"], "PARTIAL", "{:#}", done.row);
    let row = fleet.firing(done.row["id"].as_str().unwrap());
    let calls = row["blocked_calls"].as_array().unwrap().len();
    assert!((1..=50).contains(&calls), "{calls}");
}

#[test]
fn much_noise_stays_here() {
    let agent = "echo work > work.txt; git add .; git commit --quiet -m Work\n\
                 head -c 3000000 /dev/urandom > noise.bin; echo '[PARTIAL] half'";
    let fleet = fleet(agent, "[limits]\nmax_salvage_mb = 2\n");
    let done = play(&fleet);
    assert_eq!(done.row["outcome"], "PARTIAL", "{:#}", done.row);
    assert!(
        done.row["reason"]
            .as_str()
            .unwrap()
            .contains("max_salvage_mb"),
        "{:#}",
        done.row
    );
    assert_eq!(fleet.branches(), Vec::<String>::new());
    nothing_lost(&fleet, &done.row, &["work\n"]);
}

#[test]
fn definitions_of_ci_leave_only_reviewed_and_allowed() {
    let change = "echo 'on: push' > .gitlab-ci.yml\n\
                  git add .; git commit --quiet -m CI";
    let review = "[[ $CARSON_STAGE != execute ]] && { echo '[APPROVE]'; exit; }";
    let promise = "[promise]\nrun = \"true\"\n";
    let both = ("\"execute\", \"verify\", \"diff-review\"", promise);
    for (agent, (stages, promise), allow, outcome) in [
        ("echo '[PARTIAL] half'", both, true, "BLOCKED"),
        ("echo '[OK] done'", both, false, "BLOCKED"),
        // What nobody judged does not leave, allowed or not.
        ("echo '[OK] done'", ("\"execute\"", ""), true, "BLOCKED"),
        (
            "echo '[OK] done'",
            ("\"execute\", \"verify\"", promise),
            true,
            "BLOCKED",
        ),
        (
            "echo '[OK] done'",
            ("\"execute\", \"diff-review\"", ""),
            true,
            "BLOCKED",
        ),
        ("echo '[OK] done'", both, true, "OK"),
    ] {
        let fleet = fleet(&format!("{review}\n{change}; {agent}"), "");
        with_stages(&fleet, stages, promise);
        if allow {
            settings(&fleet, "allow_ci = true");
        }
        let done = play(&fleet);
        assert_eq!(done.row["outcome"], outcome, "{:#}", done.row);
        nothing_lost(&fleet, &done.row, &["on: push\n"]);
        if outcome == "OK" {
            assert_eq!(fleet.branches().len(), 1);
        } else {
            assert!(
                done.row["reason"]
                    .as_str()
                    .unwrap()
                    .contains(".gitlab-ci.yml"),
                "{:#}",
                done.row
            );
            assert_eq!(fleet.branches(), Vec::<String>::new());
            assert!(fleet.labels(1).contains(&"needs:human".to_owned()));
        }
    }
}

/// Gives the fleet's role these stages, and more.
pub(crate) fn with_stages(fleet: &TestFleet, stages: &str, more: &str) {
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    let text = text.replace("[\"execute\"]", &format!("[{stages}]"));
    fs::write(role, text + more).unwrap();
}

/// Adds a line to the settings of the fleet's repository.
pub(super) fn settings(fleet: &TestFleet, line: &str) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("[repos.widget]", &format!("[repos.widget]\n{line}")),
    )
    .unwrap();
}

#[test]
fn a_session_cannot_read_what_another_one_made_and_was_kept() {
    let first = "echo 'a key that was caught' > key.txt; git add .; git commit --quiet -m Key\n\
                 mkdir -p .github/workflows; echo 'on: push' > .github/workflows/x.yml\n\
                 git add .; git commit --quiet -m CI; git rev-parse HEAD > SHARED/commit\n\
                 git hash-object key.txt > SHARED/blob; echo '[OK] done'";
    let fleet = fleet("true", "");
    let shared = fleet.shared();
    write_agent(&fleet, &first.replace("SHARED", shared.to_str().unwrap()));
    let done = play(&fleet);
    assert!(done.row["salvage_ref"].as_str().is_some(), "{:#}", done.row);
    let second = "for oid in $(cat SHARED/commit SHARED/blob); do\n\
                  git cat-file -p $oid > SHARED/stolen 2>/dev/null && touch SHARED/read; done\n\
                  git cat-file --batch-all-objects --batch-check | grep -q $(cat SHARED/blob) && touch SHARED/read\n\
                  grep -r 'a key that was' $CARSON_TMP/../../.. 2>/dev/null && touch SHARED/read\n\
                  echo '[SILENT]'";
    write_agent(&fleet, &second.replace("SHARED", shared.to_str().unwrap()));
    let issue = fleet.issue("hand", "Another", "To do.");
    let row = fleet
        .carson(&["fire", "hand", "--work", &issue.to_string(), "--json"])
        .json();
    assert_eq!(row["outcome"], "SILENT", "{row:#}");
    assert!(shared.join("stolen").exists(), "nothing was tried");
    assert!(
        !shared.join("read").exists(),
        "another firing's work was read"
    );
}

/// A snapshot joins commits on which `HEAD` strayed: what they bring leaves with it, or not at all.
#[test]
fn commits_beside_the_branch_are_searched_before_they_leave() {
    let key =
        "-----BEGIN RSA PRIVATE KEY-----\\nMIIEowIBAAKCAQEA7bq2\\n-----END RSA PRIVATE KEY-----";
    let secret = format!("printf '%b\\n' '{key}' > leak; git add leak; git commit --quiet -m Leak");
    let ci = "mkdir -p .github/workflows; echo 'on: push' > .github/workflows/x.yml\n\
              git add .; git commit --quiet -m CI";
    let gone = format!("{secret}; git rm --quiet leak; git commit --quiet -m Gone");
    let large = "head -c 3000000 /dev/urandom > large; git add large; git commit --quiet -m Large";
    for away in [
        "git checkout --quiet --detach",
        "git checkout --quiet -b other",
    ] {
        for (change, held) in [
            (secret.as_str(), true),
            (gone.as_str(), true),
            (ci, true),
            (large, false),
        ] {
            let agent = format!("{away}\n{change}\necho '[OK] done'");
            let fleet = fleet(&agent, "[limits]\nmax_salvage_mb = 2\n");
            let row = play(&fleet).row;
            assert_eq!(fleet.branches(), Vec::<String>::new(), "{change}: {row:#}");
            assert_eq!(row["outcome"] == "BLOCKED", held, "{change}: {row:#}");
            // It is kept here.
            assert!(row["salvage_ref"].is_string(), "{row:#}");
        }
    }
}

/// Git takes a name that begins with a quote for a quoted one, wherever that leads.
#[test]
fn names_that_begin_with_a_quote_are_names() {
    let agent = "echo DIFFERENT > '\"README.md\"'; echo mine > '\"\\057etc\\057hostname\"'; echo x > '\"x'\n\
                 mkfifo fifo; echo y > '\"fifo\"'; echo '[PARTIAL] half'";
    let fleet = fleet(agent, "");
    let done = play(&fleet);
    assert_eq!(done.row["outcome"], "PARTIAL", "{:#}", done.row);
    assert!(done.took < Duration::from_secs(20), "{:?}", done.took);
    nothing_lost(&fleet, &done.row, &["DIFFERENT\n", "mine\n", "x\n", "y\n"]);
}
