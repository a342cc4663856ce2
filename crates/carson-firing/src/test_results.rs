//! What runners of tests say of each test, on the base and on the work.
//!
//! A session wrote the tests, and so what they print: whoever reads it is a child that answers with numbers
//! and a few names. What they are worth is said by how the runs ended.

use std::collections::BTreeSet;

use carson_git::TestRunner;
use carson_proc::inspector::Question;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tests that are named.
const NAMED: usize = 5;
/// Letters of a name.
const NAME: usize = 120;

/// Compares what a runner printed on the base with what it printed on the work.
#[derive(Serialize, Deserialize)]
pub(crate) struct Compare {
    pub runner: TestRunner,
    pub base: String,
    pub work: String,
}

/// What the comparison has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Compared {
    /// Tests that pass on the work.
    pub pass: u32,
    /// Of these, those that fail on the base.
    pub red: u32,
    /// Some of them.
    pub names: Vec<String>,
    /// And those that are not there on the base.
    pub unbuilt: u32,
    /// Tests that fail on the work.
    pub failing: u32,
}

impl Question for Compare {
    const NAME: &'static str = "test-results";
    type Answer = Compared;

    fn answer(self) -> Result<Compared, String> {
        let read = match self.runner {
            TestRunner::Cargo => of_cargo,
            TestRunner::Pytest => of_pytest,
            TestRunner::Jest | TestRunner::Vitest => of_script,
            TestRunner::Go => of_go,
        };
        let (base, work) = (read(&self.base), read(&self.work));
        let count = |all: usize| u32::try_from(all).unwrap_or(u32::MAX);
        let red: Vec<&String> = base
            .failed
            .iter()
            .filter_map(|said| work.passes(said))
            .collect();
        let red: BTreeSet<&String> = red.into_iter().collect();
        let is_there = |name: &&String| base.passed.contains(*name) || red.contains(*name);
        let there = work.passed.iter().filter(is_there).count();
        let short = |name: &&String| name.chars().take(NAME).collect();
        Ok(Compared {
            pass: count(work.passed.len()),
            red: count(red.len()),
            names: red.iter().take(NAMED).map(short).collect(),
            unbuilt: count(work.passed.len() - there),
            failing: count(work.failed.len()),
        })
    }
}

/// Tests by their names.
#[derive(Debug, Default)]
struct Results {
    passed: BTreeSet<String>,
    failed: BTreeSet<String>,
}

impl Results {
    fn add(&mut self, name: String, passes: bool) {
        match passes {
            true => self.passed.insert(name),
            false => self.failed.insert(name),
        };
    }

    /// The test that passes of which a line speaks: its name, or that, ` - ` and why it failed.
    fn passes(&self, said: &str) -> Option<&String> {
        let ends = said.match_indices(" - ").map(|(at, _)| at);
        let mut names = ends.chain([said.len()]).map(|end| &said[..end]);
        names.find_map(|name| self.passed.get(name))
    }
}

/// libtest: `test a::b ... ok` below `Running tests/x.rs (…)`.
fn of_cargo(text: &str) -> Results {
    let mut results = Results::default();
    let mut target = "";
    for line in text.lines() {
        if let Some(running) = line.trim_start().strip_prefix("Running ") {
            target = running.split(" (").next().unwrap_or_default();
        }
        let Some(test) = line.strip_prefix("test ") else {
            continue;
        };
        match test.rsplit_once(" ... ") {
            Some((name, "ok")) => results.add(format!("{target} {name}"), true),
            Some((name, "FAILED")) => results.add(format!("{target} {name}"), false),
            _ => {}
        }
    }
    results
}

/// pytest's short summary: `PASSED a.py::b`, `FAILED a.py::b - why`.
fn of_pytest(text: &str) -> Results {
    let mut results = Results::default();
    let summary = text.rfind("short test summary info").unwrap_or(text.len());
    for line in text[summary..].lines() {
        if let Some(name) = line.strip_prefix("PASSED ") {
            results.add(name.to_owned(), true);
        } else if let Some(test) = line.strip_prefix("FAILED ") {
            results.add(test.to_owned(), false);
        } else if let Some(test) = line
            .strip_prefix("ERROR ")
            .filter(|test| test.contains("::"))
        {
            // Of one that could be loaded.
            results.add(test.to_owned(), false);
        }
    }
    results
}

/// The JSON that Jest made and Vitest speaks, too: one document.
fn of_script(text: &str) -> Results {
    let mut results = Results::default();
    let json = text.find('{').and_then(|at| {
        let mut all = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        all.next()?.ok()
    });
    let files = json
        .as_ref()
        .and_then(|json| json["testResults"].as_array());
    for file in files.into_iter().flatten() {
        // The directory is another one on the base.
        let name = file["name"].as_str().unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        for test in file["assertionResults"].as_array().into_iter().flatten() {
            let full = test["fullName"].as_str().unwrap_or_default();
            match test["status"].as_str() {
                Some("passed") => results.add(format!("{name} {full}"), true),
                Some("failed") => results.add(format!("{name} {full}"), false),
                _ => {}
            }
        }
    }
    results
}

/// `go test -json`: an event a line.
fn of_go(text: &str) -> Results {
    let mut results = Results::default();
    for line in text.lines() {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let (Some(package), Some(test)) = (event["Package"].as_str(), event["Test"].as_str())
        else {
            continue;
        };
        // A subtest is a part of its test.
        match event["Action"].as_str().filter(|_| !test.contains('/')) {
            Some("pass") => results.add(format!("{package} {test}"), true),
            Some("fail") => results.add(format!("{package} {test}"), false),
            _ => {}
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn compared(runner: TestRunner, base: &str, work: &str) -> (u32, u32, u32) {
        let (base, work) = (base.to_owned(), work.to_owned());
        let all = Compare { runner, base, work }.answer().unwrap();
        assert!(all.names.len() == NAMED.min(all.red as usize), "{all:?}");
        (all.pass, all.red, all.unbuilt)
    }

    fn found(pass: u32, red: u32, unbuilt: u32) -> (u32, u32, u32) {
        (pass, red, unbuilt)
    }

    #[test]
    fn libtest_says_a_line_of_each_test_of_each_target() {
        let work = "     Running unittests src/lib.rs (target/debug/deps/w-1f)\nrunning 2 tests\n\
            test tests::a ... ok\ntest tests::b - should panic ... ok\n\
                 Running tests/it.rs (target/debug/deps/it-2a)\ntest tests::a ... ok\ntest c ... ignored\n";
        let base = "     Running unittests src/lib.rs (target/debug/deps/w-9c)\ntest tests::a ... FAILED\n\
            test tests::b - should panic ... ok\n";
        assert_eq!(compared(TestRunner::Cargo, base, work), found(3, 1, 1));
        let broken = "error[E0425]: cannot find function `two`\nerror: could not compile `w`\n";
        assert_eq!(compared(TestRunner::Cargo, broken, work), found(3, 0, 3));
    }

    #[test]
    fn pytest_says_it_in_its_summary_and_nowhere_else() {
        let summary = "=== short test summary info ===\n";
        let work =
            format!("FAILED a.py::b\n{summary}PASSED a.py::b\nPASSED a.py::c[x y]\n2 passed\n");
        let base = format!("{summary}PASSED a.py::c[x y]\nFAILED a.py::b - assert 1 == 2\n");
        assert_eq!(compared(TestRunner::Pytest, &base, &work), found(2, 1, 0));
        assert_eq!(
            compared(TestRunner::Pytest, "ERROR a.py", &work),
            found(2, 0, 2)
        );
    }

    #[test]
    fn jest_and_vitest_say_it_in_one_document() {
        let of = |dir: &str, status: &str| {
            format!(
                "> w@1 test\n{{\"testResults\": [{{\"name\": \"{dir}/a.test.js\", \"assertionResults\": [\
                 {{\"fullName\": \"adds\", \"status\": \"{status}\"}}, {{\"fullName\": \"later\", \"status\": \"todo\"}}]}}]}}\n"
            )
        };
        let (base, work) = (of("/base", "failed"), of("/work", "passed"));
        assert_eq!(compared(TestRunner::Jest, &base, &work), found(1, 1, 0));
        assert_eq!(
            compared(TestRunner::Vitest, "Error: no such file", &work),
            found(1, 0, 1)
        );
    }

    #[test]
    fn go_says_an_event_a_line() {
        let of = |action: &str| {
            format!(
                "# w\n{{\"Action\":\"{action}\",\"Package\":\"w\",\"Test\":\"TestA\"}}\n{{\"Action\":\"{action}\",\"Package\":\"w\"}}\n"
            )
        };
        assert_eq!(
            compared(TestRunner::Go, &of("fail"), &of("pass")),
            found(1, 1, 0)
        );
        assert_eq!(
            compared(TestRunner::Go, &of("pass"), &of("pass")),
            found(1, 0, 0)
        );
        assert_eq!(
            compared(TestRunner::Go, &of("fail"), &of("fail")),
            found(0, 0, 0)
        );
    }

    proptest! {
        /// Whatever is printed has an answer, in which no more is red than passes.
        #[test]
        fn any_text_is_read(base in ".{0,400}", work in "(test |PASSED |FAILED |\\{|.|\n| \\.\\.\\. ok\n){0,60}") {
            for runner in [TestRunner::Cargo, TestRunner::Pytest, TestRunner::Jest, TestRunner::Go] {
                let one = compared(runner, &base, &work);
                prop_assert!(one.1 + one.2 <= one.0);
                prop_assert_eq!(compared(runner, &work, &work).2, 0);
            }
        }
    }
}
