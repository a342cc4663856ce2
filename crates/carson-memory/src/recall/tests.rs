//! Whole recalls, on a real database, with an embedder behind real HTTP.

use std::time::Duration;

use carson_core::lesson::{Evidence, LessonId, LessonState};
use carson_store::{Change, Store, Times, Valid};
use chrono::{DateTime, Utc};
use serde_json::json;
use tempfile::TempDir;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::{Meaning, THRESHOLD, Wanted, recall};
use crate::candidate::Candidate;
use crate::scopes::Place;
use crate::vectors::{EmbedError, Embedder, Vectors, forget_other_lengths, reindex};

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000 + seconds, 0).unwrap()
}

async fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/carson.db", dir.path().display());
    let store = Store::open(&url).await.unwrap();
    (dir, store)
}

async fn believed(store: &Store, text: &str, scope: &str) -> LessonId {
    let note = Evidence::Note("seen".to_owned());
    let candidate = Candidate::of_operator(text, scope.parse().unwrap(), vec![note]);
    let (lesson, first) = candidate.recorded(&carson_redact::Redactor::default(), at(0));
    let promoted = Change {
        n: 2,
        state: LessonState::Promoted,
        valid: Some(Valid {
            from: at(0),
            to: None,
        }),
        ..first.clone()
    };
    assert!(
        store
            .record_lesson(&lesson, &[first, promoted])
            .await
            .unwrap()
    );
    lesson.id
}

fn wanted(text: &str) -> Wanted {
    Wanted {
        text: text.to_owned(),
        place: None,
        times: Times::now(at(9)),
        limit: 3,
        threshold: THRESHOLD,
        explain: true,
    }
}

async fn texts(store: &Store, meaning: &Meaning, wanted: &Wanted) -> Vec<String> {
    let answer = recall(store, meaning, wanted).await.unwrap();
    answer
        .matches
        .into_iter()
        .map(|one| one.row.lesson.text)
        .collect()
}

const UPLOADER: &str = "The uploader gives up after five tries";
const PARSER: &str = "Parser tests need the schema generator first";

#[tokio::test]
async fn words_find_what_holds_there_once_and_nothing_below_the_threshold() {
    let (_dir, store) = store().await;
    for (text, scope) in [
        (UPLOADER, "repo:widget"),
        (
            "Note: the uploader gives up after five tries",
            "repo:widget",
        ),
        ("The uploader of gadget has no tries", "repo:gadget"),
        (PARSER, "path:src/parse/**"),
        ("Deploys are on Thursdays", "fleet"),
    ] {
        believed(&store, text, scope).await;
    }
    let meaning = Meaning::default();
    let here = Wanted {
        place: Some(Place {
            repo: Some("widget".parse().unwrap()),
            role: None,
            paths: Vec::new(),
        }),
        ..wanted("How often does the uploader try?")
    };
    assert_eq!(texts(&store, &meaning, &here).await, [UPLOADER]);
    assert_eq!(
        texts(&store, &meaning, &wanted("colour of the moon")).await,
        [""; 0]
    );
    assert_eq!(texts(&store, &meaning, &wanted("")).await, [""; 0]);
    let on_parser = Wanted {
        text: "parser tests fail in src/parse/lexer.rs".to_owned(),
        place: Some(Place {
            paths: vec!["src/parse/lexer.rs".to_owned()],
            ..Place::default()
        }),
        ..wanted("")
    };
    assert_eq!(texts(&store, &meaning, &on_parser).await, [PARSER]);
    let answer = recall(&store, &meaning, &here).await.unwrap();
    assert!(
        answer
            .left
            .iter()
            .any(|left| left.why.contains("repo:gadget")),
        "{:?}",
        answer.left
    );
    assert!(
        answer
            .left
            .iter()
            .any(|left| left.why.contains("says the same")),
        "{:?}",
        answer.left
    );
    assert_eq!(answer, recall(&store, &meaning, &here).await.unwrap());
}

/// An embedder whose vectors say what a text is about, and which hears nothing else.
fn about(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let says = |words: &[&str]| {
        if words.iter().any(|word| text.contains(word)) {
            1.0
        } else {
            0.05
        }
    };
    vec![
        says(&["uploader", "sending", "transfer"]),
        says(&["parser", "reading"]),
        says(&["deploy"]),
    ]
}

fn answered(request: &Request) -> ResponseTemplate {
    let asked: serde_json::Value = request.body_json().unwrap();
    let texts = asked["input"].as_array().unwrap();
    let data: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({ "index": index, "embedding": about(text.as_str().unwrap()) }))
        .collect();
    ResponseTemplate::new(200).set_body_json(json!({ "data": data }))
}

async fn serve(
    answer: impl Fn(&Request) -> ResponseTemplate + Send + Sync + 'static,
) -> MockServer {
    let server = MockServer::start().await;
    let embeddings = Mock::given(method("POST")).and(path("/v1/embeddings"));
    embeddings.respond_with(answer).mount(&server).await;
    server
}

fn embedder(server: &MockServer) -> Embedder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let embedder = Embedder::new(&format!("{}/v1", server.uri()), "m", None).unwrap();
    embedder.patient(Duration::from_millis(900))
}

#[tokio::test]
async fn meaning_finds_what_words_miss() {
    let (_dir, store) = store().await;
    believed(&store, UPLOADER, "fleet").await;
    believed(&store, PARSER, "fleet").await;
    let server = serve(answered).await;
    let made = reindex(&store, &embedder(&server), 99).await.unwrap();
    assert_eq!((made.made, made.stopped), (2, None));
    let meaning = Meaning::of(Some(embedder(&server)), Vectors::default());
    let paraphrased = wanted("sending of big transfers stops early");
    assert_eq!(
        texts(&store, &Meaning::default(), &paraphrased).await,
        [""; 0]
    );
    let answer = recall(&store, &meaning, &paraphrased).await.unwrap();
    assert!(answer.fused && answer.fell_back.is_none());
    assert_eq!(answer.matches[0].row.lesson.text, UPLOADER);
    assert!(answer.matches[0].by_words.is_none() && answer.matches[0].by_meaning.is_some());
}

/// The address of an embedder that dies in the middle of its answer.
async fn killed_in_its_answer() -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let _ = client.read(&mut [0; 4096]).await.unwrap();
        let half = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"data\": [{\"embed";
        client.write_all(half.as_bytes()).await.unwrap();
    });
    at
}

#[tokio::test]
async fn f34_whatever_is_wrong_with_the_embedder_words_are_the_answer() {
    let (_dir, store) = store().await;
    believed(&store, UPLOADER, "fleet").await;
    let good = serve(answered).await;
    reindex(&store, &embedder(&good), 99).await.unwrap();
    let slow = |request: &Request| answered(request).set_delay(Duration::from_secs(5));
    let short = |_: &Request| {
        ResponseTemplate::new(200).set_body_json(json!({ "data": [{ "embedding": [1.0] }] }))
    };
    let empty = |_: &Request| ResponseTemplate::new(200).set_body_json(json!({ "data": [] }));
    let nothing = |_: &Request| {
        ResponseTemplate::new(200)
            .set_body_json(json!({ "data": [{ "embedding": [0.0, 0.0, 0.0] }] }))
    };
    let nonsense = |_: &Request| ResponseTemplate::new(200).set_body_string("<html>");
    let failing = |_: &Request| ResponseTemplate::new(503);
    let elsewhere =
        |_: &Request| ResponseTemplate::new(302).insert_header("location", "http://127.0.0.1:9/");
    let servers = [
        serve(slow).await,
        serve(short).await,
        serve(empty).await,
        serve(nothing).await,
        serve(nonsense).await,
        serve(failing).await,
        serve(elsewhere).await,
    ];
    let gone = MockServer::start().await;
    let gone_uri = gone.uri();
    drop(gone);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut embedders: Vec<Embedder> = servers
        .iter()
        .map(|server| embedder(server).patient(Duration::from_millis(300)))
        .collect();
    embedders.push(Embedder::new(&gone_uri, "m", None).unwrap());
    embedders.push(Embedder::new(&killed_in_its_answer().await, "m", None).unwrap());
    for embedder in embedders {
        let began = std::time::Instant::now();
        let meaning = Meaning::of(Some(embedder), Vectors::default());
        let answer = recall(&store, &meaning, &wanted("uploader tries"))
            .await
            .unwrap();
        assert!(!answer.fused && answer.fell_back.is_some(), "{answer:?}");
        assert_eq!(answer.matches.len(), 1);
        assert!(began.elapsed() < Duration::from_secs(4));
    }
}

#[tokio::test]
async fn f34_half_an_index_is_none_and_indexing_goes_on_where_it_stopped() {
    let (_dir, store) = store().await;
    for n in 0..40 {
        believed(
            &store,
            &format!("Component number {n} is slow at night"),
            "fleet",
        )
        .await;
    }
    let server = serve(answered).await;
    let failing = serve(|_: &Request| ResponseTemplate::new(500)).await;
    let stopped = reindex(&store, &embedder(&server), 32).await.unwrap();
    assert_eq!(stopped.made, 32);
    let meaning = Meaning::of(Some(embedder(&server)), Vectors::default());
    let answer = recall(&store, &meaning, &wanted("component number 7"))
        .await
        .unwrap();
    let why = answer.fell_back.unwrap();
    assert!(why.contains("32 of 40"), "{why}");
    let refused = reindex(&store, &embedder(&failing), 99).await.unwrap();
    assert!(matches!(refused.stopped, Some(EmbedError::Refused(_))) && refused.made == 0);
    assert_eq!(
        reindex(&store, &embedder(&server), 99).await.unwrap().made,
        8
    );
    assert!(
        recall(&store, &meaning, &wanted("component number 7"))
            .await
            .unwrap()
            .fused
    );
}

#[tokio::test]
async fn another_model_under_the_same_name_is_found_out_and_its_vectors_are_made_anew() {
    let (_dir, store) = store().await;
    believed(&store, UPLOADER, "fleet").await;
    believed(&store, PARSER, "fleet").await;
    let before = serve(|request: &Request| {
        let asked: serde_json::Value = request.body_json().unwrap();
        let many = asked["input"].as_array().unwrap().len();
        let data: Vec<_> = (0..many)
            .map(|index| json!({ "index": index, "embedding": vec![1.0; 7] }))
            .collect();
        ResponseTemplate::new(200).set_body_json(json!({ "data": data }))
    })
    .await;
    assert_eq!(
        reindex(&store, &embedder(&before), 1).await.unwrap().made,
        1
    );
    assert_eq!(
        reindex(&store, &embedder(&before), 9).await.unwrap().made,
        1
    );
    let server = serve(answered).await;
    let now = embedder(&server);
    let meaning = Meaning::of(Some(now.clone()), Vectors::default());
    let paraphrased = wanted("sending of big transfers stops early");
    let answer = recall(&store, &meaning, &paraphrased).await.unwrap();
    let why = answer.fell_back.unwrap();
    assert!(why.contains("and those that are kept 7"), "{why}");
    // Nothing is without a vector: only who asks for it finds out.
    assert_eq!(reindex(&store, &now, 9).await.unwrap().made, 0);
    assert_eq!(forget_other_lengths(&store, &now).await.unwrap(), Ok(2));
    assert_eq!(reindex(&store, &now, 9).await.unwrap().made, 2);
    let answer = recall(&store, &meaning, &paraphrased).await.unwrap();
    assert!(answer.fused, "{:?}", answer.fell_back);
    assert_eq!(answer.matches[0].row.lesson.text, UPLOADER);
    assert_eq!(forget_other_lengths(&store, &now).await.unwrap(), Ok(0));
}
