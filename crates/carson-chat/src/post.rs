//! What is posted from here: answers, and questions with buttons.

use std::time::Duration;

use carson_notify::Chat;
use carson_notify::PostError;
use carson_notify::slack::{Web, posts, shown};
use carson_store::{ApprovalRow, Decision};
use serde_json::{Value, json};

/// The button that says yes.
pub(crate) const APPROVE: &str = "carson.approve";
/// The button that says no.
pub(crate) const REJECT: &str = "carson.reject";
/// How long an answer waits where Slack asks for it.
const LONGEST_ASKED: Duration = Duration::from_secs(30);
/// Posts of one answer.
const REPLY_MOST: usize = 3;
/// Posts of one question: some 100,000 characters.
const QUESTION_MOST: usize = 12;
/// Longest line that notifications show.
const LINE_MAX: usize = 300;

/// Slack, with a bot's token.
pub(crate) struct Room {
    web: Web,
    /// Where questions are asked.
    pub channel: String,
}

/// Where a post stands: its channel, and its name there.
pub(crate) type Post = (String, String);

impl Room {
    /// With the token as it is now.
    pub(crate) fn open(chat: &Chat) -> Result<Self, PostError> {
        let token = carson_home::secrets::secret(&chat.token_file);
        Ok(Self {
            web: Web::at(&chat.api_base, token.map_err(PostError::Temporary)?),
            channel: chat.channel.clone(),
        })
    }

    /// Says something in a thread, in several posts where it is long; once more where the first try fails.
    pub(crate) async fn reply(&self, place: (&str, &str), text: &str) -> Result<(), PostError> {
        let (channel, thread) = place;
        for blocks in posts(text, REPLY_MOST, "a terminal shows all of it") {
            let body = json!({
                "channel": channel,
                "thread_ts": thread,
                "text": first_line(text),
                "blocks": blocks,
                "unfurl_links": false,
            });
            if let Err(error) = self.web.call("chat.postMessage", &body).await {
                if let PostError::RetryAfter(asked) = error {
                    tokio::time::sleep(asked.min(LONGEST_ASKED)).await;
                }
                self.web.call("chat.postMessage", &body).await?;
            }
        }
        Ok(())
    }

    /// Posts what comes before a question: one post of its text.
    pub(crate) async fn tell(
        &self,
        row: &ApprovalRow,
        blocks: Vec<Value>,
        (channel, thread): (&str, Option<&str>),
    ) -> Result<Post, PostError> {
        let (title, _) = question(row);
        self.post((channel, thread), &title, blocks).await
    }

    /// Asks a question, with a button for each answer.
    pub(crate) async fn ask(
        &self,
        row: &ApprovalRow,
        (channel, thread): (&str, Option<&str>),
    ) -> Result<Post, PostError> {
        let (title, _) = question(row);
        let mut blocks = parts(row).pop().unwrap_or_default();
        let button = |action: &str, words: &str, style: &str| {
            json!({"type": "button", "action_id": action, "style": style,
                "text": {"type": "plain_text", "text": words},
                "value": format!("{}:{}", row.id, row.hash)})
        };
        let buttons = [
            button(APPROVE, "Approve", "primary"),
            button(REJECT, "Reject", "danger"),
        ];
        blocks.push(json!({"type": "actions", "elements": buttons}));
        let until = carson_core::text::instant(row.expires_at);
        let note = format!(
            "Or by a sign: :white_check_mark: or :x:. Until {until}. `{}`",
            &row.hash.get(..12).unwrap_or(&row.hash)
        );
        blocks.push(json!({"type": "context", "elements": [{"type": "mrkdwn", "text": note}]}));
        self.post((channel, thread), &title, blocks).await
    }

    async fn post(
        &self,
        (channel, thread): (&str, Option<&str>),
        title: &str,
        blocks: Vec<Value>,
    ) -> Result<Post, PostError> {
        let mut body = json!({
            "channel": channel, "text": first_line(title), "blocks": blocks, "unfurl_links": false,
        });
        if let Some(thread) = thread {
            body["thread_ts"] = json!(thread);
        }
        let answer = self.web.call("chat.postMessage", &body).await?;
        match (answer["channel"].as_str(), answer["ts"].as_str()) {
            (Some(channel), Some(ts)) => Ok((channel.to_owned(), ts.to_owned())),
            _ => Err(PostError::Temporary("it names no post".to_owned())),
        }
    }

    /// Takes the buttons off a question that can be answered no more, and says why.
    pub(crate) async fn answered(&self, row: &ApprovalRow) -> Result<(), PostError> {
        let Some((channel, ts)) = &row.post else {
            return Ok(());
        };
        let end = match (row.decision, &row.decided_by) {
            (None, _) => "Expired".to_owned(),
            (Some(Decision::Gone), _) => "Waits no more".to_owned(),
            (Some(said), Some(by)) => format!("{} by {by}", said.as_str()),
            (Some(said), None) => said.as_str().to_owned(),
        };
        let title = match row.issue {
            Some(issue) => format!("{end}: the plan on {}#{issue}", row.repo),
            None => format!("{end}: a new issue in {}", row.repo),
        };
        let mut blocks = posts(&title, 1, "");
        blocks.extend(parts(row).pop());
        let body = json!({
            "channel": channel,
            "ts": ts,
            "text": first_line(&title),
            "blocks": blocks.concat(),
        });
        self.web.call("chat.update", &body).await.map(drop)
    }
}

/// A question and all that it is about, in posts: the last one has the buttons.
pub(crate) fn parts(row: &ApprovalRow) -> Vec<Vec<Value>> {
    let (title, text) = question(row);
    posts(
        &format!("{title}\n{text}"),
        QUESTION_MOST,
        "`carson plans` shows all of it",
    )
}

/// A question in one line, and what it is about.
fn question(row: &ApprovalRow) -> (String, &str) {
    let title = match row.issue {
        Some(issue) => format!("The plan on {}#{issue} waits for a yes or a no:", row.repo),
        None => format!("A new issue in {}?", row.repo),
    };
    (title, &row.body)
}

/// What a notification shows.
fn first_line(text: &str) -> Value {
    let line: String = text
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(LINE_MAX)
        .collect();
    json!(shown(&line))
}
