use std::{fs::File, io::Read, path::Path};

use anyhow::Context;
use nuggets::{BUILT_IN_MAP, Grid, MAX_MAP_FILE};
use tracing::warn;

pub(crate) fn name(path: Option<&Path>) -> String {
    path.map_or_else(|| "the built-in map".to_owned(), |path| format!("map '{}'", path.display()))
}

/// Reads the map, by default the built-in one, and logs each repair.
pub(crate) fn load(path: Option<&Path>) -> anyhow::Result<Grid> {
    let name = name(path);
    let text = read(path)?;
    let (grid, repairs) = Grid::parse(&text).with_context(|| format!("cannot play on {name}"))?;
    for repair in repairs {
        warn!("{name}: {repair}");
    }
    let breaches = nuggets::check_map(&text).breaches.len();
    if breaches > 0 {
        warn!("{name} breaks the rules for maps in {breaches} places; --check-map lists them");
    }
    Ok(grid)
}

// A number in the place of the map is most likely a seed.
fn hint(path: &Path) -> String {
    let typed = path.to_string_lossy();
    let is_number = !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { format!(" (a seed alone is --seed {typed})") } else { String::new() }
}

/// Valid maps are within the limit.
pub(crate) fn read(path: Option<&Path>) -> anyhow::Result<Vec<u8>> {
    let Some(path) = path else { return Ok(BUILT_IN_MAP.to_vec()) };
    let name = name(Some(path));
    let most = u64::try_from(MAX_MAP_FILE)?;
    let mut text = vec![];
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut text))
        .with_context(|| format!("cannot read {name}{}", hint(path)))?;
    anyhow::ensure!(text.len() <= MAX_MAP_FILE, "cannot play on {name}: the file is larger than {MAX_MAP_FILE} bytes");
    Ok(text)
}
