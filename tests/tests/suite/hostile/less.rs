//! Kernels that have less, and who runs Carson on them.
//!
//! On lesser kernels Carson runs as whoever runs the tests: `cargo xtask test` has them run as root
//! and, once more, as an ordinary user.

use serde_json::Value;

/// A kernel, as `CARSON_SANDBOX_FORCE` pretends it.
pub struct Kernel {
    /// What it lacks.
    name: &'static str,
    /// The pretence; empty for the kernel as it is.
    pub force: &'static str,
    /// Whether a session has mounts of its own.
    pub has_mounts: bool,
    /// Whether anything but bounds stands around a session.
    pub has_walls: bool,
    /// What the record must say, in the words of `weaker`.
    says: &'static [&'static str],
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

const NO_GROUP: &str = "no control group";
const NO_MOUNTS: &str = "no mounts of its own";
const ONE_BY_ONE: &str = "who is left at its end is looked for one by one";

impl Kernel {
    /// What the machine has.
    pub const FULL: Self = Self {
        name: "all of this kernel",
        force: "",
        has_mounts: true,
        has_walls: true,
        says: &[],
    };

    /// Nothing but process groups, limits of a process and a sweep.
    pub const NOTHING: Self = Self {
        name: "nothing",
        force: r#"{"landlock":0,"namespaces":false,"seccomp":false,"cgroup":false}"#,
        has_mounts: false,
        has_walls: false,
        says: &[
            "whatever its user may",
            "system calls are not filtered",
            ONE_BY_ONE,
            NO_GROUP,
        ],
    };

    /// Those that have less, down to nothing.
    pub const LESS: [&Self; 4] = [
        &Self {
            name: "no control group",
            force: r#"{"cgroup":false}"#,
            has_mounts: true,
            has_walls: true,
            says: &[],
        },
        &Self {
            name: "no namespaces",
            force: r#"{"namespaces":false}"#,
            has_mounts: false,
            has_walls: true,
            says: &[NO_MOUNTS, ONE_BY_ONE],
        },
        &Self {
            name: "neither namespaces nor a control group",
            force: r#"{"namespaces":false,"cgroup":false}"#,
            has_mounts: false,
            has_walls: true,
            says: &[NO_MOUNTS, ONE_BY_ONE, NO_GROUP],
        },
        &Self::NOTHING,
    ];

    /// The firing's record says what it was, and what is weaker.
    pub fn is_in(&self, row: &Value) {
        let sandbox = &row["sandbox"];
        let weaker = sandbox["weaker"].to_string();
        for words in self.says {
            assert!(weaker.contains(words), "{self:?}: {words}: {row:#}");
        }
        if self.force.contains("cgroup") {
            assert_eq!(sandbox["cgroup"]["kill"], false, "{self:?}: {row:#}");
        }
        if self.force.contains("namespaces") {
            assert_eq!(sandbox["namespaces"], serde_json::json!([]), "{row:#}");
        }
        if self.force.contains("landlock") {
            assert_eq!(sandbox["landlock_abi"], 0, "{row:#}");
            assert_eq!(sandbox["seccomp"], false, "{row:#}");
        }
    }
}

/// Whether Carson runs as an ordinary user: both where nobody else tests as one, else what we are.
pub fn users() -> Vec<bool> {
    match carson_tests::users::plays_nobody_too() {
        true => vec![false, true],
        false => vec![false],
    }
}
