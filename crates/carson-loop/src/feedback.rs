//! What of a failed check goes to the next attempt: its beginning, its end, and the lines between them that
//! look like failures, within a budget.

use std::collections::BTreeSet;

/// Characters of a token, as models count them at most times.
const CHARACTERS: usize = 4;
/// Characters of a line; of a longer one both ends are kept. Small budgets have shorter ones.
const LINE: usize = 400;
const LEAST: usize = 20;
/// Characters that a line needs which says how much was left out.
const GAP: usize = 32;
/// Lines behind one that looks like a failure that say more of it.
const BEHIND: usize = 2;

/// Words of lines that look like failures, in small letters.
const FAILURES: [&str; 22] = [
    "error",
    "fail",
    "panic",
    "assert",
    "expected",
    "exception",
    "traceback",
    "not ok",
    "✗",
    "✕",
    "✘",
    "●",
    "left:",
    "right:",
    "caused by",
    "undefined",
    "mismatch",
    "unexpected",
    "fatal",
    "received:",
    "cannot",
    "not found",
];

/// At most so many tokens of a text, at four characters each. What is left is in its order, and every gap says so.
#[must_use]
pub fn cut(text: &str, tokens: usize) -> String {
    let budget = tokens.saturating_mul(CHARACTERS);
    if text.chars().count() <= budget {
        return text.to_owned();
    }
    let most = LINE.min(budget / 8).max(LEAST);
    let lines: Vec<String> = text.lines().map(|line| shortened(line, most)).collect();
    // A fifth for the beginning, two for the end, two for what is between them.
    let head = fitting(&lines, 0..lines.len(), budget / 5);
    let tail = fitting(&lines, (head..lines.len()).rev(), budget / 5 * 2);
    let between = head..lines.len() - tail;
    let mut kept: BTreeSet<usize> = (0..head).chain(between.end..lines.len()).collect();
    let cost = |at: usize| lines[at].chars().count() + 1;
    // Each run of lines may need a gap before it, and there is one more behind the last.
    let mut left = budget.saturating_sub(kept.iter().map(|at| cost(*at)).sum::<usize>() + 2 * GAP);
    for at in between.clone().filter(|at| looks_like_failure(&lines[*at])) {
        for at in (at..=at + BEHIND).filter(|at| between.contains(at)) {
            if kept.contains(&at) {
                continue;
            }
            let gap = if at > 0 && kept.contains(&(at - 1)) {
                0
            } else {
                GAP
            };
            match left.checked_sub(cost(at) + gap) {
                Some(rest) => left = rest,
                None => return put_together(&lines, &kept, budget),
            }
            kept.insert(at);
        }
    }
    put_together(&lines, &kept, budget)
}

/// How many of these lines fit.
fn fitting(lines: &[String], order: impl Iterator<Item = usize>, budget: usize) -> usize {
    let mut left = budget;
    let mut order = order;
    let fits = |at: usize| match left.checked_sub(lines[at].chars().count() + 1) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let mut fits = fits;
    let mut count = 0;
    while order.next().is_some_and(&mut fits) {
        count += 1;
    }
    count
}

fn put_together(lines: &[String], kept: &BTreeSet<usize>, budget: usize) -> String {
    let mut text = String::new();
    let mut next = 0;
    for at in kept.iter().copied().chain([lines.len()]) {
        match at - next {
            0 => {}
            1 => text.push_str("… 1 line left out …\n"),
            gap => text.push_str(&format!("… {gap} lines left out …\n")),
        }
        if let Some(line) = lines.get(at) {
            text.push_str(line);
            text.push('\n');
        }
        next = at + 1;
    }
    // Budgets that hold hardly a line.
    match text.char_indices().nth(budget) {
        Some((at, _)) => text[..at].to_owned(),
        None => text,
    }
}

fn shortened(line: &str, most: usize) -> String {
    let count = line.chars().count();
    if count <= most {
        return line.to_owned();
    }
    let head: String = line.chars().take(most / 2).collect();
    let tail: String = line.chars().skip(count - most / 4).collect();
    format!(
        "{head} … {} characters … {tail}",
        count - most / 2 - most / 4
    )
}

fn looks_like_failure(line: &str) -> bool {
    let line = line.to_lowercase();
    // As pytest marks what it says of a failure.
    line.starts_with("e  ") || FAILURES.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_ends_and_what_failed_between_them_are_kept() {
        let mut lines: Vec<String> = (0..2_000)
            .map(|n| format!("test case_{n} ... ok"))
            .collect();
        lines[900] = "test case_900 ... FAILED".to_owned();
        lines[1200] = "thread 'x' panicked at src/lib.rs:7:9:".to_owned();
        lines[1201] = "assertion `left == right` failed".to_owned();
        lines[1202] = "  left: 3".to_owned();
        lines[1203] = " right: 4".to_owned();
        let text = lines.join("\n");
        let cut = cut(&text, 500);
        assert!(cut.chars().count() <= 2_000);
        assert!(cut.starts_with("test case_0 ... ok\n"), "{cut}");
        assert!(cut.ends_with("test case_1999 ... ok\n"), "{cut}");
        for kept in [
            &lines[900],
            &lines[1200],
            &lines[1201],
            &lines[1202],
            &lines[1203],
        ] {
            assert!(cut.contains(kept.as_str()), "{kept}: {cut}");
        }
        assert!(cut.contains("lines left out …"), "{cut}");
        assert_eq!(super::cut("short", 500), "short");
    }

    #[test]
    fn one_line_without_an_end_is_cut_too() {
        let cut = cut(&"x".repeat(1 << 20), 100);
        assert!(
            cut.chars().count() <= 400 && cut.contains("characters"),
            "{cut}"
        );
    }

    proptest! {
        #[test]
        fn never_more_than_the_budget_and_nothing_that_was_not_there(
            lines in proptest::collection::vec("(error|ok|[a-zé ]{0,30}|[x]{390,900})", 0..60), tokens in 0..400_usize,
        ) {
            let text = lines.join("\n");
            let cut = cut(&text, tokens);
            prop_assert!(cut.chars().count() <= tokens * 4);
            let whole = text.chars().count() <= tokens * 4;
            prop_assert_eq!(whole, cut == text);
            let mut order = lines.iter();
            let ended = cut.ends_with('\n');
            let mut kept: Vec<&str> = cut.lines().filter(|line| !line.contains('…')).collect();
            if !ended && !whole {
                kept.pop();
            }
            for line in kept {
                prop_assert!(order.any(|one| one == line), "{:?}", line);
            }
        }
    }
}
