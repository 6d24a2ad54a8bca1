//! Prints the actions of a match as lines.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
};

use anyhow::bail;
use cmdkit::file_name;

use crate::{actions::Action, games::Game, playback::Playback};

pub(crate) fn print<E: Game>(path: &Path, mut playback: Playback<E>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut wrote = Ok(());
    let mut tell = |action: &Action| {
        if let Some(words) = action.words::<E>()
            && wrote.is_ok()
        {
            wrote = writeln!(out, "{words}");
        }
    };
    while playback.forward_and(&mut tell) {}
    wrote?;
    out.flush()?;
    match playback.trouble() {
        Some(trouble) => bail!("{}: {trouble}", file_name(path)),
        None => Ok(()),
    }
}
