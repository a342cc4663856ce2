//! Commands whose purpose is to print a credential.

use crate::git::GitLine;
use crate::walk::options::{self, Arg, Spec};
use crate::walk::{Exec, View};
use crate::words::{Rows, Words};

use super::hosts::{is_metadata, is_metadata_host};

/// Options of these commands that take a value and may stand before the command words.
const GLOBAL: Spec = Spec {
    short: "RnCh",
    long: Words(
        "repo profile region endpoint-url project account namespace context kubeconfig \
         configuration subscription hostname",
    ),
};

/// Command words that print a credential.
const PRINTERS: Rows = Rows::new(
    "\
gh auth token
gh auth git-credential
glab auth token
aws configure export-credentials
aws sts assume-role
aws sts assume-role-with-web-identity
aws sts get-session-token
aws sts get-federation-token
aws ecr get-login-password
aws sso get-role-credentials
aws secretsmanager get-secret-value
aws codeartifact get-authorization-token
gcloud auth print-access-token
gcloud auth print-identity-token
gcloud auth application-default print-access-token
gcloud secrets versions access
gcloud config config-helper
az account get-access-token
az keyvault secret show
security find-generic-password
security find-internet-password
security dump-keychain
security export
secret-tool lookup
secret-tool search
keyring get
pass show
gopass show
op read
op item get
bw get
lpass show
vault read
vault kv get
vault print token
vault token lookup
kubectl create token
heroku auth:token
fly auth token
flyctl auth token
doppler secrets
aws eks get-token
doctl auth token
vercel env pull
railway variables
npm token
ansible-vault view
ansible-vault decrypt
sops decrypt
yarn config get npmAuthToken
gh config get oauth_token
glab config get token
firebase login:ci
systemd-creds decrypt
huggingface-cli auth token
hf auth token
heroku config
heroku config:get
netlify env:list
netlify env:get
infisical export
infisical secrets
supabase secrets list
stripe config
terraform state pull
tofu state pull
chamber read
chamber export
flyctl tokens create
fly tokens create
wrangler auth token
railway variable
render env
gitlab-runner verify
databricks auth token
snyk config get api
argocd account generate-token
consul acl token read
nomad var get
op signin
bw unlock
lpass export
kubectl view-secret
aws rds generate-db-auth-token
aws ecr-public get-login-password
aws secretsmanager batch-get-secret-value
gcloud sql generate-login-token
az keyvault secret download
infisical user get token
heroku pg:credentials:url
pulumi env open
doppler configure get token
vault token create
op inject
op document get
bw list
bw export
gopass cat
keepassxc-cli show
keepassxc-cli export
aws iam create-access-key
aws-vault export
az ad sp create-for-rbac
az acr credential show
az storage account keys list
az cosmosdb keys list
rclone config show
rclone config dump
sops exec-env
credstash get
teller env
teller show
teller export
berglas access
getent shadow
dotnet user-secrets list
gcloud iam service-accounts keys create
gcloud secrets versions access
az webapp config appsettings list
az functionapp keys list
az servicebus namespace authorization-rule keys list
aws iam create-service-specific-credential
rails credentials:show
rails credentials:edit
rails secrets:show
rails encrypted:show
keyring get
lpass show",
);

/// Judges one command.
pub(super) fn check(view: &View<'_>) -> Option<String> {
    let name = view.exec.name();
    if asks_metadata(view.exec) {
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

/// Whether the command connects to a metadata service: by its addresses, not by what it sends.
fn asks_metadata(exec: &Exec) -> bool {
    let (name, args) = (exec.name(), exec.args());
    if name == "<" {
        let sockets = ["/dev/tcp/", "/dev/udp/"];
        let socket = |arg: &String| {
            let rest = sockets.iter().find_map(|start| arg.strip_prefix(start));
            rest.is_some_and(|rest| is_metadata_host(rest.split('/').next().unwrap_or_default()))
        };
        return args.iter().any(socket);
    }
    let network = crate::walk::DOWNLOADERS.has(name);
    if !network && !matches!(name, "ssh" | "openssl") {
        return false;
    }
    let spec = match name {
        "wget" | "wget2" => crate::rules::pipe_to_shell::WGET,
        "curl" | "curlie" => crate::rules::pipe_to_shell::CURL,
        _ => options::PLAIN,
    };
    let listed = |arg: &String| {
        arg.starts_with("-K") || arg.starts_with("-i") || arg == "--config" || arg == "--input-file"
    };
    let mut fed = exec.stdin.split([' ', '\n', '=', '"']);
    if args.iter().any(listed) && fed.any(|word| !word.is_empty() && is_metadata(word)) {
        return true;
    }
    options::read(args, spec).into_iter().any(|arg| match arg {
        // `socat - TCP:host:80`, `openssl -connect host:443`.
        Arg::Operand(text) if name == "socat" => text.split([':', ',']).any(is_metadata_host),
        Arg::Operand(text) | Arg::Short('x', Some(text)) => is_metadata(text),
        Arg::Long("url" | "proxy" | "preproxy" | "socks5" | "socks5-hostname", Some(text)) => {
            is_metadata(text)
        }
        Arg::Long("resolve" | "connect-to", Some(text)) => {
            is_metadata(text) || text.split([':', ',', '[', ']']).any(is_metadata_host)
        }
        _ => false,
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
    // `python3 -m keyring get`.
    let module = view.exec.args().first().is_some_and(|arg| arg == "-m");
    let (name, operands) = match operands.split_first() {
        Some((module_name, rest)) if module && name.starts_with("python") => (*module_name, rest),
        _ => (name, operands.as_slice()),
    };
    PRINTERS.of(name).any(|row| row.start(operands)) || Words(
            "kwallet-query Get-AzAccessToken Get-Secret Get-StoredCredential ConvertFrom-SecureString",
        )
        .has(name)
}

/// Commands that print a credential only with a certain flag or operand.
fn flags(view: &View<'_>) -> bool {
    let operands = options::operands(view.exec.args(), GLOBAL);
    let has = |flags: Words| {
        view.exec.args().iter().any(|arg| {
            let flag = arg.split('=').next().unwrap_or_default();
            flags.has(flag)
        })
    };
    let starts = |words: Words| words.start(&operands);
    match view.exec.name() {
        "gh" | "glab" => starts(Words("auth status")) && has(Words("-t --show-token")),
        "aws" => {
            let secret = |word: &&str| Words("secret_access_key session_token").any_in(word);
            (starts(Words("configure get")) && operands.iter().any(secret))
                || (starts(Words("ssm")) && has(Words("--with-decryption")))
        }
        "kubectl" | "oc" => {
            let secrets = operands.iter().skip(1).any(|kind| {
                kind.split(['/', ','])
                    .any(|k| k == "secret" || k == "secrets")
            });
            let spec = Spec {
                short: "onlfLc",
                long: Words("output namespace selector context template"),
            };
            let printed = options::read(view.exec.args(), spec)
                .into_iter()
                .any(|arg| match arg {
                    Arg::Short('o', value) | Arg::Long("output", value) => {
                        let names = Words("name wide custom-columns=NAME:.metadata.name");
                        value.is_some_and(|value| {
                            !names.has(value) && !value.starts_with("jsonpath={.metadata.name")
                        })
                    }
                    Arg::Long("template", _) => true,
                    _ => false,
                });
            let token = starts(Words("whoami")) && has(Words("-t --show-token"));
            let extracted = starts(Words("extract")) && has(Words("--to"));
            token
                || extracted
                || (starts(Words("get")) && secrets && printed)
                || (starts(Words("config view")) && has(Words("--raw")))
        }
        "terraform" | "tofu" => starts(Words("output")) && has(Words("-raw -json --raw --json")),
        "pulumi" => {
            let key = |word: &&str| {
                Words("assword ecret oken apiKey ApiKey api_key privateKey").any_in(word)
            };
            has(Words("--show-secrets"))
                || (starts(Words("config get")) && operands.iter().skip(2).any(key))
        }
        "printenv" => operands.iter().any(|name| super::is_secret_variable(name)),
        // Options without a dash: `e` shows what is in the environment of each process.
        "ps" => view.exec.args().first().is_some_and(|arg| {
            arg.contains('e') && arg.len() < 8 && arg.chars().all(|c| "aefgluvwxjsTrtn".contains(c))
        }),
        "az" => has(Words("--expose-token")),
        "sops" => has(Words("-d --decrypt")),
        "pass" => {
            let verbs = Words("ls list search help version insert generate rm mv cp git init find");
            operands.first().is_some_and(|verb| !verbs.has(verb))
        }
        "infisical" | "doppler" | "aws-vault" | "envchain" | "chamber" | "op" => {
            let prints = |word: &&str| matches!(*word, "env" | "printenv");
            operands.iter().skip(1).any(prints)
        }
        "npm" | "pnpm" => {
            starts(Words("config get")) && operands.iter().any(|word| word.contains("_auth"))
        }
        "gpg" | "gpg2" => has(Words(
            "--export-secret-keys --export-secret-key --export-secret-subkeys",
        )),
        _ => false,
    }
}

fn git(view: &View<'_>) -> bool {
    let line = GitLine::read(view.exec.args());
    let verb = line.args.first().map_or("", String::as_str);
    let header = |arg: &String| arg.to_ascii_lowercase().contains("extraheader");
    let reads = line.has(Words("--get --get-all --get-regexp --get-urlmatch get"));
    (line.sub == "credential" && verb == "fill")
        || (line.sub.starts_with("credential-") && line.has(Words("get")))
        || (line.sub == "config" && reads && line.args.iter().any(header))
}
