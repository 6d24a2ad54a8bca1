//! What everybody did, in lines.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
};

use anyhow::bail;
use cmdkit::file_name;

use crate::{film::Film, games::Game};

/// Prints what everybody did.
///
/// # Errors
/// When the match cannot be replayed to its end.
pub(crate) fn print<E: Game>(path: &Path, mut film: Film<E>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut wrote = Ok(());
    let mut tell = |deed: &crate::Deed| {
        if let Some(words) = deed.words::<E>()
            && wrote.is_ok()
        {
            wrote = writeln!(out, "{words}");
        }
    };
    while film.forward_and(&mut tell) {}
    wrote?;
    out.flush()?;
    match film.trouble() {
        Some(trouble) => bail!("{}: {trouble}", file_name(path)),
        None => Ok(()),
    }
}
