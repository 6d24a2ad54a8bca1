use std::{env, path::Path};

/// The command that starts another program like this one: with cargo, or installed.
pub fn command_of(program: &str) -> String {
    let itself = env::current_exe().unwrap_or_default();
    // Cargo names these directories after its profiles.
    let folder = itself.parent().and_then(Path::file_name);
    let built = folder.is_some_and(|folder| ["debug", "release", "dist"].iter().any(|profile| folder == *profile));
    if built { format!("cargo run -p {program} --") } else { program.to_owned() }
}
