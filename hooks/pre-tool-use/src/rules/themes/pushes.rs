//! What was written down late: forced pushes, plain deletions.

use super::Refused;

pub const BLOCK: &[Refused] = &[
    (
        "protected-push",
        "git push --force-with-lease origin carson/7-fix",
    ),
    ("protected-push", "git push origin +HEAD:carson/7-fix"),
    ("delete-outside", "rm ../file.txt"),
    ("delete-outside", "rm /etc/hosts"),
    ("delete-outside", "rm ~/notes.txt"),
    ("delete-outside", "unlink /opt/x"),
    ("delete-outside", "rm -v /opt/x/*.log"),
    ("delete-outside", "rm -r /tmp/x"),
    ("delete-outside", "rm -f /tmp/../etc/hosts"),
    ("delete-outside", "rm -f /tmpfiles/x"),
    ("delete-outside", "find /tmp -name '*.log' -delete"),
    ("delete-outside", "cd / && rm etc/hosts"),
];

pub const ALLOW: &[&str] = &[
    "rm /tmp/x.log",
    "rm -f /tmp/x.log",
    "rm -f /tmp/x/*.log /var/tmp/y",
    "unlink /tmp/x",
    "rm -f /dev/shm/x",
    "cd /tmp && rm -f x.log",
    "rm file.txt",
    "rm \"$f\"",
    "rm sub/a sub/b",
];
