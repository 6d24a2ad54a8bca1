//! Mastermind to be played, as a library so that its screens can be drawn by others.
//!
//! [`mastermind`] has the rules; this crate adds the world around them: the command line ([`Args`]), the text game
//! ([`text::play`]), the panel game ([`panel::Table`] is its state, [`panel::View`] its picture), the codebreaker that plays
//! all codes ([`solve`]) and the file of statistics ([`Book`]).
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
pub mod solve;
pub mod text;
mod voice;

use std::{
    io::{self, BufReader, IsTerminal, Write},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::bail;
use mastermind::Day;
use rand::{TryRng, rngs::SysRng};

pub use crate::{
    args::{Args, Command, Plan, Wanted},
    book::{Added, Book, BookError},
    round::Round,
};

/// Columns of the longest bar of the distribution of turns.
pub(crate) const BAR: usize = 40;

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
            let source = source(seed, daily)?;
            interrupt::end_quietly()?;
            text::play(BufReader::new(io::stdin()), io::stdout(), &text::Settings { wanted, source, hints }, &book)?;
        }
        Plan::Duel { wanted, hints } => {
            interrupt::end_quietly()?;
            text::duel(BufReader::new(io::stdin()), io::stdout(), wanted, hints)?;
        }
        Plan::Panel { wanted, seed, daily } => {
            if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
                bail!("the panel game needs a terminal; through a pipe, play the text game: leave out --panel");
            }
            let (seed, day) = match source(seed, daily)? {
                text::Source::Seed(seed) => (seed, None),
                text::Source::Day(day) => (0, Some(day)),
            };
            panel::play(wanted, seed, day, &book)?;
        }
        Plan::Solve(task) => return solve::run(&task),
        Plan::Statistics => {
            let record = book.read()?;
            let mut out = io::stdout().lock();
            write!(out, "{}", voice::statistics(&record))?;
            out.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the codes come from.
fn source(seed: Option<u64>, daily: bool) -> anyhow::Result<text::Source> {
    if daily {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        return Ok(text::Source::Day(Day(u32::try_from(seconds / DAY)?)));
    }
    // Short enough to be read out over a telephone.
    let seed = match seed {
        Some(seed) => seed,
        None => u64::from(SysRng.try_next_u32()?),
    };
    Ok(text::Source::Seed(seed))
}
