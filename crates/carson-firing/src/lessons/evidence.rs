//! Looks where evidence points.

use carson_config::Repo;
use carson_core::lesson::{Evidence, LessonSource};
use carson_core::untrusted::FILED_BY_A_MODEL;
use carson_core::{Outcome, RepoName};
use carson_forge::{Forge, ForgeError, PullState};
use carson_git::{Cited, FileNow, Mirror, Oid};
use carson_home::Home;
use carson_memory::found::{Found, Now, Piece};
use carson_store::Found as FoundFiring;
use tracing::warn;

use super::reviewed;

/// Characters of an issue or a pull request that are compared with a claim.
const TEXT: usize = 8_000;

/// Who looks, and in which repository.
pub struct Look<'h> {
    home: &'h Home,
    repo: Option<&'h Repo>,
    mirror: Option<(Mirror, Oid)>,
    forge: Option<Result<Forge, String>>,
}

impl<'h> Look<'h> {
    /// Looks in this repository of the fleet.
    pub async fn at(home: &'h Home, repo: Option<&RepoName>) -> Look<'h> {
        let repo = repo.and_then(|name| home.fleet.repos.get(name));
        let mirror = match repo {
            None => None,
            Some(repo) => {
                let mirror = home.mirror(repo);
                let base = mirror.resolve(&repo.base).await.ok();
                base.map(|base| (mirror, base))
            }
        };
        Self {
            home,
            repo,
            mirror,
            forge: None,
        }
    }

    /// The same, once the newest commits are there.
    pub async fn fetched(home: &'h Home, repo: Option<&RepoName>) -> Look<'h> {
        let known = repo.and_then(|name| home.fleet.repos.get(name));
        if let Some(known) = known
            && let Err(error) = home.mirror(known).refresh().await
        {
            warn!(%error, repo = %known.name, "evidence is looked up in what was fetched before");
        }
        Self::at(home, repo).await
    }

    /// What is there. `source` is who names it: what a person says is evidence, what a session says a person said is none.
    pub async fn piece(&mut self, evidence: &Evidence, source: LessonSource) -> Piece {
        let found = match evidence {
            Evidence::File { .. } => return self.file(evidence).await,
            Evidence::Pull(number) if source == LessonSource::Review => self.reviews(*number).await,
            Evidence::Pull(number) => self.asked(*number, true).await,
            Evidence::Issue(number) => self.asked(*number, false).await,
            Evidence::Firing(id) => self.firing(id).await,
            Evidence::Note(_) if source == LessonSource::Operator => Found::Said,
            Evidence::Note(_) => Found::Missing("only a person's own note is evidence".to_owned()),
        };
        Piece {
            evidence: evidence.clone(),
            found,
        }
    }

    /// The same of a file alone: nobody is asked but the mirror.
    pub async fn file(&self, evidence: &Evidence) -> Piece {
        let Evidence::File {
            path,
            commit,
            lines,
        } = evidence
        else {
            return piece(evidence, Found::Unknown("it is no file".to_owned()));
        };
        let Some((mirror, base)) = &self.mirror else {
            let why = match self.repo {
                Some(repo) => format!("nobody fetched {} yet", repo.name),
                None => "it names no repository of the fleet".to_owned(),
            };
            return piece(evidence, Found::Missing(why));
        };
        let lines = lines.map(|lines| (lines.first, lines.last));
        let missing = |why: &str| Found::Missing(why.to_owned());
        let found = match mirror.cited(base, commit, path, lines).await {
            Ok(Cited::Lines { text, now }) => Found::Lines {
                text,
                now: match now {
                    FileNow::Same => Now::Same,
                    FileNow::Changed => Now::Changed,
                    FileNow::Gone => Now::Gone,
                },
            },
            Ok(Cited::NoCommit) => missing("there is no such commit"),
            Ok(Cited::Elsewhere) => missing("the base does not have that commit in its history"),
            Ok(Cited::NoFile) => missing("the commit has no such file of text"),
            Ok(Cited::NoLines { has }) => Found::Missing(format!("the file has {has} lines")),
            Err(error) => Found::Unknown(error.to_string()),
        };
        piece(evidence, found)
    }

    /// What an issue or a pull request says: nothing where a model may have written it, or somebody whom the repository does
    /// not trust. A pull request of a person counts once it is merged.
    async fn asked(&mut self, number: u64, is_pull: bool) -> Found {
        let (repo, forge) = match self.opened().await {
            Ok(opened) => opened,
            Err(found) => return found,
        };
        let said = match is_pull {
            true => forge.pull(number).await.map(|pull| {
                let counts = pull.state == PullState::Merged;
                (counts, pull.author, pull.title, pull.body)
            }),
            false => forge.issue(number).await.map(|issue| {
                let counts = repo.trust.has(&issue.author, issue.association)
                    && !issue.body.contains(FILED_BY_A_MODEL);
                (counts, issue.author, issue.title, issue.body)
            }),
        };
        let me = match forge.me().await {
            Ok(me) => me.to_owned(),
            Err(error) => return Found::Unknown(error.to_string()),
        };
        there(said.map(|(counts, author, title, body)| {
            if counts && !author.eq_ignore_ascii_case(&me) {
                format!("{title}\n{body}")
            } else {
                String::new()
            }
        }))
    }

    /// Whether somebody looks in a repository, and that is another one.
    fn is_elsewhere(&self, repo: Option<&RepoName>) -> bool {
        self.repo
            .is_some_and(|here| repo.is_some_and(|repo| *repo != here.name))
    }

    /// What reviewers said of a pull request.
    async fn reviews(&mut self, number: u64) -> Found {
        match self.opened().await {
            Ok((repo, forge)) => there(reviewed::as_text(forge, repo, number).await),
            Err(found) => found,
        }
    }

    /// The repository and its forge, or what is found without them.
    async fn opened(&mut self) -> Result<(&'h Repo, &Forge), Found> {
        let Some(repo) = self.repo else {
            let why = "it names no repository of the fleet".to_owned();
            return Err(Found::Missing(why));
        };
        if self.forge.is_none() {
            let opened = self.home.forge(repo).await;
            self.forge = Some(opened.map_err(|error| error.to_string()));
        }
        match &self.forge {
            Some(Ok(forge)) => Ok((repo, forge)),
            Some(Err(why)) => Err(Found::Unknown(why.clone())),
            None => Err(Found::Unknown("the forge was not opened".to_owned())),
        }
    }

    async fn firing(&self, id: &str) -> Found {
        match self.home.store.find_firing(id).await {
            Ok(FoundFiring::One(row)) if self.is_elsewhere(row.repo.as_ref()) => {
                Found::Missing("that firing is of another repository".to_owned())
            }
            Ok(FoundFiring::One(row)) => {
                let repo = row.repo.as_ref().map_or("", |repo| repo.as_str());
                // How others end, and what they worked on, is in words of their sessions, or of whoever wrote the issue.
                let text = match (row.outcome, row.reason) {
                    (Some(outcome @ (Outcome::Failed | Outcome::TimedOut)), Some(reason)) => {
                        let role = row.role;
                        format!("In {repo}, firings of {role} end {outcome}: {reason}")
                    }
                    _ => String::new(),
                };
                Found::There { text }
            }
            Ok(FoundFiring::Nothing) => Found::Missing("there is no such firing".to_owned()),
            Ok(FoundFiring::Many(_)) => Found::Missing("it names several firings".to_owned()),
            Err(error) => Found::Unknown(error.to_string()),
        }
    }
}

fn there(text: Result<String, ForgeError>) -> Found {
    match text {
        Ok(text) => Found::There {
            text: text.chars().take(TEXT).collect(),
        },
        Err(error @ ForgeError::NotFound { .. }) => Found::Missing(error.to_string()),
        Err(error) => Found::Unknown(error.to_string()),
    }
}

fn piece(evidence: &Evidence, found: Found) -> Piece {
    Piece {
        evidence: evidence.clone(),
        found,
    }
}

/// What became of the files among these.
pub async fn file_pieces(look: &Look<'_>, evidence: &[Evidence]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for one in evidence
        .iter()
        .filter(|one| matches!(one, Evidence::File { .. }))
    {
        pieces.push(look.file(one).await);
    }
    pieces
}

/// What is found where all of these point.
pub async fn look(
    home: &Home,
    repo: Option<&RepoName>,
    evidence: &[Evidence],
    source: LessonSource,
) -> Vec<Piece> {
    let mut look = Look::fetched(home, repo).await;
    let mut pieces = Vec::new();
    for one in evidence {
        pieces.push(look.piece(one, source).await);
    }
    pieces
}
