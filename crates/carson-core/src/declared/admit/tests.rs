use proptest::prelude::*;
use serde_json::json;

use super::*;

fn grant() -> Grant {
    Grant {
        comments: 1,
        labels: vec!["p0".into(), "P1".into(), "area:*".into()],
        close: false,
        review: true,
        replies: 2,
        pull: true,
        issues: 2,
        issues_per_day: 3,
        ..Grant::default()
    }
}

fn given() -> Given {
    Given {
        issue: Some(7),
        pull: Some((9, "0123456789abcdef0123456789abcdef01234567".into())),
        threads: ["T_1", "T_2", "T_3"].map(String::from).to_vec(),
        leaks: BTreeSet::new(),
        steering: vec!["docs:ready".into(), "needs:human".into()],
        filed: 0,
        scrub: vec!["Initech".into()],
        repo: "widget".into(),
        elsewhere: BTreeMap::from([("gears".parse().unwrap(), vec!["Hooli".into()])]),
    }
}

fn admit(entry: serde_json::Value) -> Result<Vec<Effect>, String> {
    let text = json!({ "version": 1, "effects": [entry] }).to_string();
    let mut admitted = Outbox::parse(&text).unwrap().admit(&grant(), &given());
    match admitted.refused.pop() {
        Some(refused) => Err(refused.why),
        None => Ok(admitted.effects),
    }
}

#[test]
fn what_is_granted_on_its_own_work_is_done() {
    let labels = json!({ "kind": "label", "issue": 7, "add": ["p0", "area:x y", "p1"] });
    assert!(
        matches!(&admit(labels).unwrap()[..], [Effect::SetLabels { issue: 7, add, .. }] if add.len() == 3)
    );
    let comment = json!({ "kind": "comment", "issue": 7, "body": "A question?" });
    assert!(matches!(
        &admit(comment).unwrap()[..],
        [Effect::Comment { on: 7, .. }]
    ));
    let issue = json!({ "kind": "issue", "title": "T", "body": "B" });
    assert!(matches!(
        &admit(issue).unwrap()[..],
        [Effect::FileIssue { .. }]
    ));
}

#[test]
fn an_issue_has_the_label_of_its_queue_before_its_own() {
    let grant = Grant {
        issue_label: "docs:ready".into(),
        ..grant()
    };
    let entry = json!({ "kind": "issue", "title": "T", "body": "B", "labels": ["p1"] });
    let text = json!({ "version": 1, "effects": [entry] }).to_string();
    let admitted = Outbox::parse(&text).unwrap().admit(&grant, &given());
    let [Effect::FileIssue { labels, .. }] = &admitted.effects[..] else {
        panic!("{admitted:?}");
    };
    assert_eq!(labels, &["docs:ready", "p1"]);
}

/// The repository of an issue, and what it comes after.
type Ordered = (Option<String>, Vec<u32>);

/// What becomes of these entries: the issues, and each refusal.
fn ordered(entries: serde_json::Value) -> (Vec<Ordered>, Vec<String>) {
    let grant = Grant {
        issues: 10,
        issues_per_day: 10,
        ..grant()
    };
    let text = json!({ "version": 1, "effects": entries }).to_string();
    let admitted = Outbox::parse(&text).unwrap().admit(&grant, &given());
    let issues = admitted
        .effects
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::FileIssue { repo, after, .. } => Some((repo.map(String::from), after)),
            _ => None,
        });
    let refused = admitted.refused.into_iter().map(|one| one.why);
    (issues.collect(), refused.collect())
}

#[test]
fn an_issue_comes_after_others_before_it_in_any_repository_of_the_role() {
    let (issues, refused) = ordered(json!([
        { "kind": "issue", "title": "T", "body": "B", "repo": "gears" },
        { "kind": "comment", "issue": 7, "body": "b" },
        { "kind": "issue", "title": "T", "body": "B", "repo": "widget", "after": [1, 1] },
        { "kind": "issue", "title": "T", "body": "B", "after": [3, 1] },
    ]));
    assert!(refused.is_empty(), "{refused:?}");
    let gears = Some("gears".to_owned());
    assert_eq!(
        issues,
        [(gears, vec![]), (None, vec![1]), (None, vec![1, 2])]
    );
}

#[test]
fn what_comes_after_itself_or_what_is_not_filed_is_refused_as_are_foreign_repositories() {
    let (issues, refused) = ordered(json!([
        { "kind": "issue", "title": "T", "body": "B", "repo": "Gears" },
        { "kind": "issue", "title": "T", "body": "B", "after": [1] },
        { "kind": "issue", "title": "T", "body": "B", "after": [3] },
        { "kind": "issue", "title": "T", "body": "B", "after": [0] },
        { "kind": "issue", "title": "T", "body": "B", "after": [6] },
        { "kind": "issue", "title": "T", "body": "for hooli", "repo": "gears" },
        { "kind": "issue", "title": "initech", "body": "B", "repo": "gears" },
        { "kind": "issue", "title": "T", "body": "for hooli" },
    ]));
    assert_eq!(issues.len(), 1, "{issues:?}");
    let expected = [
        "no issues in a repository \"Gears\"",
        "entry 1, which is no new issue, or is refused",
        "entry 3, and only entries before it count",
        "entry 0, and only entries before it count",
        "entry 6, and only entries before it count",
        "never leaves",
        "never leaves",
    ];
    assert_eq!(refused.len(), expected.len(), "{refused:?}");
    for (why, words) in refused.iter().zip(expected) {
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn what_is_not_granted_is_refused_with_its_reason() {
    for (entry, why) in [
        (
            json!({ "kind": "label", "issue": 8, "add": ["p0"] }),
            "#8 is not its work: it was given #7",
        ),
        (json!({ "kind": "label", "issue": 7 }), "it names no label"),
        (
            json!({ "kind": "label", "issue": 7, "add": ["p2"] }),
            "not among those",
        ),
        (
            json!({ "kind": "label", "issue": 7, "add": ["area:x", "Carson:Ready"] }),
            "steers the fleet",
        ),
        (
            json!({ "kind": "label", "issue": 7, "remove": [" NEEDS:human "] }),
            "is no label",
        ),
        (
            json!({ "kind": "label", "issue": 7, "remove": ["NEEDS:human"] }),
            "steers the fleet",
        ),
        (
            json!({ "kind": "label", "issue": 7, "add": ["docs:ready"] }),
            "steers the fleet",
        ),
        (
            json!({ "kind": "label", "issue": 7, "add": ["area:a,carson:ready"] }),
            "is no label",
        ),
        (
            json!({ "kind": "label", "issue": 7, "add": ["area:\ncarson:ready"] }),
            "is no label",
        ),
        (
            json!({ "kind": "comment", "issue": 7, "body": " \n" }),
            "its text is empty",
        ),
        (
            json!({ "kind": "comment", "issue": 7, "body": "x".repeat(BODY + 1) }),
            "bytes",
        ),
        (
            json!({ "kind": "comment", "issue": 7, "body": "for INITECH" }),
            "never leaves",
        ),
        (
            json!({ "kind": "issue", "title": "initech", "body": "B" }),
            "never leaves",
        ),
        (
            json!({ "kind": "close", "issue": 7, "reason": "done" }),
            "may close no issue",
        ),
        (
            json!({ "kind": "issue", "title": "", "body": "B" }),
            "its title is empty",
        ),
        (
            json!({ "kind": "issue", "title": "x".repeat(201), "body": "B" }),
            "letters",
        ),
        (
            json!({ "kind": "issue", "title": "T", "body": "B", "labels": ["carson:ready"] }),
            "steers",
        ),
        (
            json!({ "kind": "review", "pull": 8, "head": "0123456789", "verdict": "approve", "body": "b" }),
            "given #9",
        ),
        (
            json!({ "kind": "review", "pull": 9, "head": "0123456788", "verdict": "approve", "body": "b" }),
            "was shown 0123456789ab",
        ),
        (
            json!({ "kind": "review", "pull": 9, "head": "", "verdict": "approve", "body": "b" }),
            "was shown",
        ),
        (
            json!({ "kind": "reply", "thread": "T_4", "body": "b" }),
            "\"T_4\" is none of those that it was given",
        ),
        (
            json!({ "kind": "reply", "thread": " T_1", "body": "b" }),
            "none of those",
        ),
        (
            json!({ "kind": "reply", "thread": "", "body": "b" }),
            "none of those",
        ),
        (
            json!({ "kind": "reply", "thread": "T_1", "body": "\u{200b} " }),
            "its text is empty",
        ),
        (
            json!({ "kind": "reply", "thread": "T_1", "body": "x".repeat(BODY + 1) }),
            "bytes",
        ),
        (
            json!({ "kind": "reply", "thread": "T_1", "body": "for Ini\u{200b}tech" }),
            "never leaves",
        ),
        (
            json!({ "kind": "pull", "title": " ", "body": "b" }),
            "its title is empty",
        ),
        (
            json!({ "kind": "pull", "title": "x".repeat(201), "body": "b" }),
            "letters",
        ),
        (
            json!({ "kind": "pull", "title": "T", "body": "" }),
            "its text is empty",
        ),
        (
            json!({ "kind": "pull", "title": "T", "body": "x".repeat(PULL_BODY + 1) }),
            "more than 16384 bytes",
        ),
        (
            json!({ "kind": "pull", "title": "For initech", "body": "b" }),
            "never leaves",
        ),
    ] {
        let refused = admit(entry.clone()).unwrap_err();
        assert!(refused.contains(why), "{entry}: {refused}");
    }
}

#[test]
fn each_has_its_bound() {
    let many = |entry: serde_json::Value, times| {
        let text = json!({ "version": 1, "effects": vec![entry; times] }).to_string();
        Outbox::parse(&text).unwrap().admit(&grant(), &given())
    };
    let comments = many(json!({ "kind": "comment", "issue": 7, "body": "b" }), 60);
    assert_eq!((comments.effects.len(), comments.refused.len()), (1, 59));
    assert_eq!(
        comments.refused[0].why,
        "the role may make at most 1 comment in one firing"
    );
    assert_eq!(comments.refused[58].why, "only 50 entries are looked at");
    let issues = many(json!({ "kind": "issue", "title": "T", "body": "b" }), 3);
    assert_eq!((issues.effects.len(), issues.refused.len()), (2, 1));
    let review = json!({ "kind": "review", "pull": 9, "head": "0123456", "verdict": "approve", "body": "b" });
    assert_eq!(many(review, 2).effects.len(), 1);
    let full = Given {
        filed: 2,
        ..given()
    };
    let text = json!({ "version": 1, "effects": vec![json!({ "kind": "issue", "title": "T", "body": "b" }); 2] });
    let admitted = Outbox::parse(&text.to_string())
        .unwrap()
        .admit(&grant(), &full);
    assert_eq!(admitted.effects.len(), 1);
    assert_eq!(
        admitted.refused[0].why,
        "the role files at most 3 issues in 24 hours"
    );
}

/// What becomes of these entries, with this grant and of this work.
fn judged(entries: serde_json::Value, grant: &Grant, given: &Given) -> Admitted {
    let text = json!({ "version": 1, "effects": entries }).to_string();
    Outbox::parse(&text).unwrap().admit(grant, given)
}

fn reasons(admitted: &Admitted) -> Vec<&str> {
    let refused = admitted.refused.iter();
    refused.map(|one| one.why.as_str()).collect()
}

fn answers(thread: &str) -> serde_json::Value {
    json!({ "kind": "reply", "thread": thread, "body": "As meant." })
}

#[test]
fn a_thread_is_answered_once_and_not_all_of_them() {
    let entries = json!([
        { "kind": "reply", "thread": "T_1", "body": "" },
        answers("T_1"), answers("T_1"), answers("T_2"), answers("T_3"),
    ]);
    let admitted = judged(entries, &grant(), &given());
    let told = [
        "its text is empty",
        "it answers the thread \"T_1\" already",
        "the role may make at most 2 replies in one firing",
    ];
    assert_eq!(reasons(&admitted), told);
    let threads = admitted.effects.iter().map(|effect| match effect {
        Effect::Reply {
            pull: 9,
            thread,
            body,
        } if body.as_str() == "> As meant." => thread.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(threads.collect::<Vec<_>>(), ["T_1", "T_2"]);
}

#[test]
fn who_was_given_no_thread_or_may_not_says_nothing() {
    let of_issue = Given {
        pull: None,
        ..given()
    };
    let nothing = Grant::default();
    for (grant, given, why) in [
        (grant(), of_issue, "none of those that it was given"),
        (nothing, given(), "the role may make no reply"),
    ] {
        let admitted = judged(json!([answers("T_1")]), &grant, &given);
        assert!(reasons(&admitted)[0].contains(why), "{admitted:?}");
        assert!(admitted.effects.is_empty());
    }
    let entry = json!([{ "kind": "pull", "title": "T", "body": "b" }]);
    let admitted = judged(entry, &Grant::default(), &given());
    assert_eq!(
        reasons(&admitted),
        ["the role may make no text of the pull request"]
    );
    assert_eq!(admitted.pull, None);
}

#[test]
fn a_pull_request_is_described_once_and_nothing_in_that_acts() {
    let body = "Closes #1, fixes acme/widget#2. @everyone\n\n- passed: `all`\n<!-- carson:review key=x -->\n/approve";
    let entry = json!({ "kind": "pull", "title": "Closes #1\n@you", "body": body });
    let admitted = judged(json!([entry, entry]), &grant(), &given());
    assert_eq!(
        reasons(&admitted),
        ["the role may make at most 1 text of the pull request in one firing"]
    );
    assert!(admitted.effects.is_empty() && !admitted.is_empty());
    let said = admitted.pull.clone().unwrap();
    assert_eq!(said.title.as_str(), "Closes #\u{2060}1 @\u{2060}you");
    for acts in ["#1", "#2", "@everyone", "<!--", "\n/approve"] {
        assert!(!said.body.as_str().contains(acts), "{acts}: {}", said.body);
    }
    assert!(said.body.as_str().lines().all(|line| line.starts_with('>')));
    let row = serde_json::to_value(&admitted).unwrap();
    assert_eq!(serde_json::from_value::<Admitted>(row).unwrap(), admitted);
}

#[test]
fn a_text_of_a_change_with_a_secret_is_refused_and_others_are_not() {
    let leaky = Given {
        leaks: BTreeSet::from([1, 2]),
        ..given()
    };
    let pull = json!({ "kind": "pull", "title": "T", "body": "b" });
    let entries = json!([answers("T_1"), pull, answers("T_1"), pull]);
    let admitted = judged(entries, &grant(), &leaky);
    assert_eq!(reasons(&admitted), ["it has a secret"; 2]);
    assert_eq!(admitted.effects.len(), 1);
    assert!(admitted.pull.is_some());
}

#[test]
fn a_review_that_lists_something_urgent_is_no_yes() {
    let ship = |verdict: &str, body: &str| {
        let entry = json!({ "kind": "review", "pull": 9, "head": "0123456789AB", "verdict": verdict, "body": body });
        match &admit(entry).unwrap()[..] {
            [Effect::Review { ship, head, .. }] => {
                assert_eq!(head.len(), 40);
                *ship
            }
            other => panic!("{other:?}"),
        }
    };
    for fine in [
        "Well done.",
        "## P0\n\nNone.\n\n## P1\n- a name",
        "## P0\n- none\n## P2\n1. a name",
        "**P0**: none\n\n**P1**\n- a name",
        "# Review\n## P0\nNothing.\n# Words\nIt is well done.",
        "The column p0x is fine.",
    ] {
        assert!(ship("approve", fine), "{fine}");
    }
    for urgent in [
        "### P0: must be mended\n\n1. it loses data\n",
        "# p0\n- it loses data",
        "## P0\nIt deletes everything.",
        "## P\u{200b}0\n- it loses data",
        "## P0\n\nfile.rs:1 loses data, do X.",
        "## P0\nNone of the inputs are validated: data loss",
        "## P0\n| a | b |\n|---|---|\n| x | y |",
        "## P0\n### a\nbad",
        "**P0**\n- bad",
        "## **P0** findings\n- x",
        "## [P0] sql\n- x",
        "## \u{1f534} P0\n- bad",
        "P0\n--\n- bad",
        "P0: it deletes everything",
    ] {
        assert!(!ship("approve", urgent), "{urgent}");
    }
    assert!(!ship("changes", "Well done."));
    assert!(!ship("comment", "Well done."));
}

#[test]
fn a_file_of_another_form_says_what_is_wrong() {
    for (text, why) in [
        ("", "EOF"),
        (
            "{\"version\": 2, \"effects\": []}",
            "version 2 is not known",
        ),
        ("{\"version\": 1}", "missing field `effects`"),
        (
            "{\"version\": 1, \"effects\": [{\"kind\": \"merge\", \"pull\": 1}]}",
            "unknown variant `merge`",
        ),
        (
            "{\"version\": 1, \"effects\": [{\"kind\": \"resolve\", \"thread\": \"T_1\"}]}",
            "unknown variant `resolve`",
        ),
        (
            "{\"version\": 1, \"effects\": [{\"kind\": \"reply\", \"pull\": 9, \"thread\": \"T_1\", \"body\": \"b\"}]}",
            "unknown field `pull`",
        ),
        (
            "{\"version\": 1, \"effects\": [{\"kind\": \"close\", \"issue\": 1, \"reason\": \"x\", \"as\": 1}]}",
            "unknown field `as`",
        ),
    ] {
        let refused = Outbox::parse(text).unwrap_err();
        assert!(refused.contains(why), "{text}: {refused}");
    }
}

proptest! {
    /// Whatever is written, only what was given is touched, and within the bounds.
    #[test]
    fn nothing_else_is_touched(
        entries in prop::collection::vec((0..7_u8, 5..10_u64, "\\PC{0,12}", prop::collection::vec("p[0-3]|area:[a-z]{0,3}|carson:[a-z]{0,5}|\\PC{0,6}", 0..3)), 0..80)
    ) {
        let effects = entries.into_iter().map(|(kind, number, text, labels)| match kind {
            0 => Declared::Label { issue: number, add: labels.clone(), remove: labels },
            1 => Declared::Comment { issue: number, body: text },
            2 => Declared::Issue { title: text.clone(), body: text, labels, repo: None, after: vec![1] },
            3 => Declared::Close { issue: number, reason: text },
            4 => Declared::Reply { thread: format!("T_{}", number - 4), body: text },
            5 => Declared::Pull { title: text.clone(), body: text },
            _ => Declared::Review { pull: number, head: "0123456".into(), verdict: ReviewVerdict::Approve, body: text },
        });
        let outbox = Outbox { version: 1, effects: effects.collect() };
        let total = outbox.effects.len();
        let admitted = outbox.admit(&grant(), &given());
        let described = usize::from(admitted.pull.is_some());
        prop_assert_eq!(admitted.effects.len() + described + admitted.refused.len(), total);
        for effect in &admitted.effects {
            match effect {
                Effect::SetLabels { issue, add, remove } => {
                    prop_assert_eq!(*issue, 7);
                    for label in add.iter().chain(remove) {
                        prop_assert!(!label.to_lowercase().starts_with("carson:"));
                    }
                }
                Effect::Comment { on, .. } => prop_assert_eq!(*on, 7),
                Effect::FileIssue { .. } => {}
                Effect::Review { pull, .. } => prop_assert_eq!(*pull, 9),
                Effect::Reply { pull, thread, .. } => {
                    prop_assert_eq!(*pull, 9);
                    prop_assert!(given().threads.contains(thread));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
        let count = |kind: &str| admitted.effects.iter().filter(|effect| effect.kind() == kind).count();
        prop_assert!(count("comment") <= 1 && count("file-issue") <= 2 && count("review") <= 1);
        prop_assert!(count("reply") <= 2);
    }
}
