//! What a shell process carries along, and what all of them share.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::marks;
use crate::path;
use crate::shell::syntax::Node;

/// Most directories `pushd` keeps; what lies below them is unknown.
const MAX_STACK: usize = 32;

/// Most alternatives kept for one variable; more collapse into "unknown".
const MAX_ALTERNATIVES: usize = 64;

/// A variable: its possible values (or the elements of an array).
#[derive(Debug, Clone, Default)]
pub struct Var {
    /// The values.
    pub values: Vec<String>,
    /// Whether children see it.
    pub exported: bool,
}

/// What one shell process carries: a subshell gets a copy.
#[derive(Debug, Clone)]
pub struct State {
    /// Possible working directories; each absolute, or a mark.
    pub cwd: Vec<String>,
    /// Where `cd -` leads.
    pub old_cwd: Vec<String>,
    /// `pushd`.
    pub stack: Vec<Vec<String>>,
    vars: Rc<BTreeMap<String, Var>>,
    functions: Rc<BTreeMap<String, Rc<Node>>>,
    aliases: Rc<BTreeMap<String, String>>,
    /// `$1`, `$2`, ….
    pub positional: Vec<String>,
    /// `$0`.
    pub program: String,
    /// `set -a`: every variable that is set is exported.
    pub exports_all: bool,
    /// The command's input came from the network: a `$(cat)` in its words reads it.
    pub fed_download: bool,
    /// `read` takes every line of its input as a value that may be.
    pub reads_all: bool,
    /// In a container: what is mounted where, the deepest first.
    pub mounts: Option<super::container::Mounts>,
    /// Names of PowerShell's own are commands: `gc`, `del`.
    pub cmdlets: bool,
    /// Code to run when the shell ends.
    pub traps: Rc<Vec<String>>,
    /// What the shell's own input holds since an `exec < file`.
    pub input: Option<Rc<str>>,
    /// Where its output goes since an `exec > file`.
    pub outputs: Vec<String>,
    /// The shell has left: `exit`, `return`, `exec`, `break`.
    pub left: bool,
}

impl State {
    /// A fresh shell in `cwd`.
    pub fn new(cwd: &str) -> Self {
        Self {
            cwd: vec![cwd.to_owned()],
            old_cwd: vec![marks::only(marks::ANY)],
            stack: Vec::new(),
            vars: Rc::default(),
            functions: Rc::default(),
            aliases: Rc::default(),
            positional: Vec::new(),
            program: "bash".to_owned(),
            exports_all: false,
            fed_download: false,
            reads_all: false,
            mounts: None,
            cmdlets: false,
            traps: Rc::default(),
            input: None,
            outputs: Vec::new(),
            left: false,
        }
    }

    /// The absolute path of a word, seen from `cwd`; in a container, the path behind it.
    pub fn absolute(&self, text: &str, cwd: &str) -> Option<String> {
        let path = path::absolute(text, cwd)?;
        let Some(mounts) = self.mounts.as_ref().filter(|_| text.starts_with('/')) else {
            return Some(path);
        };
        mounts.iter().find_map(|(inside, behind)| {
            let rest = path.strip_prefix(inside.as_str())?;
            let below = rest.is_empty() || rest.starts_with('/');
            let behind = behind.trim_end_matches('/');
            below.then(|| path::absolute(&format!("{behind}{rest}"), "/"))?
        })
    }

    /// A variable set on this command line.
    pub fn var(&self, name: &str) -> Option<&Var> {
        self.vars.get(name)
    }

    /// The letters at which an unquoted value falls into words.
    pub fn blanks(&self) -> String {
        let given = self.var("IFS").map(|var| var.values.concat());
        given
            .filter(|text| marks::exact(text))
            .unwrap_or_else(|| " \t\n".to_owned())
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, values: Vec<String>, exported: bool) {
        let old = self.vars.get(name).is_some_and(|var| var.exported);
        let var = Var {
            values: limited(values),
            exported: exported || old || self.exports_all,
        };
        Rc::make_mut(&mut self.vars).insert(name.to_owned(), var);
    }

    /// Forgets a variable: it is empty from now on, whatever the environment holds.
    pub fn unset(&mut self, name: &str) {
        let nothing = Var {
            values: vec![String::new()],
            exported: false,
        };
        Rc::make_mut(&mut self.vars).insert(name.to_owned(), nothing);
    }

    /// Marks a variable as exported.
    pub fn export(&mut self, name: &str) {
        if let Some(var) = Rc::make_mut(&mut self.vars).get_mut(name) {
            var.exported = true;
        }
    }

    /// A function's body.
    pub fn function(&self, name: &str) -> Option<Rc<Node>> {
        self.functions.get(name).cloned()
    }

    /// Defines a function.
    pub fn define(&mut self, name: &str, body: Rc<Node>) {
        Rc::make_mut(&mut self.functions).insert(name.to_owned(), body);
    }

    /// An alias's text.
    pub fn alias(&self, name: &str) -> Option<&str> {
        let text = self.aliases.get(name).map(String::as_str);
        text.filter(|text| !text.is_empty())
    }

    /// Sets an alias.
    pub fn set_alias(&mut self, name: &str, text: &str) {
        Rc::make_mut(&mut self.aliases).insert(name.to_owned(), text.to_owned());
    }

    /// Removes an alias for the time it is expanded.
    pub fn without_alias(&self, name: &str) -> Self {
        let mut state = self.clone();
        state.set_alias(name, "");
        state
    }

    /// Changes the directory.
    pub fn enter(&mut self, cwd: Vec<String>) {
        self.old_cwd = std::mem::replace(&mut self.cwd, limited(cwd));
    }

    /// Notes the directory for `popd`.
    pub fn push_cwd(&mut self) {
        if self.stack.len() == MAX_STACK {
            self.stack.remove(0);
        }
        self.stack.push(self.cwd.clone());
    }

    /// What may be true after either this or `other` has happened.
    pub fn merge(&mut self, other: Self) {
        if !other.traps.is_empty() && !Rc::ptr_eq(&self.traps, &other.traps) {
            let mine = Rc::make_mut(&mut self.traps);
            for code in other.traps.iter() {
                if !mine.contains(code) {
                    mine.push(code.clone());
                }
            }
        }
        if other.left {
            return;
        }
        if self.left {
            let traps = std::mem::take(&mut self.traps);
            *self = other;
            self.traps = traps;
            return;
        }
        self.merge_vars(&other);
        for cwd in other.cwd {
            if !self.cwd.contains(&cwd) {
                self.cwd.push(cwd);
            }
        }
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            let both = Rc::make_mut(&mut self.functions);
            for (name, body) in other.functions.iter() {
                both.entry(name.clone()).or_insert_with(|| Rc::clone(body));
            }
        }
    }

    /// Joins only the variables of `other` into this state.
    pub fn merge_vars(&mut self, other: &Self) {
        if Rc::ptr_eq(&self.vars, &other.vars) {
            return;
        }
        let mine = Rc::make_mut(&mut self.vars);
        for (name, theirs) in other.vars.iter() {
            let var = mine.entry(name.clone()).or_default();
            for value in &theirs.values {
                if !var.values.contains(value) {
                    var.values.push(value.clone());
                }
            }
            var.values = limited(std::mem::take(&mut var.values));
            var.exported |= theirs.exported;
        }
    }
}

/// Collapses too many alternatives.
fn limited(mut values: Vec<String>) -> Vec<String> {
    if values.len() > MAX_ALTERNATIVES {
        let download = values.iter().any(|v| v.contains(marks::DOWNLOAD));
        values.truncate(MAX_ALTERNATIVES);
        values.push(marks::only(if download {
            marks::DOWNLOAD
        } else {
            marks::ANY
        }));
    }
    values
}

/// What every process of the command line shares: the disk, as far as the line changed it.
#[derive(Debug, Default)]
pub struct World {
    /// Files the line wrote, by absolute path, with what they hold.
    pub files: BTreeMap<String, String>,
    /// Names of downloads the line put where programs are looked for.
    pub installed: Vec<String>,
    /// Copies of programs the line made: path and original.
    pub programs: Vec<(String, String)>,
    /// Symbolic links the line made: path and target.
    pub links: Vec<(String, String)>,
    /// Branches the line checked out, by repository directory.
    pub branches: BTreeMap<String, String>,
    /// What PowerShell listed last, which `$_` goes through.
    pub listed: Option<String>,
    /// Scripts the line wrote into a `package.json` by `npm pkg set`: name and command.
    pub scripts: Vec<(String, String)>,
    /// Git settings the line wrote: lower-case key and value.
    pub git_config: Vec<(String, String)>,
}

impl World {
    /// The last value the line gave a git setting.
    pub fn git_setting(&self, key: &str) -> Option<&str> {
        let found = self.git_config.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Follows the links the line made: the path and what it may lead to.
    pub fn follow(&self, path: &str, whole: bool) -> Option<String> {
        self.links.iter().rev().find_map(|(link, target)| {
            let rest = path.strip_prefix(link.as_str())?;
            let through = rest.starts_with('/') || (rest.is_empty() && whole);
            through.then(|| format!("{target}{rest}"))
        })
    }
}
