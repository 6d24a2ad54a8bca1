//! `qtable chart`: what a table does, in the terminal or as a picture.

use std::io::{self, Write};

use blackjack::{Action, Policy, State, StateSpace};
use cmdkit::{file_name, has_colour};

use super::write_files;
use crate::{
    args::{ChartArgs, Colour, KnownPolicy, PICTURES},
    chart::{Chart, drawing, terminal},
    judge::{Judge, facts},
    tables,
};

pub(crate) fn chart(args: &ChartArgs) -> anyhow::Result<()> {
    let files = args.picture.files(&PICTURES)?;
    let table = match args.policy {
        None => Some(tables::load(&args.file)?),
        Some(_) => None,
    };
    let judge = Judge::new();
    let asked = args.state.map(StateSpace::from).unwrap_or_default();
    let against = args.against.map(StateSpace::from);
    let chart = |policy: Policy| Chart::of_policy(policy, &judge, against);
    let (name, chart) = match (table, args.policy.unwrap_or(KnownPolicy::Best)) {
        (Some(table), _) => {
            (format!("What {} has learned", file_name(&args.file)), Chart::of_table(table, &judge, against))
        }
        (None, KnownPolicy::Best) => (format!("The best table on {}", facts(asked)), chart(judge.best(asked).clone())),
        (None, KnownPolicy::Mimic) => {
            let mimic = Policy::mimic();
            let mimic = Policy::new(asked, |state| mimic.action(hard(state)) == Action::Hit);
            ("Play as the dealer does".to_owned(), chart(mimic))
        }
        (None, KnownPolicy::RandomLimit) => {
            let limit = judge.solver().limit_of_random(asked).policy();
            ("Where random training ends up".to_owned(), chart(limit))
        }
    };
    let title = args.picture.title.clone().unwrap_or(name);
    if files.is_empty() {
        let text = terminal::chart(&chart, &title, coloured(args.colour));
        io::stdout().write_all(text.as_bytes())?;
        return Ok(());
    }
    write_files(&files, &drawing::picture(&chart, &title)?, "")
}

fn hard(state: State) -> State {
    State::new(StateSpace::Coarse, state.total(), false, state.upcard()).unwrap_or(state)
}

fn coloured(asked: Colour) -> bool {
    match asked {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => has_colour(&io::stdout()),
    }
}
