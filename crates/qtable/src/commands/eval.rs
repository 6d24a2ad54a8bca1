//! `qtable eval`: the exact values of tables.

use std::io::{self, Write};

use blackjack::{QTable, StateSpace};
use cmdkit::file_name;
use serde_json::{Value, json};

use crate::{
    args::EvalArgs,
    judge::{Judge, facts},
    tables::{decisions, load},
};

pub(crate) fn eval(args: &EvalArgs) -> anyhow::Result<()> {
    // All tables are read before anything is printed, so that an error leaves no partial output.
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
