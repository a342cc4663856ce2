//! Firing a role by hand.

use carson_config::{Repo, Role, WorkFrom};
use carson_core::admission::yielding;
use carson_core::story::StoryId;
use carson_core::work::WorkKey;
use carson_core::{Event, FiringId, Outcome, RepoName, SkipKind};
use carson_firing::admit::{self, Claimed, Wish, claim};
use carson_firing::dispatch::{Begin, start_firing};
use carson_firing::dry_run::{self, Outlook};
use carson_firing::queue::{self, Held};
use carson_firing::standing::clock_apart;
use carson_firing::{Steps, daemons, one_forge, recover};
use carson_forge::{Forge, ForgeError};
use carson_home::Home;
use carson_proc::Cancel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Longest reason.
const REASON_MAX: usize = 300;

/// Fire a role now.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fire {
    /// The role.
    pub role: String,
    /// Only this repository.
    pub repo: Option<String>,
    /// Only this issue.
    pub work: Option<u64>,
    /// Only this story of the plan.
    #[serde(default)]
    pub story: Option<String>,
}

/// What became of the wish.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Fired {
    /// The row is there, and is ours to run.
    Claimed {
        /// The firing.
        firing: FiringId,
        /// What it fires over.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        over: Vec<String>,
    },
    /// Something keeps the role from firing.
    Skipped(Skipped),
}

/// Nothing fires.
#[derive(Debug, Serialize)]
pub struct Skipped {
    /// Always the same.
    pub outcome: Outcome,
    /// Why, for people.
    pub reason: String,
    /// Which stop; `None` for one that is over soon.
    pub skip: Option<SkipKind>,
}

impl Fire {
    /// Claims the firing, for a face that runs it in its own process.
    ///
    /// # Errors
    /// When the role or the repository is not there, or the store does not answer.
    pub async fn claim(self, home: &Home) -> Result<Fired, Refusal> {
        self.claimed(home, None).await
    }

    /// The same over what people set (pauses, the reserve, a cap) and over an open breaker, whose probe it is then, for
    /// the reason that is said. It stands in an event of the firing, with what it fires over. What a provider or a
    /// forge says, money, and what runs already hold it as ever, and so does all that a firing looks at itself.
    ///
    /// # Errors
    /// As for [`claim`](Self::claim), and without a reason.
    pub async fn claim_forced(self, home: &Home, reason: &str) -> Result<Fired, Refusal> {
        let reason = reason.trim();
        let length = reason.chars().count();
        if !(1..=REASON_MAX).contains(&length) {
            return Err(Refusal::Field {
                field: "reason",
                problem: format!("it has {length} characters: say why, in {REASON_MAX} at most"),
            });
        }
        self.claimed(home, Some(reason)).await
    }

    async fn claimed(self, home: &Home, reason: Option<&str>) -> Result<Fired, Refusal> {
        let role = names::role(&home.fleet, &self.role)?;
        let mut wish = wish(
            home,
            role,
            self.repo.as_deref(),
            (self.work, self.story.as_deref()),
        )?;
        wish.forced = reason.is_some();
        one_forge::check(home, false).await?;
        let Some(seen) = daemons::no_copy(home).await? else {
            return Err(Refusal::CopiedHome(home.fleet.host.clone()));
        };
        if let Some(ahead) = home.store.clock_apart(home.clock.now()).await? {
            return Ok(Fired::Skipped(Skipped {
                outcome: Outcome::Skipped,
                reason: clock_apart(ahead),
                skip: None,
            }));
        }
        // What a crash left behind is concluded first: it may hold the role, or the work.
        recover::pass_of(home, &seen).await?;
        refuse_untakable(home, role, &wish).await?;
        let over = match reason {
            None => Vec::new(),
            Some(_) => {
                let now = home.clock.now();
                let gate = admit::gate(home, role, now).await?;
                let over = yielding(&gate, now).into_iter();
                over.map(|reason| reason.to_string()).collect()
            }
        };
        let (reason, skip) = match claim(home, role, &wish).await? {
            Claimed::Won(firing) => {
                if let Some(reason) = reason {
                    let (over, reason) = (over.clone(), reason.to_owned());
                    let event = Event::FiringForced { reason, over };
                    let (role, now) = (Some(&role.name), home.clock.now());
                    // Before it begins: whoever runs it is this process, or one that it starts.
                    home.store.event(&event, role, Some(firing), now).await?;
                }
                return Ok(Fired::Claimed { firing, over });
            }
            Claimed::Skipped(reason) => (reason.to_string(), Some(reason.kind())),
            Claimed::Wait(why) => (why, None),
            Claimed::Taken => {
                let why = "a firing of this role runs already".to_owned();
                (why, Some(SkipKind::OVERLAP))
            }
        };
        Ok(Fired::Skipped(Skipped {
            outcome: Outcome::Skipped,
            reason,
            skip,
        }))
    }
}

impl Ask for Fire {
    const NAME: &'static str = "fire";
    const WHAT: &'static str = "Fire a role now, in a process of its own";
    const WHO: Who = Who::Trusted;
    type Answer = Fired;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let fired = self.claim(home).await?;
        if let Fired::Claimed { firing, .. } = fired {
            let child = start_firing(home, firing, &Begin::default())?;
            // It is reaped whenever it ends; its row says how.
            tokio::spawn(async move {
                if let Err(error) = child.wait().await {
                    tracing::warn!(firing.id = %firing, %error, "the firing could not be waited for");
                }
            });
        }
        Ok(fired)
    }
}

/// What would a firing do?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DryRun {
    /// The role.
    pub role: String,
    /// Only this repository.
    pub repo: Option<String>,
    /// Only this issue.
    pub work: Option<u64>,
    /// Only this story of the plan.
    #[serde(default)]
    pub story: Option<String>,
}

impl Ask for DryRun {
    const NAME: &'static str = "fire dry-run";
    const WHAT: &'static str = "Say what a firing of a role would do, and do nothing";
    const WHO: Who = Who::Operator;
    type Answer = Outlook;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        self.watched(home, (Cancel::new(), Steps::default())).await
    }
}

impl DryRun {
    /// The same, for a face that shows what passes meanwhile, and can end it.
    ///
    /// # Errors
    /// When the role or the repository is not there, or the store or the forge does not answer.
    pub async fn watched(self, home: &Home, watched: (Cancel, Steps)) -> Result<Outlook, Refusal> {
        let role = names::role(&home.fleet, &self.role)?;
        let wish = wish(
            home,
            role,
            self.repo.as_deref(),
            (self.work, self.story.as_deref()),
        )?;
        refuse_untakable(home, role, &wish).await?;
        Ok(dry_run::foresee_firing(home, role, &wish, watched).await?)
    }
}

/// Refuses a wish for an issue that no firing would take.
async fn refuse_untakable(home: &Home, role: &Role, wish: &Wish) -> Result<(), Refusal> {
    match why_not_taken(home, role, wish).await? {
        Some(problem) => Err(Refusal::Field {
            field: "work",
            problem,
        }),
        None => Ok(()),
    }
}

/// Why the issue that was asked for is not taken up in any repository. One that waits for people,
/// and a forge that does not answer, are the firing's to tell.
async fn why_not_taken(home: &Home, role: &Role, wish: &Wish) -> Result<Option<String>, Refusal> {
    let Some(number) = wish.work.and_then(WorkKey::number) else {
        return Ok(None);
    };
    let label = role.work.label();
    let mut why = Vec::new();
    let wanted = |name: &&RepoName| wish.repo.as_ref().is_none_or(|repo| repo == *name);
    let repos = role.repos.iter().filter(wanted);
    for repo in repos.filter_map(|name| home.fleet.repos.get(name)) {
        let Ok(forge) = home.forge(repo).await else {
            return Ok(None);
        };
        let asked = match (role.work.from, label) {
            (WorkFrom::Pulls, _) => forge.pull(number).await.map(|_| None),
            (_, Some(label)) => match forge.issue(number).await {
                Ok(issue) => match carson_forge::why_not_taken(&issue, label) {
                    None => Ok(held(home, role, repo, &forge, number).await),
                    why => Ok(why),
                },
                Err(error) => Err(error),
            },
            (_, None) => forge.issue(number).await.map(|_| None),
        };
        let found = match asked {
            Ok(found) => found,
            Err(ForgeError::NotFound { .. }) => Some(match role.work.from {
                WorkFrom::Pulls => "there is no such pull request".to_owned(),
                _ if forge.pull(number).await.is_ok() => {
                    "it is a pull request, and this role takes issues".to_owned()
                }
                _ => "there is no such issue".to_owned(),
            }),
            // It is the issue that is not what it should be, and no later look would find it better.
            Err(error) => error.unread().map(|_| {
                let why = home.redactor.redact(&error.to_string()).into_owned();
                format!("it cannot be read: {why} ({})", error.hint())
            }),
        };
        match found {
            Some(found) => why.push(format!("#{number} of {}: {found}", repo.name)),
            None => return Ok(None),
        }
    }
    Ok(Some(why.join("; ")))
}

/// What holds an issue that carries the right labels; what waits for people is the firing's to tell.
async fn held(home: &Home, role: &Role, repo: &Repo, forge: &Forge, number: u64) -> Option<String> {
    let looked = queue::look(home, role, repo, forge).await.ok()?;
    let mut held = looked.held_issues().into_iter();
    let held = held.find(|held| held.number == number)?;
    (!matches!(held.why, Held::ForPeople(_))).then(|| held.why.to_string())
}

fn wish(
    home: &Home,
    role: &Role,
    repo: Option<&str>,
    (work, story): (Option<u64>, Option<&str>),
) -> Result<Wish, Refusal> {
    let repo = repo
        .map(|name| names::repo(&home.fleet, name))
        .transpose()?;
    let repo = repo.map(|repo| repo.name.clone());
    if let Some(repo) = repo.as_ref().filter(|repo| !role.repos.contains(repo)) {
        return Err(Refusal::Elsewhere {
            role: role.name.clone(),
            repo: repo.clone(),
            works_in: role.repos.clone(),
        });
    }
    if let Some(story) = story {
        return Ok(Wish {
            repo,
            work: Some(WorkKey::Story(named_story(role, story)?)),
            ..Wish::default()
        });
    }
    let key = match role.work.from {
        WorkFrom::Stories if work.is_some() => {
            return Err(Refusal::Field {
                field: "work",
                problem: format!("role {} does stories: name one with --story ID", role.name),
            });
        }
        WorkFrom::Issues => WorkKey::Issue,
        WorkFrom::Pulls => WorkKey::Pull,
        WorkFrom::None if work.is_some() => {
            return Err(Refusal::Field {
                field: "work",
                problem: format!("role {} takes no issues: fire it without", role.name),
            });
        }
        WorkFrom::Stories | WorkFrom::None => |_| WorkKey::None,
    };
    Ok(Wish {
        repo,
        work: work.map(key),
        ..Wish::default()
    })
}

/// The story that was asked for; whether the plan has it the firing tells.
fn named_story(role: &Role, story: &str) -> Result<StoryId, Refusal> {
    let problem = match story.parse() {
        Ok(id) if role.work.from == WorkFrom::Stories => return Ok(id),
        Ok(_) => format!("role {} does no stories: fire it without", role.name),
        Err(why) => why,
    };
    Err(Refusal::Field {
        field: "story",
        problem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::home_with;
    use crate::why::{Reasons, Why};

    fn hand() -> Fire {
        Fire {
            role: "hand".to_owned(),
            repo: None,
            work: None,
            story: None,
        }
    }

    #[tokio::test]
    async fn who_says_why_fires_over_a_pause_and_that_is_told_and_kept() {
        let widget = "[repos.widget]\nurl = \"/nowhere/widget.git\"\nforge = \"local\"\n";
        let (_dir, home) = home_with(widget, &[("hand", "carson:ready")]).await;
        let pause = crate::VERBS.iter().find(|verb| verb.name == "pause");
        let asked = serde_json::json!({"reason": "holidays"});
        (pause.unwrap().answer)(&home, asked).await.unwrap();
        let held = hand().claim(&home).await.unwrap();
        assert!(matches!(held, Fired::Skipped(_)), "{held:?}");
        for none in ["", " \n", &"x".repeat(301)] {
            assert!(hand().claim_forced(&home, none).await.is_err(), "{none:?}");
        }
        let fired = hand()
            .claim_forced(&home, "a customer waits")
            .await
            .unwrap();
        let Fired::Claimed { firing, over } = fired else {
            panic!("{fired:?}");
        };
        assert_eq!(over, ["paused: fleet (holidays)"]);
        let why = Why {
            what: firing.to_string(),
        }
        .answer(&home)
        .await
        .unwrap();
        let Reasons::Firing(why) = why else {
            panic!("{why:?}");
        };
        let line = "by force, over paused: fleet (holidays): a customer waits";
        assert!(why.chain.iter().any(|fact| fact == line), "{:?}", why.chain);
        // Nothing is fired twice, whatever is said.
        let again = hand().claim_forced(&home, "again").await.unwrap();
        assert!(matches!(again, Fired::Skipped(_)), "{again:?}");
    }
}
