//! What a verb is.

use std::pin::Pin;

use carson_home::Home;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::refusal::Refusal;

/// Who may ask. Each may what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// Whoever may see the fleet: nothing is changed.
    Anyone,
    /// Whoever runs the fleet: what is changed can be changed back. Also what shows more than the
    /// fleet's own words: logs, environments.
    Operator,
    /// Whom the operator trusts with money, and with what cannot be had again.
    Trusted,
}

/// What an operator may ask.
pub trait Ask: DeserializeOwned + Serialize + JsonSchema + Send + 'static {
    /// Its verb, in the words of the command line.
    const NAME: &'static str;
    /// What it does, in one line.
    const WHAT: &'static str;
    /// Who may ask.
    const WHO: Who;
    /// What it is answered with.
    type Answer: Serialize;

    /// Does it.
    ///
    /// # Errors
    /// What is not right with the ask, or what Carson stands on does not do.
    fn answer(self, home: &Home) -> impl Future<Output = Result<Self::Answer, Refusal>> + Send;
}

/// An answer on its way, as JSON.
pub type Answering<'h> = Pin<Box<dyn Future<Output = Result<Value, Refusal>> + Send + 'h>>;

/// A verb without its types.
#[derive(Clone, Copy, Debug)]
pub struct Verb {
    /// Its name: words as on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub what: &'static str,
    /// Who may ask. The face knows who asks, and holds to it.
    pub who: Who,
    /// The JSON schema of the ask.
    pub schema: fn() -> Schema,
    /// The ask as it is understood, with what was left out.
    pub filled: fn(Value) -> Result<Value, Refusal>,
    /// Does it.
    pub answer: for<'h> fn(&'h Home, Value) -> Answering<'h>,
}

impl Verb {
    /// The verb of an [`Ask`].
    #[must_use]
    pub const fn of<A: Ask>() -> Self {
        Self {
            name: A::NAME,
            what: A::WHAT,
            who: A::WHO,
            schema: || schema_for!(A),
            filled: |ask| json(&read::<A>(ask)?),
            answer: |home, ask| Box::pin(async move { json(&read::<A>(ask)?.answer(home).await?) }),
        }
    }
}

fn read<A: Ask>(ask: Value) -> Result<A, Refusal> {
    serde_json::from_value(ask).map_err(|source| Refusal::Unreadable {
        verb: A::NAME,
        source,
    })
}

fn json(value: &impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(value).map_err(Refusal::NoJson)
}
