//! The operator's verbs for a face that knows none of their types: JSON in, JSON out.

use std::sync::Arc;

use carson_config::{LoadOptions, load};
use carson_core::Clock;
use carson_home::Home;
use carson_operator::{Refusal, VERBS};
use carson_proc::inspector::Inspector;
use carson_redact::Redactor;
use carson_store::Store;
use carson_tests::fleet::TestFleet;
use carson_tests::judge::sound;
use carson_tests::until;
use serde_json::{Value, json};

async fn open_home(fleet: &TestFleet) -> Home {
    let options = LoadOptions {
        home: fleet.home(),
        files: None,
        env: Vec::new(),
        user_home: None,
        machine: "here".to_owned(),
    };
    let settings = load(&options).unwrap().fleet;
    settings.layout.create().unwrap();
    let program = fleet.binary();
    Home {
        store: Store::open(&settings.database).await.unwrap(),
        fleet: Arc::new(settings),
        clock: Clock::system(),
        inspector: Inspector::of(&program),
        program,
        environ: std::env::vars_os().collect(),
        user_home: None,
        redactor: Redactor::default(),
        vectors: Default::default(),
    }
}

async fn ask(home: &Home, name: &str, ask: Value) -> Result<Value, Refusal> {
    let verb = VERBS.iter().find(|verb| verb.name == name).unwrap();
    (verb.answer)(home, ask).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_is_fired_in_a_process_of_its_own() {
    let fleet = sound();
    let home = open_home(&fleet).await;
    let why = ask(&home, "why", json!({"what": "hand"})).await.unwrap();
    assert_eq!(why["verdict"], "it does not fire: no daemon was ever here");
    let by_hand = &why["stops"][0]["change"][2];
    assert_eq!(*by_hand, json!({"command": "fire hand"}), "{why:#}");
    let fired = ask(&home, "fire", json!({"role": "hand"})).await.unwrap();
    let id = fired["firing"].as_str().unwrap();
    until("the firing ends", || {
        (!fleet.firing(id)["outcome"].is_null()).then_some(())
    });
    let row = ask(&home, "firings show", json!({"id": id})).await.unwrap();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let pause = json!({"role": "hand", "reason": "lunch"});
    ask(&home, "pause", pause).await.unwrap();
    let fired = ask(&home, "fire", json!({"role": "hand"})).await.unwrap();
    assert_eq!(fired["skip"], "pause", "{fired:#}");
    let why = ask(&home, "why", json!({"what": "hand"})).await.unwrap();
    let change = &why["stops"][0]["change"];
    assert_eq!(
        *change,
        json!([{"command": "resume --role hand"}]),
        "{why:#}"
    );
}

/// Also what is of no firing.
#[tokio::test(flavor = "multi_thread")]
async fn what_happened_to_the_fleet_can_be_read() {
    let fleet = sound();
    let home = open_home(&fleet).await;
    let now = home.clock.now();
    for text in ["first", "second"] {
        let text = text.to_owned();
        let event = carson_core::Event::DaemonWasDown { text };
        home.store.event(&event, None, None, now).await.unwrap();
    }
    let kinds = |kind: &str| json!({"kind": kind, "since": "1h"});
    let told = ask(&home, "events", json!({"limit": 1})).await.unwrap();
    assert_eq!(told.as_array().unwrap().len(), 1);
    assert_eq!(told[0]["data"]["text"], "second", "{told:#}");
    assert_eq!(told[0]["kind"], "daemon.was-down", "{told:#}");
    let told = ask(&home, "events", kinds("daemon")).await.unwrap();
    assert_eq!(told.as_array().unwrap().len(), 2, "{told:#}");
    let told = ask(&home, "events", kinds("job")).await.unwrap();
    assert_eq!(told, json!([]));
    let wrong = ask(&home, "events", kinds("nonsense")).await.unwrap_err();
    assert!(wrong.to_string().contains("docs/EVENTS.md"), "{wrong}");
}
