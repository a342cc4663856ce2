//! Package managers behind the proxy: their registries are static files on this machine, which is
//! reached by a name that the list allows; there is no other way.

mod registry;
mod tls;

use std::path::Path;

use self::registry::Registry;
use super::*;
use crate::programs::{installed, made};

/// Puts a package into a registry of npm's kind.
fn node_package(registry: &Registry) {
    let temp = tempfile::tempdir().unwrap();
    let package = temp.path().join("package");
    fs::create_dir(&package).unwrap();
    let manifest = r#"{"name":"tiny-leaf","version":"1.0.0","main":"index.js"}"#;
    fs::write(package.join("package.json"), manifest).unwrap();
    fs::write(package.join("index.js"), "module.exports = 1;\n").unwrap();
    made(temp.path(), "tar", &["-czf", "leaf.tgz", "package"]);
    let sum = made(temp.path(), "sha1sum", &["leaf.tgz"]);
    registry.put("leaf.tgz", fs::read(temp.path().join("leaf.tgz")).unwrap());
    let known = serde_json::json!({
        "name": "tiny-leaf",
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {
            "name": "tiny-leaf",
            "version": "1.0.0",
            "dist": {
                "tarball": format!("{}/leaf.tgz", registry.url()),
                "shasum": sum.split(' ').next(),
            },
        }},
    });
    registry.put("tiny-leaf", known.to_string());
}

/// What a wheel holds, by its own list.
const WHEEL_FILES: &str = "tiny_leaf.py,,\ntiny_leaf-1.0.dist-info/METADATA,,\n\
                           tiny_leaf-1.0.dist-info/WHEEL,,\ntiny_leaf-1.0.dist-info/RECORD,,\n";

/// Puts a wheel into a package index; its file's name.
fn wheel(registry: &Registry) -> &'static str {
    let temp = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("tiny_leaf.py", "LEAF = 1\n"),
        (
            "tiny_leaf-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: tiny-leaf\nVersion: 1.0\n",
        ),
        (
            "tiny_leaf-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
        ("tiny_leaf-1.0.dist-info/RECORD", WHEEL_FILES),
    ] {
        let path = temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let wheel = "tiny_leaf-1.0-py3-none-any.whl";
    let zip = [
        "-m",
        "zipfile",
        "-c",
        wheel,
        "tiny_leaf.py",
        "tiny_leaf-1.0.dist-info",
    ];
    made(temp.path(), "python3", &zip);
    registry.put(wheel, fs::read(temp.path().join(wheel)).unwrap());
    let page = format!("<a href=\"/{wheel}\">{wheel}</a>");
    registry.put("simple/tiny-leaf/index.html", page);
    wheel
}

#[test]
fn git_clones_through_the_proxy() {
    let registry = Registry::new();
    let fleet = TestFleet::new();
    let bare = registry.root().join("widget.git");
    let (from, to) = (fleet.remote(), bare.to_str().unwrap().to_owned());
    made(
        Path::new("/"),
        "git",
        &["clone", "--quiet", "--bare", from.to_str().unwrap(), &to],
    );
    made(&bare, "git", &["update-server-info"]);
    let clone = format!("git clone --quiet {}/widget.git clone", registry.url());
    let (place, _fleet, said) = registry.sandboxed(&[], &clone);
    assert!(place.join("clone/README.md").is_file(), "{said}");
    assert!(registry.was_asked("widget.git/info/refs"));
}

#[test]
fn npm_installs_through_the_proxy() {
    let registry = Registry::new();
    node_package(&registry);
    let install = format!(
        "npm install --registry {} --no-audit --no-fund --loglevel error tiny-leaf >&2",
        registry.url()
    );
    let (place, _fleet, said) = registry.sandboxed(&[], &install);
    let file = place.join("node_modules/tiny-leaf/index.js");
    assert!(file.is_file(), "{said}");
    assert!(registry.was_asked("tiny-leaf") && registry.was_asked("leaf.tgz"));
}

#[test]
fn pip_installs_through_the_proxy() {
    let registry = Registry::new();
    let wheel = wheel(&registry);
    let python = installed("python3", &["-c", "import sys; print(sys.executable)"]);
    let prefix = installed("python3", &["-c", "import sys; print(sys.prefix)"]);
    let install = format!(
        "{} -m pip install --quiet --no-input --disable-pip-version-check --target there \
         --index-url {}/simple tiny-leaf >&2",
        python.display(),
        registry.url()
    );
    let (place, _fleet, said) = registry.sandboxed(&[prefix], &install);
    assert!(place.join("there/tiny_leaf.py").is_file(), "{said}");
    assert!(registry.was_asked(wheel));
}

#[test]
fn cargo_fetches_through_the_proxy() {
    let registry = Registry::new();
    let temp = tempfile::tempdir().unwrap();
    let source = temp.path().join("tiny-leaf-1.0.0");
    fs::create_dir_all(source.join("src")).unwrap();
    let manifest = "[package]\nname = \"tiny-leaf\"\nversion = \"1.0.0\"\nedition = \"2021\"\n";
    fs::write(source.join("Cargo.toml"), manifest).unwrap();
    fs::write(source.join("src/lib.rs"), "").unwrap();
    made(
        temp.path(),
        "tar",
        &["-czf", "leaf.crate", "tiny-leaf-1.0.0"],
    );
    let sum = made(temp.path(), "sha256sum", &["leaf.crate"]);
    let sum = sum.split(' ').next().unwrap();
    registry.put(
        "crates/tiny-leaf/1.0.0/download",
        fs::read(temp.path().join("leaf.crate")).unwrap(),
    );
    let dl = serde_json::json!({"dl": format!("{}/crates", registry.url())});
    registry.put("index/config.json", dl.to_string());
    let line = serde_json::json!({
        "name": "tiny-leaf", "vers": "1.0.0", "deps": [], "cksum": sum,
        "features": {}, "yanked": false,
    });
    registry.put("index/ti/ny/tiny-leaf", format!("{line}\n"));
    // The one that runs the tests: rustup's own would look for a home of its own.
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let sysroot = installed("rustc", &["--print", "sysroot"]);
    let fetch = format!(
        "mkdir -p .cargo src; touch src/lib.rs
         export CARGO_HOME=$PWD/cargo RUSTC={}/bin/rustc
         printf '[registries.near]\\nindex = \"sparse+{}/index/\"\\n' > .cargo/config.toml
         printf '[package]\\nname = \"x\"\\nversion = \"1.0.0\"\\n[dependencies]\\n\
         tiny-leaf = {{ version = \"1\", registry = \"near\" }}\\n' > Cargo.toml
         {cargo} fetch --quiet >&2",
        sysroot.display(),
        registry.url()
    );
    let (place, _fleet, said) = registry.sandboxed(&[sysroot], &fetch);
    let lock = fs::read_to_string(place.join("Cargo.lock")).unwrap();
    assert!(lock.contains("tiny-leaf"), "{said}");
    assert!(registry.was_asked("crates/tiny-leaf/1.0.0/download"));
}
