//! Which paths hold credentials.

use crate::context::Context;
use crate::glob;
use crate::marks::{self, ANY, DEEP};
use crate::path::{self, Place};
use crate::words::Words;

/// Paths that hold credentials, by their last components. A leading `/` anchors the row; `/**` stands
/// for the directory itself and everything below it. From each tool's own documentation of where it
/// keeps its credentials. A `?` stands for a blank.
const SECRETS: Words = Words(
    ".ssh/** id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk \
     /etc/ssh/ssh_host_*_key .aws/** .azure/** .config/gcloud/** \
     application_default_credentials.json .kube .kube/config .kube/cache/** kubeconfig \
     *.kubeconfig /etc/kubernetes/*.conf /etc/rancher/k3s/k3s.yaml .docker/config.json \
     .config/containers/auth.json .netrc _netrc .npmrc .pypirc .git-credentials \
     .config/git/credentials .cargo/credentials .cargo/credentials.toml .gem/credentials \
     .composer/auth.json .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties \
     .nuget/NuGet/NuGet.Config .config/configstore/** .config/gh/** .config/hub \
     .config/glab-cli/** .config/tea/** .config/github-copilot/** .config/doctl/** \
     .config/rclone/** .config/op/** .config/sops/** .config/heroku/** .wrangler/config/** \
     .fly/config.yml .databrickscfg .snowsql/config .terraform.d/credentials.tfrc.json \
     .terraformrc .vault-token .pgpass .my.cnf .mylogin.cnf .s3cfg .boto .oci/** .gnupg/** \
     .password-store/** *.kdbx .local/share/keyrings/** .local/share/kwalletd/** \
     Library/Keychains/** *.keychain *.keychain-db Library/Cookies/** .mozilla/firefox/** \
     .config/google-chrome/** .config/chromium/** .config/BraveSoftware/** \
     .config/microsoft-edge/** Library/Application?Support/Firefox/** \
     Library/Application?Support/Google/Chrome/** Library/Application?Support/BraveSoftware/** \
     key4.db logins.json cookies.sqlite Login?Data .claude/.credentials.json .claude.json \
     .codex/auth.json .gemini/oauth_creds.json .gemini/google_accounts.json \
     .local/share/opencode/auth.json .qwen/oauth_creds.json .env* /proc/*/environ \
     /proc/*/task/*/environ .cache/huggingface/token .cache/huggingface/stored_tokens \
     .huggingface/token .kaggle/kaggle.json .pulumi/credentials.json .config/stripe/config.toml \
     .config/netlify/config.json .netlify/config.json .config/pip/pip.conf .pip/pip.conf \
     .local/share/com.vercel.cli/auth.json .railway/config.json .sentryclirc \
     .supabase/access-token .config/infisical/** .infisical/** .circleci/cli.yml \
     .config/ngrok/ngrok.yml .config/hcloud/cli.toml .config/scw/config.yaml \
     .config/argocd/config .config/flyctl/** .terraform.d/credentials.tfrc.json .bash_history \
     .zsh_history .python_history .psql_history .mysql_history .node_repl_history \
     .local/share/fish/fish_history /etc/shadow* /etc/gshadow* /run/secrets/** .credentials.json \
     .config/composer/auth.json /etc/ssl/private/** .travis/config.yml \
     .ngrok2/ngrok.yml .cloudflared/** .twilio-cli/config.json .config/linode-cli \
     .config/pypoetry/auth.toml .config/kaggle/kaggle.json /etc/krb5.keytab \
     /var/run/secrets/** config/master.key config/credentials/*.key .config/age/** age/keys.txt \
     .authinfo .authinfo.gpg .config/helm/registry/config.json .config/helm/repositories.yaml \
     /etc/gitlab-runner/config.toml .gitlab-runner/config.toml",
);

/// Private keys by the names they usually have, wherever they lie.
const KEYS: Words = Words(
    "privkey*.pem *privkey.pem private.pem private.key *-key.pem *_key.pem key.pem \
     *privatekey.pem *-private.pem *_private.pem *.private.pem *privkey.key *privatekey.key \
     *-private.key *_private.key *-key.key *_key.key *_key.der *-key.der server.key client.key \
     tls.key ssl.key ca.key rootCA.key signing.key jwt*.key *.ppk AuthKey_*.p8 id_rsa_* id_rsa.* \
     id_rsa-* id_dsa_* id_dsa.* id_ecdsa_* id_ecdsa.* id_ed25519_* id_ed25519.* id_ed25519-* \
     certs/*.key cert/*.key ssl/*.key tls/*.key pki/*.key keys/*.key private/*.key private/*.pem",
);

/// Endings of their files.
const KEY_ENDINGS: Words = Words("pem key ppk p8 der");

/// Words in the names of keys that anyone may read.
const PUBLISHED: Words = Words("pub public pubkey publickey");

/// Directories whose keys are made for tests.
const FIXTURES: Words = Words(
    "test tests __tests__ spec specs fixture fixtures testdata test-data test_data testing \
     example examples e2e mocks samples node_modules",
);

/// Names in `.ssh` that hold no key.
const PUBLIC: Words = Words("config known_hosts known_hosts.old authorized_keys allowed_signers");

/// Words that make a `.env` file a template.
const TEMPLATES: Words = Words("example sample template dist tpl schema defaults");

/// Endings of source files: `.env.d.ts` and `.envloader.rb` are code.
const SOURCES: Words =
    Words("ts mts cts tsx js mjs cjs jsx py rb go rs java kt swift php c h cpp cs md vue");

/// First letters of the names in [`SECRETS`] that do not start with a dot.
const OTHER_NAMES: Words = Words(
    "id_ _netrc kubeconfig application_default Library key4 logins cookies Login proc etc run master. \
     age config",
);

/// Whether a path (absolute, or as written) names a credential.
pub(super) fn is_secret(path: &str, ctx: &Context) -> bool {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let absolute = path.starts_with('/');
    let Some(last) = parts.last() else {
        return false;
    };
    if is_public(&parts, last) {
        return false;
    }
    let own = ctx.secret_paths.iter().map(String::as_str);
    if parts.iter().any(|part| interesting(part)) {
        return SECRETS
            .iter()
            .chain(own)
            .any(|row| fits(row, &parts, absolute, ctx));
    }
    own.into_iter().any(|row| fits(row, &parts, absolute, ctx))
}

/// Whether a path names a private key of any program. To be used, not shown, it may be named: a server
/// is started with one.
pub(super) fn is_private_key(path: &str, ctx: &Context) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let Some((last, dirs)) = parts.split_last() else {
        return false;
    };
    let ending = last.rsplit_once('.').map_or("", |(_, ending)| ending);
    let identity = last.starts_with("id_") && marks::exact(last) && !SOURCES.has(ending);
    let published = last
        .split(['.', '-', '_'])
        .any(|word| PUBLISHED.has(&word.to_ascii_lowercase()));
    (KEY_ENDINGS.has(ending) || identity)
        && !published
        && !dirs.iter().any(|dir| FIXTURES.has(dir))
        && KEYS.iter().any(|row| {
            let names: Vec<&str> = row.split('/').collect();
            let from = parts.len().checked_sub(names.len());
            from.is_some_and(|from| names_fit(&names, &parts[from..]))
        })
        && path::place(path, ctx) != Place::Temp
}

/// A quick look: most words of most commands name nothing near a credential.
fn interesting(part: &str) -> bool {
    let near = part.starts_with('.')
        || part.contains(marks::is_mark)
        || OTHER_NAMES.iter().any(|name| part.starts_with(name))
        || part.ends_with(".kubeconfig")
        || part.ends_with(".kdbx")
        || part.contains(".keychain")
        || part == "var";
    near && evident(part)
}

fn is_public(parts: &[&str], last: &str) -> bool {
    if !marks::exact(last) {
        return last.starts_with(".env") && is_template(last);
    }
    let in_ssh = parts.len() > 1 && parts[parts.len() - 2] == ".ssh";
    last.ends_with(".pub")
        || (in_ssh && PUBLIC.has(last))
        || last
            .strip_prefix(".env")
            .is_some_and(|rest| is_template(last) || is_source(rest))
}

/// Whether what follows `.env` makes another word of it, or the name of a source file.
fn is_source(rest: &str) -> bool {
    let another = rest.starts_with(|c: char| c.is_ascii_alphabetic()) && !rest.starts_with("rc");
    let ending = rest.rsplit_once('.').map(|(_, ending)| ending);
    another || ending.is_some_and(|ending| SOURCES.has(ending))
}

fn is_template(name: &str) -> bool {
    name.split(['.', '-', '_']).any(|word| TEMPLATES.has(word))
}

fn fits(row: &str, parts: &[&str], absolute: bool, ctx: &Context) -> bool {
    if !starts_alike(row, parts) {
        return false;
    }
    let home = row.strip_prefix("~/").map(|rest| {
        if ctx.home.is_empty() {
            rest.to_owned()
        } else {
            format!("{}/{rest}", ctx.home)
        }
    });
    let row = home.as_deref().unwrap_or(row);
    let (row, below) = match row.strip_suffix("/**") {
        Some(dir) => (dir, true),
        None => (row, false),
    };
    let names: Vec<&str> = row
        .split('/')
        .filter(|name| !name.is_empty() && *name != "**")
        .collect();
    if names.is_empty() || names.len() > parts.len() {
        return false;
    }
    let anchored = row.starts_with('/');
    let last_start = if anchored {
        0
    } else {
        parts.len() - names.len()
    };
    if anchored && !absolute {
        return false;
    }
    (0..=last_start).any(|at| {
        let ends = at + names.len() == parts.len();
        (ends || below) && names_fit(&names, &parts[at..at + names.len()])
    })
}

/// A look at the letters before the first wildcard: it spares most rows the closer one.
fn starts_alike(row: &str, parts: &[&str]) -> bool {
    let row = row.trim_start_matches('/');
    parts.iter().any(|part| {
        for (theirs, ours) in part.chars().zip(row.chars()) {
            if marks::is_mark(theirs) || matches!(ours, '*' | '?' | '[' | '~') {
                return true;
            }
            if theirs != ours {
                return false;
            }
        }
        true
    })
}

/// Whether the names fit. The first must be known by its letters: a path of nothing but unknown
/// names is no sign of a credential.
fn names_fit(names: &[&str], parts: &[&str]) -> bool {
    // An ending is a sign only when it is written out: `test-*` is no `*.kdbx`.
    let shown = |part: &&str| match names.first().and_then(|name| name.strip_prefix('*')) {
        Some(ending) => part.ends_with(ending),
        None => evident(part),
    };
    parts.first().is_some_and(shown)
        && parts
            .iter()
            .zip(names)
            .all(|(part, name)| glob::overlap_name(part, &marks::live_globs(name)))
}

fn evident(part: &str) -> bool {
    if marks::exact(part) {
        return true;
    }
    let known = part.chars().filter(|c| !marks::is_mark(*c)).count();
    let head = part.find(marks::is_mark).unwrap_or(part.len());
    if part.contains([ANY, DEEP]) {
        // `.env.$MODE` is one, `$DIR.env` is not.
        return head > 3;
    }
    // `.e?v` and `id_*` are, `*.json` is not a sign of `logins.json`.
    (part.starts_with('.') && known >= 2) || head >= 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::live_globs as live;

    fn secret(path: &str) -> bool {
        let mut ctx = Context::new("/wt");
        ctx.secret_paths = vec![
            "/srv/keys/**".to_owned(),
            "*.pem".to_owned(),
            "~/vault".to_owned(),
        ];
        ctx.home = "/home/u".to_owned();
        is_secret(&live(&path.replace('$', &marks::only(ANY))), &ctx)
    }

    #[test]
    fn credentials() {
        for path in [
            "/home/u/.ssh/id_rsa",
            "/home/u/.ssh",
            "/home/u/.ssh/work",
            ".ssh/*",
            "~/.s*/id_rsa",
            "/wt/.env",
            ".env.local",
            ".env*",
            ".en?",
            ".envrc",
            "$/.env",
            ".env.$",
            "/home/u/.aws/credentials",
            "/home/u/.aws",
            ".netrc",
            "/proc/1/environ",
            "/proc/$/environ",
            "/proc/self/task/4/environ",
            "/etc/shadow",
            "/home/u/.config/gh/hosts.yml",
            "/srv/keys/a/b",
            "x.pem",
            "/home/u/vault",
            "$/.ssh/$",
            "/home/u/.docker/*",
            "/r/id_ed25519",
            "/home/u/Library/Keychains/login.keychain-db",
        ] {
            assert!(secret(path), "{path}");
        }
    }

    #[test]
    fn private_keys() {
        let key = |path: &str| {
            let mut ctx = Context::new("/wt");
            ctx.tmp = "/tmp-7".to_owned();
            is_private_key(&live(path), &ctx)
        };
        for path in [
            "certs/privkey.pem",
            "/etc/letsencrypt/archive/x/privkey1.pem",
            "/wt/private.key",
            "localhost-key.pem",
            "deploy_private_key.pem",
            "/wt/server.key",
            "ssl/example.com.key",
            "ssl/*.key",
            "certs/*-key.pem",
            "certs/priv*.pem",
            "putty.ppk",
            "keys/id_ed25519_deploy",
            "id_rsa.bak",
        ] {
            assert!(key(path), "{path}");
        }
        for path in [
            "certs/fullchain.pem",
            "certs/cert.pem",
            "ca.crt",
            "server.*",
            "certs/*",
            "*.pem",
            "*.key",
            "public-key.pem",
            "jwt_pub_key.pem",
            "id_rsa_deploy.pub",
            "id_rsa_test.go",
            "id_generator",
            "tests/fixtures/server-key.pem",
            "tests/tls/key.pem",
            "/tmp-7/server.key",
            "src/server.key.ts",
            "src/server_key.rs",
            "talk.key",
            "",
            "/",
        ] {
            assert!(!key(path), "{path}");
        }
    }

    #[test]
    fn look_alikes() {
        for path in [
            ".env.example",
            ".env.sample",
            ".env.template",
            ".env.local.example",
            ".env.example.*",
            ".env/bin/activate",
            "src/env.rs",
            "env",
            "process.env",
            "config.env",
            "*",
            "$",
            "$/config.json",
            "*/config",
            "src/*",
            "$rc",
            "/home/u/.ssh/id_rsa.pub",
            "/home/u/.ssh/known_hosts",
            "/home/u/.ssh/config",
            "credentials.rs",
            "src/credentials",
            "auth.json",
            "config.json",
            "/proc/cpuinfo",
            "/etc/hosts",
            "Cargo.toml",
            ".git/config",
            ".github/workflows/x.yml",
            ".claude/settings.json",
            "docs/.envoy",
            "/wt/environ",
            "",
            "/",
            ".",
            "$env",
            "test/test-*",
            "nightly-$",
        ] {
            assert!(!secret(path), "{path}");
        }
    }
}
