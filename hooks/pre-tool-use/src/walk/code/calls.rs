//! Calls in a skeleton.

/// Longest argument text; literals stand in it as their numbers.
const MAX_ARGUMENTS: usize = 8 * 1024;
/// The same without parentheses.
const MAX_BARE: usize = 1024;

/// The argument texts of all calls of `name`: `name(…)`, or `name …` up to the end of the statement
/// where a literal follows directly.
pub(super) fn of<'s>(skeleton: &'s str, name: &'s str) -> impl Iterator<Item = &'s str> {
    skeleton.match_indices(name).filter_map(move |(at, _)| {
        let before = skeleton[..at].chars().next_back();
        if before.is_some_and(is_name) {
            return None;
        }
        arguments(&skeleton[at + name.len()..])
    })
}

fn is_name(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

fn arguments(after: &str) -> Option<&str> {
    if after.starts_with(is_name) {
        return None;
    }
    let trimmed = after.trim_start_matches([' ', '\t']);
    let most = if trimmed.starts_with('(') {
        MAX_ARGUMENTS
    } else {
        MAX_BARE
    };
    let trimmed = &trimmed[..trimmed.floor_char_boundary(most)];
    if let Some(inside) = trimmed.strip_prefix('(') {
        return Some(&inside[..closing(inside)]);
    }
    let bare = after.starts_with([' ', '\t'])
        && trimmed.starts_with([super::literals::OPEN, '$', '[', '@', '<', '*'])
            | trimmed.starts_with(|c: char| c.is_ascii_alphabetic());
    bare.then(|| &trimmed[..trimmed.find([';', '\n', '}']).unwrap_or(trimmed.len())])
}

/// Offset of the parenthesis that closes the one before the text.
fn closing(inside: &str) -> usize {
    let mut open = 0usize;
    for (at, c) in inside.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return at,
            ')' => open -= 1,
            _ => {}
        }
    }
    inside.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_by_name() {
        let found: Vec<_> = of(
            "os.system(a(b), c); mysystem(x); system ; system(d",
            "system",
        )
        .collect();
        assert_eq!(found, ["a(b), c", "d"]);
        let found: Vec<_> = of("system \u{2}0\u{3}, x; y", "system").collect();
        assert_eq!(found, ["\u{2}0\u{3}, x"]);
    }
}
