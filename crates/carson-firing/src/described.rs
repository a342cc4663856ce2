//! What a session says of a pull request, between Carson's own lines.
//!
//! Its words are a quotation below a line of Carson's: nothing in them looks like what Carson says, and they are found
//! again by that alone.

use carson_core::{Effect, Page};

/// Stands above them.
const SAYS: &str = "What its session says of it:";
/// How Carson's own lines below them begin.
const OWN: &str = "- role: ";
/// How a pull request of Carson's begins.
const BEGINNINGS: [&str; 3] = ["Closes #", "Issue: #", "The role's own task"];

/// The beginning of a pull request, with the words of its session where there are any.
pub(crate) fn with_words(begins: Page, words: Option<&Page>) -> Page {
    match words {
        Some(words) => begins.says("\n\n").says(SAYS).says("\n\n").and(words),
        None => begins,
    }
}

/// The text of a pull request with these words in the place of those before; `None` when people wrote it anew.
pub(crate) fn with_other_words(text: &str, words: &Page) -> Option<Page> {
    let (first, rest) = text.split_once('\n')?;
    let first = first.trim_end();
    let is_ours = BEGINNINGS.iter().any(|begins| first.starts_with(begins));
    let is_theirs =
        |line: &str| line.trim().is_empty() || line.trim() == SAYS || line.starts_with('>');
    let of_words = rest
        .split_inclusive('\n')
        .take_while(|line| is_theirs(line));
    let end: usize = of_words.map(str::len).sum();
    let own = &rest[end..];
    if !is_ours || !own.starts_with(OWN) {
        return None;
    }
    // Both stand there already, and do what they do.
    let begins = Page::default().names(first);
    let page = with_words(begins, Some(words)).says("\n\n");
    Some(page.names(own))
}

/// The title, with the number of the issue that the one before it names.
pub(crate) fn titled(title: &Page, before: &str) -> Page {
    let number = before.rsplit_once(" (#");
    let number = number.and_then(|(_, rest)| rest.strip_suffix(')')?.parse::<u64>().ok());
    match number {
        Some(number) => title.clone().says(" (#").names(number).says(")"),
        None => title.clone(),
    }
}

/// What the fleet itself wrote in a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// The branch that it is for.
    pub base: String,
    /// Whether it was unfinished.
    pub draft: bool,
    /// Its labels.
    pub labels: Vec<String>,
}

/// All that the fleet wrote in one pull request, by the effects of its firings, the oldest first.
pub fn written<'e>(effects: impl IntoIterator<Item = &'e Effect>) -> Vec<Written> {
    let mut all: Vec<Written> = Vec::new();
    for effect in effects {
        let one = match (effect, all.last()) {
            (
                Effect::OpenPull {
                    base,
                    title,
                    body,
                    draft,
                    labels,
                    ..
                },
                _,
            ) => Written {
                title: title.to_string(),
                body: body.to_string(),
                base: base.clone(),
                draft: *draft,
                labels: labels.clone(),
            },
            (Effect::DescribePull { title, body, .. }, Some(before)) => {
                let Some(body) = with_other_words(&before.body, body) else {
                    continue;
                };
                Written {
                    title: titled(title, &before.title).to_string(),
                    body: body.to_string(),
                    ..before.clone()
                }
            }
            _ => continue,
        };
        all.push(one);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_fleet_wrote_in_a_pull_request_is_known_from_its_effects() {
        let open = |body: &str| Effect::OpenPull {
            head: "b".into(),
            base: "main".into(),
            title: Page::from("Work (#7)"),
            body: Page::from("").names(body),
            draft: true,
            labels: vec!["do-not-review".into()],
        };
        let describe = Effect::DescribePull {
            pull: 9,
            title: Page::from("Better"),
            body: words("Two."),
        };
        let own = "- role: hand\n";
        let ours = open(&format!("Closes #7\n\n{own}"));
        let comment = Effect::CloseIssue { issue: 7 };
        let all = written([&describe, &ours, &comment, &describe]);
        let titles: Vec<&str> = all.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["Work (#7)", "Better (#7)"]);
        let told = "Closes #7\n\nWhat its session says of it:\n\n> Two.\n\n- role: hand\n";
        assert_eq!((all[1].body.as_str(), all[1].draft), (told, true));
        assert_eq!(written([&open("Words of people."), &describe]).len(), 1);
    }

    fn words(text: &str) -> Page {
        Page::default().quotes_prose(text)
    }

    #[test]
    fn words_take_the_place_of_those_before_and_of_nothing_else() {
        let own = "- role: hand\n- outcome: OK\n\n> quoted\n";
        let bare = format!("Closes #7\n\n{own}");
        let once = with_other_words(&bare, &words("One.\n\n- role: x")).unwrap();
        let told = "Closes #7\n\nWhat its session says of it:\n\n> One.\n>\n> - role: x\n\n";
        assert_eq!(once.as_str(), format!("{told}{own}"));
        let twice = with_other_words(once.as_str(), &words("Two.")).unwrap();
        let told = "Closes #7\n\nWhat its session says of it:\n\n> Two.\n\n";
        assert_eq!(twice.as_str(), format!("{told}{own}"));
        // A repetition changes nothing; a forge may end lines in its own way.
        let again = with_other_words(&twice.as_str().replace('\n', "\r\n"), &words("Two."));
        assert!(again.unwrap().as_str().starts_with(told));
        let again = with_other_words(twice.as_str(), &words("Two.")).unwrap();
        assert_eq!(again, twice);
    }

    #[test]
    fn a_title_keeps_the_number_of_its_issue() {
        let titled = |before: &str| titled(&Page::from("Better"), before).to_string();
        assert_eq!(titled("Work (#7)"), "Better (#7)");
        for before in ["Work", "Work (#7) and more", "Work (#7", "Work (#x)", ""] {
            assert_eq!(titled(before), "Better", "{before}");
        }
    }

    #[test]
    fn what_people_wrote_anew_stays() {
        for text in [
            "",
            "Closes #7",
            "A better text.\n\n- role: hand\n",
            "Closes #7\n\nMind the gap.\n\n- role: hand\n",
            "Closes #7\n\n> One.\n\nMind the gap.\n\n- role: hand\n",
        ] {
            assert_eq!(with_other_words(text, &words("Two.")), None, "{text}");
        }
    }
}
