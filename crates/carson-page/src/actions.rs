//! What a person changes here: each by a page of its own that says what it will do, and a form that does it.
//!
//! An action is a line in [`ACTIONS`]: a verb, and which of its fields the address names and the form asks for.
//! Nothing else of a request reaches the verb.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use carson_home::Home;
use carson_operator::VERBS;
use serde_json::{Map, Value, json};

use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page};
use crate::guard::{Fields, Signed};
use crate::text::line;

/// Something that can be done.
struct Action {
    /// Its part of the address.
    name: &'static str,
    /// The verb, by its name.
    verb: &'static str,
    /// What is asked.
    title: &'static str,
    /// What will be so.
    what: &'static str,
    /// What the button says.
    button: &'static str,
    /// What it is about; the address says it.
    about: &'static [About],
    /// What is asked for.
    asked: &'static [Asked],
    /// What is always said, beside.
    always: &'static [(&'static str, bool)],
    /// Where it leads back to.
    back: &'static str,
}

/// What an action is about.
#[derive(Clone, Copy)]
enum About {
    /// It cannot be without.
    Named(&'static str),
    /// One of several at most.
    Maybe(&'static str),
    /// A number that it cannot be without.
    Number(&'static str),
}

impl About {
    fn field(self) -> &'static str {
        match self {
            Self::Named(field) | Self::Maybe(field) | Self::Number(field) => field,
        }
    }
}

/// A text that may be typed.
struct Asked {
    field: &'static str,
    label: &'static str,
    example: &'static str,
    is_number: bool,
}

const REASON: Asked = Asked {
    field: "reason",
    label: "Why (others read it)",
    example: "",
    is_number: false,
};
const FOR: Asked = Asked {
    field: "for",
    label: "For how long (until it is resumed without it)",
    example: "2h",
    is_number: false,
};
const CONFIDENCE: Asked = Asked {
    field: "confidence",
    label: "Believed by, from 0 to 1 (from 0.75 on it is an instruction)",
    example: "0.8",
    is_number: true,
};

const SCOPES: &[About] = &[
    About::Maybe("role"),
    About::Maybe("repo"),
    About::Maybe("account"),
];
const LESSON: &[About] = &[About::Named("id")];

/// Everything that can be done.
const ACTIONS: &[Action] = &[
    Action {
        name: "breaker-reset",
        verb: "breaker reset",
        title: "Reset the breaker?",
        what: "The role fires again at its next slot, and its bad outcomes are forgotten.",
        button: "Reset the breaker",
        about: &[About::Named("role")],
        asked: &[],
        always: &[],
        back: "/stops",
    },
    Action {
        name: "block-clear",
        verb: "block clear",
        title: "Clear the block?",
        what: "Roles may use the account again at once. If its provider still refuses, the next session blocks it anew.",
        button: "Clear the block",
        about: &[About::Named("account")],
        asked: &[],
        always: &[],
        back: "/stops",
    },
    Action {
        name: "resume",
        verb: "resume",
        title: "Resume?",
        what: "What was paused fires again at its next slot.",
        button: "Resume",
        about: SCOPES,
        asked: &[],
        always: &[],
        back: "/stops",
    },
    Action {
        name: "pause",
        verb: "pause",
        title: "Pause?",
        what: "Nothing new is started. Firings that run go on to their end.",
        button: "Pause",
        about: SCOPES,
        asked: &[REASON, FOR],
        always: &[],
        back: "/stops",
    },
    Action {
        name: "stop",
        verb: "stop",
        title: "Stop this firing?",
        what: "Its session ends now; its work is saved, and it says what became of it.",
        button: "Stop the firing",
        about: &[About::Named("firing")],
        asked: &[],
        always: &[],
        back: "/",
    },
    Action {
        name: "retry",
        verb: "retry",
        title: "Give this issue back to the fleet?",
        what: "A role takes it up again, as if it had not been tried.",
        button: "Try it again",
        about: &[About::Number("issue"), About::Maybe("repo")],
        asked: &[],
        always: &[],
        back: "/queue",
    },
    Action {
        name: "lesson-promote",
        verb: "memory promote",
        title: "Promote this lesson?",
        what: "Sessions are told it from now on, where it fits.",
        button: "Promote",
        about: LESSON,
        asked: &[CONFIDENCE, REASON],
        always: &[],
        back: "/memory",
    },
    Action {
        name: "lesson-hold",
        verb: "memory hold",
        title: "Hold this lesson?",
        what: "Nobody is told it until a person decides.",
        button: "Hold",
        about: LESSON,
        asked: &[REASON],
        always: &[],
        back: "/memory",
    },
    Action {
        name: "lesson-reject",
        verb: "memory hold",
        title: "Reject this lesson?",
        what: "It will not be believed. It can be promoted later all the same.",
        button: "Reject",
        about: LESSON,
        asked: &[REASON],
        always: &[("reject", true)],
        back: "/memory",
    },
    Action {
        name: "lesson-revert",
        verb: "memory revert",
        title: "Take this lesson back?",
        what: "Nobody is told it any more. The firings that were told it are listed on its page.",
        button: "Take it back",
        about: LESSON,
        asked: &[REASON],
        always: &[],
        back: "/memory",
    },
    Action {
        name: "lesson-believe",
        verb: "memory revert",
        title: "Believe this lesson again?",
        what: "Its reversal is taken back: sessions are told it again.",
        button: "Believe it again",
        about: LESSON,
        asked: &[REASON],
        always: &[("undo", true)],
        back: "/memory",
    },
];

impl Action {
    fn named(name: &str) -> Result<&'static Self, Fault> {
        ACTIONS
            .iter()
            .find(|action| action.name == name)
            .ok_or_else(Fault::nowhere)
    }

    /// The ask of its verb.
    fn ask(&self, fields: &Fields) -> Result<Value, Fault> {
        let mut ask = Map::new();
        for about in self.about {
            let field = about.field();
            let value = match (about, fields.get(field)) {
                (About::Maybe(_), None) => continue,
                (About::Number(_), Some(text)) => json!(number::<u64>(field, text)?),
                (_, Some(text)) => json!(text),
                (_, None) => return Err(Fault::asked(format!("{field} is missing"))),
            };
            ask.insert(field.to_owned(), value);
        }
        for Asked {
            field, is_number, ..
        } in self.asked
        {
            let value = match fields.get(field) {
                None => continue,
                Some(text) if *is_number => json!(number::<f64>(field, text)?),
                Some(text) => json!(text),
            };
            ask.insert((*field).to_owned(), value);
        }
        let always = self
            .always
            .iter()
            .map(|(field, value)| ((*field).to_owned(), json!(value)));
        ask.extend(always);
        Ok(ask.into())
    }
}

fn number<T: std::str::FromStr>(field: &str, text: &str) -> Result<T, Fault> {
    let number = text.parse();
    number.map_err(|_| Fault::asked(format!("{field}: {text:?} is no number")))
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct Confirm {
    frame: Frame,
    action: &'static str,
    what: &'static str,
    button: &'static str,
    about: Vec<(&'static str, String)>,
    said: Option<String>,
    asked: Vec<(&'static str, &'static str, &'static str)>,
    back: &'static str,
}

/// Asks once more.
pub(crate) async fn confirm(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    let (home, action) = (desk.home(), Action::named(&name)?);
    let fields = Fields::of(query.unwrap_or_default().as_bytes());
    // Whatever is missing is said now, and not after the click.
    action.ask(&fields)?;
    let about = action.about.iter().filter_map(|about| {
        let field = about.field();
        Some((field, fields.get(field)?.to_owned()))
    });
    let asked = action
        .asked
        .iter()
        .map(|one| (one.field, one.label, one.example));
    let confirm = Confirm {
        frame: Frame::of((&desk, &home), &signed, (action.back, action.title)),
        action: action.name,
        what: action.what,
        button: action.button,
        about: about.collect(),
        said: said(&home, action, &fields).await,
        asked: asked.collect(),
        back: action.back,
    };
    page(&home, &confirm)
}

/// What a lesson says that somebody decides about.
async fn said(home: &Home, action: &Action, fields: &Fields) -> Option<String> {
    let id = fields.get("id").filter(|_| action.back == "/memory")?;
    let show = VERBS.iter().find(|verb| verb.name == "memory show")?;
    let shown = (show.answer)(home, json!({"id": id})).await.ok()?;
    shown["text"].as_str().map(str::to_owned)
}

/// Does it.
pub(crate) async fn act(
    State(desk): State<Arc<Desk>>,
    Extension(Signed(secret)): Extension<Signed>,
    Extension(fields): Extension<Fields>,
    Path(name): Path<String>,
) -> Result<Response, Fault> {
    let (home, action) = (desk.home(), Action::named(&name)?);
    let ask = action.ask(&fields)?;
    let verb = VERBS
        .iter()
        .find(|verb| verb.name == action.verb)
        .ok_or_else(Fault::nowhere)?;
    let answer = (verb.answer)(&home, ask.clone()).await?;
    tracing::info!(verb = verb.name, %ask, "a person asked for this on the page");
    desk.sessions.tell(&secret, done(action, &ask, &answer));
    Ok(Redirect::to(action.back).into_response())
}

/// What was done, in one line.
fn done(action: &Action, ask: &Value, answer: &Value) -> String {
    let about = action
        .about
        .iter()
        .filter_map(|about| match &ask[about.field()] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        });
    let about: Vec<String> = about.collect();
    let about = if about.is_empty() {
        "the fleet".to_owned()
    } else {
        about.join(" ")
    };
    let nothing = ["reset", "cleared", "resumed"]
        .iter()
        .any(|key| answer[key] == json!(false));
    match nothing {
        true => format!(
            "Nothing changed: there was nothing to {} ({})",
            action.verb,
            line(&about)
        ),
        false => format!("Done: {} ({})", action.verb, line(&about)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn fields(text: &str) -> Fields {
        Fields::of(text.as_bytes())
    }

    #[test]
    fn every_action_asks_a_verb_in_its_own_words() {
        let names: BTreeSet<&str> = ACTIONS.iter().map(|action| action.name).collect();
        assert_eq!(names.len(), ACTIONS.len());
        for action in ACTIONS {
            let verb = VERBS.iter().find(|verb| verb.name == action.verb);
            let verb = verb.unwrap_or_else(|| panic!("{}", action.verb));
            let all = action.about.iter().map(|about| about.field());
            let all = all.chain(action.asked.iter().map(|one| one.field));
            let said: Vec<String> = all.map(|field| format!("{field}=1")).collect();
            let ask = action.ask(&fields(&said.join("&"))).unwrap();
            (verb.filled)(ask).unwrap_or_else(|refusal| panic!("{}: {refusal:?}", action.name));
        }
    }

    #[test]
    fn nothing_but_its_fields_reaches_a_verb() {
        let reset = Action::named("breaker-reset").unwrap();
        let ask = reset
            .ask(&fields("role=a&role=b&csrf=x&reason=y&all=true"))
            .unwrap();
        assert_eq!(ask, json!({"role": "a"}));
        assert!(reset.ask(&fields("role=+")).is_err(), "nobody is named");
        let retry = Action::named("retry").unwrap();
        assert!(retry.ask(&fields("issue=x")).is_err());
        assert_eq!(retry.ask(&fields("issue=7")).unwrap(), json!({"issue": 7}));
        let reject = Action::named("lesson-reject").unwrap();
        let ask = reject.ask(&fields("id=a&reject=false")).unwrap();
        assert_eq!(ask, json!({"id": "a", "reject": true}));
        assert!(Action::named("fire").is_err());
    }
}
