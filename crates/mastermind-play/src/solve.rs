//! `solve`: the codebreaker plays all codes, one given code, or one unknown code.

mod interactive;

use std::{
    fmt::{self, Write as _},
    io::{self, Write as _},
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    str::FromStr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::bail;
use cmdkit::{Progress, progress_bar};
use mastermind::{
    Code, Feedback, Knowledge, Rules,
    game::TURNS,
    histogram,
    solver::{self, Codebreaker, Hint, Job, Limits, Search, SearchResult, Stopped, Strategy, Tally},
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::{BAR, interrupt, voice::advice};

/// Up to this number of guesses, all are judged at each turn. Six pegs in eight colours have 262,144.
const ALL_JUDGED: u64 = 300_000;

/// The most guesses of a game that is searched for a proof: four pegs in eight colours.
pub(crate) const PROVABLE: u64 = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    OneStep(Strategy),
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
        all.find(|how| how.to_string() == text).ok_or("expected minimax, expected, entropy, parts or optimal")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    All {
        rules: Rules,
        how: How,
        threads: usize,
        /// Permutes the colours of a search that proves its result.
        seed: Option<u64>,
    },
    /// Play one code and explain each guess.
    One { rules: Rules, code: Code },
    /// Suggest guesses for an unknown code, and read their answers.
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

fn play(
    breaker: &Codebreaker,
    codes: u64,
    threads: usize,
    stop: &AtomicBool,
    bar: &Bar,
) -> anyhow::Result<(Tally, String)> {
    let Ok(tally) = run_pool(breaker, threads, codes, stop, bar) else {
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
    let Ok(SearchResult { opening, tally, nodes, proven }) = found else {
        bail!("stopped before the end of the search");
    };
    let proof = if proven { "proven to be the least total" } else { "not proven" };
    Ok((tally, format!("first guess {opening}, {nodes} nodes searched, {proof}")))
}

/// `None` if a search can prove the best total.
fn codebreaker(rules: Rules, how: How) -> Option<Codebreaker> {
    let guesses = rules.guesses();
    match how {
        How::OneStep(strategy) if guesses <= ALL_JUDGED => Some(Codebreaker::new(rules, strategy)),
        How::OneStep(strategy) => Some(Codebreaker::limited(rules, strategy)),
        How::Optimal if guesses <= PROVABLE => None,
        How::Optimal => Some(Codebreaker::searching(rules)),
    }
}

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

/// Shorter work shows no progress line.
const QUIET: Duration = Duration::from_millis(700);
const WIDTH: usize = 30;

/// Drawn by several threads, on terminals only.
struct Bar(Mutex<Progress>);

impl Bar {
    fn new() -> Self {
        Self(Mutex::new(Progress::new().quiet_for(QUIET)))
    }

    fn found(&self, codes_found: u64, codes: u64) {
        self.draw(|seconds| found(codes_found, codes, seconds));
    }

    fn searched(&self, progress: &solver::Progress) {
        self.draw(|seconds| searched(progress, seconds));
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn draw(&self, line: impl FnOnce(u64) -> String) {
        if let Ok(mut progress) = self.0.try_lock() {
            progress.draw(|elapsed| line(elapsed.as_secs()));
        }
    }
}

fn found(found: u64, codes: u64, seconds: u64) -> String {
    format!("{} {found} of {codes} codes, {seconds} s", progress_bar(found, codes, WIDTH))
}

fn searched(progress: &solver::Progress, seconds: u64) -> String {
    let solver::Progress { nodes, openings_done: done, openings, best } = *progress;
    let best = best.map_or(String::new(), |best| format!(", best total {best}"));
    let bar = progress_bar(done as u64, openings as u64, WIDTH);
    // Stays at the last number once all are done.
    let current = (done + 1).min(openings);
    format!("{bar} first guess {current} of {openings}, {nodes} nodes{best}, {seconds} s")
}

/// Jobs with more codes are divided, so that no worker is left with a large one. In large games, the limit is a 4096th
/// of all codes.
const DIVIDED: usize = 500;

/// Also returns [`Stopped`] if a thread panics.
fn run_pool(breaker: &Codebreaker, threads: usize, codes: u64, stop: &AtomicBool, bar: &Bar) -> Result<Tally, Stopped> {
    let most = usize::try_from(codes / 4096).unwrap_or(usize::MAX).max(DIVIDED);
    let found = AtomicU64::new(0);
    let tell = |more| bar.found(found.fetch_add(more, Ordering::Relaxed) + more, codes);
    share_out(threads, breaker.job(), stop, |job| {
        if job.codes() > most {
            let (part, further) = breaker.divide(&job);
            tell(part.codes());
            return Ok((part, further));
        }
        let watch = |more| {
            tell(more);
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        Ok((breaker.run(job, watch)?, Vec::new()))
    })
}

/// `play` plays a job, or divides it and returns the remaining jobs for the next round.
fn share_out(
    threads: usize,
    job: Job,
    stop: &AtomicBool,
    play: impl Fn(Job) -> Result<(Tally, Vec<Job>), Stopped> + Sync,
) -> Result<Tally, Stopped> {
    let mut tally = Tally::default();
    let mut jobs = vec![job];
    while !jobs.is_empty() {
        // Largest first, so that no worker is left with a large one.
        jobs.sort_by_key(Job::codes);
        let waiting = Mutex::new(jobs);
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let work = || {
            let (mut tally, mut further) = (Tally::default(), Vec::new());
            while let Some(job) = next() {
                // The panic is already reported, and the other threads stop early.
                let played = if stop.load(Ordering::Relaxed) {
                    Err(Stopped)
                } else {
                    catch_unwind(AssertUnwindSafe(|| play(job))).unwrap_or(Err(Stopped))
                };
                stop.fetch_or(played.is_err(), Ordering::Relaxed);
                let (part, rest) = played?;
                tally.add(&part);
                further.extend(rest);
            }
            Ok((tally, further))
        };
        let done: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap_or(Err(Stopped))).collect()
        });
        jobs = Vec::new();
        for done in done {
            let (part, further) = done?;
            tally.add(&part);
            jobs.extend(further);
        }
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use mastermind::{Rules, solver::Strategy};

    use super::*;

    fn rules(length: usize, colours: usize, repeats: bool) -> Rules {
        Rules::new(length, colours, repeats).unwrap()
    }

    #[test]
    fn search_depends_on_the_game_size() {
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

    #[test]
    fn progress_lines_show_fractions() {
        assert_eq!(found(50, 100, 3), "[###############...............] 50 of 100 codes, 3 s");
        assert_eq!(found(100, 100, 3), format!("[{}] 100 of 100 codes, 3 s", "#".repeat(30)));
        let progress = solver::Progress { nodes: 12, openings_done: 1, openings: 5, best: Some(5630) };
        assert_eq!(
            searched(&progress, 4),
            "[######........................] first guess 2 of 5, 12 nodes, best total 5630, 4 s"
        );
        let done = solver::Progress { nodes: 99, openings_done: 5, openings: 5, best: None };
        assert_eq!(searched(&done, 5), format!("[{}] first guess 5 of 5, 99 nodes, 5 s", "#".repeat(30)));
    }

    #[test]
    fn results_do_not_depend_on_threads() {
        let rules = Rules::new(4, 7, true).unwrap();
        let bar = Bar::new();
        for breaker in [
            Codebreaker::new(rules, Strategy::Entropy),
            Codebreaker::limited(rules, Strategy::Entropy),
            Codebreaker::searching(rules),
        ] {
            let tally = |threads| run_pool(&breaker, threads, rules.codes(), &AtomicBool::new(false), &bar).unwrap();
            let alone = tally(1);
            assert_eq!(alone.codes(), rules.codes());
            assert_eq!((tally(2), tally(7)), (alone.clone(), alone));
        }
    }

    // A job that never completes would block the other workers forever.
    #[test]
    fn panic_in_one_thread_ends_all_work() {
        for threads in [1, 2, 7] {
            let (ended, end) = mpsc::channel();
            thread::spawn(move || {
                let breaker = Codebreaker::new(Rules::new(4, 6, true).unwrap(), Strategy::Parts);
                let stop = AtomicBool::new(false);
                let done = share_out(threads, breaker.job(), &stop, |_| panic!("a job that cannot be played"));
                let _ = ended.send(done);
            });
            assert_eq!(end.recv_timeout(Duration::from_secs(60)), Ok(Err(Stopped)), "{threads} threads");
        }
    }

    #[test]
    fn stopped_work_has_no_result() {
        let rules = Rules::new(4, 6, true).unwrap();
        let breaker = Codebreaker::new(rules, Strategy::Parts);
        let stopped = run_pool(&breaker, 3, rules.codes(), &AtomicBool::new(true), &Bar::new());
        assert_eq!(stopped, Err(Stopped));
    }
}
