//! Files with the same content are other files where a commit says so with its attributes.

use super::{does, role, row, set};
use crate::faults::fleet;

/// Lines end with CR LF.
const CRLF: &str = "*.sh text eol=crlf\n";

/// Whether both have such lines.
const ENDS: &str = "grep -q \"$(printf '\\r')\" run.sh && grep -q \"$(printf '\\r')\" deep/run.sh";

/// Each of these files has the same blob in both commits: what looks for changed ones finds none.
#[test]
fn a_clean_room_and_a_base_that_moved_have_the_line_ends_of_their_commit() {
    for kind in ["layers", "copy"] {
        let fleet = fleet("", "");
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let promise = format!(
            "stages = [\"execute\", \"verify\"]\n[promise]\nrun = {ENDS:?}\ntimeout = \"1m\"\n"
        );
        role(&fleet, &promise);
        fleet.commit_to_main(&[("run.sh", "echo\n"), ("deep/run.sh", "echo\n")]);
        does(
            &fleet,
            &format!(
                "! ({ENDS})\nprintf {CRLF:?} > .gitattributes; git add --all\n\
                 git commit --quiet -m Ends; echo '[OK] done'"
            ),
        );
        let room = row(&fleet);
        assert_eq!(room["outcome"], "OK", "{kind}, its clean room: {room:#}");
        assert_eq!(room["sandbox"]["workspace"], kind);

        fleet.commit_to_main(&[(".gitattributes", CRLF)]);
        fleet.issue("hand", "More", "To do.");
        does(
            &fleet,
            &format!(
                "{ENDS}\ntest -z \"$(git status --porcelain)\"\ndate > work.txt\n\
                      git add work.txt; git commit --quiet -m Work; echo '[OK] done'"
            ),
        );
        let moved = row(&fleet);
        assert_eq!(moved["outcome"], "OK", "{kind}, a moved base: {moved:#}");
    }
}
