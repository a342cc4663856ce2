//! What the linker leaves out of the small binary that `[profile.hook]` makes.

use std::env;

/// What the standard library calls to go up a stack. Nothing here does: a panic ends the program in
/// its hook, and there are no tables to find the way by.
const UNWINDING: [&str; 9] = [
    "GetDataRelBase",
    "GetIP",
    "GetIPInfo",
    "GetLanguageSpecificData",
    "GetRegionStart",
    "GetTextRelBase",
    "Resume",
    "SetGR",
    "SetIP",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=unwind.ld");
    println!("cargo::rustc-check-cfg=cfg(small)");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    // That profile is the only one with this level, and in it a panic ends the program.
    let small = is("OPT_LEVEL", "z");
    let linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if small && linux {
        println!("cargo::rustc-cfg=small");
        let dir = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        // A fixed place in memory saves the tables of what has to be moved.
        println!("cargo::rustc-link-arg-bins=-no-pie");
        println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{dir}/unwind.ld");
        // With them, and the one in `main.rs`, defined, the library that has them is not loaded,
        // which was a third of what the start takes beyond that of any program.
        for name in UNWINDING {
            println!("cargo::rustc-link-arg-bins=-Wl,--defsym=_Unwind_{name}=0");
        }
        // A static libc asks for the rest of that library, and so for them: those above count.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,muldefs");
    }
}
