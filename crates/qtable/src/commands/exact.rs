//! `qtable exact`: the exact values of the game.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

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
    let key = |state: State| (state.total(), state.is_soft());
    let rows: BTreeSet<(u8, bool)> = policy.space().states().map(key).collect();
    let row = |row: (u8, bool)| {
        let states = policy.space().states().filter(|&state| key(state) == row && policy.action(state) == Action::Hit);
        json!({ "total": row.0, "soft": row.1, "against": states.map(State::upcard).collect::<Vec<u8>>() })
    };
    rows.into_iter().map(row).collect()
}
