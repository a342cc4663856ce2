//! What a tool is.

use std::pin::Pin;

use carson_config::McpGrant;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::desk::Desk;
use crate::refused::Refused;

/// The most entries of a list that is answered.
pub(crate) const ENTRIES: u32 = 50;

/// What a client may call: a type with its arguments.
pub(crate) trait Call: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name.
    const NAME: &'static str;
    /// Another name that it is called by.
    const ALSO: Option<&'static str> = None;
    /// What it does, for a model that chooses among tools.
    const WHAT: &'static str;
    /// What the server must have been given; tools that only read need nothing.
    const GRANT: Option<McpGrant>;
    /// Whether it runs what it finds: behind walls, where it was not given what that needs.
    const RUNS: bool = false;
    /// The key of its answer where that is a list.
    const LIST: &'static str = "list";
    /// What it answers.
    type Answer: Serialize;

    /// The schema of its arguments.
    fn schema() -> Schema {
        schema_for!(Self)
    }

    /// Does it.
    fn answer(self, desk: &Desk) -> impl Future<Output = Result<Self::Answer, Refused>> + Send;
}

/// An answer on its way, as the keys of an object.
pub type Answering<'d> =
    Pin<Box<dyn Future<Output = Result<Map<String, Value>, Refused>> + Send + 'd>>;

/// A tool without its types.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Another name that it is called by.
    pub also: Option<&'static str>,
    /// What it does.
    pub what: &'static str,
    /// What the server must have been given.
    pub grant: Option<McpGrant>,
    /// Whether it runs what it finds.
    pub runs: bool,
    /// The JSON schema of its arguments: an object that takes no others.
    pub schema: fn() -> Map<String, Value>,
    pub(crate) answer: for<'d> fn(&'d Desk, Value) -> Answering<'d>,
}

impl Tool {
    /// The tool of a [`Call`].
    pub(crate) const fn of<C: Call>() -> Self {
        Self {
            name: C::NAME,
            also: C::ALSO,
            what: C::WHAT,
            grant: C::GRANT,
            runs: C::RUNS,
            schema: schema::<C>,
            answer: |desk, arguments| Box::pin(call::<C>(desk, arguments)),
        }
    }

    /// Whether it changes nothing, and runs nothing.
    #[must_use]
    pub fn reads_only(&self) -> bool {
        self.grant.is_none() && !self.runs
    }

    /// The names that it is called by.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.name].into_iter().chain(self.also)
    }
}

async fn call<C: Call>(desk: &Desk, arguments: Value) -> Result<Map<String, Value>, Refused> {
    // Before anything is looked at: what is refused tells nothing.
    if let Some(grant) = C::GRANT {
        desk.must_have(grant)?;
    }
    let call: C = serde_json::from_value(arguments).map_err(|source| Refused::Arguments {
        tool: C::NAME,
        source,
    })?;
    let answer = call.answer(desk).await?;
    match serde_json::to_value(answer).map_err(Refused::NoJson)? {
        Value::Object(keys) => Ok(keys),
        other => Ok(Map::from_iter([(C::LIST.to_owned(), other)])),
    }
}

/// What clients need of it: names of types and dialects are none of a model's business.
fn schema<C: Call>() -> Map<String, Value> {
    let Value::Object(mut schema) = C::schema().to_value() else {
        return Map::new();
    };
    schema.retain(|key, _| !["$schema", "title", "description"].contains(&key.as_str()));
    // A client may insist on it.
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}
