use proptest::prelude::*;

use super::*;

fn found(body: &str) -> Vec<String> {
    let found = references(body, "acme/widget");
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_line_is_read_in_whatever_form_people_write_it() {
    for line in [
        "Depends on: #3",
        "- Depends on: #3",
        "+ depends on: #3",
        "* [ ] Blocked by: #3",
        "- [x] Requires: #3",
        "1. Requires: #3",
        "12) Requires: #3",
        "   - 1. ### Depends on: #3",
        "### Depends on: #3",
        "DEPENDS ON : #3",
        "depends   on:#3",
        "**Depends on:** #3",
        "**Depends on**: #3",
        "*Blocked by:* #3",
        "_Blocked by_ : #3",
        "* **Depends on:** **#3**",
        "__Requires:__ `#3`",
        "Depends on: [#3](https://git.example/acme/widget/issues/3)",
        "Depends on: [the parser](https://git.example/acme/widget/issues/3), which is not done",
        "Depends on: [#3](#user-content-3)",
        "Depends on: ([#3](https://git.example/acme/widget/issues/3#issuecomment-1)).",
        "Depends on: [ [#3](x)",
    ] {
        assert_eq!(found(line), ["#3"], "{line}");
    }
    // Where the words of a link and its address differ, its address is what people open.
    let other = "Depends on: [#3](https://git.example/acme/gears/pull/4), [gears#1](https://x/y)";
    assert_eq!(found(other), ["acme/gears#4", "gears#1"]);
    // Whether the fleet has a repository of that name is asked where it is looked for.
    assert_eq!(found("Depends on: gears#2, C#7"), ["gears#2", "C#7"]);
}

#[test]
fn code_and_quotes_are_not_what_an_author_says() {
    let body = "> Depends on: #1\n>> - Depends on: #1\n\
        ```\nDepends on: #1\n~~~\nDepends on: #1\n``\n````\nDepends on: #2\n\
        ~~~~ text\nDepends on: #1\n~~~\nDepends on: #1\n~~~~~\nDepends on: #3\n\
        ```not a fence```\nDepends on: #4\n  ```rust\n  Depends on: #1\n  ``` no end\n";
    assert_eq!(found(body), ["#2", "#3", "#4"]);
    assert_eq!(found("    > Depends on: #1\nDepends on: #2"), ["#2"]);
    assert_eq!(
        found("> ```\nDepends on: #2"),
        ["#2"],
        "a fence that was quoted"
    );
}

#[test]
fn a_number_that_no_issue_can_have_is_named_and_never_dropped() {
    let body = "Depends on: #0, acme/gears#00, #18446744073709551616, #18446744073709551615, \
        https://git.example/acme/widget/issues/0";
    let all = references(body, "acme/widget");
    let told: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "#0",
            "acme/gears#00",
            "#18446744073709551616",
            "#18446744073709551615",
            "https://git.example/acme/widget/issues/0",
        ]
    );
    let read = all.iter().filter(|one| matches!(one, Named::Issue(_)));
    assert_eq!(read.count(), 1);
    let long = format!("Requires: #{}", "9".repeat(500));
    assert!(found(&long)[0].chars().count() <= SHOWN + 1);
}

#[test]
fn references_are_read_and_words_are_not() {
    let body = "Do it.\n\nDepends on: #12, acme/gears#7\n- **Blocked by:** https://github.com/acme/Widget/issues/3.\n\
                REQUIRES: https://git.example/acme/x.y/pull/4/ (#5)\n";
    assert_eq!(
        found(body),
        ["#12", "acme/gears#7", "#3", "acme/x.y#4", "#5"]
    );
    for text in [
        "It depends on: #1",
        "Depends on #1",
        "Depends on: the parser, 12, issue 7, #, #x, #-1, #1a, a/b/c#1, ../..#2, acme/..#3",
        "Depends: #1",
        "Dependson: #1",
        "Depends on the parser: #1",
        "#Depends on: #1",
        "Requires: https://github.com/acme/widget/tree/1",
        "Depends on: $(id)#1 a b/c &d#2",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
    let many: String = (1..100).map(|n| format!("#{n} ")).collect();
    assert_eq!(found(&format!("Requires: {many}")).len(), MOST);
}

fn waits(all: &[(u64, &[u64])]) -> BTreeMap<u64, BTreeSet<u64>> {
    let one = |(number, on): &(u64, &[u64])| (*number, on.iter().copied().collect());
    all.iter().map(one).collect()
}

#[test]
fn what_is_written_for_another_repository_reads_back_as_that_issue() {
    let (gears, widget): (RepoName, RepoName) =
        ("gears".parse().unwrap(), "widget".parse().unwrap());
    for (slug, here, written) in [
        ("", &widget, "local/gears#7"),
        ("acme/gears", &widget, "acme/gears#7"),
        ("acme/gears", &gears, "#7"),
    ] {
        let reference = Reference::to((&gears, slug), 7, here);
        assert_eq!(reference.to_string(), written);
        let line = format!("Depends on: #3, {reference}\n\n```\nno end");
        assert_eq!(found(&line), ["#3", written]);
    }
}

#[test]
fn only_what_leads_back_is_a_ring() {
    let found = rings(&waits(&[
        (1, &[2, 9]),
        (2, &[3]),
        (3, &[1]),
        (4, &[1]),
        (5, &[5]),
    ]));
    let expected = waits(&[(1, &[2]), (2, &[3]), (3, &[1]), (5, &[5])]);
    assert_eq!(found, expected);
}

proptest! {
    #[test]
    fn any_text_is_read_and_what_is_found_reads_back(body in "\\PC{0,80}") {
        for named in references(&format!("Depends on: {body}"), "acme/widget") {
            if let Named::Issue(_) = named {
                let line = format!("Requires: {named}");
                prop_assert_eq!(references(&line, "acme/widget"), vec![named]);
            }
        }
    }

    #[test]
    fn without_its_rings_nothing_waits_for_itself(edges in prop::collection::vec((0u64..8, 0u64..8), 0..20)) {
        let mut all: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for (from, to) in edges {
            all.entry(from).or_default().insert(to);
        }
        for (number, back) in rings(&all) {
            if let Some(on) = all.get_mut(&number) {
                on.retain(|other| !back.contains(other));
            }
        }
        prop_assert!(rings(&all).is_empty());
    }
}
