//! A text as its writer typed it: Slack marks addresses and names in it, and writes three signs otherwise.

/// The text without Slack's marks.
pub(crate) fn typed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let Some((mark, more)) = after.split_once('>') else {
            out.push('<');
            rest = after;
            continue;
        };
        out.push_str(&unmarked(mark));
        rest = more;
    }
    out.push_str(rest);
    out.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// `@U1|name`, `#C1|name`, `https://x|label`, `mailto:a@b|a@b`.
fn unmarked(mark: &str) -> String {
    let (first, label) = match mark.split_once('|') {
        Some((first, label)) => (first, Some(label)),
        None => (mark, None),
    };
    match first.chars().next() {
        Some('@' | '!') => first.to_owned(),
        Some('#') => format!("#{}", label.unwrap_or(&first[1..])),
        _ => first.strip_prefix("mailto:").unwrap_or(first).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn marks_become_what_was_typed() {
        let text = "trust <@U12|ann> see <https://x.example/a?b&amp;c|x> 1 &lt; 2 <";
        assert_eq!(
            typed(text),
            "trust @U12 see https://x.example/a?b&c 1 < 2 <"
        );
        assert_eq!(typed("&amp;lt;"), "&lt;");
    }
}
