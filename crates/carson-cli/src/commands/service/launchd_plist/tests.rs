use std::path::Path;

use roxmltree::{Document, Node, ParsingOptions};

use super::*;

fn shipped() -> Place<'static> {
    Place {
        program: "/opt/homebrew/bin/carson",
        home: None,
        path: "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        log: "/tmp/carson.log",
    }
}

/// The file of deploy/ is the text; `CARSON_UPDATE=1` writes it.
#[test]
fn what_is_shipped_is_what_is_written() {
    let file = format!("../../deploy/launchd/{LABEL}.plist");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    let text = text(&shipped()).unwrap();
    if std::env::var_os("CARSON_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        return std::fs::write(path, text).unwrap();
    }
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(held, text, "{file}: run this test with CARSON_UPDATE=1");
}

/// Holds a value against the grammar of property lists (PropertyList-1.0.dtd).
fn value(node: Node<'_, '_>) {
    let below = || node.children().filter(Node::is_element);
    match node.tag_name().name() {
        "dict" => {
            let parts: Vec<_> = below().collect();
            let mut keys = std::collections::BTreeSet::new();
            assert_eq!(parts.len() % 2, 0, "a key without a value");
            for pair in parts.chunks(2) {
                assert_eq!(pair[0].tag_name().name(), "key");
                assert!(keys.insert(pair[0].text().unwrap()), "{:?}", pair[0].text());
                value(pair[1]);
            }
        }
        "array" => below().for_each(value),
        "string" => assert_eq!(below().count(), 0),
        "integer" => assert!(node.text().unwrap().parse::<i64>().is_ok()),
        "true" | "false" => assert_eq!(node.text(), None),
        other => panic!("{other} is no value"),
    }
}

/// The value of a key, by its words.
fn strings(document: &Document<'_>, key: &str) -> Vec<String> {
    let mut keys = document
        .descendants()
        .filter(|node| node.has_tag_name("key"));
    let key = keys.find(|node| node.text() == Some(key)).unwrap();
    let value = key.next_sibling_element().unwrap();
    let texts = value
        .descendants()
        .filter(|node| node.has_tag_name("string"));
    texts.map(|node| node.text().unwrap().to_owned()).collect()
}

#[test]
fn it_is_a_property_list_whatever_a_path_has_in_it() {
    let place = Place {
        program: "/Users/ann/a & b/<carson>",
        home: Some("/Users/ann/my \"fleet\""),
        ..shipped()
    };
    for place in [shipped(), place] {
        let text = text(&place).unwrap();
        let options = ParsingOptions {
            allow_dtd: true,
            ..ParsingOptions::default()
        };
        let document = Document::parse_with_options(&text, options).unwrap();
        let root = document.root_element();
        assert_eq!(
            (root.tag_name().name(), root.attribute("version")),
            ("plist", Some("1.0"))
        );
        let values: Vec<_> = root.children().filter(Node::is_element).collect();
        assert_eq!(values.len(), 1);
        value(values[0]);
        let mut words = vec![place.program];
        words.extend(place.home.iter().flat_map(|home| ["--home", home]));
        words.push("daemon");
        assert_eq!(strings(&document, "ProgramArguments"), words);
        assert_eq!(strings(&document, "Label"), [LABEL]);
        assert_eq!(strings(&document, "EnvironmentVariables"), [place.path]);
    }
    let injected = Place {
        log: "/tmp/\u{0}x",
        ..shipped()
    };
    assert!(text(&injected).is_err());
}
