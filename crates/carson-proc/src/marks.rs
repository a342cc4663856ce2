//! Which values of a marker are about.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::process_id::ProcessId;
use crate::table;

/// Every process that was started with `NAME=…` in its environment, by the value: one look at the
/// whole table, where [`reap_marked`](crate::reap_marked) looks for one value. Processes of other
/// people keep their environment to themselves and are not among them.
#[must_use]
pub fn marked(name: &str) -> BTreeMap<String, Vec<ProcessId>> {
    let mut found: BTreeMap<String, Vec<ProcessId>> = BTreeMap::new();
    for entry in table::all().iter().filter(|entry| !entry.zombie) {
        let environment = table::environment(entry);
        if let Some(value) = table::value(&environment, OsStr::new(name).as_bytes()) {
            let value = String::from_utf8_lossy(value).into_owned();
            found
                .entry(value)
                .or_default()
                .push(ProcessId::from(*entry));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::disallowed_methods,
        reason = "the child is one that carson-proc did not start"
    )]

    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_is_found_by_its_value_while_it_lives() {
        let name = format!("CARSON_TEST_MARKS_{}", std::process::id());
        assert_eq!(marked(&name), BTreeMap::new());
        let mut child = Command::new("sleep")
            .arg("60")
            .env(&name, "this one")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let found = marked(&name);
        child.kill().unwrap();
        child.wait().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["this one"]);
        assert_eq!(found["this one"][0].pid, pid);
        assert_eq!(marked(&name), BTreeMap::new());
    }
}
