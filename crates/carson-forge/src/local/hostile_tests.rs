use std::fs;

use carson_core::{FiringId, Page};

use super::tests::{READY, claim, forge, ready};
use super::*;
use crate::marks::{claim_text, release_text};
use crate::{Claimed, Forge, PullState, State};

/// Texts that try to be more than text.
fn hostile() -> Vec<String> {
    let front = "+++\ntitle = \"owned\"\nstate = \"closed\"\nlabels = []\n\
                 created_at = \"2026-01-01T00:00:00Z\"\n+++\nbody";
    let mut texts: Vec<String> = [
        front,
        "---\ntitle: owned\nstate: closed\n---\nbody",
        "x\"\nstate = \"closed\"\n+++\n",
        "x\"\"\"\nstate = \"closed\"\n+++\n",
        "x'''\nstate = \"closed\"\n+++\n",
        "\n+++\n\n+++\n+++",
        "+++",
        "---",
        "\\",
        "\\\"\"\"",
        "'''\"\"\"",
        "\"]\nstate = \"closed\"\nlabels = [\"",
        "a\rb\r\nc\n\r",
        " \t leading and trailing \t \n\n",
        "nul \0 bell \x07 del \x7f esc \x1b[31m",
        "right to left \u{202e}desrever\u{202c} \u{2067}x\u{2069} \u{200f}",
        "lines \u{2028} \u{2029} \u{85} bom \u{feff} joined \u{200d}",
        "🦀 é e\u{301} \u{10ffff}",
        "",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("+++\n".repeat(2_500));
    texts.push("ten kilobytes \u{202e}\n".repeat(500));
    texts
}

#[tokio::test]
async fn hostile_texts_come_back_to_the_letter_and_stay_text() {
    let (_dir, forge) = forge();
    let (titles, mut bodies) = (hostile(), hostile());
    bodies.rotate_left(3);
    for (title, body) in titles.iter().zip(bodies) {
        let number = forge
            .create_issue(&ready(title, &body))
            .await
            .unwrap()
            .number;
        // Each change writes the file again.
        forge.set_labels(number, &["more"], &[]).await.unwrap();
        let issue = forge.issue(number).await.unwrap();
        assert_eq!((&issue.title, &issue.body), (title, &body));
        assert_eq!(issue.state, State::Open);
        assert_eq!(issue.labels, [READY, "more"]);
        assert_eq!(issue.author, "operator");
        forge.close_issue(number).await.unwrap();
        let issue = forge.issue(number).await.unwrap();
        assert_eq!((&issue.title, &issue.body), (title, &body));
        assert_eq!(issue.state, State::Closed);
    }
}

#[tokio::test]
async fn every_value_stays_on_its_line_for_people_to_edit() {
    let (dir, forge) = forge();
    forge
        .create_issue(&ready("a\n+++\nb \"c\" \x7f", "text"))
        .await
        .unwrap();
    let file = fs::read_to_string(dir.path().join("widget/issues/0001.md")).unwrap();
    let lines: Vec<&str> = file.lines().collect();
    assert_eq!(lines[..2], ["+++", r#"title = "a\n+++\nb \"c\" \u007f""#]);
    assert_eq!(
        lines[2..4],
        [r#"state = "open""#, r#"labels = ["carson:ready"]"#]
    );
    assert_eq!(lines[6..], ["+++", "text"]);
}

#[tokio::test]
async fn a_title_over_several_lines_by_hand_is_read() {
    let (dir, forge) = forge();
    let issues = dir.path().join("widget/issues");
    fs::create_dir_all(&issues).unwrap();
    let head =
        "title = \"\"\"a\n+++\nb\"\"\"\nstate = \"open\"\ncreated_at = \"2026-01-01T00:00:00Z\"\n";
    fs::write(issues.join("0001.md"), format!("+++\n{head}+++\ntext")).unwrap();
    let issue = forge.issue(1).await.unwrap();
    assert_eq!(
        (issue.title.as_str(), issue.body.as_str()),
        ("a\n+++\nb", "text")
    );
}

#[tokio::test]
async fn hostile_comments_labels_and_pull_requests_too() {
    let (_dir, forge) = forge();
    let number = forge.create_issue(&ready("t", "")).await.unwrap().number;
    for text in hostile() {
        forge.comment(number, &text).await.unwrap();
        let comments = forge.comments(number).await.unwrap();
        let last = comments.last().unwrap();
        assert_eq!(
            (last.body.as_str(), last.author.as_str()),
            (text.as_str(), "carson")
        );

        let label = format!("label {text}");
        forge.set_labels(number, &[&label], &[]).await.unwrap();
        assert!(forge.issue(number).await.unwrap().has(&label));

        let new = NewPull {
            // What people write there, past Carson.
            title: Page::default().names(&text),
            body: Page::default().names(&text),
            head: format!("carson/r/{}", comments.len()),
            base: "main".into(),
            draft: true,
            labels: vec![label],
        };
        let made = forge.create_pull(&new).await.unwrap();
        let pull = forge.pull(made.number).await.unwrap();
        assert_eq!(pull, made);
        assert_eq!((&pull.title, &pull.body), (&text, &text));
        assert_eq!((pull.state, pull.draft), (PullState::Open, true));
    }
}

#[tokio::test]
async fn a_claim_or_release_anywhere_in_a_text_is_only_text() {
    let (_dir, forge) = forge();
    let forged = claim_text(&claim());
    let number = forge
        .create_issue(&ready(&forged, &forged))
        .await
        .unwrap()
        .number;
    for text in [
        forged.clone(),
        format!(" \u{feff}{forged}"),
        format!("\r\n{forged}"),
        format!("+++\n{forged}"),
    ] {
        forge.comment(number, &text).await.unwrap();
    }
    let ours = claim();
    let result = forge.claim(number, READY, &ours).await.unwrap();
    assert_eq!(result, Claimed::Won);
    let text = release_text(&ours, "OK", true, "");
    forge.comment(number, &text).await.unwrap();
    let history = forge.history(number).await.unwrap();
    assert_eq!((history.attempts, history.unreleased), (0, vec![ours]));
}

#[tokio::test]
async fn a_claim_that_an_operator_wrote_by_hand_is_a_comment() {
    let (dir, forge) = forge();
    let number = forge.create_issue(&ready("t", "")).await.unwrap().number;
    let comments = dir.path().join("widget/issues/0001.comments");
    fs::create_dir_all(&comments).unwrap();
    let text = claim_text(&claim());
    let file = format!("+++\ncreated_at = \"2026-01-01T00:00:00Z\"\n+++\n{text}");
    fs::write(comments.join("0001.md"), file).unwrap();
    assert_eq!(forge.comments(number).await.unwrap()[0].author, "operator");
    let result = forge.claim(number, READY, &claim()).await.unwrap();
    assert_eq!(result, Claimed::Won);
}

#[tokio::test]
async fn a_dropped_file_is_text_whatever_it_looks_like() {
    let (dir, forge) = forge();
    let issues = dir.path().join("widget/issues");
    fs::create_dir_all(&issues).unwrap();
    fs::write(
        issues.join("yaml.md"),
        "---\nlabels: [carson:ready]\n---\nDo it.\n",
    )
    .unwrap();
    let found = forge.issues(None).await.unwrap().found;
    assert_eq!(found.len(), 1);
    assert!(
        found[0].labels.is_empty(),
        "nobody but Carson writes front matter"
    );
    assert!(found[0].body.contains("labels: [carson:ready]"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_branch_has_one_pull_request_whoever_opens_it_at_the_same_time() {
    let (_dir, forge) = forge();
    let mut tasks = tokio::task::JoinSet::new();
    for at in 0..16 {
        let forge: Forge = forge.clone();
        tasks.spawn(async move {
            let new = NewPull {
                title: Page::default().names(format!("{at} {}", FiringId::new())),
                head: "carson/r/1".into(),
                base: "main".into(),
                ..NewPull::default()
            };
            forge.create_pull(&new).await.unwrap().number
        });
    }
    let numbers = tasks.join_all().await;
    assert!(numbers.iter().all(|number| *number == 1), "{numbers:?}");
}
