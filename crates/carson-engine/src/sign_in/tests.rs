use serde_json::json;

use super::*;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_800_000_000_000).unwrap()
}

/// An hour, in milliseconds.
const HOUR: i64 = 3_600_000;

/// A time so many hours from now.
fn at(hours: i64) -> i64 {
    now().timestamp_millis() + hours * HOUR
}

fn credential(variable: &str) -> &'static Credential {
    &SignIn::named(variable).unwrap().credentials[0]
}

fn renewed(variable: &str, kept: &Value, left: &Value) -> Result<Option<Value>, Forged> {
    let new = credential(variable).renewed(
        kept.to_string().as_bytes(),
        left.to_string().as_bytes(),
        now(),
    )?;
    Ok(new.map(|new| serde_json::from_slice(&new).unwrap()))
}

fn claude(token: &str, expires: i64) -> Value {
    json!({
        "claudeAiOauth": {
            "accessToken": format!("sk-ant-oat01-{token}"),
            "refreshToken": format!("sk-ant-ort01-{token}"),
            "expiresAt": expires,
            "scopes": ["user:inference"],
            "subscriptionType": "max",
        },
    })
}

#[test]
fn a_renewal_replaces_the_tokens_and_nothing_else() {
    let mut kept = claude("old", at(-1));
    kept["mcpOAuth"] = json!({"other": {"accessToken": "of another service"}});
    let mut left = claude("new", at(8));
    left["claudeAiOauth"]["scopes"] = json!(["everything"]);
    left["claudeAiOauth"]["apiKeyHelper"] = json!("touch /tmp/owned");
    left["apiKeyHelper"] = json!("touch /tmp/owned");
    let mut wanted = claude("new", at(8));
    wanted["mcpOAuth"] = kept["mcpOAuth"].clone();
    assert_eq!(renewed("CLAUDE_CONFIG_DIR", &kept, &left), Ok(Some(wanted)));
}

#[test]
fn what_is_no_newer_changes_nothing() {
    for left in [
        claude("old", at(1)),
        claude("new", at(1)),
        claude("new", at(-5)),
    ] {
        assert_eq!(
            renewed("CLAUDE_CONFIG_DIR", &claude("old", at(1)), &left),
            Ok(None)
        );
    }
}

#[test]
fn what_is_no_renewal_is_refused() {
    let kept = claude("old", at(-1));
    let with = |key: &str, value: Value| {
        let mut left = claude("new", at(8));
        left["claudeAiOauth"][key] = value;
        left
    };
    let refused = [
        (json!([]), Forged::NotJson),
        (json!("text"), Forged::NotJson),
        (json!({}), Forged::Shape("the sign-in")),
        (
            with("expiresAt", json!("tomorrow")),
            Forged::Shape("/expiresAt"),
        ),
        (with("expiresAt", json!(-1)), Forged::Shape("/expiresAt")),
        (with("expiresAt", json!(4e18)), Forged::Shape("/expiresAt")),
        (with("expiresAt", json!(i64::MAX)), Forged::TooFarAhead),
        (with("expiresAt", json!(at(24 * 401))), Forged::TooFarAhead),
        (
            with("accessToken", json!({"a": 1})),
            Forged::Shape("/accessToken"),
        ),
        (
            with("accessToken", json!("with\na line")),
            Forged::Shape("/accessToken"),
        ),
        (
            with("refreshToken", json!("short")),
            Forged::Shape("/refreshToken"),
        ),
        (
            with("refreshToken", json!("x".repeat(LONGEST_TOKEN + 1))),
            Forged::Shape("/refreshToken"),
        ),
        (
            with("subscriptionType", json!("pro")),
            Forged::OtherAccount("/subscriptionType"),
        ),
        (claude("old", at(8)), Forged::NothingNew),
    ];
    for (left, why) in refused {
        assert_eq!(
            renewed("CLAUDE_CONFIG_DIR", &kept, &left),
            Err(why),
            "{left}"
        );
    }
    let deep = "[".repeat(100_000);
    let credential = credential("CLAUDE_CONFIG_DIR");
    let deep = credential.renewed(kept.to_string().as_bytes(), deep.as_bytes(), now());
    assert_eq!(deep, Err(Forged::NotJson));
}

#[test]
fn each_cli_s_own_form_is_renewed_and_keeps_its_account() {
    let codex = |token: &str, when: &str| {
        json!({
            "OPENAI_API_KEY": null,
            "tokens": {"id_token": format!("identity-{token}"), "access_token": format!("access-{token}"),
                "refresh_token": format!("refresh-{token}"), "account_id": "mine"},
            "last_refresh": when,
        })
    };
    let gemini = |token: &str, expires: i64| {
        json!({"access_token": format!("ya29.{token}"), "refresh_token": "1//lasting",
            "token_type": "Bearer", "expiry_date": expires})
    };
    let opencode = |token: &str, expires: i64| {
        json!({
            "anthropic": {"type": "oauth", "access": format!("access-{token}"),
                "refresh": format!("refresh-{token}"), "expires": expires},
            "a/b~c": {"type": "api", "key": "a key that stays"},
        })
    };
    let before = (now() - TimeDelta::days(9)).to_rfc3339();
    for (variable, kept, left, (at, other)) in [
        (
            "CODEX_HOME",
            codex("old", &before),
            codex("new", &now().to_rfc3339()),
            ("/tokens/account_id", json!("yours")),
        ),
        (
            "GEMINI_CLI_HOME",
            gemini("old-token", at(-1)),
            gemini("new-token", at(1)),
            ("/refresh_token", json!("1//of-another")),
        ),
        (
            "XDG_DATA_HOME",
            opencode("old", at(-1)),
            opencode("new", at(1)),
            ("/anthropic/type", json!("api")),
        ),
    ] {
        assert_eq!(renewed(variable, &kept, &left), Ok(Some(left.clone())));
        assert_eq!(renewed(variable, &left, &kept), Ok(None), "{variable}");
        let mut others = left.clone();
        *others.pointer_mut(at).unwrap() = other;
        let refused = renewed(variable, &kept, &others);
        assert!(
            matches!(refused, Err(Forged::OtherAccount(_))),
            "{variable}: {refused:?}"
        );
    }
    let key = json!({"OPENAI_API_KEY": "sk-mine", "tokens": null});
    let forged = json!({"OPENAI_API_KEY": "sk-other", "tokens": null, "last_refresh": now()});
    assert_eq!(renewed("CODEX_HOME", &key, &forged), Ok(None));
}

#[test]
fn a_session_gets_what_belongs_to_the_sign_in() {
    let mut kept = claude("old", 1);
    kept["mcpOAuth"] = json!({"other": "service"});
    let given = credential("CLAUDE_CONFIG_DIR").given(kept.to_string().as_bytes());
    let given: Value = serde_json::from_slice(&given.unwrap()).unwrap();
    assert_eq!(given, claude("old", 1));
    let state = json!({"oauthAccount": {"emailAddress": "me"}, "projects": {"/secret": {}},
        "mcpServers": {"x": {"command": "x"}}});
    let settings = &SignIn::named("CLAUDE_CONFIG_DIR").unwrap().settings[0];
    let given = settings.given(state.to_string().as_bytes()).unwrap();
    assert_eq!(given, br#"{"oauthAccount":{"emailAddress":"me"}}"#);
    assert_eq!(settings.given(b"no JSON"), None);
}

#[test]
fn tokens_and_times_are_found_in_what_has_the_form() {
    let credential = credential("CLAUDE_CONFIG_DIR");
    let (old, new) = (
        claude("old", at(-1)).to_string(),
        claude("new", at(1)).to_string(),
    );
    assert_eq!(
        credential.tokens(new.as_bytes()),
        ["sk-ant-oat01-new", "sk-ant-ort01-new"]
    );
    assert_eq!(credential.tokens(b"{}"), Vec::<String>::new());
    assert!(credential.is_newer(new.as_bytes(), old.as_bytes()));
    assert!(!credential.is_newer(old.as_bytes(), new.as_bytes()));
    assert!(credential.is_newer(old.as_bytes(), b"nothing"));
    assert!(!credential.is_newer(b"nothing", b"nothing"));
}

#[test]
fn of_codex_settings_only_what_names_the_model_goes_in() {
    let codex = SignIn::named("CODEX_HOME").unwrap();
    let text =
        b"model = \"m\"\nnotify = [\"program\"]\n[mcp_servers.x]\nenv = { KEY = \"secret\" }\n\
                 [model_providers.y]\nbase_url = \"http://127.0.0.1:1\"\n";
    let given = String::from_utf8(codex.settings[0].given(text).unwrap()).unwrap();
    assert!(
        given.contains("model = \"m\"") && given.contains("base_url"),
        "{given}"
    );
    assert!(
        !given.contains("secret") && !given.contains("notify"),
        "{given}"
    );
    assert!(codex.settings[0].given(b"no = = toml").is_none());
}
