//! The modules of a crate as a simple parse sees them: what each declares, defines, imports and
//! mentions. What only tests see is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree, token_stream};

/// Names from the crate's root, or from wherever they are said.
pub type Names = Vec<String>;

type Tokens = Peekable<token_stream::IntoIter>;

#[derive(Default)]
pub struct Module {
    /// Relative to the crate's `src`.
    pub file: String,
    pub children: BTreeSet<String>,
    /// What it defines itself.
    pub items: BTreeSet<String>,
    pub imports: Vec<Import>,
    /// Every `a::b` in its code.
    pub mentions: Vec<Names>,
}

pub struct Import {
    /// `None` for `*`.
    pub name: Option<String>,
    pub path: Names,
}

impl Module {
    /// It only declares and hands on: who imports from it means a file behind it.
    pub fn is_transparent(&self) -> bool {
        self.items.is_empty() && self.mentions.is_empty()
    }
}

/// All modules of the crate with this `lib.rs` or `main.rs`.
pub fn read(root: &Path) -> BTreeMap<Names, Module> {
    let mut reader = Reader {
        src: root.parent().unwrap().to_owned(),
        modules: BTreeMap::new(),
    };
    reader.file(root, Names::new(), root.parent().unwrap());
    reader.modules
}

struct Reader {
    src: PathBuf,
    modules: BTreeMap<Names, Module>,
}

impl Reader {
    /// `folder` is where the files of its children are.
    fn file(&mut self, file: &Path, path: Names, folder: &Path) {
        let text = fs::read_to_string(file).unwrap();
        let tokens: TokenStream = text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = file.strip_prefix(&self.src).unwrap().display().to_string();
        self.module(tokens, path, &name, folder);
    }

    fn module(&mut self, tokens: TokenStream, path: Names, file: &str, folder: &Path) {
        let mut module = Module {
            file: file.to_owned(),
            ..Module::default()
        };
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let TokenTree::Ident(word) = &token else {
                module.code(token, &mut tokens);
                continue;
            };
            match word.to_string().as_str() {
                "mod" => {
                    let name = tokens.next().unwrap().to_string();
                    let child = [path.clone(), vec![name.clone()]].concat();
                    let below = folder.join(&name);
                    match tokens.next() {
                        Some(TokenTree::Group(inline)) => {
                            self.module(inline.stream(), child, file, &below);
                        }
                        _ => self.child_file(child, folder, &name),
                    }
                    module.children.insert(name);
                }
                "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static"
                | "macro_rules" => module.define(&mut tokens),
                _ => module.code(token, &mut tokens),
            }
        }
        self.modules.insert(path, module);
    }

    fn child_file(&mut self, path: Names, folder: &Path, name: &str) {
        let below = folder.join(name);
        let own = folder.join(format!("{name}.rs"));
        let file = if own.exists() {
            own
        } else {
            below.join("mod.rs")
        };
        self.file(&file, path, &below);
    }
}

impl Module {
    fn define(&mut self, tokens: &mut Tokens) {
        tokens.next_if(|token| token.to_string() == "!");
        if let Some(TokenTree::Ident(name)) = tokens.peek() {
            self.items.insert(name.to_string());
        }
    }

    /// One token of code, and what belongs to it.
    fn code(&mut self, token: TokenTree, tokens: &mut Tokens) {
        match token {
            TokenTree::Group(group) => {
                let mut inner = group.stream().into_iter().peekable();
                while let Some(token) = inner.next() {
                    self.code(token, &mut inner);
                }
            }
            TokenTree::Punct(mark) if mark.as_char() == '#' => attribute(tokens),
            // `::name` belongs to what stands before it, or is another crate's.
            TokenTree::Punct(mark) if mark.as_char() == ':' && skip(tokens, ':') => {
                tokens.next_if(|token| matches!(token, TokenTree::Ident(_)));
            }
            TokenTree::Ident(word) if word == "use" && !skip(tokens, '<') => {
                self.import(Names::new(), tokens);
            }
            TokenTree::Ident(word) => {
                let path = path(word.to_string(), tokens);
                if path.len() > 1 {
                    self.mentions.push(path);
                }
            }
            _ => {}
        }
    }

    /// What follows `use`, or one branch of its braces.
    fn import(&mut self, mut path: Names, tokens: &mut Tokens) {
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    let name = tokens.next().map(|name| name.to_string());
                    self.imports.push(Import { name, path });
                    return;
                }
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(branches) => {
                    let mut inner = branches.stream().into_iter().peekable();
                    while inner.peek().is_some() {
                        self.import(path.clone(), &mut inner);
                    }
                    return;
                }
                TokenTree::Punct(mark) if mark.as_char() == '*' => {
                    self.imports.push(Import { name: None, path });
                    return;
                }
                TokenTree::Punct(mark) if mark.as_char() != ':' => break,
                _ => {}
            }
        }
        path.pop_if(|last| last == "self");
        if let Some(name) = path.last().cloned() {
            self.imports.push(Import {
                name: Some(name),
                path,
            });
        }
    }
}

/// What follows `#`. With `[cfg(test)]`, the item it stands before is passed over too.
fn attribute(tokens: &mut Tokens) {
    skip(tokens, '!');
    let attribute = tokens.next().map(|token| token.to_string());
    if attribute.is_none_or(|text| text.replace(' ', "") != "[cfg(test)]") {
        return;
    }
    let mut ends_with_braces = true;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "use" => ends_with_braces = false,
            TokenTree::Group(group)
                if ends_with_braces && group.delimiter() == Delimiter::Brace =>
            {
                return;
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => return,
            _ => {}
        }
    }
}

fn path(first: String, tokens: &mut Tokens) -> Names {
    let mut path = vec![first];
    while skip(tokens, ':') {
        if !skip(tokens, ':') {
            break;
        }
        match tokens.next_if(|token| matches!(token, TokenTree::Ident(_))) {
            Some(name) => path.push(name.to_string()),
            None => break,
        }
    }
    path
}

fn skip(tokens: &mut Tokens, mark: char) -> bool {
    let is_it = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == mark);
    tokens.next_if(is_it).is_some()
}
