//! The property list for launchd of macOS.
//!
//! Nobody has run it yet: its form is tested, and what its keys do is as launchd.plist(5) says.

/// What it is called there.
pub const LABEL: &str = "carson.daemon";

/// What is different from place to place.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// The program, by its path.
    pub program: &'a str,
    /// Carson's home, where it is not the user's `~/.carson`.
    pub home: Option<&'a str>,
    /// Where the agents' CLIs and tools are found.
    pub path: &'a str,
    /// The file of its standard error.
    pub log: &'a str,
}

/// The text.
///
/// # Errors
/// When a path has a character that XML cannot hold.
pub fn text(place: &Place<'_>) -> Result<String, String> {
    let mut words = vec![place.program];
    words.extend(place.home.into_iter().flat_map(|home| ["--home", home]));
    words.push("daemon");
    let mut arguments = String::new();
    for word in words {
        arguments.push_str(&format!("    <string>{}</string>\n", escaped(word)?));
    }
    let (path, log) = (escaped(place.path)?, escaped(place.log)?);
    Ok(format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Carson as a service of one user: `carson service install` writes it to ~/Library/LaunchAgents/{LABEL}.plist and
     starts it. It runs while that user is signed in. A Mac that sleeps runs nothing: on waking the daemon sees which slots were
     missed, and fires the newest of each role if it is not older than the role's max_late. `pmset repeat wakeorpoweron` wakes a Mac. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{arguments}  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>{path}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <!-- It is started again unless it ended well, at most every ten seconds. -->
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <!-- Firings go on alone when the daemon ends, and the next one adopts them. -->
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ExitTimeOut</key>
  <integer>30</integer>
  <!-- Neither slowed down as in the background, nor favoured as a program with windows. -->
  <key>ProcessType</key>
  <string>Standard</string>
  <!-- 0077: what Carson writes is for its owner only. -->
  <key>Umask</key>
  <integer>63</integer>
  <key>SoftResourceLimits</key>
  <dict>
    <key>NumberOfFiles</key>
    <integer>65536</integer>
    <key>Core</key>
    <integer>0</integer>
  </dict>
  <key>StandardErrorPath</key>
  <string>{log}</string>
</dict>
</plist>
"#
    ))
}

fn escaped(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err(format!(
            "{text:?} has a character that no property list can hold"
        ));
    }
    let text = text.replace('&', "&amp;");
    Ok(text.replace('<', "&lt;").replace('>', "&gt;"))
}

#[cfg(test)]
mod tests;
