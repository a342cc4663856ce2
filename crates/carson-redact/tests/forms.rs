//! What goes, and what must stay.

#![cfg(test)]

use carson_redact::{Redactor, rule_names};
use proptest::prelude::*;
use secrecy::SecretString;

/// Made up: nothing here was ever valid. Each stands in two parts, so that this file has none.
const GOES: &[(&str, &str, &str)] = &[
    (
        "anthropic",
        "sk-ant-",
        "api03-Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pS-uV_iOqTzXcAA",
    ),
    (
        "openai",
        "sk-proj-",
        "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gT3BlbkFJH6jK0pSuViOqTzXc",
    ),
    (
        "openai",
        "sk-",
        "Zk3vQ9xLmB7tR2wY5nC8T3BlbkFJaD1eF4gH6jK0pSuViOqT",
    ),
    (
        "openai",
        "sk-or-v1-",
        "3f8a1c9e5b7d2046a8c1e3f507294b6d8f0a2c4e6b8d1f3a5c7e9b0d2f4a6c8e",
    ),
    ("huggingface", "hf_", "QwErTyUiOpAsDfGhJkLzXcVbNm12345678"),
    (
        "groq",
        "gsk_",
        "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuViOqTzXcAb9Cd8Ef7",
    ),
    (
        "github",
        "github_pat_",
        "11ABCDEFG0Zk3vQ9xLmB7t_R2wY5nC8aD1eF4gH6jK0pSuViOqTzXcAb9Cd8Ef7Gh6Ij5Kl4Mn3",
    ),
    ("github", "ghp_", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV"),
    ("github", "ghs_", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV"),
    ("gitlab", "glpat-", "Zk3vQ9xLmB7tR2wY5nC8"),
    ("gitlab", "glrt-", "Zk3vQ9xLmB7tR2wY5nC8"),
    ("aws", "AKIA", "Z7Q2X5W3N4K6B2HT"),
    ("aws", "ASIA", "Z7Q2X5W3N4K6B2HT"),
    ("google", "AIza", "SyZk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0p"),
    ("google", "GOCSPX-", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH"),
    (
        "azure",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=",
        "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuViOqTzXcAb9Cd8Ef7Gh6Ij5Kl4Mn3Op2Qr1St0Uv9Wx8Yz7A==",
    ),
    (
        "digitalocean",
        "dop_v1_",
        "3f8a1c9e5b7d2046a8c1e3f507294b6d8f0a2c4e6b8d1f3a5c7e9b0d2f4a6c8e",
    ),
    ("databricks", "dapi", "3f8a1c9e5b7d2046a8c1e3f507294b6d"),
    ("vault", "hvs.", "CAESIZk3vQ9xLmB7tR2wY5nC8aD1eF4gH6"),
    (
        "slack",
        "xoxb-",
        "728103456812-7281034568123-Zk3vQ9xLmB7tR2wY5nC8aD1e",
    ),
    (
        "slack",
        "xapp-",
        "1-A04ZK3VQ9XL-7281034568123-3f8a1c9e5b7d2046a8c1e3f507294b6d",
    ),
    (
        "slack-webhook",
        "https://hooks.slack.com/services/",
        "T04ZK3VQ9/B05XLMB7T/Zk3vQ9xLmB7tR2wY5nC8aD1e",
    ),
    (
        "webhook",
        "https://discord.com/api/webhooks/",
        "728103456812345678/Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuViOqTzXcAb9Cd8Ef7",
    ),
    (
        "sendgrid",
        "SG.",
        "Zk3vQ9xLmB7tR2wY5nC8aD.Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuViOqTzXc",
    ),
    ("twilio", "SK", "3f8a1c9e5b7d2046a8c1e3f507294b6d"),
    ("stripe", "sk_live_", "Zk3vQ9xLmB7tR2wY5nC8aD1e"),
    ("stripe", "rk_live_", "Zk3vQ9xLmB7tR2wY5nC8aD1e"),
    ("shopify", "shpat_", "3f8a1c9e5b7d2046a8c1e3f507294b6d"),
    ("npm", "npm_", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV"),
    (
        "pypi",
        "pypi-Ag",
        "EIcHlwaS5vcmcCJDNmOGExYzllLTViN2QtMjA0Ni1hOGMxLWUzZjUwNzI5NGI2ZA",
    ),
    ("crates-io", "cio", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0"),
    (
        "rubygems",
        "rubygems_",
        "3f8a1c9e5b7d2046a8c1e3f507294b6d8f0a2c4e6b8d1f3a",
    ),
    ("docker", "dckr_pat_", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4g"),
    (
        "grafana",
        "glsa_",
        "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0_3f8a1c9e",
    ),
    (
        "linear",
        "lin_api_",
        "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuViOqT",
    ),
    (
        "jwt",
        "eyJ",
        "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    ),
    (
        "private-key",
        "AGE-SECRET-KEY-1",
        "QQQZK3VQ9XLMB7TR2WY5NC8AD1EF4GH6JK0PSUVIQQTZXCAB9CD8EF7GH6",
    ),
];

/// Text with a secret, and what must be gone from it; the rule.
const GOES_FROM: &[(&str, &str, &str)] = &[
    (
        "url-password",
        "https://deploy:Zk3vQ9xLm@git.example.org/a.git",
        "Zk3vQ9xLm",
    ),
    (
        "url-password",
        "postgres://app:h%2Fq9-vw_x@db:5432/app",
        "h%2Fq9-vw_x",
    ),
    (
        "authorization",
        "Authorization: Bearer Zk3vQ9xLmB7tR2wY5nC8",
        "Zk3vQ9xLmB7tR2wY5nC8",
    ),
    (
        "authorization",
        "\\\"authorization\\\": \\\"Basic dXNlcjpoM3NxOXZ3NXg3eg==\\\"",
        "dXNlcjpoM3NxOXZ3NXg3eg",
    ),
    ("assignment", "DB_PASSWORD=k9#vLq2!", "k9#vLq2!"),
    (
        "assignment",
        "export MY_API_KEY=\"zk3vq9xlmb7t\"",
        "zk3vq9xlmb7t",
    ),
    (
        "assignment",
        "{\"client_secret\": \"a8f-3Zk3vQ9xLmB7tR2wY\"}",
        "a8f-3Zk3vQ9xLmB7tR2wY",
    ),
    (
        "assignment",
        "{\\\"SecretAccessKey\\\":\\\"Zk3vQ9xLmB7tR2wY5nC8/aD1eF4gH6jK0pSuViOq\\\"}",
        "Zk3vQ9xLmB7tR2wY5nC8/aD1eF4gH6jK0pSuViOq",
    ),
    (
        "assignment",
        "aws_secret_access_key = Zk3vQ9xLmB7tR2wY5nC8/aD1eF4gH6jK0pSuViOq",
        "Zk3vQ9xLmB7tR2wY5nC8/aD1eF4gH6jK0pSuViOq",
    ),
    (
        "assignment",
        "PRIVATE-TOKEN: Zk3vQ9xLmB7tR2wY5nC8",
        "Zk3vQ9xLmB7tR2wY5nC8",
    ),
    ("assignment", "password: 'p4ssw0rd9x1'", "p4ssw0rd9x1"),
];

/// What people and programs write every day.
const STAYS: &[&str] = &[
    "task-ant-hill, desk-proj-x, sk-short, the AKIA prefix, eyJ.a.b, ghp_ and xoxb-not-a-real-one",
    "sk-ant-hill-colony-simulator-for-the-desktop-and-more",
    ".sk-loading-spinner-container-wrapper-inner-element { sk-fading-circle-animation-delay: 1s }",
    "commit 3f8a1c9e5b7d2046a8c1e3f507294b6d8f0a2c4e",
    "sha256:3f8a1c9e5b7d2046a8c1e3f507294b6d8f0a2c4e6b8d1f3a5c7e9b0d2f4a6c8e",
    "550e8400-e29b-41d4-a716-446655440000",
    "\"integrity\": \"sha512-Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuViOqTzXcAb9Cd8Ef7Gh6Ij5Kl4Mn3Op2Qr1St0Uv9Wx8Yz7A==\"",
    "checksum = \"8da17ac42fd8d4e45a1e0a8a5b6ee6ee5d3a9b5b1e1f7a0d6c3b2a1908f7e6d5\"",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
    "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IkFBQUEifQ==",
    "npm_config_registry_authentication_token_path npm_package_dependencies_react_dom",
    "let token = parser.next_token2()?; let secret = Secret::new(value1);",
    "password: String, token: &'t str, secret: Option<SecretString>, api_key: Vec<u8>",
    "token = os.environ[\"GITHUB_TOKEN\"]; secret = ${{ secrets.DEPLOY_KEY_2 }}",
    "PASSWORD=$(cat /run/secrets/db1) TOKEN=${TOKEN:-none1} SECRET=/run/secrets/token1",
    "API_KEY=your-api-key-1234 PASSWORD=changeme123 TOKEN=<token1> DB_PASSWORD=xxxxxxxx1",
    "max_tokens = 4096, tokenizer=\"gpt2-large-v1\", token_file = \"github.token\", TOKEN_LIMIT=200000",
    "const TOKEN_KIND: &str = \"access-token-2\"; password: \"correct horse battery staple\"",
    "the token: it was given, the password = the one that you know, secret: yes",
    "https://user@host/x ssh://git@github.com:22/a/b.git http://localhost:8080/a@b:c postgres://postgres:postgres@localhost/x",
    "https://user:password@example.com https://$USER:$PASS@host postgres://app:${DB_PASSWORD}@db/x",
    "if text.contains(\"-----BEGIN RSA PRIVATE KEY-----\") { return Err(\"a -----BEGIN PRIVATE KEY----- line\") }",
    "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx AKIAXXXXXXXXXXXXXXXX AKIAIOSFODNN7EXAMPLE",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3f8a1c9e5b7d2046a8c1e3f507294b6d8f0a2c user@host",
    "Bearer of bad news; basic authentication-middleware-handler; bearer token required",
    "0x3f8a1c9e5b7d2046a8c1e3f507294b6d8f0a2c4e rs_3f8a1c9e msg_01Zk3vQ9xLmB7tR2wY5nC8aD toolu_01Zk3vQ9xLmB7tR2wY5nC8aD",
    "sl.wikipedia.org md-editor bot12 skeleton SKIPPED AIza cio EAAA hf_token gsk_ pul-request",
    "assert_eq!(token, \"abc\"); expect(secret).toBe('shh'); private_key=None, auth_key: null",
];

#[test]
fn every_rule_has_an_example() {
    let tried: Vec<&str> = GOES.iter().chain(GOES_FROM).map(|case| case.0).collect();
    // Prefixes of these are too alike to the rest for an example each.
    let alike = [
        "xai",
        "perplexity",
        "replicate",
        "bitbucket",
        "fly",
        "heroku",
        "doppler",
        "pulumi",
        "planetscale",
        "supabase",
        "nuget",
        "sentry",
        "newrelic",
        "notion",
        "postman",
        "atlas",
        "dropbox",
        "1password",
    ];
    for name in rule_names() {
        assert!(tried.contains(&name) || alike.contains(&name), "{name}");
    }
}

#[test]
fn credentials_go() {
    let redactor = Redactor::default();
    for (rule, prefix, tail) in GOES {
        let kept = match *rule {
            "azure" => &prefix[..prefix.len() - "AccountKey=".len()],
            "slack-webhook" | "webhook" => "https://",
            _ => "",
        };
        for (before, after) in [
            ("x=", ", y"),
            ("\"", "\"}"),
            ("\\n", "\\n"),
            ("\\\"", "\\\""),
            ("%0A", "%0A"),
            ("(", ")"),
            ("é", "é"),
            ("\u{1b}[32m", "\u{1b}[0m"),
            ("", ""),
            ("\n", "\n"),
            ("`", "`."),
        ] {
            let text = format!("{before}{prefix}{tail}{after}");
            let wanted = format!("{before}{kept}[redacted:{rule}]{after}");
            assert_eq!(redactor.redact(&text), wanted, "{text}");
        }
        let json = serde_json::json!({ "text": format!("line\n{prefix}{tail}\nline") }).to_string();
        let json = redactor.redact(&json).into_owned();
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
        assert!(!json.contains(tail), "{json}");
    }
    for (rule, text, secret) in GOES_FROM {
        let wanted = text.replace(secret, &format!("[redacted:{rule}]"));
        let gone = redactor.redact(text).into_owned();
        assert!(
            gone.starts_with(wanted.split(']').next().unwrap()),
            "{gone}"
        );
        assert!(!gone.contains(secret), "{gone}");
    }
}

#[test]
fn ordinary_text_stays() {
    let redactor = Redactor::default();
    for text in STAYS {
        assert_eq!(redactor.redact(text), *text);
        let json = serde_json::json!({ "text": text, "more": [text] }).to_string();
        assert_eq!(redactor.redact(&json), json);
    }
}

#[test]
fn this_repository_stays() {
    // All of it is ordinary code and prose, but for what tests plant.
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let redactor = Redactor::default();
    for name in [
        "Cargo.lock",
        "README.md",
        "docs/CONFIG.md",
        "docs/ARCHITECTURE.md",
    ] {
        let text = std::fs::read_to_string(root.join(name)).unwrap();
        assert_eq!(redactor.redact(&text), text, "{name}");
    }
}

fn key() -> String {
    let line = "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuViOqTzXcAb9Cd8Ef7Gh6Ij5Kl4Mn3";
    format!(
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{line}\n{line}\nZk3v==\n-----END RSA PRIVATE KEY-----"
    )
}

#[test]
fn private_keys_go_whole() {
    let redactor = Redactor::default();
    let key = key();
    assert_eq!(
        redactor.redact(&format!("a {key} b")),
        "a [redacted:private-key] b"
    );
    let numbered: Vec<String> = key
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{:>6}→{line}", at + 1))
        .collect();
    for text in [
        key.clone(),
        numbered.join("\n"),
        key.replace('\n', "\n+"),
        key.replace('\n', "\n    "),
    ] {
        for text in [text.clone(), text[..text.len() - 40].to_owned()] {
            let json = serde_json::json!({"a": [text, "kept"]}).to_string();
            let gone = redactor.redact(&json).into_owned();
            assert!(
                !gone.contains("Zk3v") && gone.ends_with(",\"kept\"]}"),
                "{gone}"
            );
            serde_json::from_str::<serde_json::Value>(&gone).unwrap();
            assert!(!redactor.redact(&text).contains("Zk3v"), "{text}");
        }
    }
}

#[test]
fn a_known_value_goes_in_every_form() {
    let redactor = Redactor::new(["p\"ss/w+rd", "ab"].map(SecretString::from));
    for form in [
        "p\"ss/w+rd",
        "p\\\"ss/w+rd",
        "p\\\\\\\"ss/w+rd",
        "p\\\"ss\\/w+rd",
        "p%22ss%2Fw%2Brd",
        "p%22ss%2fw%2brd",
        "cCJzcy93K3Jk",
        "7022737 32f772b7264",
    ] {
        let form = form.replace(' ', "");
        let text = redactor.redact(&format!("<{form}>")).into_owned();
        assert_eq!(text, "<[redacted:known]>", "{form}");
    }
    assert!(
        redactor
            .redact("dXNlcjpwInNzL3crcmQ=")
            .contains("[redacted:known]"),
        "user:VALUE in base64"
    );
    assert_eq!(
        redactor.redact("grab"),
        "grab",
        "too short to be told from words"
    );
    let other = redactor.clone();
    redactor.learn([SecretString::from("later-on")]);
    assert_eq!(
        other.redact("x later-on x"),
        "x [redacted:known] x",
        "clones learn too"
    );
    assert!(!format!("{redactor:?}").contains("later"));
}

#[test]
fn hostile_text_takes_no_longer() {
    let redactor = Redactor::new([SecretString::from("eyJeyJeyJeyJeyJeyJx")]);
    for part in [
        "eyJ",
        "eyJ-",
        "eyJ.",
        "sk-ant-",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "://a:",
        "token=",
        "bearer ",
        "AKIA-",
        "\n-----BEGIN ",
        "eyJa.eyJ-",
    ] {
        let began = std::time::Instant::now();
        let text = part.repeat(1_000_000 / part.len());
        let _ = redactor.redact(&text);
        let mut out = Vec::new();
        let mut stream = redactor.stream();
        text.as_bytes()
            .chunks(4096)
            .for_each(|piece| stream.push(piece, &mut out));
        stream.finish(&mut out);
        assert!(began.elapsed().as_secs() < 10, "{part}");
    }
}

proptest! {
    #[test]
    fn the_pieces_do_not_matter(
        words in proptest::collection::vec("[a-z{}\", ]{0,12}", 0..6),
        picks in proptest::collection::vec(0..GOES.len(), 0..4),
        cuts in proptest::collection::vec(1..40_usize, 1..60),
        wrapped in any::<bool>(),
    ) {
        let value = "hunter2-Zk3vQ9xLmB7tR2wY";
        let redactor = Redactor::new([SecretString::from(value)]);
        let torn = format!("{}\n{}", &value[..12], &value[12..]);
        let mut text = String::new();
        for (at, word) in words.iter().enumerate() {
            text.push_str(word);
            if let Some(pick) = picks.get(at) {
                text.push_str(&format!(" {}{}\n", GOES[*pick].1, GOES[*pick].2));
            }
            text.push_str(if wrapped { &torn } else { value });
            text.push('\n');
        }
        text.push_str(&key());
        let (mut stream, mut out, mut rest) = (redactor.stream(), Vec::new(), text.as_bytes());
        for cut in cuts.iter().cycle() {
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            stream.push(piece, &mut out);
            rest = after;
            if rest.is_empty() { break; }
        }
        stream.finish(&mut out);
        let out = String::from_utf8(out).unwrap();
        prop_assert_eq!(&out, &*redactor.redact(&text));
        let secrets = [value, "hunter2-Zk3v", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6j"];
        for secret in secrets {
            prop_assert!(!out.contains(secret), "{}", out);
        }
    }

    #[test]
    fn prose_and_code_stay(text in "([a-z]{1,12}[ .,;:(){}=\"'/_-]{1,3}|[0-9]{1,6} ){0,80}") {
        let redactor = Redactor::default();
        prop_assert_eq!(redactor.redact(&text), text.as_str());
    }

    #[test]
    fn random_bytes_do_no_harm(text in proptest::collection::vec(any::<u8>(), 0..2000), cut in 1..200_usize) {
        let redactor = Redactor::new([SecretString::from("\u{0}\u{1}\u{2}abc")]);
        let whole = redactor.redact_bytes(&text).into_owned();
        let (mut stream, mut out) = (redactor.stream(), Vec::new());
        text.chunks(cut).for_each(|piece| stream.push(piece, &mut out));
        stream.finish(&mut out);
        prop_assert_eq!(out, whole);
    }
}

#[test]
fn a_line_without_end_is_held_in_bounds() {
    let redactor = Redactor::new([SecretString::from("hunter2-Zk3vQ9xLmB7tR2wY")]);
    let (mut stream, mut out, mut found) = (redactor.stream(), Vec::new(), 0);
    for round in 0..2_000 {
        let at = (round * 37) % 1_000;
        let piece = format!(
            "{}hunter2-Zk3vQ9xLmB7tR2wY{}",
            "x ".repeat(at),
            " y".repeat(1_000 - at)
        );
        for part in piece.as_bytes().chunks(701) {
            stream.push(part, &mut out);
        }
        assert!(out.len() < 1 << 20);
        let text = String::from_utf8(out.split_off(0)).unwrap();
        assert!(!text.contains("hunter2"));
        found += text.matches("[redacted:known]").count();
    }
    stream.finish(&mut out);
    found += String::from_utf8(out)
        .unwrap()
        .matches("[redacted:known]")
        .count();
    assert_eq!(found, 2_000);
}
