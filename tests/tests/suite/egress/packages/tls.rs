//! Package managers whose registry speaks TLS: the proxy sees a tunnel, and knows only where it leads.

use super::*;
use crate::programs::packagers;

/// Installs the package with a program of Node's that reads npm's settings.
fn installs_with(program: &str, options: &str) {
    let registry = Registry::with_tls();
    node_package(&registry);
    let install = format!(
        "export npm_config_cafile={}; {}/node_modules/.bin/{program} add --registry {} {options} \
         tiny-leaf >&2",
        registry.authority().display(),
        packagers().display(),
        registry.url()
    );
    let reads = [packagers(), registry.authority()];
    let (place, _fleet, said) = registry.sandboxed(&reads, &install);
    let file = place.join("node_modules/tiny-leaf/index.js");
    assert!(file.is_file(), "{said}");
    assert!(registry.was_asked("tiny-leaf") && registry.was_asked("leaf.tgz"));
}

#[test]
fn pnpm_installs_through_the_proxy() {
    installs_with("pnpm", "--store-dir store");
}

#[test]
fn yarn_installs_through_the_proxy() {
    installs_with("yarn", "--non-interactive --cache-folder cache");
}

#[test]
fn uv_installs_through_the_proxy() {
    let registry = Registry::with_tls();
    let wheel = wheel(&registry);
    let python = installed("python3", &["-c", "import sys; print(sys.executable)"]);
    let prefix = installed("python3", &["-c", "import sys; print(sys.prefix)"]);
    let install = format!(
        "export SSL_CERT_FILE={}; {}/python/bin/uv pip install --quiet --python {} --target there \
         --cache-dir cache --index-url {}/simple tiny-leaf >&2",
        registry.authority().display(),
        packagers().display(),
        python.display(),
        registry.url()
    );
    let reads = [prefix, packagers(), registry.authority()];
    let (place, _fleet, said) = registry.sandboxed(&reads, &install);
    assert!(place.join("there/tiny_leaf.py").is_file(), "{said}");
    assert!(registry.was_asked(wheel));
}

#[test]
fn go_downloads_through_the_proxy() {
    let registry = Registry::with_tls();
    let temp = tempfile::tempdir().unwrap();
    let source = temp.path().join("leaf.test/leaf@v1.0.0");
    fs::create_dir_all(&source).unwrap();
    let manifest = "module leaf.test/leaf\n";
    fs::write(source.join("go.mod"), manifest).unwrap();
    fs::write(source.join("leaf.go"), "package leaf\n").unwrap();
    // Go takes no entries for directories.
    let zip = "import zipfile; zip = zipfile.ZipFile('leaf.zip', 'w'); \
               [zip.write('leaf.test/leaf@v1.0.0/' + name) for name in ('go.mod', 'leaf.go')]";
    made(temp.path(), "python3", &["-c", zip]);
    let version = "leaf.test/leaf/@v/v1.0.0";
    registry.put(&format!("{version}.info"), r#"{"Version": "v1.0.0"}"#);
    registry.put(&format!("{version}.mod"), manifest);
    let zip = fs::read(temp.path().join("leaf.zip")).unwrap();
    registry.put(&format!("{version}.zip"), zip);
    let download = format!(
        "export SSL_CERT_FILE={} GOPATH=$PWD/go GOCACHE=$PWD/cache GOFLAGS=-modcacherw GOSUMDB=off
         # Go never asks a proxy for a host that is called localhost, and nothing more.
         export GOPROXY=https://localhost.:{}
         printf 'module x\\nrequire leaf.test/leaf v1.0.0\\n' > go.mod
         go mod download all >&2",
        registry.authority().display(),
        registry.port()
    );
    let (place, _fleet, said) = registry.sandboxed(&[registry.authority()], &download);
    let file = place.join("go/pkg/mod/leaf.test/leaf@v1.0.0/leaf.go");
    assert!(file.is_file(), "{said}");
    assert!(registry.was_asked(&format!("{version}.zip")));
}
