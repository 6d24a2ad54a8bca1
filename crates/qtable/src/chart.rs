//! What a policy does in each state, and where the best one does something else.

pub mod drawing;
pub mod terminal;

use std::{
    env,
    io::{self, IsTerminal, Write},
};

use blackjack::{Policy, QTable, State, StateSpace, hand::BEST, round::Action};
use cmdkit::file_name;

use crate::{
    args::{ChartArgs, Colour, KnownPolicy, PictureArgs},
    judge::{Judge, facts},
    tables,
};

/// A policy beside the best.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What is drawn.
    pub policy: Policy,
    /// What it was learned from, if it was.
    pub table: Option<QTable>,
    /// Where the best does something else.
    pub differences: Vec<State>,
}

/// One place of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Whose place it is.
    pub state: State,
    /// What to do there.
    pub action: Action,
    /// Whether the best does something else.
    pub differs: bool,
    /// Whether an action was never tried there, so that nothing was learned.
    pub guessed: bool,
}

impl Chart {
    /// The chart of a policy that was not learned.
    pub fn of_policy(policy: Policy, best: &Policy) -> Self {
        let differences = policy.differences(best).collect();
        Self { policy, table: None, differences }
    }

    /// The chart of a table.
    pub fn of_table(table: QTable, best: &Policy) -> Self {
        let chart = Self::of_policy(table.policy(), best);
        Self { table: Some(table), ..chart }
    }

    /// What the chart shows with and without an ace that counts 11: the space in which it is compared.
    pub fn space(&self) -> StateSpace {
        let soft = self.differences.iter().any(|state| state.is_soft());
        if soft { StateSpace::Soft } else { self.policy.space() }
    }

    /// The place of a state of [`Chart::space`].
    pub fn cell(&self, state: State) -> Cell {
        let own = State::new(self.policy.space(), state.total(), state.is_soft(), state.upcard());
        // A coarse policy does the same with soft hands.
        let own =
            own.or_else(|| State::new(self.policy.space(), state.total(), false, state.upcard())).unwrap_or(state);
        let guessed = self.table.as_ref().is_some_and(|table| {
            let entry = table.entry(own);
            own.total() < BEST && (entry.hit.n == 0 || entry.stand.n == 0)
        });
        Cell { state, action: self.policy.action(own), differs: self.differences.contains(&state), guessed }
    }

    /// The rows of hard hands, or of soft ones, from 21 down; each has the upcards from 2 to ace. In a coarse chart all
    /// hands are among the hard ones.
    pub fn rows(&self, soft: bool) -> Vec<(u8, Vec<Cell>)> {
        let mut rows: Vec<(u8, Vec<Cell>)> = vec![];
        for state in self.space().states().filter(|state| state.is_soft() == soft) {
            match rows.last_mut() {
                Some((total, cells)) if *total == state.total() => cells.push(self.cell(state)),
                _ => rows.push((state.total(), vec![self.cell(state)])),
            }
        }
        rows.reverse();
        rows
    }
}

/// The letter for an action; small where it is a guess.
pub const fn letter(cell: Cell) -> char {
    match (cell.action, cell.guessed) {
        (Action::Hit, false) => 'H',
        (Action::Hit, true) => 'h',
        (Action::Stand, false) => 'S',
        (Action::Stand, true) => 's',
    }
}

/// How the cards of a soft hand of two cards are written, for instance `A,7`.
pub fn soft_name(total: u8) -> String {
    match total.saturating_sub(11) {
        1 => "A,A".to_owned(),
        other => format!("A,{other}"),
    }
}

/// `qtable chart`.
///
/// # Errors
/// When the table cannot be read or the chart not be written.
pub fn chart(args: &ChartArgs) -> anyhow::Result<()> {
    let table = match args.policy {
        None => Some(tables::load(&args.file)?),
        Some(_) => None,
    };
    let judge = Judge::new();
    let asked = args.state.map(StateSpace::from).unwrap_or_default();
    let chart = |policy: Policy| {
        let against = args.against.map_or_else(|| policy.space(), StateSpace::from);
        Chart::of_policy(policy, judge.best(against))
    };
    let (name, chart) = match (table, args.policy.unwrap_or(KnownPolicy::Best)) {
        (Some(table), _) => {
            let against = args.against.map_or_else(|| table.space(), StateSpace::from);
            (format!("What {} has learned", file_name(&args.file)), Chart::of_table(table, judge.best(against)))
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
    let against = args.against.map_or_else(|| chart.policy.space(), StateSpace::from);
    let title = args.picture.title.clone().unwrap_or(name);
    let summary = Summary {
        value: judge.value(&chart.policy),
        best: judge.optimum(against),
        against,
        differences: chart.differences.len(),
        states: chart.space().states().count(),
    };
    if !args.picture.is_wanted() {
        let text = terminal::chart(&chart, &title, &summary, coloured(args.colour));
        io::stdout().write_all(text.as_bytes())?;
        return Ok(());
    }
    let picture = drawing::picture(&chart, &title, &summary)?;
    write_picture(&picture, &args.picture)
}

/// Writes a picture in the formats that are asked for, and says so.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write_picture(picture: &crate::picture::Picture, to: &PictureArgs) -> anyhow::Result<()> {
    let PictureArgs { svg, png, .. } = to;
    if let Some(path) = svg {
        tables::write(path, picture.to_svg().as_bytes(), "the picture")?;
    }
    if let Some(path) = png {
        tables::write(path, &picture.to_png()?, "the picture")?;
    }
    for path in [svg, png].into_iter().flatten() {
        // Where the picture itself goes to standard output, words are in the way.
        let _ = writeln!(io::stderr(), "wrote {}", file_name(path));
    }
    Ok(())
}

/// What stands under the title.
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    /// The exact value of the policy.
    pub value: f64,
    /// That of the best.
    pub best: f64,
    /// What the best decides on.
    pub against: StateSpace,
    /// In how many states the two differ.
    pub differences: usize,
    /// Of how many.
    pub states: usize,
}

impl Summary {
    /// What it is worth.
    pub fn worth(&self) -> String {
        let Self { value, best, against, .. } = self;
        format!("Worth {value:.4} a round; the best table on {} is worth {best:.4}", facts(*against))
    }

    /// How much differs.
    pub fn differing(&self) -> String {
        match self.differences {
            0 => "Every decision is that of the best table".to_owned(),
            1 => format!("1 of {} decisions differs from the best table", self.states),
            many => format!("{many} of {} decisions differ from the best table", self.states),
        }
    }
}

fn hard(state: State) -> State {
    State::new(StateSpace::Coarse, state.total(), false, state.upcard()).unwrap_or(state)
}

fn coloured(asked: Colour) -> bool {
    match asked {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}
