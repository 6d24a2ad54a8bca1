//! What tables are worth, exactly, and what the best are.

use std::io::{self, Write};

use blackjack::{Policy, QTable, State, StateSpace, exact::Solver, round::Action};
use cmdkit::file_name;
use serde_json::{Value, json};

use crate::{
    args::{EvalArgs, ExactArgs},
    chart::{Chart, terminal},
    tables::{decisions, load},
};

/// Knows the best tables and what everything is worth. Made once, it takes a fraction of a second.
#[derive(Debug, Clone)]
pub struct Judge {
    solver: Solver,
    coarse: Policy,
    soft: Policy,
}

impl Default for Judge {
    fn default() -> Self {
        Self::new()
    }
}

impl Judge {
    /// Works everything out.
    pub fn new() -> Self {
        let solver = Solver::new();
        let [coarse, soft] = [StateSpace::Coarse, StateSpace::Soft].map(|space| solver.best(space));
        Self { solver, coarse, soft }
    }

    /// What computes the values.
    pub const fn solver(&self) -> &Solver {
        &self.solver
    }

    /// The best table of a space.
    pub const fn best(&self, space: StateSpace) -> &Policy {
        match space {
            StateSpace::Coarse => &self.coarse,
            StateSpace::Soft => &self.soft,
        }
    }

    /// The expected reward of a round.
    pub fn value(&self, policy: &Policy) -> f64 {
        self.solver.value(policy)
    }

    /// The value of the best table of a space.
    pub fn optimum(&self, space: StateSpace) -> f64 {
        self.value(self.best(space))
    }

    /// The value of doing as the dealer does.
    pub fn mimic(&self) -> f64 {
        self.value(&Policy::mimic())
    }
}

/// The facts that make a state, for people.
pub const fn facts(space: StateSpace) -> &'static str {
    match space {
        StateSpace::Coarse => "(total, upcard)",
        StateSpace::Soft => "(total, soft, upcard)",
    }
}

/// `qtable eval`.
///
/// # Errors
/// When a table cannot be read or standard output not be written.
pub fn eval(args: &EvalArgs) -> anyhow::Result<()> {
    // All of them first: half an answer is none.
    let tables = args.files.iter().map(|path| Ok((file_name(path), load(path)?)));
    let tables = tables.collect::<anyhow::Result<Vec<(String, QTable)>>>()?;
    let judge = Judge::new();
    let verdicts: Vec<Verdict> = tables.iter().map(|(_, table)| Verdict::on(table, &judge)).collect();
    let mut stdout = io::stdout().lock();
    if args.json {
        let paths = args.files.iter().map(|path| path.to_string_lossy());
        let tables: Vec<Value> = paths.zip(&verdicts).map(|(path, verdict)| verdict.as_json(&path, &judge)).collect();
        let (coarse, soft) = (judge.optimum(StateSpace::Coarse), judge.optimum(StateSpace::Soft));
        let all = json!({ "tables": tables, "best_coarse": coarse, "best_soft": soft, "mimic": judge.mimic() });
        writeln!(stdout, "{all:#}")?;
        return Ok(());
    }
    writeln!(stdout, "{:>9}  {:>9}  {:>8}  {:>8}  reward per round of", "exact", "to best", "differs", "visited")?;
    for ((name, table), verdict) in tables.iter().zip(&verdicts) {
        let Verdict { value, differs, visited, states, .. } = verdict;
        let missing = judge.optimum(table.space()) - value;
        let (differs, visited) = (format!("{differs}/{states}"), format!("{visited}/{states}"));
        writeln!(stdout, "{value:>9.6}  {missing:>9.6}  {differs:>8}  {visited:>8}  {name}, {}", table.space())?;
    }
    for space in [StateSpace::Coarse, StateSpace::Soft] {
        let (value, facts) = (judge.optimum(space), facts(space));
        writeln!(stdout, "{value:>9.6}  {:>9}  {:>8}  {:>8}  the best table on {facts}", "", "", "")?;
    }
    writeln!(stdout, "{:>9.6}  {:>9}  {:>8}  {:>8}  as the dealer plays: hit to 16", judge.mimic(), "", "", "")?;
    Ok(())
}

struct Verdict {
    space: StateSpace,
    value: f64,
    differs: usize,
    visited: usize,
    states: usize,
    decisions: u64,
}

impl Verdict {
    fn on(table: &QTable, judge: &Judge) -> Self {
        let (space, policy) = (table.space(), table.policy());
        Self {
            space,
            value: judge.value(&policy),
            differs: policy.differences(judge.best(space)).count(),
            visited: table.visited().count(),
            states: space.states().count(),
            decisions: decisions(table),
        }
    }

    fn as_json(&self, path: &str, judge: &Judge) -> Value {
        let Self { space, value, differs, visited, states, decisions } = self;
        json!({
            "file": path,
            "states": space.word(),
            "value": value,
            "best": judge.optimum(*space),
            "differs": differs,
            "visited": visited,
            "all_states": states,
            "decisions": decisions,
        })
    }
}

/// `qtable exact`.
///
/// # Errors
/// When standard output cannot be written.
pub fn exact(args: &ExactArgs) -> anyhow::Result<()> {
    let judge = Judge::new();
    let solver = judge.solver();
    let limit = |space| judge.value(&solver.limit_of_random(space).policy());
    let values = [
        ("best_with_cards", "the best that knows its own exact cards", solver.best_value_with_cards()),
        ("best_soft", "the best table on (total, soft, upcard)", judge.optimum(StateSpace::Soft)),
        ("best_coarse", "the best table on (total, upcard)", judge.optimum(StateSpace::Coarse)),
        ("mimic", "as the dealer plays: hit to 16", judge.mimic()),
        ("random_limit_soft", "what random training ends up with on (total, soft, upcard)", limit(StateSpace::Soft)),
        ("random_limit_coarse", "what random training ends up with on (total, upcard)", limit(StateSpace::Coarse)),
        ("stand", "always stand", judge.value(&Policy::stand())),
        ("random", "a coin at every decision", solver.value_of_random()),
    ];
    let mut stdout = io::stdout().lock();
    if args.json {
        let values: serde_json::Map<String, Value> =
            values.into_iter().map(|(key, _, value)| (key.to_owned(), value.into())).collect();
        let tables = [StateSpace::Coarse, StateSpace::Soft].map(|space| (space.word(), hits(judge.best(space))));
        let tables: serde_json::Map<String, Value> =
            tables.into_iter().map(|(space, hits)| (space.to_owned(), hits)).collect();
        writeln!(stdout, "{:#}", json!({ "values": values, "best_tables_hit": tables }))?;
        return Ok(());
    }
    writeln!(stdout, "Reward per round, 52 cards, a fresh deck each round:\n")?;
    for (_, what, value) in values {
        writeln!(stdout, "{value:>9.6}  {what}")?;
    }
    for space in [StateSpace::Coarse, StateSpace::Soft] {
        writeln!(stdout, "\nThe best table on {}; H hit, S stand:\n", facts(space))?;
        let chart = Chart::of_policy(judge.best(space).clone(), judge.best(space));
        stdout.write_all(terminal::cells(&chart, false).as_bytes())?;
    }
    Ok(())
}

// The upcards that each total hits against.
fn hits(policy: &Policy) -> Value {
    let mut rows: Vec<(u8, bool, Vec<u8>)> = vec![];
    for state in policy.space().states() {
        let key = |state: State| (state.total(), state.is_soft());
        if rows.last().is_none_or(|&(total, soft, _)| (total, soft) != key(state)) {
            rows.push((state.total(), state.is_soft(), vec![]));
        }
        if let Some((_, _, upcards)) = rows.last_mut()
            && policy.action(state) == Action::Hit
        {
            upcards.push(state.upcard());
        }
    }
    let row = |(total, soft, upcards)| json!({ "total": total, "soft": soft, "against": upcards });
    rows.into_iter().map(row).collect()
}
