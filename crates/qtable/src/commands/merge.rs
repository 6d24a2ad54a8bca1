//! `qtable merge`: adds up tables.

use std::io::{self, Write};

use anyhow::Context;
use blackjack::QTable;
use cmdkit::file_name;

use crate::{
    args::MergeArgs,
    tables::{decisions, load, save},
};

pub(crate) fn merge(args: &MergeArgs) -> anyhow::Result<()> {
    let mut sum: Option<QTable> = None;
    for path in &args.files {
        let part = load(path)?;
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => {
                let first = args.files.first().map_or_else(String::new, |first| file_name(first));
                sum.merge(&part).with_context(|| format!("cannot add {} to {first}", file_name(path)))?;
            }
        }
    }
    let sum = sum.context("there is nothing to add up")?;
    save(&args.output, &sum)?;
    let (parts, decisions) = (args.files.len(), decisions(&sum));
    writeln!(io::stdout(), "added up {parts} tables, {decisions} decisions, into {}", file_name(&args.output))?;
    Ok(())
}
