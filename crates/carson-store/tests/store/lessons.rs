//! What the fleet remembers, since when, and who was told.

use carson_core::lesson::{LessonId, LessonKind, LessonSource, LessonState, Severity};
use carson_core::{FiringId, Outcome};
use carson_store::{
    Change, Covered, Decided, Judgement, LessonFilter, LessonFound, NewLesson, NewVector, Recall,
    Recalled, Store, Times, Valid, VectorRow,
};
use uuid::Uuid;

use crate::fixture::{Place, at, claimed, ending, on_both};
use crate::postgres::TestDatabase;

on_both!(
    a_lesson_reads_back_as_it_was_written_and_once,
    what_is_believed_depends_on_both_times,
    of_two_decisions_one_counts,
    the_past_cannot_be_altered,
    words_are_found_where_they_stand_and_only_what_is_believed_is_given,
    what_a_firing_was_told_stands,
    judgements_and_vectors_are_kept,
    without_the_extension_there_is_no_index,
    vectors_come_in_the_order_in_which_they_are_made,
    a_part_of_an_id_names_a_lesson,
    evidence_that_grew_by_what_was_taken_out_is_read_all_the_same,
);

pub(crate) fn lesson(text: &str, recorded: i64) -> NewLesson {
    NewLesson {
        id: LessonId::new(),
        recorded_at: at(recorded),
        text: text.to_owned(),
        body: None,
        kind: LessonKind::Pitfall,
        severity: Severity::Warning,
        scope: "repo:widget".parse().unwrap(),
        repo: Some("widget".parse().unwrap()),
        confidence: 0.5,
        valid: Valid {
            from: at(recorded),
            to: None,
        },
        source: LessonSource::Operator,
        by: "operator".to_owned(),
        firing: None,
        origin: None,
        digest: text.to_owned(),
        words: text.to_lowercase(),
        evidence: vec!["pr:7".parse().unwrap(), "note:seen".parse().unwrap()],
    }
}

pub(crate) fn change(n: u32, seconds: i64, state: LessonState) -> Change {
    Change {
        n,
        at: at(seconds),
        state,
        valid: (state == LessonState::Promoted).then(|| Valid {
            from: at(seconds),
            to: None,
        }),
        confidence: 0.5,
        by: "operator".to_owned(),
        why: "because".to_owned(),
        undoes: None,
    }
}

/// A lesson that is believed since then.
pub(crate) async fn believed(store: &Store, text: &str, since: i64) -> NewLesson {
    let new = lesson(text, since);
    let history = [
        change(1, since, LessonState::Candidate),
        change(2, since, LessonState::Promoted),
    ];
    assert!(store.record_lesson(&new, &history).await.unwrap());
    new
}

async fn a_lesson_reads_back_as_it_was_written_and_once(place: Place) {
    let store = place.open().await;
    let new = NewLesson {
        body: Some("longer".to_owned()),
        origin: Some(serde_json::json!({ "id": 1 })),
        firing: Some(FiringId::new()),
        valid: Valid {
            from: at(0),
            to: Some(at(9)),
        },
        ..lesson("the cache is cold", 1)
    };
    let first = [change(1, 1, LessonState::Candidate)];
    assert!(store.record_lesson(&new, &first).await.unwrap());
    assert!(!store.record_lesson(&new, &first).await.unwrap());
    let row = place.open().await.lesson(new.id).await.unwrap().unwrap();
    assert_eq!(store.lesson_evidence(row.seq).await.unwrap(), new.evidence);
    assert_eq!(row.now, first[0]);
    let evidence = new.evidence.clone();
    assert_eq!(
        NewLesson {
            evidence,
            ..row.lesson
        },
        new
    );
    assert_eq!(store.lessons_alike(&new.digest).await.unwrap().len(), 1);
}

async fn what_is_believed_depends_on_both_times(place: Place) {
    let store = place.open().await;
    let new = believed(&store, "cache", 10).await;
    let reverted = change(3, 20, LessonState::Reverted);
    assert_eq!(
        store.change_lesson(new.id, &reverted).await.unwrap(),
        Decided::Done
    );
    let finds = async |as_of, known_at| {
        let times = Times {
            as_of: at(as_of),
            known_at: at(known_at),
        };
        let found = store.searched_words(&[1], times).await.unwrap();
        let rows = store.lessons_by_seq(&[1], times).await.unwrap();
        assert_eq!(found.len(), rows.len());
        found.len()
    };
    // Nobody knew it yet; it was believed; it is not any more, of no time in the world.
    assert_eq!((finds(15, 5).await, finds(5, 15).await), (0, 0));
    assert_eq!(
        (
            finds(15, 15).await,
            finds(15, 25).await,
            finds(25, 25).await
        ),
        (1, 0, 0)
    );
    // What was reverted can be believed again, and what was so until then is told of that time alone.
    let again = Change {
        valid: Some(Valid {
            from: at(10),
            to: Some(at(30)),
        }),
        undoes: Some(3),
        ..change(4, 40, LessonState::Promoted)
    };
    assert_eq!(
        store.change_lesson(new.id, &again).await.unwrap(),
        Decided::Done
    );
    assert_eq!(
        (
            finds(29, 40).await,
            finds(30, 40).await,
            finds(29, 39).await
        ),
        (1, 0, 0)
    );
    let seq = store.lesson(new.id).await.unwrap().unwrap().seq;
    let history = store.lesson_history(seq).await.unwrap();
    assert_eq!(history.len(), 4);
    assert_eq!(history[3], again);
    let known = LessonFilter {
        known_at: at(15),
        ..LessonFilter::all(at(99), 5)
    };
    let then = store.lessons(&known).await.unwrap();
    assert_eq!(then[0].now.state, LessonState::Promoted);
}

async fn of_two_decisions_one_counts(place: Place) {
    let store = place.open().await;
    let new = believed(&store, "cache", 1).await;
    let mut tasks = Vec::new();
    for state in [
        LessonState::Held,
        LessonState::Reverted,
        LessonState::Rejected,
    ] {
        let store = place.open().await;
        let id = new.id;
        tasks.push(tokio::spawn(async move {
            store.change_lesson(id, &change(3, 5, state)).await.unwrap()
        }));
    }
    let mut done = 0;
    for task in tasks {
        done += u32::from(task.await.unwrap() == Decided::Done);
    }
    assert_eq!(done, 1);
    let gone = store
        .change_lesson(LessonId::new(), &change(2, 1, LessonState::Held))
        .await;
    assert_eq!(gone.unwrap(), Decided::Gone);
}

async fn the_past_cannot_be_altered(place: Place) {
    let store = place.open().await;
    believed(&store, "cache", 1).await;
    store.close().await;
    // SQLite has no such statement.
    let emptied: &[&str] = match &place {
        Place::Sqlite(_) => &[],
        Place::Postgres(_) => &["TRUNCATE lesson CASCADE", "TRUNCATE lesson_change"],
    };
    let written = [
        "UPDATE lesson SET text = 'x'",
        "DELETE FROM lesson",
        "UPDATE lesson_change SET state = 'rejected'",
        "DELETE FROM lesson_change",
        "UPDATE lesson_evidence SET form = 'pr:1'",
        "DELETE FROM lesson_evidence",
    ];
    for statement in written.into_iter().chain(emptied.iter().copied()) {
        let refused = match &place {
            Place::Sqlite(_) => {
                let pool = sqlx::SqlitePool::connect(&place.url()).await.unwrap();
                sqlx::query(statement).execute(&pool).await.map(|_| ())
            }
            Place::Postgres(_) => {
                let pool = sqlx::PgPool::connect(&place.url()).await.unwrap();
                let done = sqlx::query(statement).execute(&pool).await.map(|_| ());
                pool.close().await;
                done
            }
        };
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("only added to"), "{statement}: {said}");
    }
}

async fn words_are_found_where_they_stand_and_only_what_is_believed_is_given(place: Place) {
    let store = place.open().await;
    believed(&store, "parser needs generator", 1).await;
    believed(&store, "parser is slow", 1).await;
    believed(&store, "deploy on friday", 1).await;
    let candidate = lesson("parser generator parser generator", 1);
    let first = [change(1, 1, LessonState::Candidate)];
    store.record_lesson(&candidate, &first).await.unwrap();
    let find = async |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut found = store.lessons_having(&words).await.unwrap();
        for (_, lessons) in &mut found {
            lessons.sort_unstable();
        }
        found
    };
    let having = |word: &str, lessons: &[i64]| (word.to_owned(), lessons.to_vec());
    assert_eq!(
        find(&["parser", "nothing", "generator"]).await,
        [having("parser", &[1, 2, 4]), having("generator", &[1, 4])]
    );
    assert_eq!(find(&["nothing"]).await, []);
    assert_eq!(store.lessons_written().await.unwrap(), 4);
    let mut given = store
        .searched_words(&[1, 4, 7, 2], Times::now(at(5)))
        .await
        .unwrap();
    given.sort_unstable();
    let expected = [(1, "parser needs generator"), (2, "parser is slow")];
    assert_eq!(given, expected.map(|(seq, words)| (seq, words.to_owned())));
    let seqs: Vec<i64> = (1..=9).collect();
    let believed = store
        .lessons_by_seq(&seqs, Times::now(at(5)))
        .await
        .unwrap();
    assert_eq!(believed.len(), 3);
    // What is no word finds nothing, and is no part of a query.
    assert_eq!(
        find(&["parser\" OR \"deploy", "*", "' | 'deploy", ""]).await,
        []
    );
}

async fn what_a_firing_was_told_stands(place: Place) {
    let store = place.open().await;
    let new = believed(&store, "cache", 1).await;
    let firing = claimed(&store, "one", 0).await;
    let told = Recall {
        firing,
        at: at(2),
        off: false,
        mode: "words".to_owned(),
        block: "the block".to_owned(),
        lessons: vec![Recalled {
            lesson: new.id,
            score: 0.5,
            canon: "hint".to_owned(),
        }],
    };
    store
        .as_firing(told.firing, carson_store::Epoch::FIRST)
        .note_recall(&told)
        .await
        .unwrap();
    let later = Recall {
        off: true,
        lessons: Vec::new(),
        ..told.clone()
    };
    store
        .as_firing(later.firing, carson_store::Epoch::FIRST)
        .note_recall(&later)
        .await
        .unwrap();
    assert_eq!(store.recall_of(firing).await.unwrap(), Some(told));
    let end = ending(Outcome::Ok, "", 5);
    store
        .as_firing(firing, carson_store::Epoch::FIRST)
        .end_firing(&end)
        .await
        .unwrap();
    let seq = store.lesson(new.id).await.unwrap().unwrap().seq;
    let told = store.firings_told(seq, 5).await.unwrap();
    assert_eq!(
        (told.len(), told[0].firing, told[0].outcome),
        (1, firing, Some(Outcome::Ok))
    );
    assert_eq!(store.firings_with_recall(at(0), 5).await.unwrap(), told);
    assert_eq!(store.firings_with_recall(at(3), 5).await.unwrap(), []);
    assert_eq!(store.recall_of(FiringId::new()).await.unwrap(), None);
}

async fn judgements_and_vectors_are_kept(place: Place) {
    let store = place.open().await;
    let new = believed(&store, "cache", 1).await;
    let judged = Judgement {
        at: at(3),
        run: Uuid::now_v7(),
        account: Some("claude".parse().unwrap()),
        asked: true,
        rails: vec!["scope".to_owned()],
        structural: 0.7,
        verdict: Some(serde_json::json!({ "confidence": 0.5 })),
        score: Some(0.5),
        decision: "hold".to_owned(),
        cost_usd: None,
    };
    store.note_judgement(new.id, &judged).await.unwrap();
    let seq = store.lesson(new.id).await.unwrap().unwrap().seq;
    assert_eq!(store.judgements(seq).await.unwrap(), [judged]);
    assert_eq!(store.judges_asked_since(at(3)).await.unwrap(), 1);
    assert_eq!(store.judges_asked_since(at(4)).await.unwrap(), 0);

    assert_eq!(
        store.lessons_without_vector("m", 5).await.unwrap(),
        [(seq, "cache".to_owned())]
    );
    assert_eq!(store.vector_coverage("m").await.unwrap(), (1, 0));
    let row = NewVector {
        lesson: seq,
        scale: 0.25,
        vector: vec![1, 255, 0],
    };
    store
        .keep_vectors("m", std::slice::from_ref(&row))
        .await
        .unwrap();
    store
        .keep_vectors("m", std::slice::from_ref(&row))
        .await
        .unwrap();
    let kept = store.vectors_after("m", 0, 5).await.unwrap();
    let NewVector { scale, vector, .. } = row;
    let first = VectorRow {
        seq: kept[0].seq,
        lesson: seq,
        scale,
        vector,
    };
    assert_eq!(kept, [first]);
    assert_eq!(store.vectors_after("m", kept[0].seq, 5).await.unwrap(), []);
    assert_eq!(store.vector_coverage("m").await.unwrap(), (1, 1));
    assert_eq!(
        store
            .lessons_without_vector("other", 5)
            .await
            .unwrap()
            .len(),
        1
    );
}

/// A vector of length 1 for each number, all of them different.
fn numbers(of: u32) -> Vec<f32> {
    let raw: Vec<f32> = (0..384_u32)
        .map(|n| {
            let mixed = (of * 7_919 + n * 104_729 + of * n) % 2_003;
            f32::from(u16::try_from(mixed).unwrap()) - 1_001.0
        })
        .collect();
    let length = raw.iter().map(|one| one * one).sum::<f32>().sqrt();
    raw.into_iter().map(|one| one / length).collect()
}

fn row_of(lesson: i64, vector: &[f32]) -> NewVector {
    let most = vector.iter().fold(0.0_f32, |most, one| most.max(one.abs()));
    let scale = most / 127.0;
    NewVector {
        lesson,
        scale: f64::from(scale),
        vector: vector
            .iter()
            .map(|one| ((one / scale).round() as i8).cast_unsigned())
            .collect(),
    }
}

/// So many lessons with a vector each; what is nearest to one, by looking at all.
async fn indexed(store: &Store, many: u32) -> Vec<(i64, Vec<f32>)> {
    let mut all = Vec::new();
    for n in 1..=many {
        let new = believed(store, &format!("claim number {n}"), 1).await;
        let seq = store.lesson(new.id).await.unwrap().unwrap().seq;
        all.push((seq, numbers(n)));
    }
    let rows: Vec<NewVector> = all.iter().map(|(seq, one)| row_of(*seq, one)).collect();
    store.keep_vectors("m", &rows).await.unwrap();
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_server_s_index_finds_the_nearest_and_only_while_it_has_all() {
    let place = Place::Postgres(TestDatabase::with_vectors());
    let store = place.open().await;
    let all = indexed(&store, 300).await;
    let wanted = numbers(42);
    let mut seen = Covered::default();
    assert_eq!(store.nearest("m", &wanted, 5, &mut seen).await, None);
    // It stops anywhere and goes on.
    assert_eq!(store.fill_near("m", 0).await.unwrap(), Some(0));
    assert_eq!(store.nearest("m", &wanted, 5, &mut seen).await, None);
    assert_eq!(store.fill_near("m", 10_000).await.unwrap(), Some(300));
    assert_eq!(store.fill_near("m", 10_000).await.unwrap(), Some(0));
    let found = store.nearest("m", &wanted, 5, &mut seen).await.unwrap();
    let cosine = |one: &[f32]| -> f32 { one.iter().zip(&wanted).map(|(a, b)| a * b).sum() };
    let mut exact: Vec<(i64, f32)> = all.iter().map(|(seq, one)| (*seq, cosine(one))).collect();
    exact.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ids = |many: usize| {
        exact
            .iter()
            .take(many)
            .map(|(seq, _)| *seq)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(),
        ids(5)
    );
    assert!((found[0].1 - 1.0).abs() < 0.02, "{found:?}");
    // Of a model without vectors, of another length, and of one that has more by now, nobody can tell.
    assert_eq!(store.nearest("m", &[0.5; 256], 5, &mut seen).await, None);
    assert_eq!(store.nearest("m", &[0.5; 300], 5, &mut seen).await, None);
    let mut of_other = Covered::default();
    assert_eq!(
        store.nearest("other", &wanted, 5, &mut of_other).await,
        None
    );
    let new = believed(&store, "one more claim", 1).await;
    let seq = store.lesson(new.id).await.unwrap().unwrap().seq;
    store
        .keep_vectors("m", &[row_of(seq, &wanted)])
        .await
        .unwrap();
    assert_eq!(store.nearest("m", &wanted, 5, &mut seen).await, None);
    assert_eq!(store.fill_near("m", 10_000).await.unwrap(), Some(1));
    assert_eq!(
        store
            .nearest("m", &wanted, 2, &mut seen)
            .await
            .unwrap()
            .len(),
        2
    );
}

/// A lesson that is believed after later ones is read on, and what is missing is seen whenever it comes.
async fn vectors_come_in_the_order_in_which_they_are_made(place: Place) {
    let store = place.open().await;
    let late = lesson("late", 1);
    let first = [change(1, 1, LessonState::Candidate)];
    store.record_lesson(&late, &first).await.unwrap();
    let mut covered = Covered::default();
    assert!(store.is_covered("m", &mut covered).await.unwrap());
    indexed(&store, 3).await;
    assert!(store.is_covered("m", &mut covered).await.unwrap());
    assert!(
        !store
            .is_covered("other", &mut Covered::default())
            .await
            .unwrap()
    );
    let read = store.vectors_after("m", 0, 9).await.unwrap();
    let lessons: Vec<i64> = read.iter().map(|row| row.lesson).collect();
    assert_eq!(lessons, [2, 3, 4]);

    let promoted = change(2, 2, LessonState::Promoted);
    store.change_lesson(late.id, &promoted).await.unwrap();
    assert!(!store.is_covered("m", &mut covered).await.unwrap());
    assert!(!store.is_covered("m", &mut covered).await.unwrap());
    let row = row_of(1, &numbers(9));
    store.keep_vectors("m", &[row]).await.unwrap();
    assert!(store.is_covered("m", &mut covered).await.unwrap());
    let read = store.vectors_after("m", read[2].seq, 9).await.unwrap();
    let lessons: Vec<i64> = read.iter().map(|row| row.lesson).collect();
    assert_eq!(lessons, [1]);
}

/// Neither SQLite nor a server without the extension has such an index; nothing is made there.
async fn without_the_extension_there_is_no_index(place: Place) {
    let store = place.open().await;
    indexed(&store, 3).await;
    assert_eq!(store.fill_near("m", 10_000).await.unwrap(), None);
    let mut seen = Covered::default();
    assert_eq!(store.nearest("m", &numbers(1), 5, &mut seen).await, None);
}

async fn a_part_of_an_id_names_a_lesson(place: Place) {
    let store = place.open().await;
    let new = believed(&store, "cache", 1).await;
    let found = store.find_lesson(&new.id.short()).await.unwrap();
    assert!(matches!(found, LessonFound::One(row) if row.lesson.id == new.id));
    let found = store.find_lesson(&new.id.to_string()).await.unwrap();
    assert!(matches!(found, LessonFound::One(_)));
    for nothing in ["zzzzzzzz", "ab", "' OR 1=1", "ffffffffffff"] {
        let found = store.find_lesson(nothing).await.unwrap();
        assert!(matches!(found, LessonFound::Nothing), "{nothing}");
    }
}

async fn evidence_that_grew_by_what_was_taken_out_is_read_all_the_same(place: Place) {
    let secret = "hunter22";
    let redactor = carson_redact::Redactor::new([secret.to_owned().into()]);
    let store = place.open().await.redacting(redactor);
    let long = format!("note:{}", [secret; 110].join(" "));
    let new = NewLesson {
        evidence: vec![long.parse().unwrap(), "pr:7".parse().unwrap()],
        ..lesson("the cache is cold", 1)
    };
    let first = [change(1, 1, LessonState::Candidate)];
    assert!(store.record_lesson(&new, &first).await.unwrap());
    let seq = store.lesson(new.id).await.unwrap().unwrap().seq;
    let kept = store.lesson_evidence(seq).await.unwrap();
    let [note, pull] = kept.as_slice() else {
        panic!("{kept:?}");
    };
    let note = note.to_string();
    assert!(
        note.contains("[redacted:") && !note.contains(secret),
        "{note}"
    );
    assert!(
        note.parse::<carson_core::lesson::Evidence>().is_ok(),
        "{note}"
    );
    assert_eq!(pull.to_string(), "pr:7");
}
