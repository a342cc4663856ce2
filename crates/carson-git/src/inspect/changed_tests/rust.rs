//! Tests of Rust: files of their own, or items of the code that they test: `#[cfg(test)]` modules and what else
//! is there for tests alone.

mod tokens;

use std::ops::Range;

use self::tokens::{Token, tokens};
use super::TestPart;

/// How much of a changed file is tests; `None` when it has none that changed. `is_declared` says that the
/// module above calls it a test module.
pub(super) fn part(path: &str, is_declared: bool, (old, new): (&str, &str)) -> Option<TestPart> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let above = path.strip_suffix(name).unwrap_or_default();
    let in_tests = above.split('/').any(|dir| matches!(dir, "tests" | "test"));
    let is_named = name == "tests.rs" || name.ends_with("_tests.rs") || name.ends_with("_test.rs");
    if in_tests || is_named || is_declared {
        return Some(TestPart::File);
    }
    let now = texts(new).concat();
    (!now.is_empty() && texts(old).concat() != now).then_some(TestPart::Modules)
}

/// The older code with the newer one's test items: each in the place of its own where there are as many, else
/// all at the end.
pub(super) fn with_modules(older: &str, newer: &str) -> String {
    let (old, new) = (items(older), texts(newer));
    let in_place = old.len() == new.len();
    let mut text = String::with_capacity(older.len() + newer.len());
    let mut at = 0;
    for (place, item) in old.iter().enumerate() {
        text.push_str(&older[at..item.start]);
        if in_place {
            text.push_str(new[place]);
        }
        at = item.end;
    }
    text.push_str(&older[at..]);
    if !in_place {
        for item in new {
            text.push('\n');
            text.push_str(item);
        }
        text.push('\n');
    }
    text
}

/// Whether the code has a test module of this name in a file of its own.
pub(super) fn declares(text: &str, name: &str) -> bool {
    texts(text).iter().any(|item| {
        let all = tokens(item);
        let words: Vec<&str> = all.iter().map(|token| &item[token.range()]).collect();
        words.ends_with(&["mod", name, ";"])
    })
}

fn texts(text: &str) -> Vec<&str> {
    items(text).into_iter().map(|item| &text[item]).collect()
}

/// Items that only tests have: what stands under `#[cfg(test)]`, or is a test itself.
fn items(text: &str) -> Vec<Range<usize>> {
    let all = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let Some((is_test, end)) = attribute(text, &all, at) else {
            at += 1;
            continue;
        };
        let begin = all[at].start;
        let (mut is_test, mut next) = (is_test, end);
        while let Some((more, end)) = attribute(text, &all, next) {
            is_test |= more;
            next = end;
        }
        match item_end(text, &all, next).filter(|_| is_test) {
            Some(last) => {
                found.push(begin..all[last].end);
                at = last + 1;
            }
            None => at = next.max(at + 1),
        }
    }
    found
}

/// Whether an attribute that begins here makes something a test's, and the token behind it.
fn attribute(text: &str, all: &[Token], at: usize) -> Option<(bool, usize)> {
    let word = |at: usize| all.get(at).map(|token| &text[token.range()]);
    if word(at)? != "#" || word(at + 1)? != "[" {
        return None;
    }
    let mut depth = 0_usize;
    let mut words = Vec::new();
    for (place, token) in all.iter().enumerate().skip(at + 1) {
        let word = &text[token.range()];
        match word {
            "[" | "(" => depth += 1,
            "]" | ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        words.push(word);
        if depth == 0 {
            let path = words
                .iter()
                .skip(1)
                .take_while(|word| !matches!(**word, "(" | "]" | "="));
            let last = path.last().copied().unwrap_or_default();
            let is_test = match last {
                "cfg" => words.contains(&"test") && !words.contains(&"not"),
                last => last == "test",
            };
            return Some((is_test, place + 1));
        }
    }
    None
}

/// The last token of the item that begins here.
fn item_end(text: &str, all: &[Token], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut ends_with_line = false;
    for (place, token) in all.iter().enumerate().skip(from) {
        match &text[token.range()] {
            "use" | "const" | "static" | "type" if depth == 0 => {
                // `const fn` has a body.
                let next = all.get(place + 1).map(|token| &text[token.range()]);
                ends_with_line = next != Some("fn");
            }
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.checked_sub(1)?,
            "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 && !ends_with_line {
                    return Some(place);
                }
            }
            ";" if depth == 0 => return Some(place),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod unit {
    use proptest::prelude::*;

    use super::*;

    const OLD: &str = "fn one() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";

    #[test]
    fn items_take_the_place_of_others() {
        let new = OLD
            .replace("{}\n\n", "{ 1; }\n\n")
            .replace("fn a()", "fn b()");
        assert_eq!(
            part("src/lib.rs", false, (OLD, &new)),
            Some(TestPart::Modules)
        );
        let elsewhere = OLD.replace("fn one", "fn two");
        assert_eq!(part("src/lib.rs", false, (OLD, &elsewhere)), None);
        let laid = with_modules(OLD, &new);
        assert_eq!(laid, OLD.replace("fn a()", "fn b()"));
        let first = with_modules("fn x() {}", "#[cfg(test)] mod t;");
        assert_eq!(first, "fn x() {}\n#[cfg(test)] mod t;\n");
    }

    #[test]
    fn items_of_tests_are_known_however_they_are_written() {
        for (text, item) in [
            (
                "#[cfg(test)] mod t { fn x() {} } fn y() {}",
                "#[cfg(test)] mod t { fn x() {} }",
            ),
            (
                "#[cfg(test)]\r\nmod t\r\n{\r\n}\r\n",
                "#[cfg(test)]\r\nmod t\r\n{\r\n}",
            ),
            (
                "#[ cfg( test ) ]\nmod t { // all\n} // mod t",
                "#[ cfg( test ) ]\nmod t { // all\n}",
            ),
            (
                "#[cfg(all(test, unix))] mod t;",
                "#[cfg(all(test, unix))] mod t;",
            ),
            ("mod a { #[cfg(test)] mod t { } }", "#[cfg(test)] mod t { }"),
            ("#[test]\nfn a() { [0; 2]; }", "#[test]\nfn a() { [0; 2]; }"),
            (
                "#[tokio::test(flavor = \"x\")] async fn a() {}",
                "#[tokio::test(flavor = \"x\")] async fn a() {}",
            ),
            ("#[cfg(test)] use a::{b, c};", "#[cfg(test)] use a::{b, c};"),
            (
                "#[cfg(test)] const fn a() {} fn b() {}",
                "#[cfg(test)] const fn a() {}",
            ),
            (
                "#[cfg(test)]\n/// Words; here {\npub(crate) mod t { r#\"}\"#; '}'; \"\\\"}\"; }",
                "#[cfg(test)]\n/// Words; here {\npub(crate) mod t { r#\"}\"#; '}'; \"\\\"}\"; }",
            ),
        ] {
            assert_eq!(texts(text), [item], "{text}");
        }
        for text in [
            "#[cfg(not(test))] mod t { }",
            "// #[cfg(test)] mod t {}",
            "\"#[cfg(test)] mod t {}\"",
            "#[derive(Test)] struct A;",
            "#[cfg(test)]",
        ] {
            assert_eq!(texts(text), Vec::<&str>::new(), "{text}");
        }
        assert!(declares("#[cfg(test)] pub mod checks;", "checks"));
        assert!(!declares("pub mod checks;", "checks"));
    }

    #[test]
    fn files_are_known_by_their_place_their_name_or_who_declares_them() {
        for path in [
            "tests/a.rs",
            "x/tests/common/mod.rs",
            "src/a/tests.rs",
            "src/a_tests.rs",
        ] {
            assert_eq!(part(path, false, ("", "x")), Some(TestPart::File), "{path}");
        }
        assert_eq!(part("src/latest.rs", false, ("", "fn x() {}")), None);
        assert_eq!(
            part("src/checks.rs", true, ("", "fn x() {}")),
            Some(TestPart::File)
        );
    }

    proptest! {
        /// What nobody wrote for a compiler is read to its end, and laid over itself it is itself.
        #[test]
        fn any_text_is_read(text in "(#\\[cfg\\(test\\)\\]|mod t|[{}();'\"/*#r\\\\\n]|fn a|é){0,60}") {
            prop_assert_eq!(with_modules(&text, &text), text);
        }
    }
}
