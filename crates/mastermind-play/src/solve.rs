//! `solve`: the codebreaker plays all codes of a game, or one that it knows or does not know.

mod interactive;
mod pool;
mod progress;

use std::{
    fmt::{self, Write as _},
    io::{self, Write as _},
    ops::ControlFlow,
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use anyhow::bail;
use mastermind::{
    Code, Feedback, Knowledge, Rules,
    game::TURNS,
    histogram,
    solver::{Codebreaker, Found, Hint, Limits, Search, Strategy, Tally},
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use self::progress::Bar;
use crate::{BAR, interrupt, voice::advice};

/// The most guesses of a game in which all of them are judged at each turn. Six pegs in eight colours have 262,144.
const ALL_JUDGED: u64 = 300_000;

/// The most guesses of a game that is searched for a proof: those of four pegs in eight colours.
pub(crate) const PROVABLE: u64 = 4_096;

/// How guesses are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// By looking one step ahead.
    OneStep(Strategy),
    /// By searching for the least total.
    Optimal,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneStep(strategy) => strategy.fmt(f),
            Self::Optimal => f.write_str("optimal"),
        }
    }
}

impl FromStr for How {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Strategy::ALL.into_iter().map(Self::OneStep).chain([Self::Optimal]);
        all.find(|how| how.to_string() == text).ok_or("give minimax, expected, entropy, parts or optimal")
    }
}

/// What the codebreaker is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Play every code.
    All {
        rules: Rules,
        how: How,
        /// Threads, unless a search proves its result.
        threads: usize,
        /// Permutes the colours of a search that proves its result.
        seed: Option<u64>,
    },
    /// Play one code and say why each guess is made.
    One { rules: Rules, code: Code },
    /// Suggest guesses for a code that is not known, and read their answers.
    Interactive { rules: Rules },
}

pub(crate) fn run(task: &Task) -> anyhow::Result<()> {
    let text = match *task {
        Task::All { rules, how, threads, seed } => all(rules, how, threads, seed)?,
        Task::One { rules, code } => one(rules, code)?,
        Task::Interactive { rules } => {
            interrupt::end_quietly()?;
            return Ok(interactive::play(rules, io::stdin().lock(), io::stdout())?);
        }
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

fn all(rules: Rules, how: How, threads: usize, seed: Option<u64>) -> anyhow::Result<String> {
    let stop = cmdkit::stop_flag()?;
    let begun = Instant::now();
    let bar = Bar::new();
    let done = match codebreaker(rules, how) {
        None => search(rules, seed, &stop, &bar),
        Some(breaker) => play(&breaker, rules.codes(), threads, &stop, &bar),
    };
    bar.clear();
    let (tally, remark) = done?;
    let turns: Vec<(usize, u64)> = (1..).zip(tally.turns().iter().copied()).collect();
    let (bars, seconds) = (histogram(&turns, BAR), begun.elapsed().as_secs_f64());
    Ok(format!("{tally}\n{bars}{rules}; {how}; {remark}\n{seconds:.3} s\n"))
}

/// Plays all codes with several threads.
fn play(
    breaker: &Codebreaker,
    codes: u64,
    threads: usize,
    stop: &AtomicBool,
    bar: &Bar,
) -> anyhow::Result<(Tally, String)> {
    let Ok(tally) = pool::run(breaker, threads, codes, stop, bar) else {
        bail!("stopped before all {codes} codes were played");
    };
    let mut remark = format!("{threads} {}", if threads == 1 { "thread" } else { "threads" });
    if let Some(limits) = breaker.limits() {
        remark = format!("{remark}; {}", limited(&limits));
    }
    Ok((tally, remark))
}

fn search(rules: Rules, seed: Option<u64>, stop: &AtomicBool, bar: &Bar) -> anyhow::Result<(Tally, String)> {
    let mut search = Search::exhaustive(rules);
    if let Some(seed) = seed {
        search = search.relabelled(&mut Pcg64::seed_from_u64(seed));
    }
    let found = search.run(|progress| {
        bar.searched(&progress);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let Ok(Found { opening, tally, nodes, proven }) = found else {
        bail!("stopped before the search was done");
    };
    let proof = if proven { "proven to be the least total" } else { "not proven" };
    Ok((tally, format!("first guess {opening}, {nodes} nodes searched, {proof}")))
}

/// The codebreaker for a game of this size; none where a search can prove the best total.
fn codebreaker(rules: Rules, how: How) -> Option<Codebreaker> {
    let guesses = rules.guesses();
    match how {
        How::OneStep(strategy) if guesses <= ALL_JUDGED => Some(Codebreaker::new(rules, strategy)),
        How::OneStep(strategy) => Some(Codebreaker::limited(rules, strategy)),
        How::Optimal if guesses <= PROVABLE => None,
        How::Optimal => Some(Codebreaker::searching(rules)),
    }
}

/// What limited the choice of guesses, in words.
fn limited(limits: &Limits) -> String {
    let Limits { tried, improved, judged, searched, width } = limits;
    let search = if *searched == 0 {
        String::new()
    } else {
        format!("; not proven to be the least total: {width} guesses were tried at up to {searched} codes, one at more")
    };
    format!(
        "guesses limited to {improved} improved from at most {tried} possible codes and judged by at most {judged}{search}"
    )
}

/// Plays one code by hints.
fn one(rules: Rules, code: Code) -> anyhow::Result<String> {
    let mut knowledge = Knowledge::new(rules);
    let mut text = String::new();
    for turn in 1..=TURNS {
        let Some(hint) = Hint::of(&knowledge) else {
            bail!("no code fits the answers");
        };
        let feedback = Feedback::of(hint.guess, code);
        let Feedback { red, white } = feedback;
        let why = advice(&hint).join(" ");
        let _ = writeln!(text, "Turn {turn}: {why} Guess {}: red {red}, white {white}.", hint.guess);
        if feedback.is_win(rules.length()) {
            return Ok(text + &format!("{code} is found in {turn} {}.\n", if turn == 1 { "turn" } else { "turns" }));
        }
        knowledge.answered(hint.guess, feedback);
    }
    Ok(text + &format!("{code} is not found in {TURNS} turns.\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(length: usize, colours: usize, repeats: bool) -> Rules {
        Rules::new(length, colours, repeats).unwrap()
    }

    #[test]
    fn the_size_of_a_game_decides_the_search() {
        let limits = |game, how| codebreaker(game, how).map(|breaker| breaker.limits().is_some());
        for (game, parts, optimal) in [
            (rules(4, 6, true), Some(false), None),
            (rules(4, 8, true), Some(false), None),
            (rules(4, 8, false), Some(false), None),
            (rules(5, 8, true), Some(false), Some(true)),
            (rules(6, 8, true), Some(false), Some(true)),
            (rules(7, 8, false), Some(true), Some(true)),
            (rules(8, 8, true), Some(true), Some(true)),
        ] {
            let found = (limits(game, How::OneStep(Strategy::Parts)), limits(game, How::Optimal));
            assert_eq!(found, (parts, optimal), "{game}");
        }
    }
}
