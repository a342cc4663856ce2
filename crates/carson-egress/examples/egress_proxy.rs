//! A firing's proxy alone, for `cargo xtask bench egress`: the rules are the arguments, the
//! variables of a session come on standard output, and it ends with standard input.

#![expect(clippy::print_stdout, reason = "its whole purpose")]

use std::io::Read;

use carson_core::egress::{Allowlist, Rule};
use carson_egress::{Bounds, Egress, Plan, Resolver};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rules: Result<Vec<Rule>, _> = std::env::args().skip(1).map(|text| text.parse()).collect();
    let egress = Egress::open(Plan {
        rules: Some(Allowlist(rules?)),
        provider: None,
        resolver: Resolver::system(),
        bounds: Bounds::default(),
    })?;
    for (name, value) in egress.variables(false) {
        println!("{name}={value}");
    }
    println!();
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
