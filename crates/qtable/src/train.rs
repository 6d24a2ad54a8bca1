//! Training in process, to a file: the same table whenever it is repeated, and whenever it is stopped and gone on with.
//!
//! Rounds are played in stretches. In a stretch each worker learns for itself, from the table as it was at the start, with
//! random numbers that follow from the seed, the worker and that table; nothing is shared, so no worker waits for
//! another. At the end of the stretch the counts that each has gained are added up. How long a stretch is follows from the
//! table too. So what comes after a stretch depends on nothing but the table, the seed and the number of workers: a training
//! that is stopped between two stretches and gone on with later ends with the very same table as one that is not.

use std::{
    io::{self, Write},
    sync::atomic::Ordering,
    thread,
};

use anyhow::Context;
use blackjack::{
    DeckEmpty, QTable, StateSpace,
    learn::{Explore, Score, Trainer},
};
use cmdkit::{Autosave, command_of, file_name, stop_flag};

use crate::{
    args::TrainArgs,
    judge::{Judge, facts},
    progress::Progress,
    tables::{decisions, load_if_there, save, word},
};

/// Rounds that a worker plays at least before its counts are added to those of the others: a fraction of a millisecond.
const SHORTEST: u64 = 1 << 12;
/// Rounds that a worker plays at most: about a tenth of a second, which is how long a stop takes.
const LONGEST: u64 = 1 << 21;

/// How a table is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// How decisions are made.
    pub explore: Explore,
    /// Where the random numbers come from.
    pub seed: u64,
    /// Workers that learn beside each other; at least 1.
    pub threads: u32,
}

impl Plan {
    /// How many rounds the next stretch of training has, all workers together. While the table knows little they are
    /// few, so that workers soon decide by what all of them have learned.
    pub fn stretch(&self, table: &QTable) -> u64 {
        let threads = u64::from(self.threads);
        threads * (decisions(table) / 4 / threads).clamp(SHORTEST, LONGEST)
    }

    /// Plays so many rounds as one stretch.
    ///
    /// # Errors
    /// When a count gets larger than a table can hold; the table is as it was then.
    pub fn play(&self, table: &mut QTable, rounds: u64) -> anyhow::Result<Score> {
        let threads = u64::from(self.threads);
        let share = |worker: u32| rounds / threads + u64::from(u64::from(worker) < rounds % threads);
        let base = &*table;
        let learn = |worker: u32| -> Result<(QTable, Score), DeckEmpty> {
            let mut trainer = Trainer::seeded(base.clone(), self.explore, self.seed, worker);
            let score = trainer.play(share(worker))?;
            Ok((trainer.into_table(), score))
        };
        let results = thread::scope(|scope| {
            let others: Vec<_> = (1..self.threads).map(|worker| scope.spawn(move || learn(worker))).collect();
            let mut results = vec![learn(0)];
            for other in others {
                results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            results
        });
        let (mut sum, mut score) = (base.clone(), Score::default());
        for result in results {
            let (learned, played) = result?;
            sum.merge(&learned.since(base))?;
            score += played;
        }
        *table = sum;
        Ok(score)
    }
}

/// `qtable train`.
///
/// # Errors
/// When the table cannot be gone on with or not be written.
pub fn train(args: &TrainArgs) -> anyhow::Result<()> {
    let (explore, explored) = args.explore()?;
    let plan = Plan { explore, seed: args.seed()?, threads: args.threads };
    let mut table = table_to_train(args)?;
    // A place that cannot be written to is found now and not after an hour.
    save(&args.output, &table)?;
    let stop = stop_flag().context("cannot listen for signals")?;
    let judge = Judge::new();
    let mut progress = Progress::new(args.rounds, args.progress);
    let mut score = Score::default();
    let mut saves = Autosave::new(args.save_every);
    while score.rounds() < args.rounds && !stop.load(Ordering::Relaxed) {
        let rounds = plan.stretch(&table).min(args.rounds - score.rounds());
        score += plan.play(&mut table, rounds)?;
        progress.reach(score.rounds(), || format!("  exact {:.6}", judge.value(&table.policy())));
        if score.rounds() < args.rounds
            && let Err(error) = saves.meanwhile(score.rounds(), || save(&args.output, &table))
        {
            progress.end();
            // A standard error that nobody reads is no reason to end either.
            let _ = writeln!(io::stderr(), "qtable: {error:#}");
        }
    }
    progress.end();
    let rate = progress.rate(score.rounds());
    saves.finish(score.rounds(), || save(&args.output, &table))?;
    if score.rounds() < args.rounds {
        say_how_to_go_on(args, &plan, args.rounds - score.rounds());
    }
    let Plan { seed, threads, .. } = plan;
    let (rounds, mean) = (score.rounds(), score.mean());
    let mut stdout = io::stdout().lock();
    let many = if threads == 1 { "thread" } else { "threads" };
    writeln!(stdout, "trained  {rounds} rounds by {explored}, seed {seed}, {threads} {many}; {rate:.0} rounds/s")?;
    writeln!(stdout, "reward   {mean:.6} a round while it learned")?;
    writeln!(stdout, "covered  {}", coverage(&table))?;
    let space = table.space();
    let (value, best, mimic) = (judge.value(&table.policy()), judge.optimum(space), judge.mimic());
    let facts = facts(space);
    writeln!(stdout, "exact    {value:.6} a round; the best on {facts} is {best:.6}, as the dealer plays {mimic:.6}")?;
    writeln!(stdout, "saved    {}", file_name(&args.output))?;
    Ok(())
}

fn table_to_train(args: &TrainArgs) -> anyhow::Result<QTable> {
    let asked = args.state.map(StateSpace::from);
    let Some(table) = load_if_there(&args.output)? else {
        return Ok(QTable::new(asked.unwrap_or_default()));
    };
    let (found, name) = (table.space(), file_name(&args.output));
    match asked {
        Some(asked) if asked != found => anyhow::bail!(
            "{name} is a table with {found} states and --state {asked} is asked for; leave --state away to go on with it, \
             or name another file"
        ),
        _ => Ok(table),
    }
}

fn say_how_to_go_on(args: &TrainArgs, plan: &Plan, left: u64) {
    let (name, Plan { seed, threads, .. }) = (file_name(&args.output), plan);
    let (qtable, explore) = (command_of("qtable"), args.explore.word());
    let epsilon = args.epsilon.as_ref().map_or_else(String::new, |epsilon| format!(" --epsilon {}", epsilon.typed));
    // A standard error that nobody reads is no reason to fail.
    let _ = writeln!(
        io::stderr(),
        "stopped before the last {left} rounds; to go on as if nothing had been:\n  {qtable} train --rounds {left} \
         --explore {explore}{epsilon} --threads {threads} --seed {seed} -o {name}"
    );
}

fn coverage(table: &QTable) -> String {
    let space = table.space();
    let (visited, states) = (table.visited().count(), space.states().count());
    let decisions = decisions(table);
    let least = table
        .least_visited()
        .map_or_else(String::new, |(state, action, n)| format!("; least often {state}, {}: {n}", word(action)));
    format!("{visited} of {states} states in {decisions} decisions{least}")
}

/// Trains a table of its own and says what it is worth after so many rounds, for each of `checkpoints`, which rise.
///
/// # Errors
/// Never in practice: no round takes 52 cards.
pub fn watch(
    space: StateSpace,
    explore: Explore,
    seed: u64,
    checkpoints: &[u64],
    mut reached: impl FnMut(u64, &QTable),
) -> Result<(), DeckEmpty> {
    let mut trainer = Trainer::seeded(QTable::new(space), explore, seed, 0);
    let mut played = 0;
    for &rounds in checkpoints {
        trainer.play(rounds.saturating_sub(played))?;
        played = rounds;
        reached(rounds, trainer.table());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use blackjack::learn::Chance;

    fn plan(threads: u32) -> Plan {
        Plan { explore: Explore::Epsilon(Chance::new(0.1).unwrap()), seed: 5, threads }
    }

    fn train(plan: &Plan, table: &mut QTable, rounds: u64) {
        let mut played = 0;
        while played < rounds {
            let stretch = plan.stretch(table).min(rounds - played);
            played += plan.play(table, stretch).unwrap().rounds();
        }
        assert_eq!(played, rounds);
    }

    #[test]
    fn a_training_that_is_stopped_between_stretches_ends_with_the_same_table() {
        for threads in [1, 3] {
            let plan = plan(threads);
            let mut once = QTable::new(StateSpace::Soft);
            train(&plan, &mut once, 300_000);
            let mut parts = QTable::new(StateSpace::Soft);
            let mut left = 300_000;
            while left > 0 {
                let stretch = plan.stretch(&parts).min(left);
                // As if it came from a file, and by another run of the program.
                parts = QTable::from_file(&parts.to_file()).unwrap();
                left -= plan.play(&mut parts, stretch).unwrap().rounds();
            }
            assert_eq!(once, parts, "{threads} threads");
        }
    }

    #[test]
    fn stretches_grow_with_what_is_known_within_bounds() {
        let (mut table, plan) = (QTable::new(StateSpace::Coarse), plan(2));
        let mut last = plan.stretch(&table);
        assert_eq!(last, 2 * SHORTEST);
        for _ in 0..20 {
            plan.play(&mut table, last).unwrap();
            let next = plan.stretch(&table);
            assert!(next >= last && next <= 2 * LONGEST);
            last = next;
        }
        assert!(last > 4 * SHORTEST);
    }

    #[test]
    fn the_number_of_workers_changes_the_rounds_and_not_their_number() {
        let tables = [1, 2, 3].map(|threads| {
            let mut table = QTable::new(StateSpace::Coarse);
            let score = plan(threads).play(&mut table, 10_001).unwrap();
            assert_eq!(score.rounds(), 10_001);
            table
        });
        assert!(tables[0] != tables[1] && tables[1] != tables[2]);
    }
}
