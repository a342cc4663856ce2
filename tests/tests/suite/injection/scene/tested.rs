//! Files of which the tests run too little, and what says so.

use carson_tests::fleet::TestFleet;

use super::Words;
use crate::crew::tester::COVERAGE;

/// What a tester's role has beside its kind.
pub(super) const SECTIONS: &str =
    "[coverage]\nrun = \"sh coverage.sh\"\n[promise]\nrun = \"sh check.sh\"\n";
/// The check passes with the second attempt alone.
pub(super) const WRITES: &str = "printf 'b2\\nb3\\n' >>tests/all.txt\n\
    if [ \"$CARSON_ATTEMPT\" = 2 ]; then echo done >tests/second.txt; fi\n\
    git add -A; git commit --quiet -m Tests\n";

/// Says its words before the report, in it, and as the path of a file in it.
const WORDS: &str = "cat report-log.txt >&2\nsed 's/^/TN:/' report.txt\n\
    printf 'SF:src/%s\\nDA:1,0\\nend_of_record\\n' \"$(cat report-path.txt)\"\n";
const CHECK: &str = "[ -e tests/second.txt ] || { cat check-log.txt; exit 1; }\n";

/// Two files, of whose lines the tests run one and all; a check that says its words.
pub(super) fn of_files(fleet: &TestFleet, words: Words<'_>) {
    // The end of a log may be cut off as space.
    let log = |channel: &str| format!("{}end\n", words.all(channel));
    fleet.commit_to_main(&[
        ("coverage.sh", &format!("{WORDS}{COVERAGE}")),
        ("report.txt", &log("report")),
        ("report-path.txt", &words.line("report-path")),
        ("report-log.txt", &log("report-log")),
        ("check.sh", CHECK),
        ("check-log.txt", &log("check-log")),
        ("src/a.txt", "a1\na2\n"),
        ("src/b.txt", "b1\nb2\nb3\nb4\n"),
        ("tests/all.txt", "a1\na2\nb1\n"),
        ("tests/words.txt", &log("tests")),
    ]);
}
