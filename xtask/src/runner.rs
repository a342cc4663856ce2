//! The test runner: cargo-nextest, or `cargo test` where it cannot be had.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::cargo_tools::CargoTool;
use crate::interrupt::{Interrupt, Interrupted};
use crate::workspace::{Cache, cargo, output};

const NEXTEST: CargoTool = CargoTool {
    name: "cargo-nextest",
    version: "0.9.143",
    asks: &["nextest", "--version"],
    args: &[],
};

/// How the tests are run.
#[derive(Debug)]
pub enum Runner {
    /// `cargo nextest`, installed on the machine.
    Nextest,
    /// Our own copy of it, in the cache.
    CachedNextest(PathBuf),
    /// `cargo test`.
    CargoTest,
}

impl Runner {
    /// Finds cargo-nextest, or installs it into the cache.
    ///
    /// # Errors
    /// With [`Interrupted`] when we were told to stop.
    pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<Self> {
        if output(cargo().args(["nextest", "--version"])).is_some() {
            return Ok(Self::Nextest);
        }
        match NEXTEST.ensure(interrupt, cache) {
            Ok(binary) => Ok(Self::CachedNextest(binary)),
            Err(error) if error.is::<Interrupted>() => Err(error),
            Err(error) => {
                eprintln!("xtask: cargo-nextest cannot be installed ({error:#}): using cargo test");
                Ok(Self::CargoTest)
            }
        }
    }

    /// `cargo nextest ARGS` in the checkout; `None` where there is no nextest.
    pub fn nextest(&self, args: &[&str]) -> Option<Command> {
        let mut command = match self {
            Self::Nextest => cargo(),
            Self::CachedNextest(binary) => {
                let mut command = Command::new(binary);
                command.current_dir(crate::workspace::root());
                command
            }
            Self::CargoTest => return None,
        };
        command.arg("nextest").args(args);
        Some(command)
    }

    /// The command that runs all tests, or those that the arguments choose.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = match self.nextest(&["run"]) {
            Some(mut nextest) => {
                // Whoever names another one has a reason.
                if !args.contains(&"--profile") {
                    nextest.args(profile());
                }
                nextest.arg("--workspace");
                nextest.args(Chosen::of(args).words());
                return nextest;
            }
            None => {
                let mut plain = cargo();
                plain.args(["test", "--no-fail-fast"]);
                plain
            }
        };
        if Chosen::of(args).packages.is_empty() {
            command.arg("--workspace");
        }
        command.args(args);
        command
    }

    /// Whether it writes down how long each test took.
    pub fn tells_times(&self) -> bool {
        !matches!(self, Self::CargoTest)
    }
}

/// `.config/nextest.toml` says what is different on a machine that nobody watches.
pub fn profile() -> &'static [&'static str] {
    let ci = env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
    if ci { &["--profile", "ci"] } else { &[] }
}

/// What arguments choose, taken apart. Packages are chosen among the tests and not among what is built: for one
/// package alone cargo would build every library that it needs once more, with other features.
#[derive(Debug, Default)]
struct Chosen<'a> {
    packages: Vec<&'a str>,
    filters: Vec<&'a str>,
    rest: Vec<&'a str>,
}

impl<'a> Chosen<'a> {
    fn of(args: &[&'a str]) -> Self {
        let mut chosen = Self::default();
        let mut args = args.iter().copied();
        while let Some(arg) = args.next() {
            let value = |long: &str, short: &str| {
                let long = arg
                    .strip_prefix(long)
                    .and_then(|rest| rest.strip_prefix('='));
                long.or_else(|| arg.strip_prefix(short).filter(|rest| !rest.is_empty()))
            };
            match arg {
                "-p" | "--package" => chosen.packages.extend(args.next()),
                "-E" | "--filterset" => chosen.filters.extend(args.next()),
                _ if !arg.starts_with('-') => chosen.rest.push(arg),
                // What comes after it is the tests' own.
                "--" => {
                    chosen.rest.push(arg);
                    chosen.rest.extend(args.by_ref());
                }
                _ => match (value("--package", "-p"), value("--filterset", "-E")) {
                    (Some(package), _) => chosen.packages.push(package),
                    (_, Some(filter)) => chosen.filters.push(filter),
                    _ => chosen.rest.push(arg),
                },
            }
        }
        chosen
    }

    /// The same for nextest, which runs what any of its filters chooses.
    fn words(&self) -> Vec<String> {
        let any =
            |terms: Vec<String>| (!terms.is_empty()).then(|| format!("({})", terms.join(" + ")));
        let packages = self.packages.iter().map(|name| format!("package({name})"));
        let filters = self.filters.iter().map(|filter| format!("({filter})"));
        let both = [any(packages.collect()), any(filters.collect())];
        let both: Vec<String> = both.into_iter().flatten().collect();
        let mut words = Vec::new();
        if !both.is_empty() {
            words.extend(["-E".to_owned(), both.join(" & ")]);
        }
        words.extend(self.rest.iter().map(|arg| (*arg).to_owned()));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<&str> {
        command
            .get_args()
            .map(|arg| arg.to_str().unwrap())
            .collect()
    }

    #[test]
    fn packages_are_chosen_among_the_tests_and_the_whole_is_built() {
        let all = Runner::Nextest.command(&["-E", "test(salvage)"]);
        assert!(words(&all).ends_with(&["--workspace", "-E", "((test(salvage)))"]));
        for chosen in [
            &[
                "-p",
                "carson-core",
                "-E",
                "test(a)",
                "-E",
                "test(b)",
                "--no-capture",
            ][..],
            &["-pcarson-core", "-Etest(a)", "-Etest(b)", "--no-capture"],
            &[
                "--no-capture",
                "--package=carson-core",
                "--filterset=test(a)",
                "-E",
                "test(b)",
            ],
        ] {
            let some = Runner::Nextest.command(chosen);
            let filter = "(package(carson-core)) & ((test(a)) + (test(b)))";
            let expected = ["--workspace", "-E", filter, "--no-capture"];
            assert!(words(&some).ends_with(&expected), "{some:?}");
        }
        let own = Runner::Nextest.command(&["some_name", "--", "-p", "x"]);
        assert!(words(&own).ends_with(&["--workspace", "some_name", "--", "-p", "x"]));
    }

    #[test]
    fn without_nextest_cargo_runs_the_same_tests() {
        let command = Runner::CargoTest.command(&[]);
        assert_eq!(words(&command), ["test", "--no-fail-fast", "--workspace"]);
    }
}
