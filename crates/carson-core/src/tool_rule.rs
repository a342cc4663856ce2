//! One entry of a role's `[tools]`, as far as other CLIs than the one whose notation it is can hold to it.

/// What an entry grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRule<'a> {
    /// A whole tool, by its name.
    Whole(&'a str),
    /// Commands of the shell: these words, and nothing else.
    Exactly(&'a str),
    /// Commands of the shell that begin with these words.
    Beginning(&'a str),
}

impl<'a> ToolRule<'a> {
    /// Reads `Read`, `Bash(make check)`, `Bash(git log *)` or, as it was written once, `Bash(git log:*)`;
    /// `None` for any other pattern.
    #[must_use]
    pub fn of(entry: &'a str) -> Option<Self> {
        let Some((tool, rest)) = entry.split_once('(') else {
            return Some(Self::Whole(entry));
        };
        let pattern = rest.strip_suffix(')').filter(|_| tool == "Bash")?;
        let more = pattern.strip_suffix(" *").or(pattern.strip_suffix(":*"));
        let words = more.unwrap_or(pattern);
        // Whoever reads it as a pattern of another kind must find nothing in it.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" ._/:=@+,-".contains(&byte);
        let is_plain = !words.trim().is_empty() && words.bytes().all(plain);
        is_plain.then_some(match more {
            Some(words) => Self::Beginning(words),
            None => Self::Exactly(words),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_other_patterns_are_not() {
        for (entry, rule) in [
            ("Read", ToolRule::Whole("Read")),
            ("mcp__docs__search", ToolRule::Whole("mcp__docs__search")),
            ("Bash(git log *)", ToolRule::Beginning("git log")),
            ("Bash(git log:*)", ToolRule::Beginning("git log")),
            ("Bash(make check)", ToolRule::Exactly("make check")),
        ] {
            assert_eq!(ToolRule::of(entry), Some(rule), "{entry}");
        }
        for entry in [
            "Bash(git * log)",
            "Bash(*)",
            "Bash( *)",
            "Bash()",
            "Bash(a",
            "Bash(say \"a\" *)",
            "Bash(x\\y *)",
            "Bash([a] *)",
            "Read(src/**)",
            "Edit(docs/a.md)",
        ] {
            assert_eq!(ToolRule::of(entry), None, "{entry}");
        }
    }
}
