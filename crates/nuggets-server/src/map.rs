//! Finding the map to play on.

use std::{fs::File, io::Read, path::Path};

use anyhow::Context;
use nuggets::{Grid, MAX_MAP_FILE};
use tracing::warn;

/// The map of a server that is given none.
const BUILT_IN: &[u8] = include_bytes!("../../../maps/main.txt");

/// Reads the map at `path`, or the built-in one. What is put right on the way is said in the log.
///
/// # Errors
/// When the file cannot be read or cannot be played.
pub(crate) fn load(path: Option<&Path>) -> anyhow::Result<Grid> {
    let Some(path) = path else { return Ok(Grid::parse(BUILT_IN)?.0) };
    let shown = path.display();
    let (grid, repairs) = Grid::parse(&read(path)?).with_context(|| format!("cannot play on map '{shown}'"))?;
    for repair in repairs {
        warn!("map '{shown}': {repair}");
    }
    let breaches = nuggets::check_map(grid.text()).breaches.len();
    if breaches > 0 {
        warn!("map '{shown}' breaks {breaches} rules for maps; 'nuggets-server --check-map {shown}' tells which");
    }
    Ok(grid)
}

/// Reads a map file, but never more than any map can need.
///
/// # Errors
/// When the file cannot be read or is far too large.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let mut text = vec![];
    let most = u64::try_from(MAX_MAP_FILE)?;
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut text))
        .with_context(|| format!("cannot read map '{shown}'"))?;
    anyhow::ensure!(
        text.len() <= MAX_MAP_FILE,
        "cannot play on map '{shown}': the file is larger than {MAX_MAP_FILE} bytes"
    );
    Ok(text)
}
