//! Words that people read, made the same way everywhere.

use chrono::{DateTime, TimeDelta, Utc};

/// `1 firing`, `2 firings`.
#[must_use]
pub fn counted(count: impl Into<u64>, noun: &str) -> String {
    let count = count.into();
    let plural = match (count, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{noun}s"),
    };
    format!("{count} {plural}")
}

/// An instant to the second; JSON has it to the microsecond.
#[must_use]
pub fn instant(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// How long something is ago.
#[must_use]
pub fn ago(span: TimeDelta) -> String {
    let seconds = span.num_seconds().max(0);
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// The end of what a program printed, at most so many letters of it and from a whole word on, on one line: without empty
/// lines, without what npm says of itself, and without where Node or a JVM was, which follows what went wrong there.
#[must_use]
pub fn end_of(said: &str, letters: usize) -> String {
    let lines = said.lines().map(str::trim);
    let says = |line: &&str| !line.is_empty() && !is_of_npm_itself(line) && !is_of_a_stack(line);
    let told = lines.filter(says);
    let told = told.collect::<Vec<_>>().join(" / ");
    let Some((at, before)) = told.char_indices().rev().nth(letters) else {
        return told;
    };
    let end = &told[at + before.len_utf8()..];
    let whole = match before {
        ' ' => end,
        _ => end.split_once(' ').map_or(end, |(_, whole)| whole),
    };
    format!("… {}", whole.trim_start_matches("/ "))
}

/// News of npm, and where its own log is, which nobody finds who is not in the session's home.
fn is_of_npm_itself(line: &str) -> bool {
    let error = ["npm error ", "npm ERR! "]
        .iter()
        .find_map(|word| line.strip_prefix(word));
    line.starts_with("npm notice")
        || error.is_some_and(|said| said.starts_with("A complete log of this run"))
}

/// A frame of a stack, as `at check (/tree/test.js:5:8)`, `at node:internal/main:28:49 {` or `at a.B.c(B.java:7)`, and what
/// Node says of itself below it.
fn is_of_a_stack(line: &str) -> bool {
    if let Some(version) = line.strip_prefix("Node.js v") {
        return version.starts_with(|first: char| first.is_ascii_digit());
    }
    let Some(frame) = line.strip_prefix("at ") else {
        return false;
    };
    let frame = frame.trim_end_matches([' ', '{']);
    let place = frame.strip_suffix(')').unwrap_or(frame);
    let number = place.rsplit_once(':').map(|(_, number)| number);
    place.ends_with("(native")
        || place.ends_with("(<anonymous>")
        || place.ends_with("(Native Method")
        || number
            .is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A word for `sh`, whatever is in it.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/+-@%:,=".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Whether a text matches a pattern; `*` stands for anything.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(first) = parts.next() else {
        return text.is_empty();
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_is_above_the_stack() {
        let said = "`node test.js` did not exit 0 (exit code 1)\nnode:assert:126\n  throw new AssertionError(obj);\n  ^\n\n\
             AssertionError [ERR_ASSERTION]: out/5.txt is WRONG\n    at Object.<anonymous> (/w/test.js:5:8)\n    \
             at Module._compile (node:internal/modules/cjs/loader:1554:14)\n    at new Promise (<anonymous>)\n    \
             at async Promise.all (index 0)\n    at node:internal/main/run_main_module:28:49 {\n  \
             generatedMessage: false,\n  code: 'ERR_ASSERTION',\n  operator: '=='\n}\n\nNode.js v20.20.2\n";
        let told = end_of(said, 300);
        assert!(told.contains("out/5.txt is WRONG"), "{told}");
        assert!(
            !told.contains("loader") && !told.contains("Node.js"),
            "{told}"
        );
        let java =
            "java.lang.AssertionError: no\n\tat a.B.c(B.java:7)\n\tat a.B.d(Native Method)\n";
        assert_eq!(end_of(java, 300), "java.lang.AssertionError: no");
        // Words that begin like one.
        for words in [
            "at least 3: no",
            "at 12:",
            "at the end (of it)",
            "Node.js vanished",
        ] {
            assert_eq!(end_of(words, 300), words);
        }
    }

    #[test]
    fn the_end_of_an_output_is_what_tells_why() {
        let said = "first\n  Error: ünfit \n\nnpm notice\nnpm notice New version\n\
                    npm error A complete log of this run can be found in: /home/.npm/_logs/x.log\n";
        assert_eq!(end_of(said, 300), "first / Error: ünfit");
        assert_eq!(end_of(said, 5), "… ünfit");
        assert_eq!(end_of(said, 8), "… ünfit", "a word is whole");
        assert_eq!(
            end_of(said, 16),
            "… Error: ünfit",
            "no line begins with what divides it"
        );
        assert_eq!(end_of("aaaa", 2), "… aa");
        assert_eq!(end_of("", 5), "");
    }

    #[test]
    fn one_is_no_plural() {
        let said = [
            counted(1_u32, "turn"),
            counted(0_u32, "turn"),
            counted(2_u32, "repository"),
        ];
        assert_eq!(said, ["1 turn", "0 turns", "2 repositories"]);
    }
}
