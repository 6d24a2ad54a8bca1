use std::{fs, path::Path, sync::OnceLock};

use anyhow::{Context as _, bail};
use cmdkit::{file_name, read_file};
use tracing::{info, warn};

use crate::message::message;

const BUILT_IN: [(&str, &[u8]); 6] = [
    ("main", nuggets::BUILT_IN_MAP),
    ("alcoves", include_bytes!("../../../../../maps/alcoves.txt")),
    ("brawl", include_bytes!("../../../../../maps/brawl.txt")),
    ("donuts", include_bytes!("../../../../../maps/donuts.txt")),
    ("gold", include_bytes!("../../../../../maps/gold.txt")),
    ("spiral", include_bytes!("../../../../../maps/spiral.txt")),
];
/// In bytes. The map is part of the room file and of a request.
pub(crate) const MAX_OWN_MAP: usize = 12 << 10;
pub(crate) const MAX_MAPS: usize = 200;
/// In bytes.
const MAX_NAME: usize = 40;
const MAX_BREACHES: usize = 10;

/// The operator's maps by name, set once.
static OFFERED: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();

fn all() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let offered = OFFERED.get().into_iter().flatten().map(|(name, text)| (&**name, &**text));
    BUILT_IN.into_iter().chain(offered)
}

/// The map of a daily challenge, which must not depend on the maps of the operator.
pub(super) fn of_day(day: u32) -> &'static str {
    const MAPS: [&str; 4] = ["main", "alcoves", "donuts", "spiral"];
    MAPS[day as usize % MAPS.len()]
}

pub(super) fn names() -> Vec<&'static str> {
    all().map(|(name, _)| name).collect()
}

pub(super) fn named(name: &str) -> anyhow::Result<&'static [u8]> {
    all().find(|(other, _)| *other == name).map(|(_, text)| text).ok_or_else(|| {
        let (map, maps) = (name.escape_debug().to_string(), names().join(", "));
        message!("no_map", "there is no map '{map}': choose one of {maps}", map = map, maps = maps).into()
    })
}

/// As `nuggets-server --check-map` does. The error states where the map breaks the rules.
pub(super) fn check(text: &[u8]) -> anyhow::Result<&[u8]> {
    if text.len() > MAX_OWN_MAP {
        bail!(message!("map_too_large", "a map has at most {count} bytes", count = MAX_OWN_MAP));
    }
    let mut report = nuggets::check_map(text);
    if report.breaches.is_empty() {
        return Ok(text);
    }
    report.breaches.truncate(MAX_BREACHES);
    report.notes.clear();
    let faults = report.to_string().trim_end().to_owned();
    bail!(message!("invalid_map", "the map breaks the rules for maps:\n{faults}", faults = faults))
}

/// Files that are not maps are logged.
pub(crate) fn offer(directory: &Path) -> anyhow::Result<()> {
    let maps = read(directory)?;
    info!("offering {} maps from '{}'", maps.len(), directory.display());
    let _ = OFFERED.set(maps);
    Ok(())
}

fn read(directory: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let entries =
        fs::read_dir(directory).with_context(|| format!("cannot read the maps in '{}'", directory.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    let mut maps = vec![];
    for path in paths {
        match read_map(&path) {
            Ok(_) if maps.len() >= MAX_MAPS => {
                warn!("at most {MAX_MAPS} maps are offered; ignoring {}", file_name(&path));
            }
            Ok(map) => maps.push(map),
            Err(why) => warn!("ignoring the map {}: {why:#}", file_name(&path)),
        }
    }
    Ok(maps)
}

fn read_map(path: &Path) -> anyhow::Result<(String, Vec<u8>)> {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".txt"));
    let plain = |name: &&str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
    };
    let name = name.filter(plain).with_context(|| {
        format!(
            "invalid file name: expected NAME.txt, where NAME has 1 to {MAX_NAME} lowercase letters a to z, \
            digits and hyphens"
        )
    })?;
    if BUILT_IN.iter().any(|(other, _)| *other == name) {
        bail!("a built-in map has this name");
    }
    let text = read_file(path, nuggets::MAX_MAP_FILE)?;
    if text.len() > nuggets::MAX_MAP_FILE {
        bail!("it is larger than {} bytes", nuggets::MAX_MAP_FILE);
    }
    // As for the stand-alone server, a playable map is sufficient.
    nuggets::Grid::parse(&text)?;
    Ok((name.to_owned(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_maps_are_ignored() {
        let directory = testkit::TempDir::new();
        let write = |name: &str, text: &[u8]| fs::write(directory.path().join(name), text).unwrap();
        for name in ["two.txt", "one.txt", "Three.txt", "main.txt", "four.map", "..txt"] {
            write(name, nuggets::BUILT_IN_MAP);
        }
        write("empty.txt", b"");
        fs::create_dir(directory.path().join("five.txt")).unwrap();
        let names: Vec<String> = read(directory.path()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(read(&directory.path().join("nowhere")).is_err());
    }

    #[test]
    fn drawn_map_must_follow_all_rules() {
        assert!(check(nuggets::BUILT_IN_MAP).is_ok());
        let small = b"+---+\n|...|\n+---+\n";
        let told = check(small).unwrap_err().to_string();
        let expected = nuggets::check_map(small).breaches[0].to_string();
        assert!(told.starts_with("the map breaks the rules for maps:\n") && told.contains(&expected), "{told}");
        assert!(check(&vec![b'.'; MAX_OWN_MAP + 1]).unwrap_err().to_string().contains("at most 12288 bytes"));
    }
}
