//! The tests that took longest, from what the runner wrote.

use std::fs;
use std::time::Duration;

use anyhow::Context as _;

use crate::runner::profile;
use crate::workspace::root;

/// So many are printed.
const MOST: usize = 20;

/// Prints the slowest tests of the last run, and what all of them took together.
///
/// # Errors
/// When the runner's file is not there or is not understood.
pub fn print() -> anyhow::Result<()> {
    let profile = profile().last().unwrap_or(&"default");
    let file = root().join(format!("target/nextest/{profile}/junit.xml"));
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let mut tests = times(&text).with_context(|| format!("understanding {}", file.display()))?;
    tests.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
    let all: Duration = tests.iter().map(|(took, _)| *took).sum();
    println!(
        "xtask: {} tests, {:.0} s one after another",
        tests.len(),
        all.as_secs_f64()
    );
    if tests.len() > MOST {
        println!("xtask: the {MOST} slowest");
        for (took, name) in &tests[..MOST] {
            println!("{:8.1} s  {name}", took.as_secs_f64());
        }
    }
    Ok(())
}

/// How long each test took, and its name.
fn times(junit: &str) -> anyhow::Result<Vec<(Duration, String)>> {
    let document = roxmltree::Document::parse(junit)?;
    let cases = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"));
    cases
        .map(|case| {
            let attribute = |name| case.attribute(name).with_context(|| format!("no {name}"));
            let seconds: f64 = attribute("time")?.parse()?;
            let name = format!("{} {}", attribute("classname")?, attribute("name")?);
            Ok((Duration::try_from_secs_f64(seconds)?, name))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_its_time() {
        let junit = "<testsuites><testsuite><testcase name=\"a::b\" classname=\"suite\" time=\"1.5\"/>\
                     <testcase name=\"c\" classname=\"core\" time=\"0.25\"><failure/></testcase></testsuite></testsuites>";
        let wanted = [(1500, "suite a::b"), (250, "core c")];
        let wanted = wanted.map(|(took, name)| (Duration::from_millis(took), name.to_owned()));
        assert_eq!(times(junit).unwrap(), wanted);
        assert!(times("<testcase name=\"a\"/>").is_err());
    }
}
