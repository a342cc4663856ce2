//! Toolchains that a repository names: the base's, only where the settings ask for them, and nothing that a
//! session is not to have.

use carson_tests::fleet::TestFleet;

use super::{COMMIT, role, row, set};
use crate::faults::fleet;

const REPO: &str = "[repos.widget]";

/// What the base says: a place, variables of each kind, and a file that is none of its business.
const ENVRC: &str = "PATH_add tools\nexport GREETING=hello LD_PRELOAD=/nowhere.so API_TOKEN=secret\n\
                     export CARSON_BRANCH=main HOME=/ TMPDIR=/\necho planted > planted || true\necho noise\n";

fn with_direnv(agent: &str, envrc: &str) -> TestFleet {
    let fleet = fleet(agent, "");
    fleet.commit_to_main(&[(".envrc", envrc), ("tools/about", "tools\n")]);
    set(&fleet, REPO, "toolchains = [\"direnv\"]");
    fleet
}

#[test]
fn sessions_and_checks_have_what_the_base_names_and_nothing_else() {
    let has = "test \"$GREETING\" = hello && test -z \"$LD_PRELOAD$API_TOKEN$DIRENV_DIFF\" && test \"$CARSON_BRANCH\" != main && \
               test \"$HOME\" != / && test \"${PATH%%:*}\" = \"$CARSON_WORKTREE/tools\" && test ! -e planted";
    // What a session makes of the file is no part of how it is judged.
    let agent = format!(
        "{has}\necho 'export GREETING=bye' > .envrc; git add .envrc; {COMMIT}; echo '[OK] done'"
    );
    for kind in ["layers", "copy"] {
        let fleet = with_direnv(&agent, ENVRC);
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let check = format!("[promise]\nrun = '''{has}'''\n");
        role(
            &fleet,
            &format!("stages = [\"execute\", \"verify\"]\n{check}"),
        );
        let row = row(&fleet);
        assert_eq!(row["outcome"], "OK", "{kind}: {row:#}");
        assert_eq!(row["sandbox"]["workspace"], kind);
    }
}

#[test]
fn nothing_of_it_runs_unless_the_settings_say_so() {
    let agent = format!("test -z \"$GREETING\"; {COMMIT}; echo '[OK] done'");
    let fleet = fleet(&agent, "");
    fleet.commit_to_main(&[(".envrc", ENVRC)]);
    let row = row(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
}

#[test]
fn one_that_fails_or_is_missing_is_a_reason_before_any_session() {
    let fleet = with_direnv("echo '[OK] done'", "echo no such tool >&2; exit 7\n");
    let failed = row(&fleet);
    assert_eq!(failed["outcome"], "SKIPPED", "{failed:#}");
    let reason = failed["reason"].as_str().unwrap();
    for part in [
        "repo.widget.toolchains",
        "direnv has no answer",
        "no such tool",
    ] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert_eq!(failed["sessions"], 0, "{failed:#}");
    assert_eq!(fleet.labels(1), ["for:hand"]);

    let fleet = crate::faults::fleet("echo '[OK] done'", "");
    set(&fleet, REPO, "toolchains = [\"asdf\"]");
    let missing = row(&fleet);
    assert_eq!(missing["outcome"], "SKIPPED", "{missing:#}");
    let reason = missing["reason"].as_str().unwrap();
    assert!(reason.contains("asdf is not on the PATH"), "{reason}");
}
