//! What is worked on: a script with a mistake, and the check that finds it.

use std::fs;
use std::path::Path;

/// The task, in the words of a person.
pub(super) const TASK: &str = "sh test.sh fails. Look at add.sh, which shall print the sum of its two arguments, and mend it.";
/// What says that it is done.
pub(super) const CHECK: &str = "sh test.sh";

/// Its files.
const FILES: [(&str, &str); 3] = [
    (
        "add.sh",
        "#!/bin/sh\n# Prints the sum of two numbers.\necho $(($1 - $2))\n",
    ),
    (
        "test.sh",
        "#!/bin/sh\ngot=$(sh add.sh 2 3)\n[ \"$got\" = 5 ] || { echo \"add.sh 2 3 printed $got, not 5\"; exit 1; }\n",
    ),
    (
        "README.md",
        "# Sums\n\n`sh add.sh A B` prints the sum; `sh test.sh` tests it.\n",
    ),
];

/// Writes them.
pub(super) fn fill(dir: &Path) -> std::io::Result<()> {
    fs::create_dir_all(dir)?;
    for (name, text) in FILES {
        fs::write(dir.join(name), text)?;
    }
    Ok(())
}
