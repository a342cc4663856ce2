//! What reviewers say of pull request after pull request.

use serde_json::{Value, json};

use super::asked;
use crate::crew::fixer::file;
use crate::faults;

const COMMIT: &str = "date +%N > work.txt; git add .; git commit --quiet -m Work; echo '[OK] done'";
const SAID: &str = "A new setting needs a row in docs/CONFIG.md and a line in the changelog";

#[test]
fn a_remark_that_comes_again_is_a_candidate_once() {
    let fleet = faults::fleet(COMMIT, "");
    assert_eq!(fleet.issue("hand", "More work", "To do, too."), 2);
    let mut pulls = Vec::new();
    for _ in 0..2 {
        let row = faults::fire(&fleet);
        assert_eq!(row["outcome"], "OK", "{row:#}");
        pulls.push(row["pr_number"].as_u64().unwrap());
    }
    assert_ne!(pulls[0], pulls[1]);
    let says = |pull: u64, n: u32, text: &str| {
        let thread = format!("pulls/{pull:04}.threads/{n:04}");
        let head = "+++\npath = \"work.txt\"\nline = 1\n+++\n";
        file(&fleet, &format!("{thread}.md"), head);
        file(&fleet, &format!("{thread}.comments/0001.md"), text);
    };
    says(pulls[0], 1, &format!("> date\n{SAID}.\n"));
    says(pulls[0], 2, "Thanks!\n");
    let none = asked(&fleet, &["gate"]);
    assert_eq!(none["reviewed"], json!([]), "{none:#}");

    says(pulls[1], 1, &format!("{SAID}, please\n"));
    says(pulls[1], 2, "Thanks!\n");
    let run = asked(&fleet, &["gate"]);
    let [id] = <[Value; 1]>::try_from(run["reviewed"].as_array().unwrap().clone()).unwrap();
    let chain = asked(&fleet, &["audit", id.as_str().unwrap()]);
    let lesson = &chain["lesson"];
    assert_eq!(
        (&lesson["source"], &lesson["scope"]),
        (&json!("review"), &json!("repo:widget"))
    );
    assert_eq!(
        lesson["text"],
        json!(format!("Reviewers of widget say again and again: {SAID}."))
    );
    // It is borne out by what stands there, and that is not enough without a judge.
    for one in chain["evidence"].as_array().unwrap() {
        assert_eq!(
            (&one["found"], &one["bears_out"]),
            (&json!("there"), &json!(true)),
            "{chain:#}"
        );
    }
    assert!(chain["structural"].as_f64().unwrap() > 0.5, "{chain:#}");
    assert_eq!(lesson["state"], json!("held"), "{chain:#}");
    let again = asked(&fleet, &["gate"]);
    assert_eq!(again["reviewed"], json!([]), "{again:#}");
}
