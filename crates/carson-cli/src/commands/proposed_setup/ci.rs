//! What CI installs before it tests: lines that everybody writes in the same way, and no others.
//!
//! A workflow is read line by line, not understood. What a shell would make something else of, or what
//! CI fills in, is left out.

/// Workflows by the names that most have.
pub(super) const WORKFLOWS: [&str; 8] = [
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

/// The same with a tool that installs for the whole machine, unless it is one of an environment.
const PIPS: [&str; 4] = [
    "pip install",
    "pip3 install",
    "python -m pip install",
    "python3 -m pip install",
];

/// Makes that environment.
const VENV: &str = "python3 -m venv .venv";

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
    // Its lines would run in another place than they were written for.
    if workflow.contains("working-directory:") {
        return None;
    }
    let mut found: Vec<String> = Vec::new();
    for line in workflow.lines().filter_map(command) {
        let wanted = match of_pip(line) {
            Some(rest) if found.iter().any(|line| line == VENV) => {
                vec![format!(".venv/bin/pip install {rest}")]
            }
            Some(rest) => vec![VENV.to_owned(), format!(".venv/bin/pip install {rest}")],
            // Whoever reads them decides what becomes of lines for root.
            None if after(line, "sudo").is_some_and(|rest| rest.contains(" install")) => {
                vec![line.to_owned()]
            }
            None if INSTALLS.iter().any(|start| after(line, start).is_some()) => {
                vec![line.to_owned()]
            }
            None => continue,
        };
        for line in wanted {
            if !found.contains(&line) {
                found.push(line);
            }
        }
    }
    Some(found)
}

/// A line of a step's script, if it is as plain as that: `run: npm ci`, `- run: npm ci`, or one of
/// several below `run: |`.
fn command(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line).trim_start();
    let line = line.strip_prefix("run:").unwrap_or(line).trim();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " ._=/@:+-[],".contains(letter);
    let is_here = |line: &str| line.split(' ').all(|word| !NOT_HERE.contains(&word));
    (line.chars().all(is_plain) && is_here(line)).then_some(line)
}

/// What pip is to install; not pip itself.
fn of_pip(line: &str) -> Option<&str> {
    let rest = PIPS.iter().find_map(|start| after(line, start))?;
    let mut wanted = rest.split(' ').filter(|word| !word.starts_with('-'));
    let tools = ["pip", "setuptools", "wheel"];
    wanted.any(|word| !tools.contains(&word)).then_some(rest)
}

/// What follows these words.
fn after<'l>(line: &'l str, start: &str) -> Option<&'l str> {
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
            "python3 -m venv .venv",
            ".venv/bin/pip install -r requirements.txt",
            ".venv/bin/pip install -e .[test]",
            "go mod download",
        ];
        assert_eq!(found, wanted);
    }
}
