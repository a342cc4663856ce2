//! Texts that are too long.

/// At most `most` characters of a text: its beginning and its end, and between them how many were
/// left out.
#[must_use]
pub fn cut_middle(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let note = format!("\n… {count} characters, cut to {most} …\n");
    let Some(room) = most.checked_sub(note.chars().count()) else {
        return text.chars().take(most).collect();
    };
    let head: String = text.chars().take(room - room / 2).collect();
    let tail: String = text.chars().skip(count - room / 2).collect();
    format!("{head}{note}{tail}")
}

/// At most `most` characters of its beginning.
#[must_use]
pub fn cut_end(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_longer_than_asked_and_both_ends_are_kept() {
        let long = "aä".repeat(500) + "end";
        for most in 0..1100 {
            let cut = cut_middle(&long, most);
            assert!(cut.chars().count() <= most, "{most}");
        }
        let cut = cut_middle(&long, 100);
        assert!(cut.starts_with("aä") && cut.ends_with("end"), "{cut}");
        assert!(cut.contains("1003 characters"), "{cut}");
        assert_eq!(cut_middle("short", 5), "short");
    }
}
