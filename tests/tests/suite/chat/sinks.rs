//! Two sinks of one home, over real HTTP: Slack, and a webhook that is away.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

const TOKEN: &str = "webhook-t0ken-of-mine";

/// A webhook that is away until it is told to be back.
#[derive(Clone, Default)]
struct Hook {
    is_back: Arc<AtomicBool>,
    tries: Arc<Mutex<usize>>,
    arrived: Arc<Mutex<Vec<Value>>>,
}

impl Respond for Hook {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        *self.tries.lock().unwrap() += 1;
        if !self.is_back.load(Ordering::SeqCst) {
            return ResponseTemplate::new(503);
        }
        let mut body: Value = request.body_json().unwrap();
        body["path"] = json!(request.url.path());
        body["token"] = json!(request.headers["authorization"].to_str().unwrap());
        self.arrived.lock().unwrap().push(body);
        ResponseTemplate::new(202)
    }
}

async fn serve(answer: impl Respond + 'static) -> MockServer {
    let server = MockServer::start().await;
    let mock = Mock::given(method("POST")).respond_with(answer);
    mock.mount(&server).await;
    server
}

/// What was filed while there was one sink goes to that one, as before there could be two.
#[tokio::test(flavor = "multi_thread")]
async fn a_sink_that_is_away_holds_up_no_other_and_loses_nothing() {
    let (slack, hook) = (Slack::default(), Hook::default());
    let (chat, server) = (serve(slack.clone()).await, serve(hook.clone()).await);
    let fleet = fleet(&chat);
    fleet.role("good", "play", "");
    fleet.role("bad", "play", "[limits]\nfail_streak = 1\n");
    fleet.issue("good", "Add <!channel> & co", "Please.");
    fleet.issue("bad", &format!("Break {TOKEN} @everyone"), "Please.");
    assert_eq!(fleet.fire("good").code, Some(0));

    secret(&fleet, "hook.url", &format!("{}/hidden\n", server.uri()));
    secret(&fleet, "hook.token", TOKEN);
    let files = "url_file = \"hook.url\"\nheader_file = \"hook.token\"";
    add_settings(&fleet, &format!("\n[webhook]\n{files}\n"));
    assert_eq!(fleet.fire("bad").code, Some(13));
    let waiting = |sink: usize| {
        let status = fleet.ok(&["status", "--json"]);
        let row = &status["sinks"][sink];
        (
            row["name"].clone(),
            row["waiting"].clone(),
            row["error"].clone(),
        )
    };
    assert_eq!(waiting(0), (json!("slack"), json!(6), json!(null)));
    assert_eq!(waiting(1), (json!("webhook"), json!(4), json!(null)));

    let _daemon = Daemon::start(&fleet, &[]);
    until("the chat to hear something", || {
        (slack.0.lock().unwrap().len() >= 3).then_some(())
    });
    let away = "it does not answer: 503 Service Unavailable";
    assert_eq!(waiting(1), (json!("webhook"), json!(4), json!(away)));
    let screen = fleet.carson(&["status"]).stdout;
    let line = format!("4 posts wait for webhook: {away}");
    assert!(screen.contains(&line), "{screen}");
    assert!(*hook.tries.lock().unwrap() < 8, "it is asked seldom");

    hook.is_back.store(true, Ordering::SeqCst);
    let calls = until("the chat to hear everything", || {
        let calls = slack.0.lock().unwrap();
        (calls.len() == 6).then(|| calls.clone())
    });
    let posts = until("the webhook to hear it too", || {
        let posts = hook.arrived.lock().unwrap();
        (posts.len() == 4).then(|| posts.clone())
    });
    thread_of_the_good_one(&calls_about(&calls, "Add "));
    thread_of_the_bad_one(&calls_about(&calls, "Break "));
    what_the_webhook_heard(&posts);
    let all = format!("{calls:?}{posts:?}");
    let tokens = all.matches(TOKEN).count();
    assert_eq!(tokens, 4, "only in the header that carries it");
    until("nothing to wait", || {
        (waiting(0).1 == 0 && waiting(1).1 == 0).then_some(())
    });
}

fn what_the_webhook_heard(posts: &[Value]) {
    let told: Vec<_> = posts
        .iter()
        .map(|post| (post["kind"].as_str(), post["outcome"].as_str()))
        .collect();
    let failed = Some("FAILED");
    assert_eq!(
        told,
        [
            (Some("started"), None),
            (Some("finished"), failed),
            (Some("attention"), failed),
            (Some("notice"), None)
        ]
    );
    for post in posts {
        assert_eq!(post["path"], "/hidden");
        assert_eq!(post["token"], format!("Bearer {TOKEN}"));
        assert_eq!(post["role"], "bad");
    }
    for post in &posts[..3] {
        assert_eq!(post["firing"], posts[0]["firing"]);
        let title = post["title"].as_str().unwrap();
        assert!(title.contains("Break [redacted:known]"), "{title}");
        assert!(!title.contains("@everyone"), "{title}");
    }
    assert_eq!(posts[2]["severity"], "warning");
    assert_eq!(posts[3]["severity"], "error");
    assert_eq!(posts[3]["title"], "bad stopped");
    let text = posts[2]["text"].as_str().unwrap();
    assert!(text.contains("Blocked calls: 1"), "{text}");
}
