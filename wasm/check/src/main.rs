//! Builds the rules as one WebAssembly module, and fails if it imports anything or lacks one of its functions.
//!
//! `cargo run --manifest-path wasm/Cargo.toml` with the target `wasm32-unknown-unknown` installed.

mod module;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use self::module::Module;

const TARGET: &str = "wasm32-unknown-unknown";
const FUNCTIONS: [&str; 4] = ["run_nuggets", "run_blackjack", "run_robots", "run_mastermind"];

fn main() -> ExitCode {
    match run() {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, Box<dyn Error>> {
    let path = build()?;
    let bytes = fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    let checked = Module::parse(&bytes).map_err(|why| why.to_string()).and_then(|module| check(&module));
    checked.map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(format!("{}: {} bytes, {} functions, no imports", path.display(), bytes.len(), FUNCTIONS.len()))
}

// Cargo rebuilds the module when its source has changed.
fn build() -> Result<PathBuf, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("this is not where it was built")?;
    let target_dir = root.join("target/wasm");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--package", "rules-wasm", "--target", TARGET, "--manifest-path"])
        .arg(root.join("wasm/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target_dir)
        .status()?;
    if !status.success() {
        return Err(format!("cargo could not build the module: {status}").into());
    }
    Ok(target_dir.join(TARGET).join("release/rules_wasm.wasm"))
}

fn check(module: &Module) -> Result<(), String> {
    if let Some(first) = &module.first_import {
        return Err(format!("it has {} imports, but must not have any; the first is {first}", module.imports));
    }
    match FUNCTIONS.iter().find(|name| !module.functions.iter().any(|function| function == *name)) {
        Some(missing) => Err(format!("it does not export {missing}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_or_a_missing_function_is_an_error() {
        let good = Module { functions: FUNCTIONS.map(Into::into).into(), ..Module::default() };
        assert_eq!(check(&good), Ok(()));
        let importing = Module { imports: 2, first_import: Some("env.now".into()), ..good.clone() };
        assert_eq!(check(&importing), Err("it has 2 imports, but must not have any; the first is env.now".into()));
        let lacking = Module { functions: good.functions[1..].to_vec(), ..good };
        assert_eq!(check(&lacking), Err("it does not export run_nuggets".into()));
    }
}
