//! `qtable dump`: prints what a table has counted.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use blackjack::{
    QTable, State,
    qtable::{Entry, Tally},
};
use serde_json::{Value, json};

use crate::{
    args::{DumpArgs, Format},
    tables::{load, word},
};

pub(crate) fn dump(args: &DumpArgs) -> anyhow::Result<()> {
    let table = load(&args.file)?;
    let text = match args.format {
        Format::Text => table.dump(),
        Format::Csv => csv(&table),
        Format::Json => format!("{:#}\n", as_json(&table)),
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn csv(table: &QTable) -> String {
    let mut text = "total,soft,dealer,hit_n,hit_sum,hit_mean,stand_n,stand_sum,stand_mean,plays\n".to_owned();
    for (state, Entry { hit, stand }) in table.visited() {
        let mean = |tally: Tally| tally.mean().map_or_else(String::new, |mean| format!("{mean:.6}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{}",
            state.total(),
            u8::from(state.is_soft()),
            state.upcard(),
            hit.n,
            hit.sum,
            mean(hit),
            stand.n,
            stand.sum,
            mean(stand),
            word(table.best(state)),
        );
    }
    text
}

fn as_json(table: &QTable) -> Value {
    let tally = |tally: Tally| json!({ "n": tally.n, "sum": tally.sum, "mean": tally.mean() });
    let row = |(state, Entry { hit, stand }): (State, Entry)| {
        json!({
            "total": state.total(),
            "soft": state.is_soft(),
            "dealer": state.upcard(),
            "hit": tally(hit),
            "stand": tally(stand),
            "plays": word(table.best(state)),
        })
    };
    json!({ "states": table.space().word(), "visited": table.visited().map(row).collect::<Vec<_>>() })
}
