//! Credentials that code asks a library for, and variables that are printed.

use crate::words::Words;

/// Calls that hand out a credential.
const CALLS: Words = Words(
    "netrc.netrc( get_frozen_credentials( HfFolder.get_token( keyring.get_password( \
     keytar.getPassword( get_secret_value( getSecretValue( GetSecretValue( access_secret_version( \
     accessSecretVersion( get_session_token( getSessionToken( getpwnam_shadow( spwd.getspnam( \
     default_azure_credential( Get-AzAccessToken Get-Secret ConvertFrom-SecureString \
     Get-StoredCredential security_find( get_login_password( print_access_token( \
     fetch_access_token( getAccessToken( get_authorization_token( SecretService( Netrc.read( \
     huggingface_hub.get_token( .get_credentials() fromIni( ",
);

/// Whether the code (literals taken out) asks for a credential.
pub fn asks_for_credential(skeleton: &str) -> bool {
    CALLS.any_in(skeleton)
}

/// Words of names of variables that hold credentials.
const PARTS: Words = Words(
    "TOKEN SECRET PASSWORD PASSWD PASSPHRASE APIKEY CREDENTIALS PAT PRIVATEKEY ACCESSKEY SECRETKEY",
);

/// Whether an environment variable of this name holds a credential.
pub fn is_secret_variable(name: &str) -> bool {
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if name.len() < 5 || !name.chars().all(upper) {
        return false;
    }
    let parts: Vec<&str> = name.split('_').collect();
    let about = Words("FILE PATH URL NAME COUNT TYPE LIMIT ID DIR TTL LENGTH FIELD HEADER");
    if name.starts_with("MAX_") || parts.last().is_some_and(|last| about.has(last)) {
        return false;
    }
    let key = |two: &[&str]| two[1] == "KEY" && Words("API PRIVATE ACCESS").has(two[0]);
    parts.windows(2).any(key)
        || parts
            .iter()
            .any(|part| PARTS.has(part) || part.ends_with("PASSWORD"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables() {
        for name in [
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "OPENAI_API_KEY",
            "PGPASSWORD",
        ] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in [
            "PATH",
            "TOKENS",
            "MAX_TOKEN",
            "SECRET_FILE",
            "token",
            "GIT_AUTHOR_NAME",
        ] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
