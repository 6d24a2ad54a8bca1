//! Mastermind in the terminal: the command line ([`Args`]), the text game, the panel game (`panel::Table` is its state,
//! `panel::View` its picture), the codebreaker that plays all codes, and the statistics file. [`mastermind`] has the
//! rules.

mod args;
mod book;
mod interrupt;
mod panel;
mod round;
mod solve;
mod text;
mod voice;

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, bail};
use mastermind::Day;
use rand::{TryRng, rngs::SysRng};

pub use crate::args::Args;
use crate::{
    args::{Plan, Play},
    book::Book,
    round::{Setter, Settings},
};

/// The longest bar of the distribution of turns, in columns.
pub(crate) const BAR: usize = 40;

const OUTPUT: &str = "standard output";

const DAY: u64 = 86_400;

/// Runs the program.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let book = Book::of_user();
    match Plan::of(args)? {
        Plan::Play(game) => play(&game, &book)?,
        Plan::Solve(task) => solve::run(&task)?,
        Plan::Statistics => {
            let record = book.read()?;
            let mut out = io::stdout().lock();
            write!(out, "{}", voice::statistics(&record)).and_then(|()| out.flush()).context(OUTPUT)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn play(game: &Play, book: &Book) -> anyhow::Result<()> {
    let &Play { panel, wanted, rules, seed, daily, duel, hints } = game;
    let [typed, shown] = [io::stdin().is_terminal(), io::stdout().is_terminal()];
    if panel && !(typed && shown) {
        bail!("the panel game needs a terminal; omit --panel to play the text game through a pipe");
    }
    let setter = if daily {
        Setter::Day(today(SystemTime::now())?)
    } else if duel {
        Setter::People
    } else {
        Setter::Seed
    };
    // 32 bits are short enough to be read out over a telephone.
    let seed = seed.map_or_else(|| SysRng.try_next_u32().map(u64::from), Ok)?;
    let settings = Settings { wanted, rules, setter, seed, hints };
    if panel {
        return panel::play(settings, book);
    }
    interrupt::end_quietly()?;
    // Piped input may come from a program, so such games do not count.
    text::play(settings, typed.then_some(book), typed && shown).context(OUTPUT)
}

fn today(now: SystemTime) -> anyhow::Result<Day> {
    let day = now.duration_since(UNIX_EPOCH).ok().and_then(|since| u32::try_from(since.as_secs() / DAY).ok());
    day.map(Day).context(
        "the puzzle of the day needs the date, but the clock of this computer is wrong: set it, or omit --daily",
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn day_begins_at_midnight_utc_and_wrong_clocks_are_reported() {
        let at = |seconds| today(UNIX_EPOCH + Duration::from_secs(seconds)).map(|day| day.to_string());
        for (seconds, date) in [(0, "1970-01-01"), (1_768_348_799, "2026-01-13"), (1_768_348_800, "2026-01-14")] {
            assert_eq!(at(seconds).unwrap(), date);
        }
        for wrong in [at(1 << 49), today(UNIX_EPOCH - Duration::from_secs(1)).map(|day| day.to_string())] {
            assert!(wrong.unwrap_err().to_string().contains("the clock of this computer is wrong"));
        }
    }
}
