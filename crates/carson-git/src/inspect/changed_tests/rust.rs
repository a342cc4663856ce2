//! Tests of Rust: files of their own, or modules at the end of the code that they test.

use super::TestPart;

/// How much of a changed file is tests, and whether it has some itself; `None` when it has none that changed.
pub(super) fn part(path: &str, (old, new): (&str, &str)) -> Option<(TestPart, bool)> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let above = path.strip_suffix(name).unwrap_or_default();
    let in_tests = above.split('/').any(|dir| matches!(dir, "tests" | "test"));
    let is_named = name == "tests.rs" || name.ends_with("_tests.rs") || name.ends_with("_test.rs");
    if in_tests || is_named {
        return Some((TestPart::File, true));
    }
    let (before, now) = (modules(old).concat(), modules(new).concat());
    (!now.is_empty() && before != now).then_some((TestPart::Modules, true))
}

/// The older code with the newer one's test modules in the place of its own.
pub(super) fn with_modules(older: &str, newer: &str) -> String {
    let mut text = older.to_owned();
    for module in modules(older) {
        text = text.replacen(module, "", 1);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&modules(newer).concat());
    text
}

/// Its `#[cfg(test)]` modules as rustfmt writes them, whole or as a line that names a file.
fn modules(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
        let from = *at;
        *at += line.len();
        Some((from, line))
    });
    while let Some((from, line)) = lines.next() {
        if line.trim_end() != "#[cfg(test)]" {
            continue;
        }
        let Some((at, first)) = lines.find(|(_, line)| !line.starts_with("#[")) else {
            break;
        };
        let opens = first.trim_end();
        if !names_module(opens) {
            continue;
        }
        let end = match opens.ends_with('{') {
            false => Some((at, first)),
            true => lines.find(|(_, line)| line.trim_end() == "}"),
        };
        if let Some((at, last)) = end {
            found.push(&text[from..at + last.len()]);
        }
    }
    found
}

fn names_module(line: &str) -> bool {
    let line = line.strip_prefix("pub").unwrap_or(line);
    let line = match line.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or("", |(_, rest)| rest),
        None => line,
    };
    line.trim_start().starts_with("mod ") && line.ends_with([';', '{'])
}

#[cfg(test)]
mod unit {
    use super::*;

    const OLD: &str = "fn one() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
    const NEW: &str = "fn one() { 1; }\n\n#[cfg(test)]\n#[allow(x)]\npub(crate) mod tests {\n    fn b() {\n    }\n}\n";

    #[test]
    fn modules_take_the_place_of_others() {
        assert_eq!(
            part("src/lib.rs", (OLD, NEW)),
            Some((TestPart::Modules, true))
        );
        assert_eq!(
            part("src/lib.rs", (OLD, &OLD.replace("fn one", "fn two"))),
            None
        );
        let laid = with_modules(OLD, NEW);
        assert!(
            laid.starts_with("fn one() {}\n") && laid.contains("fn b()"),
            "{laid}"
        );
        assert!(!laid.contains("fn a()") && laid.ends_with("}\n"), "{laid}");
        // Those that are files, and code without any.
        assert_eq!(
            modules("#[cfg(test)]\nmod tests;\nfn x() {}\n"),
            ["#[cfg(test)]\nmod tests;\n"]
        );
        assert_eq!(
            modules("#[cfg(test)]\nuse x;\nmod y {\n}\n#[cfg(test)]"),
            Vec::<&str>::new()
        );
        assert_eq!(
            with_modules("fn x() {}", "#[cfg(test)]\nmod t;\n"),
            "fn x() {}\n#[cfg(test)]\nmod t;\n"
        );
    }

    #[test]
    fn files_are_known_by_their_place_or_name() {
        for path in [
            "tests/a.rs",
            "x/tests/common/mod.rs",
            "src/a/tests.rs",
            "src/a_tests.rs",
            "src/tests/a.rs",
        ] {
            assert_eq!(
                part(path, ("", "x")),
                Some((TestPart::File, true)),
                "{path}"
            );
        }
        assert_eq!(part("src/latest.rs", ("", "fn x() {}")), None);
    }
}
