//! The bound of a prompt: what others wrote gives way in the middle, the longest of it first, so that every
//! fence stays closed.
//!
//! The diff that a reviewer judges is not counted: who approves has seen all of it, or the firing says what
//! not ([`Shown`](carson_git::Shown)).

/// Bytes of a whole prompt without its diff.
pub(super) const MOST: usize = 96_000;
/// Shares of a text that are kept of its head and of its tail.
const HEAD: usize = 58;
const TAIL: usize = 30;
/// A text is not cut to less.
const LEAST: usize = 2_000;

/// What others wrote.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    pub body: String,
    pub comments: String,
    pub attempts: String,
    pub guidance: String,
    pub plan: Option<String>,
    pub findings: Option<String>,
    pub feedback: Option<String>,
    pub claim: Option<String>,
}

impl Texts {
    /// Takes so many bytes, or as many as it has to give, out of the longest. Whether that had some.
    pub(super) fn give_way(&mut self, over: usize) -> bool {
        let own = [
            &mut self.body,
            &mut self.comments,
            &mut self.attempts,
            &mut self.guidance,
        ];
        let said = [
            &mut self.plan,
            &mut self.findings,
            &mut self.feedback,
            &mut self.claim,
        ];
        let all = own.into_iter().chain(said.into_iter().flatten());
        let Some(longest) = all.max_by_key(|text| text.len()) else {
            return false;
        };
        let most = longest.len().saturating_sub(over).max(LEAST);
        let cut = cut(longest, most);
        let is_shorter = cut.len() < longest.len();
        *longest = cut;
        is_shorter
    }
}

/// Its head and its tail in so many bytes, and how much is left out between them.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mark = |left: usize| format!("\n[… {left} bytes are left out here …]\n");
    let room = most.saturating_sub(mark(text.len()).len());
    let head = text.floor_char_boundary(room * HEAD / (HEAD + TAIL));
    let tail = text.ceil_char_boundary(text.len() - room * TAIL / (HEAD + TAIL));
    format!("{}{}{}", &text[..head], mark(tail - head), &text[tail..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn head_and_tail_are_kept_within_the_bound(text in "(\\PC|é|😀){0,3000}", most in 100_usize..4_000) {
            let cut = cut(&text, most);
            prop_assert!(cut.len() <= most.max(text.len().min(most)));
            match text.len() <= most {
                true => prop_assert_eq!(cut, text),
                false => {
                    let (head, rest) = cut.split_once("\n[… ").unwrap();
                    let (left, tail) = rest.split_once(" bytes are left out here …]\n").unwrap();
                    prop_assert!(text.starts_with(head) && text.ends_with(tail));
                    prop_assert_eq!(head.len() + tail.len() + left.parse::<usize>().unwrap(), text.len());
                    prop_assert!(head.len() * TAIL <= (tail.len() + 4) * HEAD);
                }
            }
        }
    }

    #[test]
    fn the_longest_gives_way_and_none_vanishes() {
        let mut texts = Texts {
            body: "b".repeat(50_000),
            plan: Some("p".repeat(60_000)),
            ..Texts::default()
        };
        assert!(texts.give_way(30_000));
        let plan = texts.plan.as_ref().map_or(0, String::len);
        assert!(texts.body.len() == 50_000 && (29_990..=30_000).contains(&plan));
        assert!(texts.give_way(1_000_000));
        assert!(texts.body.len() <= LEAST);
        assert!(texts.give_way(1_000_000));
        assert!(!texts.give_way(1), "{texts:?}");
    }
}
