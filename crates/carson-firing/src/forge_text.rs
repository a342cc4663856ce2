//! What people read on the forge: pull requests and comments.

use carson_checks::FAILS;
use carson_core::declared::{Admitted, PullText};
use carson_core::settle::{Facts, PromiseFact, Settled};
use carson_core::{Outcome, Page, Work, untrusted};

use crate::ctx::Ctx;
use crate::described;
use crate::fenced_quote;
use crate::queue::approval_words;
use crate::reached::Taken;
use crate::record::Record;
use crate::saved::Saved;

/// Firings that are told one by one in the last comment.
const ATTEMPTS_MAX: usize = 10;
/// Refused entries of an outbox that are told one by one.
const REFUSED_MAX: usize = 10;
/// Longest title that is passed on.
const TITLE_MAX: usize = 200;

/// A title from outside as one line: no line breaks, no control or direction marks, bounded.
pub(crate) fn one_line(title: &str) -> String {
    untrusted::one_line(title, TITLE_MAX)
}

pub(crate) fn pull_title(work: &Work, said: Option<&PullText>) -> Page {
    let title = match said {
        Some(said) => said.title.clone(),
        None => Page::default().title(&work.title),
    };
    if let Some(id) = work.key.story() {
        return title.says(" (story ").names(id).says(")");
    }
    let Some(number) = work.key.number() else {
        return title;
    };
    if title.as_str().is_empty() {
        return Page::from("Issue ").names(number);
    }
    title.says(" (#").names(number).says(")")
}

pub(crate) fn pull_body(
    ctx: &Ctx<'_>,
    rec: &Record,
    taken: &Taken<'_>,
    (facts, settled, saved): (&Facts, &Settled, &Saved),
    said: Option<&PullText>,
) -> Page {
    let begins = match taken.work.key.number() {
        None if let Some(story) = &taken.story => Page::from("Story ")
            .names(story.id)
            .says(" of ")
            .quotes(&story.file)
            .says(", whose status it brings up to date once it is finished."),
        // The forge itself closes the issue of what is finished, once that is merged.
        Some(number) if settled.outcome == Outcome::Ok => Page::from("Closes #").names(number),
        Some(number) => Page::from("Issue: #").names(number),
        None if taken.work.body.trim().is_empty() => Page::from("The role's own task."),
        None => Page::from("The role's own task: ").quotes(&taken.work.body),
    };
    let mut body = described::with_words(begins, said.map(|said| &said.body))
        .says("\n\n- role: ")
        .names(&ctx.role.name)
        .says("\n- firing: ")
        .names(ctx.id)
        .says("\n- outcome: ")
        .names(settled.outcome)
        .says(": ")
        .quotes(&settled.reason)
        .says("\n");
    // Known by the commits: whoever concludes a dead firing adds nothing more.
    let work = saved.work.as_ref().map(carson_git::Oid::as_str);
    let verified = facts.verified.as_deref();
    let is_added_to = work.is_some() && verified.is_some() && work != verified;
    if facts.promise == PromiseFact::Passed {
        let story = taken.story.as_ref();
        // What must hold several times is one check.
        let of_story = story.and_then(|story| story.promises.first());
        for check in ctx.role.checks(taken.repo).into_iter().chain(of_story) {
            body = match is_added_to {
                false => body.says("- passed: "),
                true => {
                    body.says("- passed, before what was not committed on its branch was added: ")
                }
            };
            body = body.quotes(&check.run).says("\n");
        }
    }
    if let Some(words) = facts.proof.words() {
        body = body.says("- red to green: ").quotes(&words).says("\n");
        for name in facts.proof.names() {
            body = body.says("  - ").quotes(name).says("\n");
        }
    }
    body = body.and(&refused_entries(&facts.declared));
    let blocked = rec.tally().blocked_calls;
    if blocked > 0 {
        body = body
            .says("- blocked tool calls: ")
            .names(blocked)
            .says("\n");
    }
    if settled.outcome == Outcome::Ok && facts.promise == PromiseFact::NotRun {
        body = body.says("\nNo check was run on it");
        body = match ctx.role.checks(taken.repo).is_empty() {
            true => body.says(": its role has no `[promise]`, its repository no `check`.\n"),
            false => body.says(".\n"),
        };
    }
    // What only lacks something that can be named here was finished by its session.
    let is_judged = facts.halt.is_none() && facts.promise == PromiseFact::Passed && !is_added_to;
    if settled.outcome == Outcome::Partial && is_judged {
        body = body.says("\nIts session has finished it; what the outcome says is in the way.\n");
    } else if settled.outcome != Outcome::Ok {
        body = body.says("\nThis is unfinished work that was saved; it is not ready to be read.\n");
    }
    let beside = beside(saved, taken);
    if !beside.as_str().is_empty() {
        body = body.and(&beside).says("\n");
    }
    body.and(&fenced_quote::last_words(rec))
}

/// What the sessions asked for in vain, for who reviews what they did.
pub(crate) fn refused_entries(declared: &Admitted) -> Page {
    let told = declared.refused.iter().take(REFUSED_MAX);
    let mut page = told.fold(Page::default(), |page, one| {
        let what = format!("{}: {}", one.kind, one.why);
        page.says("- refused of its outbox: ")
            .quotes(&what)
            .says("\n")
    });
    let more = declared.refused.len().saturating_sub(REFUSED_MAX);
    if more > 0 {
        page = page
            .says("- refused of its outbox: ")
            .names(more)
            .says(" more\n");
    }
    page
}

pub(crate) fn forge_note(
    ctx: &Ctx<'_>,
    rec: &Record,
    taken: &Taken<'_>,
    (settled, saved): (&Settled, &Saved),
) -> Page {
    let mut note = Page::default()
        .names(&ctx.role.title)
        .says(" ended as ")
        .names(settled.outcome)
        .says(": ")
        .quotes(&settled.reason);
    note = note.and(&beside(saved, taken));
    // Beside finished work the pull request says it.
    if settled.outcome != Outcome::Ok {
        note = note.says("\n").and(&fenced_quote::last_words(rec));
    }
    note
}

/// What a session left that is not in its work, and where it is.
fn beside(saved: &Saved, taken: &Taken<'_>) -> Page {
    let mut page = Page::default();
    if let Some(kept) = &saved.kept_ref {
        page = page
            .says("\n\nKept in Carson's store, under `")
            .names(kept)
            .says("`: in a checkout on its machine, `git fetch ${CARSON_HOME:-~/.carson}/kept/")
            .names(&taken.repo.name)
            .says(".git ")
            .names(kept)
            .says("`, then `git log -p -m HEAD..FETCH_HEAD`.");
    }
    for trouble in &saved.trouble {
        page = page.says("\n\nTrouble: ").quotes(trouble);
    }
    page
}

/// The check of an issue fails without its work in the same way.
pub(crate) fn not_its_fault() -> Page {
    Page::from(
        "\n\nThat is no fault of this issue's, and counts as no attempt: its check fails without any work, \
         too. No other session is paid for it until that check passes there or fails in another way. \
         What to do: ",
    )
    .says(FAILS)
    .says(".")
}

pub(crate) fn out_of_attempts(attempts: u32, tried: &[Page]) -> Page {
    let mut text = Page::default().names(attempts).says(
        " firings took this issue and none finished it. It needs a person: remove the label \
         `needs:human` to let the fleet try again.",
    );
    if !tried.is_empty() {
        text = text.says("\n\nWhat was tried:\n");
        // The last ones say most.
        for line in tried.iter().rev().take(ATTEMPTS_MAX).rev() {
            text = text.says("\n- ").and(line);
        }
    }
    text
}

/// One firing that took the issue, in a line.
pub(crate) fn attempt(row: &carson_store::Firing) -> Page {
    let outcome = row
        .outcome
        .map_or("?".to_owned(), |outcome| outcome.to_string());
    let reason = one_line(row.reason.as_deref().unwrap_or_default());
    let mut line = Page::default().names(row.id).says(" ").names(outcome);
    line = line.says(": ").quotes(&reason);
    for (what, place) in [
        ("; pull request `", &row.pr_url),
        ("; branch `", &row.branch),
        ("; kept under `", &row.salvage_ref),
    ] {
        if let Some(place) = place {
            line = line.says(what).names(place).says("`");
        }
    }
    line
}

/// An issue by somebody whose issues are no work here.
pub(crate) fn stranger(author: &str, hash: &str) -> Page {
    Page::from("No agent works on this issue by itself: ")
        .quotes(author)
        .says(
            ", who wrote it, is not one of the people whose issues are taken up here. To let the fleet work \
             on it exactly as it reads now, one of them comments\n\n    ",
        )
        .names(approval_words(hash))
        .says(
            "\n\nand removes the label `needs:human`. Whoever changes the issue afterwards takes that \
             approval away.",
        )
}

/// A pull request was closed: the work is not taken up again by itself.
pub(crate) fn refused(pull: &carson_forge::Pull) -> Page {
    Page::from("Pull request ").names(&pull.url).says(
        " for this issue was closed without merging, which reads as a no. Remove the label \
         `needs:human` to let the fleet try once more.",
    )
}

#[cfg(test)]
mod tests {
    use carson_core::declared::Refused;
    use carson_core::work::{Background, WorkKey};

    use super::*;

    #[test]
    fn hostile_titles_become_one_harmless_line() {
        assert_eq!(one_line("a\nb\t c\u{202e}d\u{0}"), "a b c d");
        assert_eq!(one_line(&"x".repeat(10_000)).len(), TITLE_MAX);
        assert_eq!(one_line("$(rm -rf /)"), "$(rm -rf /)");
    }

    #[test]
    fn a_title_closes_and_calls_nothing_but_names_its_issue() {
        let titled = |title: &str| {
            let work = Work {
                key: WorkKey::Issue(7),
                title: title.into(),
                body: String::new(),
                url: String::new(),
                attempts: 0,
                background: Background::default(),
            };
            pull_title(&work, None).to_string()
        };
        assert_eq!(titled("Fix it"), "Fix it (#7)");
        assert_eq!(titled(" \n"), "Issue 7");
        assert_eq!(
            titled("Closes #1 @you"),
            "Closes #\u{2060}1 @\u{2060}you (#7)"
        );
    }

    #[test]
    fn what_was_refused_is_told_in_lines_that_do_nothing() {
        let refused = |n| Refused {
            n,
            kind: "pull".into(),
            why: format!("{n}\n- passed: Closes #1 @you"),
        };
        let declared = Admitted {
            refused: (1..=12).map(refused).collect(),
            ..Admitted::default()
        };
        let told = refused_entries(&declared).to_string();
        assert_eq!(told.lines().count(), REFUSED_MAX + 1, "{told}");
        assert!(
            told.ends_with("- refused of its outbox: 2 more\n"),
            "{told}"
        );
        assert!(!told.contains("#1") && !told.contains("@you"), "{told}");
        assert_eq!(refused_entries(&Admitted::default()).as_str(), "");
    }
}
