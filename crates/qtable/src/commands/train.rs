//! `qtable train`: learns into a table file.

use std::{
    io::{self, Write},
    sync::atomic::Ordering,
};

use anyhow::Context;
use blackjack::{QTable, Score, StateSpace};
use cmdkit::{Autosave, command_of, file_name, has_colour, stderr_size, stop_flag};

use crate::{
    args::{TrainArgs, seed},
    curve::{Curves, FIRST, Run, Series, terminal},
    judge::{Judge, facts},
    progress::RoundsProgress,
    tables::{decisions, load_if_there, save, word},
    train::Plan,
};

pub(crate) fn train(args: &TrainArgs) -> anyhow::Result<()> {
    let (explore, explored) = args.explore()?;
    let plan = Plan { explore, seed: seed(args.seed)?, threads: args.threads };
    let mut table = table_to_train(args)?;
    // A place that cannot be written to is found now and not after an hour.
    save(&args.output, &table)?;
    let stop = stop_flag().context("cannot listen for signals")?;
    let judge = Judge::new();
    let mut progress = RoundsProgress::new(args.rounds, args.progress);
    let mut live = LiveCurve::new(args, plan.seed, &explored, &judge, table.space());
    let mut score = Score::default();
    let mut saves = Autosave::new(args.save_every);
    while score.rounds() < args.rounds && !stop.load(Ordering::Relaxed) {
        let rounds = plan.stretch(&table).min(args.rounds - score.rounds());
        score += plan.play(&mut table, rounds)?;
        let value = || judge.value(&table.policy());
        if progress.is_redrawn() {
            live.reach(score.rounds(), value);
        }
        progress.reach(score.rounds(), || format!("  exact {:.6}{}", value(), live.draw()));
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
    writeln!(stdout, "trained  {rounds} rounds by {explored}, seed {seed}")?;
    writeln!(stdout, "speed    {rate:.0} rounds/s by {threads} {many}")?;
    writeln!(stdout, "reward   {mean:.6} a round while it learned")?;
    let (visited, states) = (table.visited().count(), table.space().states().count());
    writeln!(stdout, "covered  {visited} of {states} states in {} decisions", decisions(&table))?;
    if let Some((state, action, visits)) = table.least_visited() {
        writeln!(stdout, "rarest   {state}, {}: {visits} times", word(action))?;
    }
    let space = table.space();
    let (value, best, mimic) = (judge.value(&table.policy()), judge.optimum(space), judge.mimic());
    let facts = facts(space);
    writeln!(stdout, "exact    {value:.6} a round")?;
    writeln!(stdout, "best     {best:.6} a round on {facts}; as the dealer plays {mimic:.6}")?;
    writeln!(stdout, "saved    {}", file_name(&args.output))?;
    Ok(())
}

/// The exact value of the table as it learns, drawn below the progress on a terminal.
struct LiveCurve {
    curves: Curves,
    rounds: (u64, u64),
}

impl LiveCurve {
    /// The most points of the curve: as many as a wide window tells apart.
    const POINTS: u32 = 150;
    /// Columns and rows of the plot, as far as the window has them.
    const SIZE: (u16, u16) = (100, 14);

    fn new(args: &TrainArgs, seed: u64, explored: &str, judge: &Judge, space: StateSpace) -> Self {
        let runs = vec![Run { seed, points: vec![] }];
        let series = vec![Series { way: args.explore, name: explored.to_owned(), runs }];
        let curves = Curves { space, series, optimum: judge.optimum(space), mimic: judge.mimic() };
        Self { curves, rounds: (FIRST, args.rounds.max(FIRST)) }
    }

    fn points(&mut self) -> &mut Vec<(u64, f64)> {
        &mut self.curves.series[0].runs[0].points
    }

    /// Adds a point after so many rounds, unless the last one is too near to it.
    #[expect(clippy::cast_precision_loss, reason = "a place in a plot")]
    fn reach(&mut self, rounds: u64, value: impl FnOnce() -> f64) {
        let (first, last) = self.rounds;
        let step = (last as f64 / first as f64).powf(1.0 / f64::from(Self::POINTS));
        let next = self.points().last().map_or(0.0, |&(rounds, _)| rounds as f64 * step);
        if rounds as f64 >= next || rounds == last {
            self.points().push((rounds, value()));
        }
    }

    /// The plot with a line end before it; nothing if the window is too small for one.
    fn draw(&mut self) -> String {
        let (columns, rows) = stderr_size();
        if self.points().len() < 2 || columns < terminal::LEAST.0 || rows <= terminal::LEAST.1 {
            return String::new();
        }
        let size = (Self::SIZE.0.min(columns - 1), Self::SIZE.1);
        format!("\n{}", terminal::draw(&self.curves, self.rounds, size, has_colour(&io::stderr())))
    }
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
        "stopped with {left} rounds left; to continue, run:\n  {qtable} train --rounds {left} \
         --explore {explore}{epsilon} --threads {threads} --seed {seed} -o {name}"
    );
}
