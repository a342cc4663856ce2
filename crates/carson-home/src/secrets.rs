//! What Carson itself holds as secret: the values that must appear nowhere.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use carson_config::{Fleet, HeartbeatUrl, known_secret, read_secret};
use carson_redact::looks_random;
use secrecy::SecretString;

use crate::lent_dirs::is_lent;

/// Words in the name of a variable that say that its value is secret.
const SECRET_WORDS: [&str; 18] = [
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASS",
    "PWD",
    "PASSPHRASE",
    "KEY",
    "KEYS",
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "COOKIE",
    "DSN",
    "PAT",
];

/// Last words in the name of a variable that say that its value is none.
const HARMLESS_WORDS: [&str; 37] = [
    "REGION", "MODEL", "PROFILE", "PROJECT", "URL", "HOST", "PORT", "LANG", "LOCALE", "TZ", "DIR",
    "PATH", "HOME", "FILE", "NAME", "USER", "EMAIL", "ID", "LEVEL", "MODE", "ENDPOINT", "VERSION",
    "TIMEOUT", "SHELL", "TERM", "LOG", "LIMIT", "HINT", "COUNT", "SIZE", "LENGTH", "MAX", "MIN",
    "TTL", "METHOD", "TYPE", "SOCK",
];

/// Where somebody is and was: the shells' and npm's own, and no password (`DB_PWD` is one).
const DIRECTORIES: [&str; 3] = ["PWD", "OLDPWD", "INIT_PWD"];

/// Values that are not told by their name are from here on long enough to be no word.
const LEAST_UNNAMED: usize = 10;
/// Shortest secret: a shorter one would take words out of every text.
const LEAST: usize = 6;

/// Lines of an included file that are read, and letters from which one without a name is no word: those
/// of a key are 64.
const LINES: usize = 10_000;
const LONG: usize = 40;
/// Letters of a line that is nothing but a token of letters and digits.
const TOKEN: usize = 20;
/// How digests of files begin.
const DIGESTS: [&str; 4] = ["sha1", "sha256", "sha384", "sha512"];
/// Letters from which what looks random is a secret by its form alone.
const UNNAMED_TOKEN: usize = 12;
/// Behind these a space is enough (`.netrc`).
const SPACED: [&str; 4] = ["password", "passwd", "token", "secret"];

/// Every secret that these settings and the operator's environment hold. A file that cannot be read
/// is left out here: whoever needs it says so. What only a face or a sink needs stops no firing where others can read
/// its file, and is a secret all the same.
#[must_use]
pub fn held(fleet: &Fleet, environ: &[(OsString, OsString)]) -> Vec<SecretString> {
    let mut held = Vec::new();
    for forge in &fleet.forges {
        let file = forge.token().and_then(|token| token.file());
        held.extend(file.and_then(|file| read_secret(file).ok()));
    }
    for sink in &fleet.sinks {
        held.extend(sink.secrets(&|file| known_secret(file).ok_or_else(String::new)));
    }
    let mcp = fleet.mcp.as_ref().map(|mcp| &mcp.token_file);
    let page = fleet.page.as_ref().map(|page| &page.token_file);
    let embedder = fleet.memory.embedder.as_ref();
    let embedder = embedder.and_then(|at| at.key_file.as_ref());
    let heartbeat = match &fleet.heartbeat.to {
        Some(HeartbeatUrl::File(file)) => Some(file),
        _ => None,
    };
    let aside = [mcp, page, embedder, heartbeat].into_iter().flatten();
    held.extend(aside.filter_map(|file| known_secret(file)));
    let mut values: Vec<String> = passwords(&fleet.database);
    for repo in fleet.repos.values() {
        values.extend(passwords(&repo.url));
        for file in &repo.include {
            values.extend(included(&file.from));
        }
    }
    for account in fleet.accounts.values() {
        let key = account.key.as_ref();
        held.extend(key.and_then(|key| read_secret(&key.file).ok()));
        values.extend(given(&account.env));
        values.extend(sign_in(&account.env));
    }
    for role in fleet.roles.values() {
        values.extend(given(&role.identity));
        values.extend(sign_in(&role.identity));
        for server in &role.servers {
            values.extend(given(&server.env));
            for file in server.secrets.values() {
                held.extend(read_secret(file).ok());
                // A file of several lines holds more than one.
                values.extend(included(file));
            }
        }
    }
    held.extend(values.into_iter().map(SecretString::from));
    held.extend(of_environment(environ));
    held
}

/// The values of an environment's variables that are secret by their names.
#[must_use]
pub fn of_environment(environ: &[(OsString, OsString)]) -> Vec<SecretString> {
    let secret = environ.iter().filter_map(|(name, value)| {
        let (name, value) = (name.to_str()?, value.to_str()?);
        (is_secret_name(name) && could_be_secret(value)).then(|| value.to_owned())
    });
    secret.map(SecretString::from).collect()
}

/// A secret file, or why it cannot be had.
///
/// # Errors
/// When it cannot be read, others can read it too, or it is empty.
pub fn secret(file: &Path) -> Result<SecretString, String> {
    read_secret(file).map_err(|error| error.to_string())
}

/// The values of a table of variables. The operator wrote them for sign-in, so a value counts
/// unless its name or its form says that it is none.
fn given<'e>(
    env: impl IntoIterator<Item = (&'e String, &'e String)> + 'e,
) -> impl Iterator<Item = String> + 'e {
    env.into_iter().flat_map(|(name, value)| {
        let mut found = passwords(value);
        let unnamed = !is_harmless_name(name) && value.len() >= LEAST_UNNAMED;
        if (is_secret_name(name) || unnamed) && could_be_secret(value) {
            found.push(value.clone());
        }
        found
    })
}

/// What a file that is copied into workspaces holds: lines of variables, and what else is long.
fn included(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let (mut table, mut found) = (BTreeMap::new(), Vec::new());
    for line in text.lines().map(str::trim).take(LINES) {
        if line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let behind_names = named(line);
        match line.split_once('=') {
            Some((name, value)) if is_variable(name.trim()) => {
                let value = value.trim().trim_matches(['"', '\'']);
                table.insert(name.trim().to_owned(), value.to_owned());
            }
            _ if behind_names.is_empty() && is_token(line) => found.push(line.to_owned()),
            _ => {}
        }
        found.extend(behind_names);
        found.extend(tokens(line));
    }
    found.extend(given(&table));
    found
}

/// What of a line looks like nothing but a key, wherever it stands: in a list, behind `Bearer`, at the end of an address.
/// Behind a name that says that it is none, nothing does; nor is a UUID or a digest one by its form alone.
fn tokens(line: &str) -> Vec<String> {
    let name = line.split(['=', ':']).next().unwrap_or_default();
    if name.len() < line.len()
        && is_harmless_name(name.trim_matches(|one: char| !one.is_alphanumeric()))
    {
        return Vec::new();
    }
    let is_apart = |letter: char| !(letter.is_ascii_alphanumeric() || "+/_-".contains(letter));
    let (mut found, mut at) = (Vec::new(), 0);
    for part in line.split_inclusive(is_apart) {
        let before = line[..at].to_ascii_lowercase();
        at += part.len();
        let run = part.trim_end_matches(is_apart);
        let is_digest = DIGESTS.iter().any(|name| {
            before.ends_with(&format!("{name}:")) || run.starts_with(&format!("{name}-"))
        });
        // An address is none as a whole.
        let whole = Some(run).filter(|run| !run.starts_with("//"));
        let all = whole.into_iter().chain(run.split('/'));
        let all = all.filter(|token| token.len() >= UNNAMED_TOKEN && looks_random(token));
        found.extend(
            all.filter(|token| !is_digest && !is_uuid(token))
                .map(str::to_owned),
        );
    }
    found
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Values that stand behind a name that says that they are secret, whatever the form of the file: JSON, YAML, XML, properties,
/// `.npmrc`, and `.netrc`, where nothing but a space is between them.
fn named(line: &str) -> Vec<String> {
    let is_end = |letter: char| letter.is_whitespace() || ",;{}()[]<".contains(letter);
    let (mut found, mut rest) = (Vec::new(), line);
    while let Some(at) = rest.find(['=', ':', ' ', '>']) {
        let (before, behind) = rest.split_at(at);
        let name = before.trim_end().trim_end_matches(['"', '\'']);
        let name = name.rsplit(|letter: char| is_end(letter) || "\"'/".contains(letter));
        let name = name.into_iter().next().unwrap_or_default();
        // A space in front of another one of these is none of its own.
        let behind = match behind.trim_start() {
            next if next.starts_with(['=', ':']) => next,
            _ => behind,
        };
        let is_spaced = behind.starts_with(' ');
        rest = behind.get(1..).unwrap_or_default();
        let says = match is_spaced {
            true => SPACED.contains(&name),
            false => is_secret_name(name),
        };
        if !says {
            continue;
        }
        let value = rest.trim_start_matches(['=', ':', ' ', '>']);
        let value = match value.chars().next().filter(|first| "\"'".contains(*first)) {
            Some(quote) => value[1..].split(quote).next(),
            None => value.split(is_end).next(),
        };
        let value = value.unwrap_or_default();
        if could_be_secret(value) {
            found.push(value.to_owned());
        }
    }
    found
}

/// Whether a line is nothing but a token: no word and no path is so long, and mixes letters and digits so.
fn is_token(line: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+/=.".contains(&byte);
    let letters = line.bytes().any(|byte| byte.is_ascii_alphabetic());
    let mixed = letters && line.bytes().any(|byte| byte.is_ascii_digit());
    let is_long = line.len() >= LONG && !line.contains(' ');
    is_long || line.len() >= TOKEN && mixed && line.bytes().all(is_plain) && could_be_secret(line)
}

fn is_variable(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(letter)
}

/// `API_KEY`, `apiKey`, `api-key` and `spring.api.key` are of the same words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let begins = was_lower && letter.is_uppercase();
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_uppercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_secret_name(name: &str) -> bool {
    let secret = |word: &String| SECRET_WORDS.contains(&word.as_str());
    !is_harmless_name(name) && words(name).iter().any(secret)
}

fn is_harmless_name(name: &str) -> bool {
    let last = words(name).pop().unwrap_or_default();
    let is_directory = DIRECTORIES.contains(&name.to_ascii_uppercase().as_str());
    HARMLESS_WORDS.contains(&last.as_str()) || name.starts_with("LC_") || is_directory
}

/// No path, address, number or word: those stand in ordinary text. A passphrase may begin as a path
/// does and have spaces, so such a path must be there.
fn could_be_secret(value: &str) -> bool {
    let is_there = || value.starts_with('/') && Path::new(value).exists();
    // A key of base64 may begin with a slash, too.
    let is_path =
        value.starts_with(['/', '~', '.']) && !value.contains(' ') && !looks_random(value)
            || is_there();
    let is_number = value.parse::<f64>().is_ok() && value.len() < 16;
    let is_word = value.len() < 16 && value.bytes().all(|byte| byte.is_ascii_lowercase());
    value.len() >= LEAST && !(is_path || is_number || is_word || value.contains("://"))
}

/// The password in an address, as it stands there and as it is meant.
fn passwords(address: &str) -> Vec<String> {
    let Some((_, rest)) = address.split_once("://") else {
        return Vec::new();
    };
    let (authority, query) = match rest.find(['/', '?']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let (name, password) = user.split_once(':').unwrap_or(("", user));
    let parameter = query
        .split(['?', '&'])
        .find_map(|pair| pair.strip_prefix("password="));
    let found = [Some(password).filter(|found| *found != name), parameter];
    let both = |found: &str| [found.to_owned(), decoded(found)];
    let all = found.into_iter().flatten().flat_map(both);
    all.filter(|found| could_be_secret(found)).collect()
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What the CLIs are signed in with: a session can read its copy of these files.
fn sign_in(env: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in env {
        let Some(known) = is_lent(name, value) else {
            continue;
        };
        for credential in known.credentials {
            let file = Path::new(value).join(credential.file);
            let text = std::fs::read(file).unwrap_or_default();
            if let Ok(value) = serde_json::from_slice(&text) {
                long_texts(&value, &mut found);
            }
        }
    }
    found
}

fn long_texts(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) if text.len() >= 20 => found.push(text.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|item| long_texts(item, found)),
        serde_json::Value::Object(items) => items.values().for_each(|item| long_texts(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_signs_in_is_secret_and_the_rest_is_not() {
        let env = [
            ("ANTHROPIC_API_KEY", "a-key-of-mine"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "short1"),
            ("SOME_OTHER", "Zk3vQ9xLmB7t"),
            ("HTTPS_PROXY", "http://me:p%40ssw0rd-1@proxy:3128"),
            ("CLAUDE_CONFIG_DIR", "/home/me/.claude"),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_PROFILE", "some-profile-name"),
            ("ANTHROPIC_MODEL", "claude-sonnet-5"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"),
            ("MAX_THINKING_TOKENS", "31999"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ("SSH_AUTH_SOCK", "/run/agent.sock"),
            ("FLAG", "true"),
        ];
        let env: BTreeMap<String, String> = env
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let mut found: Vec<String> = given(&env).collect();
        found.sort();
        let wanted = [
            "Zk3vQ9xLmB7t",
            "a-key-of-mine",
            "p%40ssw0rd-1",
            "p@ssw0rd-1",
            "short1",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn an_included_file_of_any_form_says_its_secrets() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("local");
        let held = |text: &str| {
            std::fs::write(&file, text).unwrap();
            let mut found = included(&file);
            found.sort();
            found.dedup();
            found
        };
        let token = "q8Zt3LkV0pWm7RxC2nYb5JdHs9GfQaE1";
        for (text, secret) in [
            ("DB_PASSWORD=hunter2hunter6\n", "hunter2hunter6"),
            ("db:\n  password: hunter2hunter4 # mine\n", "hunter2hunter4"),
            ("  - { user: u, password: 'two words 1' }\n", "two words 1"),
            (
                "{\"user\":\"u\",\"password\":\"hunter2hunter2\"}\n",
                "hunter2hunter2",
            ),
            ("  \"apiKey\" : \"q8Zt3LkV0p\",\n", "q8Zt3LkV0p"),
            (&format!("{token}\n"), token),
            (&format!("machine h login u password {token}\n"), token),
            ("//r.example/:_authToken=abcdef123456\n", "abcdef123456"),
            (
                "spring.datasource.password: hunter2hunter9\n",
                "hunter2hunter9",
            ),
            (
                "spring.datasource.password=hunter2hunter9\n",
                "hunter2hunter9",
            ),
            ("<password>hunter2hunter3</password>\n", "hunter2hunter3"),
            ("'client-secret' => 'hunter2hunter5',\n", "hunter2hunter5"),
        ] {
            assert_eq!(held(text), [secret], "{text}");
        }
        for text in [
            "image: postgres:15-alpine\nregion: eu-central-1\n",
            "{\"name\": \"widget\", \"version\": \"1.22.333\"}\n",
            "# password: not-yet-known1\n",
            "password: postgres\n",
            "Forget the password before noon2day\n",
            "cache-and-other-words-of-no-number\n",
        ] {
            assert_eq!(held(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_key_in_an_included_file_is_one_wherever_it_stands() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("local");
        let held = |text: &str| {
            std::fs::write(&file, text).unwrap();
            included(&file)
        };
        let key = "q7Vd2LrX9mTz4KbW8nYc5Jh";
        for text in [
            format!("AUTHORIZATION=Bearer {key}\n"),
            format!("WEBHOOK=https://hooks.example/services/Tq1/{key}\n"),
            format!("CREDENTIALS={{\"user\":\"u\",\"x\":\"{key}\"}}\n"),
            format!("{{\"apiKeys\": [\"one\", \"{key}\"]}}\n"),
            format!("tokens:\n  - {key}\n"),
            format!("env:\n  - name: DB_PASSWORD\n    value: {key}\n"),
            format!("secret: &anchor !!str {key}\n"),
            format!("secret = \"\"\"\n{key}\n\"\"\"\n"),
            format!("X_AUTH=user:{key}\n"),
        ] {
            assert!(held(&text).iter().any(|found| found == key), "{text}");
        }
        let slash = "/q7Vd2LrX9mTz4KbW8nYc5JhPw3Rt6Ypz8Qk1Nv5Lx0=";
        let with_slash = held(&format!("APP_KEY={slash}\n"));
        assert!(with_slash.iter().any(|found| found == slash));
        for text in [
            "PROJECT_ID=q7Vd2LrX9mTz4KbW\n",
            "tenant: 550e8400-e29b-41d4-a716-446655440000\n",
            "image: node@sha256:4e3b1f6a9c8d7e5f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f\n",
            "BASE=https://api.internal.example/v2/widgets/2024-10-21\n",
        ] {
            assert_eq!(held(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn where_somebody_works_is_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().join("my repo");
        std::fs::create_dir(&here).unwrap();
        let here = here.to_str().unwrap();
        let held = |name: &str, value: &str| {
            !of_environment(&[(name.into(), OsString::from(value))]).is_empty()
        };
        for (name, value) in [
            ("PWD", "/gone/my repo"),
            ("OLDPWD", "/gone/my repo"),
            ("INIT_PWD", "/gone/my repo"),
            ("BUILD_PWD", here),
            ("SSH_AUTH_SOCK", "/run/my user/agent"),
            ("KEY_STORE", here),
            ("TOKEN_LIMIT", "one hundred thousand"),
            ("COMPOSE_PASSWORD_HINT", "the name of the dog"),
            ("KEYBOARD", "a b c d e f"),
        ] {
            assert!(!held(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("DB_PWD", "correct horse battery"),
            ("MYSQL_PWD", "hunter22!"),
            ("TOKEN_OF_MINE", "abc123def"),
            ("APP_PASSPHRASE", "/ correct horse battery"),
            ("NPM_TOKEN", "abc123def"),
        ] {
            assert!(held(name, value), "{name}={value}");
        }
    }

    #[test]
    fn passwords_of_addresses_are_secret() {
        assert_eq!(
            passwords("postgres://me:s3cr%21t@host/db"),
            ["s3cr%21t", "s3cr!t"]
        );
        assert_eq!(passwords("https://a-t0ken@host/x.git")[0], "a-t0ken");
        assert_eq!(
            passwords("postgres://host/db?password=s3cret1")[0],
            "s3cret1"
        );
        for none in [
            "postgres://postgres:postgres@host/db",
            "git@host:a/b.git",
            "/a/b",
            "https://host",
        ] {
            assert!(passwords(none).is_empty(), "{none}");
        }
    }
}
