//! What CI installs before it tests: lines that everybody writes in the same way, and no others.
//!
//! A workflow is read line by line, not understood. What a shell would make something else of, or what
//! CI fills in, is left out.

/// Workflows by the names that most have.
pub(in crate::commands) const WORKFLOWS: [&str; 8] = [
    ".github/workflows/ci.yml",
    ".github/workflows/ci.yaml",
    ".github/workflows/test.yml",
    ".github/workflows/test.yaml",
    ".github/workflows/tests.yml",
    ".github/workflows/tests.yaml",
    ".github/workflows/build.yml",
    ".github/workflows/main.yml",
];

/// How lines begin that install what a repository depends on, in the repository itself.
const INSTALLS: [&str; 17] = [
    "npm ci",
    "npm install",
    "pnpm install",
    "pnpm i",
    "yarn install",
    "bun install",
    "uv sync",
    "poetry install",
    "pdm install",
    "pipenv install",
    "cargo fetch",
    "go mod download",
    "bundle install",
    "composer install",
    "mix deps.get",
    "dotnet restore",
    "flutter pub get",
];

/// The same with a tool that installs for the whole machine.
const PIPS: [&str; 4] = [
    "pip install",
    "pip3 install",
    "python -m pip install",
    "python3 -m pip install",
];

/// What installs for the machine or a user, or tools of CI's own.
const NOT_HERE: [&str; 6] = [
    "-g",
    "--global",
    "--user",
    "--system",
    "--break-system-packages",
    "--target",
];

/// The lines of a workflow that install something, each once; `None` where some run in another directory.
pub(super) fn installs(workflow: &str) -> Option<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for line in commands(workflow)?.filter(|line| is_here(line) && is_wanted(line)) {
        if found.iter().all(|known| known != line) {
            found.push(line.to_owned());
        }
    }
    Some(found)
}

/// Whether it installs something in the repository, or for root: whoever reads it decides what becomes of that.
fn is_wanted(line: &str) -> bool {
    of_pip(line)
        || after(line, "sudo").is_some_and(|rest| rest.contains(" install"))
        || INSTALLS.iter().any(|start| after(line, start).is_some())
}

fn is_here(line: &str) -> bool {
    line.split(' ').all(|word| !NOT_HERE.contains(&word))
}

/// The plain lines of a workflow's scripts; `None` where some run in another directory: they would run in another place
/// than they were written for.
pub(in crate::commands) fn commands(workflow: &str) -> Option<impl Iterator<Item = &str>> {
    (!workflow.contains("working-directory:")).then(|| workflow.lines().filter_map(command))
}

/// A line of a step's script, if it is as plain as that: `run: npm ci`, `- run: npm ci`, or one of
/// several below `run: |`.
fn command(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line).trim_start();
    let line = line.strip_prefix("run:").unwrap_or(line).trim();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " ._=/@:+-[],".contains(letter);
    line.chars().all(is_plain).then_some(line)
}

/// Whether pip is to install something; not pip itself.
fn of_pip(line: &str) -> bool {
    let rest = PIPS.iter().find_map(|start| after(line, start));
    let tools = ["pip", "setuptools", "wheel"];
    let wanted = |word: &str| !word.is_empty() && !word.starts_with('-') && !tools.contains(&word);
    rest.is_some_and(|rest| rest.split(' ').any(wanted))
}

/// What follows these words.
pub(in crate::commands) fn after<'l>(line: &'l str, start: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(start)?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_installs_in_the_repository_is_taken() {
        let workflow = "\
on: push
jobs:
  test:
    steps:
      - uses: actions/checkout@v4
      - run: npm ci --legacy-peer-deps
      - name: again
        run: npm ci --legacy-peer-deps
      - run: |
          sudo apt-get install -y libpq-dev
          python -m pip install --upgrade pip
          pip install -r requirements.txt
          pip install -e .[test]
          npm install -g typescript
          npm install $EXTRA
          cargo fetch --locked && rm -rf x
          curl -fsSL https://one.test/install.sh
          npm cinema
      - run: go mod download
      - run: pnpm install --filter ${{ matrix.package }}
";
        let found = installs(workflow).unwrap();
        let wanted = [
            "npm ci --legacy-peer-deps",
            "sudo apt-get install -y libpq-dev",
            "pip install -r requirements.txt",
            "pip install -e .[test]",
            "go mod download",
        ];
        assert_eq!(found, wanted);
    }
}
