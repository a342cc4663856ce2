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
        key.replace("Proc-Type: 4,ENCRYPTED\n\n", "")
            .replace('\n', " "),
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

/// A value of words, signs and digits.
const VALUE: &str = "quiet-otter/9+mellow=hill";

/// How tools and programs write it, each with nothing of it in clear.
fn written() -> Vec<(&'static str, String)> {
    let each = |write: fn(u8) -> String, between: &str| {
        let all: Vec<String> = VALUE.bytes().map(write).collect();
        all.join(between)
    };
    let wide = |order: fn(u16) -> [u8; 2]| {
        let bytes: Vec<u8> = VALUE.encode_utf16().flat_map(order).collect();
        String::from_utf8(bytes).unwrap()
    };
    let some = |write: fn(u8) -> String| {
        let odd = |(at, byte): (usize, u8)| match at % 3 {
            1 => write(byte),
            _ => char::from(byte).to_string(),
        };
        VALUE.bytes().enumerate().map(odd).collect::<String>()
    };
    vec![
        ("JSON", each(|byte| format!("\\u{byte:04x}"), "")),
        ("JSON, some of it", some(|byte| format!("\\u{byte:04X}"))),
        ("JSON in JSON", some(|byte| format!("\\\\u{byte:04X}"))),
        ("JavaScript", each(|byte| format!("\\u{{{byte:x}}}"), "")),
        ("an address", each(|byte| format!("%{byte:02x}"), "")),
        ("an address, some of it", some(|byte| format!("%{byte:02X}"))),
        ("an address in an address", some(|byte| format!("%25{byte:02X}"))),
        ("HTML", each(|byte| format!("&#{byte};"), "")),
        ("HTML, some of it", some(|byte| format!("&#x{byte:X};"))),
        ("HTML in HTML", some(|byte| format!("&amp;#0{byte}"))),
        ("HTML by name", VALUE.replace('/', "&sol;").replace('+', "&plus;").replace('=', "&equals;")),
        ("octal escapes", each(|byte| format!("\\{byte:03o}"), "")),
        ("octal escapes, some of it", some(|byte| format!("\\0{byte:03o}"))),
        ("C", each(|byte| format!("\\x{byte:02x}"), "")),
        ("hexadecimal", each(|byte| format!("{byte:02X}"), "")),
        ("with a digit before it", format!("f{}", each(|byte| format!("{byte:02x}"), ""))),
        ("with blanks", each(|byte| format!("{byte:02x}"), " ")),
        ("with colons", each(|byte| format!("{byte:02X}"), ":")),
        ("an array", each(|byte| format!("0x{byte:02x}"), ",\n    ")),
        ("strings in JSON", each(|byte| format!("\"{byte:02x}\""), ", ")),
        ("numbers", each(|byte| byte.to_string(), ", ")),
        ("octal numbers", each(|byte| format!("{byte:03o}"), " ")),
        ("colours between", each(|byte| char::from(byte).to_string(), "\u{1b}[0;31m")),
        ("colours in JSON", some(|byte| format!("\\u001b[1m{}", char::from(byte)))),
        ("a link of a terminal", some(|byte| format!("\u{1b}]8;;x:y\u{7}{}", char::from(byte)))),
        ("signs that nobody sees", each(|byte| char::from(byte).to_string(), "\u{200b}")),
        ("spelled out", each(|byte| char::from(byte).to_string(), " ")),
        ("two strings", format!("{}\" +\n      \"{}", &VALUE[..9], &VALUE[9..])),
        ("two lines", format!("{}\n{}", &VALUE[..5], &VALUE[5..])),
        ("lines of a diff", format!("{}\n+  {}", &VALUE[..15], &VALUE[15..])),
        ("UTF-16", wide(u16::to_le_bytes)),
        ("UTF-16, the other order", wide(u16::to_be_bytes)),
        // What coreutils, xxd, od and hexdump print.
        ("base64", "cXVpZXQtb3R0ZXIvOSttZWxsb3c9aGlsbA==".into()),
        ("base64 behind one", "eHF1aWV0LW90dGVyLzkrbWVsbG93PWhpbGw=".into()),
        ("base64 for addresses", "cXVpZXQtb3R0ZXIvOSttZWxsb3c9aGlsbA".into()),
        ("base64 twice", "Y1hWcFpYUXRiM1IwWlhJdk9TdHRaV3hzYjNjOWFHbHNiQT09Cg==".into()),
        ("base64 three times", "WTFoV2NGcFlVWFJpTTFJd1dsaEpkazlUZEhSYVYzaHpZak5qT1dGSGJITmlRVDA5Q2c9PQo=".into()),
        ("base64, wrapped", "cXVpZXQt\nb3R0ZXIv\nOSttZWxs\nb3c9aGls\nbA==".into()),
        ("base64 in JSON", "cXVpZXQtb3R0\\nZXIvOSttZWxsb3c9\\naGlsbA==".into()),
        ("base64 of UTF-16", "cQB1AGkAZQB0AC0AbwB0AHQAZQByAC8AOQArAG0AZQBsAGwAbwB3AD0AaABpAGwAbAA=".into()),
        ("base32", "OF2WSZLUFVXXI5DFOIXTSK3NMVWGY33XHVUGS3DM".into()),
        ("base32, small", "of2wszlufvxxi5dfoixtsk3nmvwgy33xhvugs3dm".into()),
        ("base64 of base32", "T0YyV1NaTFVGVlhYSTVERk9JWFRTSzNOTVZXR1kzM1hIVlVHUzNETQo=".into()),
        ("Ascii85", "@:F5!Bk;B<Dfg)4E\\BF'D.RO\"Dg+?XBl%TqA,".into()),
        ("base85", "VPa!(b!laEEpK#mWpXb$D{W<LY;SixXlZP0".into()),
        ("xxd", "00000000: 6b65 7920 3d20 7175 6965 742d 6f74 7465  key = quiet-otte\n00000010: 722f 392b 6d65 6c6c 6f77 3d68 696c 6c    r/9+mellow=hill\n".into()),
        ("xxd in JSON", "00000000: 6b65 7920 3d20 7175 6965 742d 6f74 7465  key = quiet-otte\\n00000010: 722f 392b 6d65 6c6c 6f77 3d68 696c 6c    r/9+mellow=hill\\n".into()),
        ("hexdump -C", "00000000  6b 65 79 3a 20 71 75 69  65 74 2d 6f 74 74 65 72  |key: quiet-otter|\n00000010  2f 39 2b 6d 65 6c 6c 6f  77 3d 68 69 6c 6c        |/9+mellow=hill|\n".into()),
        ("od -t x2", "000000 7571 6569 2d74 746f 6574 2f72 2b39 656d\n000010 6c6c 776f 683d 6c69 006c\n000019\n".into()),
        ("od -t u1", "0000000 113 117 105 101 116  45 111 116 116 101 114  47  57  43 109 101\n0000020 108 108 111 119  61 104 105 108 108\n0000031\n".into()),
        ("od -b", "0000000 161 165 151 145 164 055 157 164 164 145 162 057 071 053 155 145\n0000020 154 154 157 167 075 150 151 154 154\n0000031\n".into()),
    ]
}

#[test]
fn a_known_value_goes_however_it_is_written() {
    let redactor = Redactor::new([SecretString::from(VALUE)]);
    for (what, form) in written() {
        for (before, after) in [
            ("", ""),
            ("see ", " there\n"),
            ("{\"a\":\"", "\",\"b\":1}\n"),
        ] {
            let text = format!("{before}{form}{after}");
            let gone = redactor.redact(&text).into_owned();
            let kept = gone.len() - gone.matches("[redacted:known]").count() * 16;
            // The columns beside a dump, and the first and last group of base85, stay.
            let most = before.len() + after.len() + form.len() * 2 / 3;
            assert!(
                gone.contains("[redacted:known]") && kept < most,
                "{what}: {text:?} {gone:?}"
            );
            assert_eq!(redactor.find(text.as_bytes())[0].rule, "known", "{what}");
            // In pieces of any size, as a pipe brings them.
            for size in [1, 7, 64] {
                let (mut stream, mut out) = (redactor.stream(), Vec::new());
                text.as_bytes()
                    .chunks(size)
                    .for_each(|piece| stream.push(piece, &mut out));
                stream.finish(&mut out);
                let out = String::from_utf8_lossy(&out).into_owned();
                assert!(
                    out.contains("[redacted:known]"),
                    "{what} in {size}: {out:?}"
                );
            }
        }
    }
}

#[test]
fn what_only_resembles_a_known_value_stays() {
    let redactor = Redactor::new(["hunter", VALUE, "s3cr3t"].map(SecretString::from));
    for text in [
        "hunte r h-u-n-t-e-r hunt/er",
        "a quiet otter; 9 mellow fellows",
        "aHVudGV 68756e74 104, 117, 110",
        "&#104;un \\u0068un %68un",
        "00000000: 6875 6e74 00                             hunt.",
    ] {
        assert_eq!(redactor.redact(text), text);
    }
}

#[test]
fn credentials_go_from_text_of_two_bytes_a_letter() {
    let redactor = Redactor::default();
    let text = "See ghp_Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV; done\r\n";
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> = text.encode_utf16().flat_map(order).collect();
        let found = redactor.find(&bytes);
        assert_eq!(
            found.iter().map(|one| one.rule).collect::<Vec<_>>(),
            ["github"]
        );
        let gone = redactor.redact_bytes(&bytes).into_owned();
        let narrow: Vec<u8> = gone.into_iter().filter(|byte| *byte != 0).collect();
        assert_eq!(narrow, b"See [redacted:github]; done\r\n");
        // Also behind more of it than is read at once.
        let long = [&b"x\0 \0".repeat(50_000)[..], &bytes].concat();
        assert_eq!(redactor.find(&long).len(), 1);
    }
    let binary: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(redactor.redact_bytes(&binary), binary);
}

#[test]
fn hostile_text_takes_no_longer() {
    let redactor = Redactor::new([
        SecretString::from("eyJeyJeyJeyJeyJeyJx"),
        SecretString::from("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
    ]);
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
        // Each of many beginnings of one run was read to the end of the run.
        "xoxb-",
        "hooks.slack.com/services/",
        "https://hooks.slack.com/workflows/",
        "a",
        "61",
        "6 1 ",
        "97,",
        "141 ",
        "\\",
        "\\u0061",
        "%25",
        "%61",
        "&amp;",
        "&#97;",
        "\u{1b}]",
        "\u{1b}[",
        "\u{1b}P\u{1b}",
        "YWFh",
        "YVdGaFlXRmhZV0Zo",
        "MFQWCYLB",
        "A\n",
        "00000000: 6161 ",
        "00000000: 6161\n",
        "a\0",
        "\0a\0",
        "x\0o\0x\0b\0-\0",
        "word ",
        "key = AKIAZ7Q2X5W3N4K6B2HT\n",
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
