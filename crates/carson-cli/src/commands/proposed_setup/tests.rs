use std::fs;

use super::*;

fn of(files: &[(&str, &str)]) -> Proposal {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    proposed(&RepositoryFiles::Checkout(dir.path().to_owned()))
}

#[test]
fn what_a_repository_tells_agents_comes_before_its_lock_files() {
    let lock = ("package-lock.json", "{}");
    assert_eq!(of(&[lock]).setup, ["npm ci"]);
    assert_eq!(of(&[lock]).by, "package-lock.json");
    let codex = "version = 1\n[setup]\nscript = '''\n# first\nnpm ci\nnpm run gen\n'''\n";
    let found = of(&[lock, (".codex/environments/environment.toml", codex)]);
    assert_eq!(found.setup, ["npm ci", "npm run gen"]);
    let cursor = "{\"install\": \"pnpm i\", \"terminals\": []}";
    assert_eq!(
        of(&[(".cursor/environment.json", cursor)]).setup,
        ["pnpm i"]
    );
    let dev = "{\n  // what runs first\n  \"image\": \"x//y\",\n  \"postCreateCommand\": [\"make\", \"deps\"],\n}\n";
    let found = of(&[lock, (".devcontainer/devcontainer.json", dev)]);
    assert_eq!(
        (found.setup, found.by.as_str()),
        (
            vec!["make deps".to_owned()],
            ".devcontainer/devcontainer.json"
        )
    );
    // One that cannot be read says nothing, and is told.
    let found = of(&[lock, (".cursor/environment.json", "{")]);
    assert_eq!(found.setup, ["npm ci"]);
    let why = "EOF while parsing an object at line 1 column 1";
    assert_eq!(found.unread, [format!(".cursor/environment.json: {why}")]);
    let broken = "[setup]\nscript = npm\n";
    let found = of(&[(".codex/environments/environment.toml", broken)]);
    let [told] = found.unread.as_slice() else {
        panic!("{found:?}")
    };
    assert!(told.ends_with("at line 2"), "{told}");
    assert_eq!(of(&[]), Proposal::default());
}

#[test]
fn all_steps_of_a_container_are_taken_but_those_of_root() {
    let dev = r#"{"onCreateCommand": "sudo apt-get update\nnpm ci",
        "updateContentCommand": {"python": "pip install -r dev.txt", "root": "env A=1 sudo make"},
        "postCreateCommand": ["make", "pseudo-sudoku"]}"#;
    let found = of(&[(".devcontainer.json", dev)]);
    let wanted = [
        "python3 -m venv .venv",
        ". .venv/bin/activate",
        "npm ci",
        "pip install -r dev.txt",
        "make pseudo-sudoku",
    ];
    assert_eq!(found.setup, wanted);
    let left = ["sudo apt-get update", "env A=1 sudo make"];
    assert_eq!(
        found.left_out,
        left.map(|line| format!("as no session has root: .devcontainer.json: {line}"))
    );
    // One with nothing else says nothing.
    let root = r#"{"postCreateCommand": "sudo make install"}"#;
    let lock = ("package-lock.json", "{}");
    assert_eq!(of(&[(".devcontainer.json", root), lock]).setup, ["npm ci"]);
}

#[test]
fn no_command_of_a_container_begins_where_another_went() {
    let dev = r#"{"onCreateCommand": "cd web && npm ci",
        "postCreateCommand": {"a": "cd api\nmake deps", "b": "make"}}"#;
    let found = of(&[(".devcontainer.json", dev)]);
    let wanted = ["(\ncd web && npm ci\n)", "(\ncd api\nmake deps\n)", "make"];
    assert_eq!(found.setup, wanted);
    let shown = "( cd web && npm ci ); ( cd api make deps ); make";
    assert_eq!(found.shown(), shown);
}

#[test]
fn a_script_whose_lines_need_one_another_stays_whole() {
    let script = |script: &str| {
        let text = format!("[setup]\nscript = {script:?}\n");
        of(&[(".codex/environments/environment.toml", &text)])
    };
    for whole in [
        "if ! test -e x; then\n  make x\nfi\nnpm ci",
        "npm install \\\n  --omit=dev",
        "npm ci &&\n  npm run build",
        "cat > a.ini <<END\n[a]\n  indented = 1\n\nEND\nnpm ci",
        "for x in a b; do\n  make $x\ndone",
        "say='a\nb'",
        "f() {\n  npm ci\n}\nf",
    ] {
        assert_eq!(script(whole).setup, [whole], "{whole}");
    }
    let apart =
        "set -e\n\n# first\n  npm ci && npm run gen\nPATH=$HOME/bin:$PATH\necho \"it's\" 'done.'\n";
    // An odd mark may go on in the next line.
    assert_eq!(script(apart).setup, [apart.trim_end()]);
    let apart = apart.replace("it's", "it is");
    let wanted = [
        "set -e",
        "npm ci && npm run gen",
        "PATH=$HOME/bin:$PATH",
        "echo \"it is\" 'done.'",
    ];
    assert_eq!(script(&apart).setup, wanted);
    // Nothing is cut out of the middle: it goes whole, and is told.
    let rooted = script("if ! command -v jq; then\n  sudo apt-get install jq\nfi\nnpm ci");
    assert_eq!(rooted.setup, Vec::<String>::new());
    assert_eq!(rooted.left_out.len(), 1, "{rooted:?}");
    assert!(rooted.left_out[0].contains(".codex/environments/environment.toml: if ! command"));
}

#[test]
fn words_that_no_shell_reads_stay_words() {
    let dev = r#"{"postCreateCommand": ["npm", "ci", "--x", "a b; c"]}"#;
    let found = of(&[(".devcontainer.json", dev)]);
    assert_eq!(found.setup, ["npm ci --x 'a b; c'"]);
}

#[test]
fn what_ci_installs_comes_before_lock_files_and_after_what_agents_are_told() {
    let ci = (
        ".github/workflows/ci.yml",
        "jobs:\n  x:\n    steps:\n      - run: npm ci --omit=optional\n",
    );
    let lock = ("package-lock.json", "{}");
    let found = of(&[ci, lock]);
    assert_eq!(found.setup, ["npm ci --omit=optional"]);
    assert_eq!(found.by, ".github/workflows/ci.yml");
    let cursor = (".cursor/environment.json", r#"{"install": "make deps"}"#);
    assert_eq!(of(&[ci, lock, cursor]).setup, ["make deps"]);
    // A workflow that installs nothing says nothing.
    let ci = (".github/workflows/ci.yml", "jobs: {}\n");
    assert_eq!(of(&[ci, lock]).setup, ["npm ci"]);
}

#[test]
fn toolchains_are_those_whose_files_are_there() {
    let toolchains = |files: &[&str]| {
        let files: Vec<(&str, &str)> = files.iter().map(|file| (*file, "")).collect();
        of(&files).toolchains
    };
    assert_eq!(toolchains(&[]), []);
    assert_eq!(toolchains(&[".tool-versions"]), [Toolchain::Asdf]);
    assert_eq!(toolchains(&["mise.toml"]), [Toolchain::Mise]);
    let both = [Toolchain::Mise, Toolchain::Direnv];
    assert_eq!(
        toolchains(&[".envrc", ".mise.toml", ".tool-versions"]),
        both
    );
}

#[test]
fn files_to_include_are_those_that_are_there() {
    let found = of(&[
        (".worktreeinclude", "# local\n.env.test\nmissing\n*.pem\n"),
        (".env.test", "A=1\n"),
    ]);
    assert_eq!(found.include, [".env.test"]);
    assert_eq!(found.no_files, ["missing", "*.pem"]);
}

const CODEX: &str = ".codex/environments/environment.toml";
const CONTAINER: &str = ".devcontainer/devcontainer.json";

fn of_codex(lines: &[&str]) -> Proposal {
    let script = lines.join("\n");
    of(&[(CODEX, &format!("[setup]\nscript = {script:?}\n"))])
}

#[test]
fn what_is_installed_for_a_machine_is_installed_where_a_session_may() {
    for (line, here) in [
        ("npm i -g one", "npm i -g --prefix ~/.local one"),
        (
            "A=1 npm install one --global && npm ci",
            "A=1 npm install one --global --prefix ~/.local && npm ci",
        ),
        ("npm i -g --prefix=/x one", "npm i -g --prefix=/x one"),
        ("npm run build -g", "npm run build -g"),
        (
            "yarn global add one",
            "yarn global add --prefix ~/.local --global-folder ~/.local/share/yarn one",
        ),
        (
            "gem install one",
            "gem install --user-install --bindir ~/.local/bin one",
        ),
        (
            "npm install one; echo npm i -g",
            "npm install one; echo npm i -g",
        ),
    ] {
        let setup = of_codex(&[line]).setup;
        assert_eq!(setup.last().map(String::as_str), Some(here));
    }
    // These want the place to be there.
    let found = of_codex(&["command -v pnpm || corepack enable", "pnpm add -g one"]);
    let wanted = [
        "mkdir -p ~/.local/bin",
        "command -v pnpm || corepack enable --install-directory ~/.local/bin",
        "pnpm add -g --global-bin-dir ~/.local/bin one",
    ];
    assert_eq!(found.setup, wanted);
    assert_eq!(found.left_out, [""; 0]);
    let script = "if ! command -v one; then\n  npm i -g one\nfi\nnpm ci";
    let wanted = script.replace("-g", "-g --prefix ~/.local");
    assert_eq!(of_codex(&[script]).setup, [wanted]);
}

#[test]
fn what_pip_installs_gets_an_environment_whoever_says_so() {
    let venv = ["python3 -m venv .venv", ". .venv/bin/activate"];
    let with = |lines: &[&'static str]| [&venv, lines].concat();
    let lines = ["cd api && pip install -r a.txt", "python -m pip install b"];
    assert_eq!(of_codex(&lines).setup, with(&lines));
    let user = ["pip3 install --user c", "uv pip install --system d"];
    let plain = ["pip3 install c", "uv pip install d"];
    assert_eq!(of_codex(&user).setup, with(&plain));
    let ci = "- run: pip install -r a.txt\n- run: pip install b\n";
    let found = of(&[(".github/workflows/ci.yml", ci)]);
    assert_eq!(
        found.setup,
        with(&["pip install -r a.txt", "pip install b"])
    );
    let own = ["virtualenv env", "env/bin/pip install e", "pip install f"];
    assert_eq!(of_codex(&own).setup, own);
    let found = of(&[("requirements.txt", ""), ("requirements-dev.txt", "")]);
    let lines = [
        "pip install -r requirements.txt",
        "pip install -r requirements-dev.txt",
    ];
    assert_eq!(found.setup, with(&lines));
    assert_eq!(found.by, "requirements.txt, requirements-dev.txt");
}

#[test]
fn who_changes_the_machine_asks_for_root() {
    for line in [
        "apt-get update",
        "true && apk add git",
        "A=1 apt install -y x",
    ] {
        let found = of_codex(&["npm ci", line]);
        assert_eq!(found.setup, ["npm ci"], "{line}");
        let told = format!("as no session has root: {CODEX}: {line}");
        assert_eq!(found.left_out, [told]);
    }
    assert_eq!(of_codex(&["echo apt-get"]).setup, ["echo apt-get"]);
}

#[test]
fn the_worktree_has_its_name_here() {
    let container = |more: &str, command: &str| {
        let text = format!("{{{more}\"postCreateCommand\": {command}}}");
        of(&[(CONTAINER, &text)])
    };
    let folder = "\"workspaceFolder\": \"/src/x\",";
    for (more, command, here) in [
        (
            "",
            r#""make -C ${containerWorkspaceFolder}/a""#,
            r#"make -C "$CARSON_WORKTREE"/a"#,
        ),
        (
            "",
            r#""make -C '${localWorkspaceFolder}/a b'""#,
            r#"make -C ''"$CARSON_WORKTREE"'/a b'"#,
        ),
        (
            "",
            r#"["cp", "${containerWorkspaceFolder}/a", "b"]"#,
            r#"cp ''"$CARSON_WORKTREE"'/a' b"#,
        ),
        (
            folder,
            r#""cat /src/x/a /src/xy \"/src/x\"""#,
            r#"cat "$CARSON_WORKTREE"/a /src/xy "${CARSON_WORKTREE}""#,
        ),
        (
            "",
            r#""cd /workspaces/x && make""#,
            "(\ncd \"$CARSON_WORKTREE\" && make\n)",
        ),
    ] {
        let found = container(more, command);
        assert_eq!(found.setup, [here], "{found:?}");
        assert_eq!(found.left_out, [""; 0]);
    }
    let found = of_codex(&["cd \"$CODEX_WORKTREE_PATH\"", "npm ci"]);
    assert_eq!(found.setup, ["cd \"${CARSON_WORKTREE}\"", "npm ci"]);
    let cursor = r#"{"install": "cd /workspace/web\nnpm ci"}"#;
    let found = of(&[(".cursor/environment.json", cursor)]);
    assert_eq!(found.setup, ["cd \"$CARSON_WORKTREE\"/web", "npm ci"]);
    // Commands that begin elsewhere are none for here.
    let found = container("\"workspaceFolder\": \"/workspaces/x/web\",", "\"npm ci\"");
    assert_eq!(found.setup, [""; 0]);
    let told = format!("{CONTAINER}: postCreateCommand, workspaceFolder");
    assert_eq!(found.not_taken, [told]);
}

#[test]
fn what_only_another_tool_knows_is_left_out_with_its_name() {
    for (line, name) in [
        (
            "cp \"$CODEX_SOURCE_TREE_PATH/.env\" .env",
            "$CODEX_SOURCE_TREE_PATH/.env",
        ),
        ("echo ${localEnv:USER}", "${localEnv:USER}"),
        ("cp ${ROOT_WORKTREE_PATH}/.env .", "${ROOT_WORKTREE_PATH}"),
        ("ls /workspaces/other", "/workspaces/other"),
    ] {
        let found = of_codex(&["npm ci", line, "make"]);
        assert_eq!(found.setup, ["npm ci", "make"], "{line}");
        let told = format!("as only another tool knows {name}: {CODEX}: {line}");
        assert_eq!(found.left_out, [told]);
    }
    for own in ["ls home/workspace/x", "echo $CODEXES ~/workspaces/a"] {
        assert_eq!(of_codex(&[own]).setup, [own]);
    }
    // What runs where such a line goes has no place.
    let found = of_codex(&["npm ci", "cd $CONDUCTOR_ROOT_PATH", "make"]);
    assert_eq!(found.setup, ["npm ci"]);
    let follows = format!("as it follows a line that is left out: {CODEX}: make");
    assert_eq!(found.left_out[1], follows);
}

#[test]
fn what_is_not_taken_over_is_named() {
    let container =
        "{\"image\": \"x\", /* not here */ \"name\": \"x\", \"postCreateCommand\": \"make\"}";
    let (lock, container) = (("package-lock.json", "{}"), (CONTAINER, container));
    let found = of(&[container, lock]);
    assert_eq!(found.setup, ["make"]);
    assert_eq!(found.not_taken, [format!("{CONTAINER}: image")]);
    let codex = (
        CODEX,
        "version = 1\n[setup]\nscript = \"npm ci\"\n[cleanup]\n",
    );
    let cursor = (
        ".cursor/environment.json",
        "{\"install\": \"npm i\", \"start\": \"x\"}",
    );
    let found = of(&[container, codex, cursor]);
    assert_eq!(
        (found.setup.as_slice(), found.by.as_str()),
        (&["npm ci".to_owned()][..], CODEX)
    );
    let told = [
        format!("{CODEX}: cleanup"),
        ".cursor/environment.json: install, start".to_owned(),
        format!("{CONTAINER}: postCreateCommand, image"),
    ];
    assert_eq!(found.not_taken, told);
    let image = of(&[(CONTAINER, "{\"image\": \"x\"}"), lock]);
    assert_eq!(image.setup, ["npm ci"]);
    assert_eq!(image.not_taken, [format!("{CONTAINER}: image")]);
}

#[test]
fn files_of_other_tools_and_of_other_names_are_read() {
    let steps = "jobs:\n  x:\n    steps:\n      - run: npm ci --one\n";
    for (file, text) in [
        (
            ".codex/environments/environment-2.toml",
            "[setup]\nscript = \"npm ci --one\"\n",
        ),
        (
            ".cursor/worktrees.json",
            "{\"setup-worktree\": [\"npm ci --one\"]}",
        ),
        (
            ".devcontainer/node/devcontainer.json",
            "{\"postCreateCommand\": \"npm ci --one\"}",
        ),
        (
            "conductor.json",
            "{\"scripts\": {\"setup\": \"npm ci --one\"}}",
        ),
        (".github/workflows/copilot-setup-steps.yml", steps),
    ] {
        let lock = ("package-lock.json", "{}");
        let found = of(&[(file, text), lock]);
        assert_eq!(
            (found.setup.as_slice(), found.by.as_str()),
            (&["npm ci --one".to_owned()][..], file)
        );
        let peeked = [(file.to_owned(), text.to_owned())].into();
        assert_eq!(proposed(&RepositoryFiles::Peeked(peeked)).by, file);
        let asked = |one: &str| one == file || one.ends_with('/') && file.starts_with(one);
        assert!(files().any(asked), "{file}");
    }
    // A name that would be a line of its own in the settings is none.
    let odd = ".devcontainer/a\nsetup = [1]\n#/devcontainer.json";
    assert_eq!(
        of(&[(odd, "{\"postCreateCommand\": \"make\"}")]),
        Proposal::default()
    );
}

#[test]
fn a_list_of_files_stays_in_the_repository() {
    let listed = (
        ".worktreeinclude",
        "../x\n/etc/hostname\n.git/config\nlist/a\n",
    );
    let found = of(&[("list/a", ""), (".git/config", ""), listed]);
    assert_eq!(found.include, ["list/a"]);
    assert_eq!(found.no_files, ["../x", "/etc/hostname", ".git/config"]);
}
