//! `qtable exact`: the exact values of the game.

use std::io::{self, Write};

use blackjack::{Action, Policy, State, StateSpace};
use serde_json::{Value, json};

use crate::{
    args::ExactArgs,
    chart::{Chart, terminal},
    judge::{Judge, facts},
};

pub(crate) fn exact(args: &ExactArgs) -> anyhow::Result<()> {
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
        writeln!(stdout, "\nThe best table on {}; H hit, S stand:\n\n{:>10}  dealer's card", facts(space), "")?;
        let chart = Chart::of_policy(judge.best(space).clone(), &judge, None);
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
