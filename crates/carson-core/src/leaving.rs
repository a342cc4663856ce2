//! What may not leave the home by itself: files that run with the repository's rights as soon as
//! they are on a branch of it.

use serde::{Deserialize, Serialize};

/// What the linter of workflow files said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Linted {
    /// It was not asked.
    #[default]
    NotAsked,
    /// They are as they should be.
    Sound,
    /// They are not, and why.
    Unsound(String),
    /// There is none.
    NoLinter,
}

/// Whether a path is a workflow of GitHub's, which `actionlint` reads.
#[must_use]
pub fn is_workflow(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.strip_prefix(".github/workflows/");
    name.is_some_and(|name| name.ends_with(".yml") || name.ends_with(".yaml"))
}

/// Directories whose files are definitions of CI, and names that are some wherever they lie.
///
/// From the documentation of each service (November 2026): what it reads from a branch or a pull
/// request without anybody's doing.
const DIRECTORIES: [&str; 17] = [
    ".github/workflows",
    ".github/actions",
    ".gitea/workflows",
    ".forgejo/workflows",
    ".gitlab/ci",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".semaphore",
    ".teamcity",
    ".tekton",
    ".concourse",
    ".azure-pipelines",
    ".builds",
    ".harness",
    ".zuul.d",
    "zuul.d",
];

const FILES: [&str; 33] = [
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".travis.yml",
    ".travis.yaml",
    "jenkinsfile",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    "bitbucket-pipelines.yml",
    "bitbucket-pipelines.yaml",
    ".drone.yml",
    ".drone.yaml",
    ".drone.star",
    ".drone.jsonnet",
    ".woodpecker.yml",
    ".woodpecker.yaml",
    ".cirrus.yml",
    ".cirrus.star",
    "appveyor.yml",
    ".appveyor.yml",
    "codemagic.yaml",
    "cloudbuild.yaml",
    "cloudbuild.yml",
    "buildspec.yml",
    "buildspec.yaml",
    "wercker.yml",
    "buildkite.yml",
    ".build.yml",
    ".build.yaml",
    ".zuul.yaml",
    "zuul.yaml",
    "screwdriver.yaml",
    ".vsts-ci.yml",
    "bitrise.yml",
];

/// Whether a path is a definition of CI. Services differ in what case they accept; any counts.
#[must_use]
pub fn is_ci_definition(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let in_dir = |dir: &str| {
        let rest = path.strip_prefix(dir);
        // What lies in the place of a directory above may be a link to one.
        let above = dir.strip_prefix(path.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            || above.is_some_and(|below| below.starts_with('/'))
    };
    let name = path.rsplit('/').next().unwrap_or_default();
    // A composite action counts wherever a workflow finds it.
    let is_action = matches!(name, "action.yml" | "action.yaml");
    DIRECTORIES.iter().any(|dir| in_dir(dir))
        || FILES.contains(&name)
        || name.starts_with("jenkinsfile")
        || is_action
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_known_by_their_place_or_their_name() {
        for path in [
            ".github/workflows/ci.yml",
            ".GitHub/Workflows/ci.yml",
            ".github",
            ".github/workflows",
            ".build.yml",
            ".github/actions/build/action.yml",
            "tools/action.yaml",
            ".gitlab-ci.yml",
            "sub/.gitlab-ci.yml",
            ".circleci/config.yml",
            "Jenkinsfile",
            "ci/Jenkinsfile.release",
            "azure-pipelines.yml",
        ] {
            assert!(is_ci_definition(path), "{path}");
        }
        for path in [
            ".github/ISSUE_TEMPLATE/bug.md",
            ".github/dependabot.yml",
            ".github/workflows-old.md",
            "src/workflows/ci.rs",
            "docs/jenkins.md",
            "src/action.rs",
        ] {
            assert!(!is_ci_definition(path), "{path}");
        }
    }
}
