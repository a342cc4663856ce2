//! What is made to keep the inspector busy, to fill its memory, or to mislead it about the newest commit:
//! the honest work beside it comes in all the same, and nothing else is called done.

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use super::leavings::{Done, within_its_time};

/// An honest commit.
const WORK: &str = "echo work > work.txt; git add work.txt; git commit --quiet -m Work\n\
                    common=$(git rev-parse --path-format=absolute --git-common-dir)\n";

/// Plays honest work and then this; the firing ended in its time, and the work is on its branch.
fn played(agent: &str) -> (TestFleet, Done) {
    let (fleet, done) = within_its_time(&format!("{WORK}{agent}\necho '[OK] done'"));
    let [branch] = fleet.branches().try_into().unwrap_or_else(|branches| {
        panic!("the work was not pushed: {branches:?}\n{:#}", done.row);
    });
    let work = fleet.git(&["show", &format!("{branch}:work.txt")]);
    assert_eq!(work.trim_end(), "work", "{:#}", done.row);
    (fleet, done)
}

/// It was not called done, and a person is asked.
fn is_a_draft(fleet: &TestFleet, row: &Value, why: &str) {
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    assert!(row["reason"].as_str().unwrap().contains(why), "{row:#}");
    let pulls = fleet.pulls();
    assert_eq!(pulls[0]["draft"], true, "{pulls:?}");
}

/// Two deltas that name each other, in a pack of 150 bytes, and a commit with one of them in it.
const CIRCLE: &str = r#"
python3 - $common <<'END'
import hashlib, os, struct, subprocess, sys, zlib
one, other = bytes(range(20)), bytes(range(20, 40))
def entry(base): return bytes([7 << 4 | 4]) + base + zlib.compress(bytes([4, 4, 0x90, 4]))
first, second = entry(other), entry(one)
pack = b'PACK' + struct.pack('>II', 2, 2) + first + second
offsets = (12, 12 + len(first)); pack += hashlib.sha1(pack).digest()
fan = b''.join(struct.pack('>I', sum(oid[0] <= i for oid in (one, other))) for i in range(256))
index = b'\xfftOc' + struct.pack('>I', 2) + fan + one + other
index += struct.pack('>II', zlib.crc32(first), zlib.crc32(second)) + struct.pack('>II', *offsets) + pack[-20:]
index += hashlib.sha1(index).digest()
place = f'{sys.argv[1]}/objects/pack'; os.makedirs(place, exist_ok=True)
open(f'{place}/pack-{pack[-20:].hex()}.pack', 'wb').write(pack)
open(f'{place}/pack-{pack[-20:].hex()}.idx', 'wb').write(index)
said = lambda *args: subprocess.run(['git', *args], check=True, capture_output=True, text=True).stdout.strip()
said('update-index', '--add', '--cacheinfo', f'100644,{one.hex()},circle')
commit = said('commit-tree', said('write-tree', '--missing-ok'), '-p', 'HEAD', '-m', 'Circle')
open(f'{sys.argv[1]}/refs/heads/{os.environ["CARSON_BRANCH"]}', 'w').write(commit + '\n')
END
"#;

#[test]
fn deltas_that_name_each_other_hold_nobody_up() {
    let (fleet, done) = played(CIRCLE);
    is_a_draft(&fleet, &done.row, "what it committed last");
}

#[test]
fn an_index_of_gigabytes_is_not_read() {
    let (fleet, done) = played("truncate -s 4G $(git rev-parse --git-dir)/index");
    assert_eq!(done.row["outcome"], "OK", "{:#}", done.row);
    assert_eq!(fleet.benches().len(), 0);
}

#[test]
fn an_older_commit_is_not_called_done_in_the_newest_ones_place() {
    let newest = r#"
tree=$(git rev-parse HEAD^{tree}); parent=$(git rev-parse HEAD)
printf 'tree %s\nparent %s\nauthor A <a@b> 99999999999999999999999 +0000\ncommitter A <a@b> 1700000000 +0000\n\nNewest\n' \
    $tree $parent | git hash-object -t commit -w --stdin --literally > $common/refs/heads/$CARSON_BRANCH"#;
    let (fleet, done) = played(newest);
    is_a_draft(&fleet, &done.row, "what it committed last");
}

#[test]
fn a_branch_that_names_a_tag_is_no_reason_to_see_nothing() {
    let (fleet, done) = played(
        "git tag -a -m Tag tag; git rev-parse refs/tags/tag > $common/refs/heads/$CARSON_BRANCH",
    );
    is_a_draft(&fleet, &done.row, "is a tag");
}

#[test]
fn paths_of_hundreds_of_megabytes_do_not_hide_a_commit() {
    let (_, done) = played(
        r#"
python3 - <<'END'
import os
for _ in range(14):
    os.mkdir('n' * 250); os.chdir('n' * 250)
for n in range(32000):
    os.close(os.open('f%0200d' % n, os.O_CREAT | os.O_WRONLY))
END"#,
    );
    assert_eq!(done.row["facts"]["commits"], 1, "{:#}", done.row);
}
