//! What ended firings left behind.

use carson_core::FiringId;
use carson_core::settle::Settled;
use carson_firing::life;
use carson_firing::prune::{self, Discarded, Plan, Pruned};
use carson_firing::recover::{self, CaughtUp, Recovered};
use carson_firing::{ended_pulls, red_bases, roll_up, stale_claims};
use carson_home::Home;
use carson_store::StoreError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Conclude dead firings and remove benches nobody needs; work is salvaged first.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prune {
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
}

/// What was done, or would be.
#[derive(Debug, Serialize)]
pub struct Tidied {
    /// The benches that were looked at.
    pub benches: Vec<Pruned>,
    /// The dead firings.
    pub concluded: Vec<Concluded>,
    /// The ended firings that owed the forge something, and how much of it the forge took now.
    pub caught_up: Vec<CaughtUp>,
    /// Claims of ended firings that were released, pull requests and issues that followed what people did with
    /// their branches, issues that were closed because all of their parts are done, and merges that turned
    /// their base red and were told or taken back.
    pub reconciled: u32,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Why the claims that the forge still shows could not be looked at. The benches were.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "sentence")]
    pub claims_error: Option<StoreError>,
}

/// A firing whose process is gone.
#[derive(Debug)]
pub struct Concluded {
    /// Which.
    pub id: FiringId,
    /// How it ended; `None` while it is only said that it would be concluded.
    pub settled: Option<Settled>,
}

impl Serialize for Concluded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.id.serialize(serializer)
    }
}

fn sentence<S: Serializer>(error: &Option<StoreError>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = error.as_ref().map(ToString::to_string);
    text.serialize(serializer)
}

impl Ask for Prune {
    const NAME: &'static str = "prune";
    const WHAT: &'static str =
        "Conclude dead firings and remove benches nobody needs; work is salvaged first";
    const WHO: Who = Who::Operator;
    type Answer = Tidied;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let dry_run = self.dry_run;
        let (concluded, caught_up) = match dry_run {
            true => (would_be_concluded(home).await?, Vec::new()),
            false => conclude(home).await?,
        };
        // Claims that cannot be looked at are no reason to let benches lie.
        let (reconciled, claims_error) = match dry_run {
            true => (0, None),
            false => reconcile(home).await,
        };
        let benches = prune::pass(home, &Plan::by_hand(dry_run)).await?.benches;
        Ok(Tidied {
            benches,
            concluded,
            caught_up,
            reconciled,
            dry_run,
            claims_error,
        })
    }
}

/// What was changed on the forges, and what kept the rest from being looked at.
async fn reconcile(home: &Home) -> (u32, Option<StoreError>) {
    // In this order: an issue that follows its pull request may be the last part of another.
    let swept = [
        stale_claims::sweep(home).await,
        ended_pulls::sweep(home).await,
        roll_up::sweep(home).await,
        red_bases::sweep(home).await,
    ];
    let count = swept.iter().flatten().sum();
    let error = swept.into_iter().find_map(Result::err);
    (count, error)
}

async fn conclude(home: &Home) -> Result<(Vec<Concluded>, Vec<CaughtUp>), Refusal> {
    let Recovered { ended, caught_up } = recover::pass(home).await?;
    let concluded = ended.into_iter().map(|ended| Concluded {
        id: ended.id,
        settled: Some(ended.settled),
    });
    Ok((concluded.collect(), caught_up))
}

async fn would_be_concluded(home: &Home) -> Result<Vec<Concluded>, Refusal> {
    let dead = life::dead(home).await?.into_iter();
    let concluded = dead.map(|row| Concluded {
        id: row.id,
        settled: None,
    });
    Ok(concluded.collect())
}

/// Give a bench up that would stay: what cannot be kept of it is lost.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Discard {
    /// The firing: its id, or any part of it that no other has.
    pub firing: String,
}

/// A bench is gone.
#[derive(Debug, Serialize)]
pub struct Gone {
    /// Whose it was.
    pub firing: FiringId,
    /// What became of it.
    pub bench: Discarded,
}

impl Ask for Discard {
    const NAME: &'static str = "prune discard";
    const WHAT: &'static str = "Give the bench of a firing up: what cannot be kept of it is lost";
    const WHO: Who = Who::Trusted;
    type Answer = Gone;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        // A bench may be older than every row.
        let firing = match self.firing.parse() {
            Ok(id) => id,
            Err(_) => names::firing(&home.store, &self.firing).await?.id,
        };
        match prune::discard(home, firing).await? {
            Discarded::Not(why) => Err(Refusal::BenchStays(why)),
            Discarded::Missing(why) => Err(Refusal::NoBench { id: firing, why }),
            bench @ Discarded::Gone { .. } => Ok(Gone { firing, bench }),
        }
    }
}
