//! Mastermind to be played, as a library so that its screens can be drawn by others.
//!
//! [`mastermind`] has the rules; this crate adds the world around them: the command line ([`Args`]), the text game, the panel
//! game ([`panel::Table`] is its state, [`panel::View`] its picture), the codebreaker that plays all codes, and the file of
//! statistics.
//!
//! The panel game as it begins, drawn into a buffer:
//!
//! ```
//! use mastermind_play::{Wanted, panel::{Table, View}};
//! use ratatui::{buffer::Buffer, layout::Rect, widgets::Widget};
//! use termkit::Depth;
//!
//! let table = Table::new(Wanted::default(), 42, None);
//! let mut buffer = Buffer::empty(Rect::new(0, 0, 90, 26));
//! View::new(&table, Depth::None).render(buffer.area, &mut buffer);
//! let row: String = (40..50).map(|column| buffer[(column, 8)].symbol()).collect();
//! assert_eq!(row, "MASTERMIND");
//! ```

mod advice;
mod args;
mod book;
mod interrupt;
pub mod panel;
mod round;
mod solve;
mod text;
mod voice;

use std::{
    io::{self, BufReader, IsTerminal, Write},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, bail};
use mastermind::{Day, Origin};
use rand::{TryRng, rngs::SysRng};

use crate::{args::Plan, book::Book};
pub use crate::{
    args::{Args, Wanted},
    book::{Added, BookError},
    round::{Attempt, Round},
};

/// Columns of the longest bar of the distribution of turns.
pub(crate) const BAR: usize = 40;

/// What errors call the place where everything is written to.
const OUTPUT: &str = "standard output";

/// Seconds in a day.
const DAY: u64 = 86_400;

/// Runs the program.
///
/// # Errors
/// When the terminal, a file or the system refuses, or when a long search is interrupted.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let plan = Plan::of(args)?;
    let book = Book::of_user();
    match plan {
        Plan::Text { wanted, seed, daily, hints } => {
            let origin = origin(seed, daily)?;
            interrupt::end_quietly()?;
            let settings = text::Settings { wanted, origin, hints, person: is_person() };
            // Through a pipe a program may play, so such games do not count.
            let book = io::stdin().is_terminal().then_some(&book);
            text::play(BufReader::new(io::stdin()), io::stdout(), &settings, book).context(OUTPUT)?;
        }
        Plan::Duel { wanted, hints } => {
            let seed = random_seed()?;
            interrupt::end_quietly()?;
            let (input, output) = (BufReader::new(io::stdin()), io::stdout());
            text::duel(input, output, wanted, hints, seed, is_person()).context(OUTPUT)?;
        }
        Plan::Panel { wanted, seed, daily, duel, hints } => {
            if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
                bail!("the panel game needs a terminal; through a pipe, play the text game: leave out --panel");
            }
            let table = match origin(seed, daily)? {
                Origin::Seed(seed) => panel::Table::new(wanted, seed, None),
                Origin::Day(day) => panel::Table::new(wanted, 0, Some(day)),
            };
            let table = if duel { table.for_two() } else { table };
            panel::play(if hints { table.with_hints() } else { table }, &book)?;
        }
        Plan::Solve(task) => return solve::run(&task),
        Plan::Statistics => {
            let record = book.read()?;
            let mut out = io::stdout().lock();
            write!(out, "{}", voice::statistics(&record)).and_then(|()| out.flush()).context(OUTPUT)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a person plays at a terminal.
fn is_person() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Where the codes come from.
fn origin(seed: Option<u64>, daily: bool) -> anyhow::Result<Origin> {
    if daily {
        return Ok(Origin::Day(today(SystemTime::now())?));
    }
    Ok(Origin::Seed(seed.map_or_else(random_seed, Ok)?))
}

/// A seed that nobody has chosen, short enough to be read out over a telephone.
fn random_seed() -> anyhow::Result<u64> {
    Ok(SysRng.try_next_u32()?.into())
}

/// The day of this moment, by the clock of Greenwich.
fn today(now: SystemTime) -> anyhow::Result<Day> {
    let day = now.duration_since(UNIX_EPOCH).ok().and_then(|since| u32::try_from(since.as_secs() / DAY).ok());
    let Some(day) = day else {
        bail!(
            "the puzzle of the day needs the date, and the clock of this computer is wrong: set it, or play without --daily"
        );
    };
    Ok(Day(day))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_day_begins_at_midnight_in_greenwich() {
        let at = |seconds| today(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap().to_string();
        assert_eq!((at(0), at(1_768_348_799)), ("1970-01-01".into(), "2026-01-13".into()));
        assert_eq!(at(1_768_348_800), "2026-01-14");
    }

    #[test]
    fn a_clock_that_is_wrong_is_named() {
        for wrong in [UNIX_EPOCH - Duration::from_secs(1), UNIX_EPOCH + Duration::from_secs(1 << 49)] {
            assert!(today(wrong).unwrap_err().to_string().contains("the clock of this computer is wrong"));
        }
    }
}
