//! Commands whose purpose is to print a credential.

use crate::git::GitLine;
use crate::walk::View;
use crate::walk::options::{self, Spec};

/// Options of these commands that take a value and may stand before the command words.
const GLOBAL: Spec = Spec {
    short: "RnCh",
    long: &[
        "repo",
        "profile",
        "region",
        "endpoint-url",
        "project",
        "account",
        "namespace",
        "context",
        "kubeconfig",
        "configuration",
        "subscription",
        "hostname",
    ],
};

/// Command words that print a credential.
const PRINTERS: &[&[&str]] = &[
    &["gh", "auth", "token"],
    &["gh", "auth", "git-credential"],
    &["glab", "auth", "token"],
    &["aws", "configure", "export-credentials"],
    &["aws", "sts", "assume-role"],
    &["aws", "sts", "assume-role-with-web-identity"],
    &["aws", "sts", "get-session-token"],
    &["aws", "sts", "get-federation-token"],
    &["aws", "ecr", "get-login-password"],
    &["aws", "sso", "get-role-credentials"],
    &["aws", "secretsmanager", "get-secret-value"],
    &["aws", "codeartifact", "get-authorization-token"],
    &["gcloud", "auth", "print-access-token"],
    &["gcloud", "auth", "print-identity-token"],
    &[
        "gcloud",
        "auth",
        "application-default",
        "print-access-token",
    ],
    &["gcloud", "secrets", "versions", "access"],
    &["gcloud", "config", "config-helper"],
    &["az", "account", "get-access-token"],
    &["az", "keyvault", "secret", "show"],
    &["security", "find-generic-password"],
    &["security", "find-internet-password"],
    &["security", "dump-keychain"],
    &["security", "export"],
    &["secret-tool", "lookup"],
    &["secret-tool", "search"],
    &["keyring", "get"],
    &["pass", "show"],
    &["pass", "ls"],
    &["gopass", "show"],
    &["op", "read"],
    &["op", "item", "get"],
    &["bw", "get"],
    &["lpass", "show"],
    &["vault", "read"],
    &["vault", "kv", "get"],
    &["vault", "print", "token"],
    &["vault", "token", "lookup"],
    &["kubectl", "create", "token"],
    &["heroku", "auth:token"],
    &["fly", "auth", "token"],
    &["flyctl", "auth", "token"],
    &["doppler", "secrets"],
    &["aws", "eks", "get-token"],
    &["doctl", "auth", "token"],
    &["vercel", "env", "pull"],
    &["railway", "variables"],
    &["npm", "token"],
    &["ansible-vault", "view"],
    &["ansible-vault", "decrypt"],
    &["sops", "decrypt"],
    &["yarn", "config", "get", "npmAuthToken"],
    &["gh", "config", "get", "oauth_token"],
    &["glab", "config", "get", "token"],
    &["firebase", "login:ci"],
    &["systemd-creds", "decrypt"],
];

/// Cloud metadata services, also in the spellings that hide the address.
const METADATA: [&str; 8] = [
    "169.254.170.2",
    "://metadata/computemetadata",
    "169.254.169.254",
    "metadata.google.internal",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "://2852039166",
    "0xa9fea9fe",
];

/// Whether a text is a request to a metadata service.
pub fn is_metadata(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    METADATA.iter().any(|host| text.contains(host))
}

/// Judges one command.
pub(super) fn check(view: &View<'_>) -> Option<String> {
    let args = view.exec.args();
    let name = view.exec.name();
    let network =
        crate::walk::DOWNLOADERS.contains(&name) || matches!(name, "ssh" | "telnet" | "<");
    if network && args.iter().any(|arg| is_metadata(arg)) {
        return Some(format!(
            "{name} would ask the cloud's metadata service for credentials"
        ));
    }
    let told = if name == "git" {
        git(view)
    } else {
        words(view) || flags(view)
    };
    told.then(|| {
        let shown: Vec<_> = view
            .exec
            .argv
            .iter()
            .take(4)
            .map(|w| crate::marks::show_short(w, 40))
            .collect();
        format!("`{}` prints a credential", shown.join(" "))
    })
}

fn words(view: &View<'_>) -> bool {
    let name = view.exec.name();
    if name.starts_with("docker-credential-") || name.starts_with("git-credential-") {
        return view.exec.args().first().is_some_and(|verb| verb == "get");
    }
    if view.exec.args().iter().any(|arg| arg == "--help") {
        return false;
    }
    let operands = options::operands(view.exec.args(), GLOBAL);
    PRINTERS
        .iter()
        .any(|row| row[0] == name && operands.starts_with(&row[1..]))
}

/// Commands that print a credential only with a certain flag or operand.
fn flags(view: &View<'_>) -> bool {
    let operands = options::operands(view.exec.args(), GLOBAL);
    let has = |flags: &[&str]| {
        view.exec
            .args()
            .iter()
            .any(|arg| flags.contains(&arg.as_str()))
    };
    let starts = |words: &[&str]| operands.starts_with(words);
    match view.exec.name() {
        "gh" | "glab" => starts(&["auth", "status"]) && has(&["-t", "--show-token"]),
        "aws" => {
            let secret = |word: &&str| {
                ["secret_access_key", "session_token"]
                    .iter()
                    .any(|key| word.contains(key))
            };
            (starts(&["configure", "get"]) && operands.iter().any(secret))
                || (starts(&["ssm"]) && has(&["--with-decryption"]))
        }
        "kubectl" | "oc" => {
            let secrets = operands.get(1).is_some_and(|kind| {
                kind.split('/')
                    .next()
                    .is_some_and(|k| k == "secret" || k == "secrets")
            });
            let printed = view.exec.args().iter().any(|arg| {
                ["-o", "--output", "--template"]
                    .iter()
                    .any(|flag| arg.starts_with(flag))
                    && arg != "-oname"
                    && arg != "-owide"
            });
            (starts(&["get"]) && secrets && printed)
                || (starts(&["config", "view"]) && has(&["--raw"]))
        }
        "az" => has(&["--expose-token"]),
        "sops" => has(&["-d", "--decrypt"]),
        "pass" => {
            let verbs = [
                "ls", "insert", "generate", "rm", "mv", "cp", "git", "init", "find",
            ];
            operands.first().is_some_and(|verb| !verbs.contains(verb))
        }
        "npm" => starts(&["config", "get"]) && operands.iter().any(|word| word.contains("_auth")),
        "gpg" | "gpg2" => has(&[
            "--export-secret-keys",
            "--export-secret-key",
            "--export-secret-subkeys",
        ]),
        _ => false,
    }
}

fn git(view: &View<'_>) -> bool {
    let line = GitLine::read(view.exec.args());
    let verb = line.args.first().map_or("", String::as_str);
    (line.sub == "credential" && verb == "fill")
        || (line.sub.starts_with("credential-") && verb == "get")
}
