//! Plays every code of a game with a strategy that looks one step ahead.

use alloc::{sync::Arc, vec::Vec};
use core::ops::ControlFlow;

use super::{
    Stopped,
    bench::Bench,
    shortlist::{Limits, Shortlist},
    space::{Pool, Space, split, telling_member},
    strategy::Strategy,
    tally::Tally,
};
use crate::{code::Code, config::Rules};

/// A codebreaker that plays all codes of a game with one strategy.
#[derive(Debug, Clone)]
pub struct Codebreaker {
    space: Space,
    strategy: Strategy,
    limits: Option<Limits>,
}

/// Codes that remain possible after the same answers.
#[derive(Debug, Clone)]
pub struct Job {
    codes: Vec<Code>,
    turns: usize,
    pool: Arc<Pool>,
}

impl Job {
    /// The number of codes to find.
    pub fn codes(&self) -> usize {
        self.codes.len()
    }
}

impl Codebreaker {
    /// Creates a codebreaker that judges every guess, for games of up to some 300,000 guesses, at 20 bytes each.
    pub fn new(rules: Rules, strategy: Strategy) -> Self {
        Self { space: Space::new(rules), strategy, limits: None }
    }

    /// Creates a codebreaker for games of any size.
    ///
    /// It judges and improves some of the possible codes, is deterministic, and takes some 20 bytes per code.
    pub const fn limited(rules: Rules, strategy: Strategy) -> Self {
        Self { space: Space::without_guesses(rules), strategy, limits: Some(Limits::ONE_STEP) }
    }

    /// A [limited](Self::limited) codebreaker that chooses by entropy, and searches small sets for the least total.
    pub fn searching(rules: Rules) -> Self {
        Self { limits: Some(Limits::of_search(rules)), ..Self::limited(rules, Strategy::Entropy) }
    }

    /// The limits, if any.
    pub const fn limits(&self) -> Option<Limits> {
        self.limits
    }

    /// The whole work as one job.
    pub fn job(&self) -> Job {
        Job { codes: self.space.rules.all(), turns: 0, pool: self.space.openings() }
    }

    /// The number of guesses judged at the next turn of a job without limits. Equivalent guesses count once.
    pub fn guesses(&self, job: &Job) -> usize {
        self.space.of_pool(&job.pool).count()
    }

    /// Plays one turn. Returns the codes that it finds, and a job for each other answer.
    ///
    /// Other threads can [run](Self::run) jobs independently; their tallies [add up](Tally::add).
    pub fn divide(&self, job: &Job) -> (Tally, Vec<Job>) {
        let guess = self.choose(&job.codes, &job.pool, &mut self.bench(), &mut || ControlFlow::Continue(()));
        self.divide_by(guess.unwrap_or(job.codes[0]), job)
    }

    fn divide_by(&self, guess: Code, job: &Job) -> (Tally, Vec<Job>) {
        let mut tally = Tally::default();
        tally.guesses += 1;
        let turns = job.turns + 1;
        let pool = self.space.pool_after(&job.pool, guess);
        let jobs = split(&job.codes, guess).into_iter().filter_map(|(answer, codes)| {
            if answer.is_win(guess.len()) {
                tally.found(turns, 1);
                return None;
            }
            Some(Job { codes, turns, pool: Arc::clone(&pool) })
        });
        let jobs = jobs.collect();
        (tally, jobs)
    }

    /// Finds every code of a job. `watch` receives the number of codes found since its last call, and may stop the
    /// work.
    pub fn run(&self, job: Job, mut watch: impl FnMut(u64) -> ControlFlow<()>) -> Result<Tally, Stopped> {
        let mut bench = self.bench();
        let mut tally = Tally::default();
        let mut jobs = alloc::vec![job];
        let mut told = 0;
        while let Some(job) = jobs.pop() {
            match job.codes[..] {
                [] => {}
                [_] => tally.found(job.turns + 1, 1),
                [_, _] => {
                    tally.found(job.turns + 1, 1);
                    tally.found(job.turns + 2, 1);
                }
                _ => {
                    let guess = self.choose(&job.codes, &job.pool, &mut bench, &mut || watch(0))?;
                    let (found, further) = self.divide_by(guess, &job);
                    tally.add(&found);
                    jobs.extend(further);
                    let found = tally.codes();
                    if watch(found - told).is_break() {
                        return Err(Stopped);
                    }
                    told = found;
                }
            }
        }
        let _ = watch(tally.codes() - told);
        Ok(tally)
    }

    fn bench(&self) -> Bench {
        Bench::new(self.space.rules, self.strategy)
    }

    fn choose(
        &self,
        codes: &[Code],
        pool: &Pool,
        bench: &mut Bench,
        watch: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Code, Stopped> {
        if let Some(member) = telling_member(codes) {
            return Ok(member);
        }
        if let Some(limits) = self.limits {
            return Shortlist { rules: self.space.rules, limits, bench }.choose(codes, watch);
        }
        bench.refill(codes);
        Ok(bench.best_probed(self.space.of_pool(pool), 1).first().map_or(codes[0], |(_, _, guess)| *guess))
    }
}
