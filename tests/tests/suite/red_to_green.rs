//! Tests that a change adds or alters are run on the base, too, by the runners that people use.

use std::fs;
use std::path::PathBuf;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use crate::faults::{fire, fleet};
use crate::programs::{installed, packagers};

/// What a session writes: files, committed together.
fn writes(files: &[(&str, &str)]) -> String {
    let one = |(path, content): &(&str, &str)| {
        format!("mkdir -p \"$(dirname {path})\"\ncat > {path} <<'END'\n{content}END\n")
    };
    let all: Vec<String> = files.iter().map(one).collect();
    format!(
        "{}git add .; git commit --quiet -m Fix; echo '[OK] fixed'",
        all.concat()
    )
}

/// A fleet whose sessions may read these places, and whose variables say where runners are.
fn with_runner(
    base: &[(&str, &str)],
    work: &[(&str, &str)],
    (read, env): (&[PathBuf], &str),
) -> TestFleet {
    let fleet = fleet(&writes(work), &format!("[identity]\nenv = {{ {env} }}\n"));
    let read: Vec<String> = read.iter().map(|path| format!("{path:?}")).collect();
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    let paths = format!("paths = {{ read = [{}], ", read.join(", "));
    fs::write(&role, text.replace("paths = { ", &paths)).unwrap();
    fleet.commit_to_main(base);
    fleet
}

/// The firing's row, and the body of its pull request, which says what the row says.
fn ended(fleet: &TestFleet) -> (Value, String) {
    let row = fire(fleet);
    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 1, "{row:#}");
    let number = pulls[0]["number"].to_string();
    let pull = fleet.ok(&["pr", "show", &number, "--json"])["pull"].clone();
    let body = pull["body"].as_str().unwrap().to_owned();
    (row, body)
}

fn says(fleet: &TestFleet, words: &str) {
    let (row, body) = ended(fleet);
    let reason = row["reason"].as_str().unwrap();
    assert_eq!(row["outcome"], "OK", "{reason}");
    assert!(reason.contains(words), "{reason}");
    assert!(body.contains(words), "{body}");
}

/// Says that, of tests in Rust: the code has none, or one that it passes; the work brings these.
fn rust(work: &[(&str, &str)], words: &str) {
    let toolchain = installed("rustc", &["--print", "sysroot"]);
    let env = format!(
        "PATH = \"{}/bin:/usr/bin:/bin\", CARGO_HOME = \"/nowhere\"",
        toolchain.display()
    );
    let base = [
        (
            "Cargo.toml",
            "[package]\nname = \"sum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (
            "Cargo.lock",
            "version = 3\n\n[[package]]\nname = \"sum\"\nversion = \"0.1.0\"\n",
        ),
        (".gitignore", "target\n"),
        ("src/lib.rs", LIBRARY),
    ];
    let fleet = with_runner(&base, work, (&[toolchain], &env));
    says(&fleet, words);
}

const LIBRARY: &str = "pub fn sum(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    \
    #[test]\n    fn nothing() {\n        assert_eq!(super::sum(0, 0), 0);\n    }\n}\n";

#[test]
fn cargo_says_which_tests_of_a_module_fail_on_the_base() {
    let fixed = LIBRARY.replace("a - b", "a + b").replace(
        "mod tests {\n",
        "mod tests {\n    #[test]\n    fn one() {\n        assert_eq!(super::sum(1, 2), 3);\n    }\n    \
         #[test]\n    fn two() {\n        assert_eq!(super::sum(2, 2), 4);\n    }\n",
    );
    rust(
        &[("src/lib.rs", &fixed)],
        "2 tests fail on the base and pass here",
    );
}

#[test]
fn cargo_says_when_a_test_cannot_be_built_on_the_base_or_needs_no_change() {
    let more = format!("{LIBRARY}pub fn product(a: i32, b: i32) -> i32 {{\n    a * b\n}}\n");
    let test = "#[test]\nfn product() {\n    assert_eq!(sum::product(2, 3), 6);\n}\n";
    let work = [("src/lib.rs", more.as_str()), ("tests/product.rs", test)];
    rust(&work, "its tests cannot be run on the base and pass here");
    let test = "#[test]\nfn zero() {\n    assert_eq!(sum::sum(2, 0), 2);\n}\n";
    rust(&[("tests/zero.rs", test)], "no test fails on the base");
}

/// Its base has nothing of it, and that is no proof.
#[test]
fn cargo_says_when_the_base_has_no_such_code() {
    let more = format!("pub mod extra;\n{LIBRARY}");
    let extra = "pub fn one() -> i32 {\n    1\n}\n#[cfg(test)] mod tests { #[test] fn one() { assert_eq!(super::one(), 1); } }\n";
    let work = [("src/lib.rs", more.as_str()), ("src/extra.rs", extra)];
    rust(&work, "its tests cannot be run on the base and pass here");
}

#[test]
fn pytest_says_which_tests_fail_on_the_base() {
    let python = packagers().join("python");
    let prefix = installed("python3", &["-c", "import sys; print(sys.prefix)"]);
    let env = format!(
        "PYTHONPATH = {python:?}, PATH = \"{}/bin:/usr/bin:/bin\"",
        prefix.display()
    );
    let base = [
        ("app/pyproject.toml", "[project]\nname = \"app\"\n"),
        ("app/money.py", "def total(prices):\n    return 0\n"),
        (
            "app/test_money.py",
            "from money import total\n\ndef test_none():\n    assert total([]) == 0\n",
        ),
    ];
    let work = [
        (
            "app/money.py",
            "def total(prices):\n    return sum(prices)\n",
        ),
        (
            "app/conftest.py",
            "import pytest\n\n@pytest.fixture\ndef prices():\n    return [1, 2]\n",
        ),
        (
            "app/test_money.py",
            "from money import total\n\ndef test_none():\n    assert total([]) == 0\n\ndef test_all(prices):\n    assert total(prices) == 3\n",
        ),
    ];
    let reads = [python, prefix];
    let words = "1 test fails on the base and passes here";
    let fleet = with_runner(&base, &work, (&reads, &env));
    says(&fleet, words);
    let pull = fleet.ok(&["pr", "show", "2", "--json"])["pull"].clone();
    let body = pull["body"].as_str().unwrap();
    let told = format!("- red to green: `{words}`\n  - `test_money.py::test_all`\n");
    assert!(body.contains(&told), "{body}");
    // One that fails with the work, too, proves nothing.
    let fails = ("app/test_money.py", "def test_all():\n    assert 1 == 2\n");
    let fleet = with_runner(&base, &[fails], (&reads, &env));
    says(&fleet, "1 of its tests fails here");
}

/// A package of npm whose tests are run by this program.
fn script(runner: &str, import: &str) {
    let modules = packagers().join("node_modules");
    let manifest =
        format!("{{\"type\": \"module\", \"devDependencies\": {{\"{runner}\": \"*\"}}}}\n");
    let (manifest, common) = match runner {
        "jest" => (manifest.replace("\"type\": \"module\", ", ""), true),
        _ => (manifest, false),
    };
    let code = |body: &str| match common {
        true => format!("exports.half = (n) => {body};\n"),
        false => format!("export const half = (n) => {body};\n"),
    };
    let test = format!(
        "{import}test('halves', () => {{ expect(half(4)).toBe(2); }});\ntest('nothing', () => {{ expect(half(0)).toBe(0); }});\n"
    );
    let (old, new) = (code("n"), code("n / 2"));
    let base = [
        ("web/package.json", manifest.as_str()),
        ("web/half.js", &old),
        (".gitignore", "node_modules\n"),
    ];
    let work = [("web/half.js", new.as_str()), ("web/half.test.js", &test)];
    let fleet = with_runner(
        &base,
        &work,
        (std::slice::from_ref(&modules), "NODE_ENV = \"test\""),
    );
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let setup = format!(
        "[repos.widget]\nsetup = [\"ln -s {} web/node_modules\"]\n",
        modules.display()
    );
    fs::write(&settings, text.replacen("[repos.widget]\n", &setup, 1)).unwrap();
    says(&fleet, "1 test fails on the base and passes here");
}

#[test]
fn jest_says_which_tests_fail_on_the_base() {
    script("jest", "const { half } = require('./half.js');\n");
}

#[test]
fn vitest_says_which_tests_fail_on_the_base() {
    script(
        "vitest",
        "import { expect, test } from 'vitest';\nimport { half } from './half.js';\n",
    );
}

#[test]
fn go_says_which_tests_fail_on_the_base() {
    let base = [
        ("go.mod", "module word\n\ngo 1.19\n"),
        (
            "word.go",
            "package word\n\nfunc Last(s string) string { return s }\n",
        ),
    ];
    let test = "package word\n\nimport \"testing\"\n\nfunc TestLast(t *testing.T) {\n\tif Last(\"ab\") != \"b\" {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";
    let work = [
        (
            "word.go",
            "package word\n\nfunc Last(s string) string { return s[len(s)-1:] }\n",
        ),
        ("word_test.go", test),
    ];
    says(
        &with_runner(&base, &work, (&[], "GOFLAGS = \"-vet=off\"")),
        "1 test fails on the base and passes here",
    );
}

/// A language whose runner nobody finds, and one that the operator names.
#[test]
fn where_no_runner_is_known_a_line_of_the_operator_s_runs_the_files() {
    let base = [("value", "1\n")];
    let work = [
        ("value", "2\n"),
        ("spec/value spec_test.sh", "grep -q 2 value\n"),
    ];
    let quoted =
        |fleet: &str| fleet.replace("spec/value spec_test.sh", "'spec/value spec_test.sh'");
    let unknown = fleet(&quoted(&writes(&work)), "");
    unknown.commit_to_main(&base);
    says(
        &unknown,
        "whether a test fails on the base is not known: no runner is known for",
    );
    let named = fleet(&quoted(&writes(&work)), "");
    named.commit_to_main(&base);
    repository_says(&named, "run = 'for file; do sh \"$file\" || exit 1; done'");
    says(&named, "its tests fail on the base and pass here");
}

/// What a setup changes of tracked files is put back in a room; the work's tests, which are laid over the base there, are
/// not the setup's.
#[test]
fn tests_stay_where_they_are_laid_when_a_setup_runs_there() {
    let work = [("value", "2\n"), ("one_test.sh", "grep -q 2 value\n")];
    let fleet = fleet(&writes(&work), "");
    fleet.commit_to_main(&[("value", "1\n"), ("one_test.sh", "true\n")]);
    repository_says(&fleet, "run = 'for file; do sh \"$file\" || exit 1; done'");
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let text = text
        .replacen("[fleet]\n", "[fleet]\nworkspaces = \"copy\"\n", 1)
        .replacen(
            "[repos.widget]\n",
            "[repos.widget]\nsetup = [\"true\"]\n",
            1,
        );
    fs::write(&settings, text).unwrap();
    says(&fleet, "its tests fail on the base and pass here");
}

fn repository_says(fleet: &TestFleet, keys: &str) {
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(
        &settings,
        format!("{text}\n[repos.widget.red_to_green]\n{keys}\n"),
    )
    .unwrap();
}

#[test]
fn a_fix_that_no_test_proves_is_a_draft_where_the_repository_asks_for_one() {
    let line = "run = 'for file; do sh \"$file\" || exit 1; done'\n";
    for (settings, label, proves, outcome) in [
        ("", "bug", false, "OK"),
        ("unproven = \"draft\"\n", "bug", false, "PARTIAL"),
        ("unproven = \"draft\"\n", "bug", true, "OK"),
        ("unproven = \"draft\"\n", "docs", false, "OK"),
        (
            "unproven = \"draft\"\nfixes = [\"docs\"]\n",
            "docs",
            false,
            "PARTIAL",
        ),
        ("unproven = \"off\"\n", "bug", false, "OK"),
    ] {
        let test = if proves {
            "grep -q 2 value\n"
        } else {
            "true\n"
        };
        let fleet = fleet(&writes(&[("value", "2\n"), ("one_test.sh", test)]), "");
        fleet.commit_to_main(&[("value", "1\n")]);
        repository_says(&fleet, &format!("{settings}{line}"));
        let _ = fleet.ok(&["issue", "label", "1", "--add", label, "--json"]);
        let (row, body) = ended(&fleet);
        let reason = row["reason"].as_str().unwrap();
        assert_eq!(row["outcome"], outcome, "{settings}{label}: {reason}");
        let told = match (settings.contains("off"), proves) {
            (true, _) => false,
            (false, proves) => !proves,
        };
        assert_eq!(
            body.contains("no test fails on the base"),
            told,
            "{settings}: {body}"
        );
    }
}

#[test]
fn a_fix_without_a_test_is_no_proof() {
    let fleet = fleet(&writes(&[("value", "2\n")]), "");
    repository_says(&fleet, "unproven = \"draft\"");
    let _ = fleet.ok(&["issue", "label", "1", "--add", "bug", "--json"]);
    let (row, body) = ended(&fleet);
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    assert!(
        body.contains("the work on it changes no test; add one that does"),
        "{body}"
    );
}

/// The runner is the session's own code: whatever it prints or does ends, and stops no finished work.
#[test]
fn a_runner_that_never_ends_says_nothing() {
    let fleet = fleet(&writes(&[("one_test.sh", "sleep 600\n")]), "");
    repository_says(&fleet, "run = 'sh \"$1\"'\ntimeout = \"2s\"");
    says(&fleet, "sh \"$1\" did not end in time on the base");
}
