//! The commands read arguments and files and print results. Only `run` imports them.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    path::Path,
    sync::atomic::Ordering,
};

use anyhow::Context;
use blackjack::{
    Action, Deck, Points, Policy, QTable, Round, Score, State, StateSpace,
    exact::Solver,
    game::RoundError,
    qtable::{Entry, Tally},
};
use cmdkit::{Autosave, UsageError, command_of, file_name, has_colour, save_file, stderr_size, stdout_size, stop_flag};
use picture::Picture;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

use crate::{
    args::{
        Args, ChartArgs, Colour, Command, CurveArgs, DumpArgs, EvalArgs, ExactArgs, FileFormat, Format, KnownPolicy,
        MergeArgs, PICTURES, PlayArgs, TrainArgs, seed,
    },
    chart::{self, Chart},
    curve::{Curves, FIRST, Job, Run, Series, checkpoints, drawing, terminal, train_all},
    judge::{Judge, facts},
    tables::{decisions, load, load_if_there, save, word},
    train::{Plan, RoundsProgress},
};

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Some(Command::Train(args)) => train(args),
        Some(Command::Eval(args)) => eval(args),
        Some(Command::Exact(args)) => exact(args),
        Some(Command::Merge(args)) => merge(args),
        Some(Command::Dump(args)) => dump(args),
        Some(Command::Chart(args)) => draw_chart(args),
        Some(Command::Curve(args)) => draw_curves(args),
        Some(Command::Play(args)) => play(args),
        None => {
            let said = "missing command: expected train, eval, exact, merge, dump, chart, curve or play; see --help";
            Err(UsageError(said.to_owned()).into())
        }
    }
}

fn write_files(files: &[(FileFormat, &Path)], picture: &Picture, csv: &str) -> anyhow::Result<()> {
    for (format, path) in files {
        match format {
            FileFormat::Svg => save_file("the picture", path, picture.to_svg().as_bytes())?,
            FileFormat::Png => save_file("the picture", path, &picture.to_png()?)?,
            FileFormat::Csv => save_file("the numbers", path, csv.as_bytes())?,
        }
        // On standard error, since standard output may be a picture.
        let _ = writeln!(io::stderr(), "wrote {}", file_name(path));
    }
    Ok(())
}

pub(crate) fn train(args: &TrainArgs) -> anyhow::Result<()> {
    let (explore, explored) = args.explore()?;
    let plan = Plan { explore, seed: seed(args.seed)?, threads: args.threads };
    let mut table = table_to_train(args)?;
    // Saves first, so that an unwritable path is detected before hours of training.
    save(&args.output, &table)?;
    let stop = stop_flag().context("cannot handle signals")?;
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
            // Continues the training even if standard error is closed.
            let _ = writeln!(io::stderr(), "qtable: {error:#}");
        }
    }
    progress.end();
    let rate = progress.rate(score.rounds());
    saves.finish(score.rounds(), || save(&args.output, &table))?;
    if score.rounds() < args.rounds {
        print_resume_command(args, &plan, args.rounds - score.rounds());
    }
    let Plan { seed, threads, .. } = plan;
    let (rounds, mean) = (score.rounds(), score.mean());
    let mut stdout = io::stdout().lock();
    let many = if threads == 1 { "thread" } else { "threads" };
    writeln!(stdout, "trained  {rounds} rounds by {explored}, seed {seed}")?;
    writeln!(stdout, "speed    {rate:.0} rounds/s by {threads} {many}")?;
    writeln!(stdout, "reward   {mean:.6} a round while learning")?;
    let (visited, states) = (table.visited().count(), table.space().states().count());
    writeln!(stdout, "covered  {visited} of {states} states in {} decisions", decisions(&table))?;
    if let Some((state, action, visits)) = table.least_visited() {
        writeln!(stdout, "rarest   {state}, {}: {visits} times", word(action))?;
    }
    let space = table.space();
    let (value, best, mimic) = (judge.value(&table.policy()), judge.optimum(space), judge.mimic());
    let facts = facts(space);
    writeln!(stdout, "exact    {value:.6} a round")?;
    writeln!(stdout, "best     {best:.6} a round on {facts}; dealer's strategy {mimic:.6}")?;
    writeln!(stdout, "saved    {}", file_name(&args.output))?;
    Ok(())
}

struct LiveCurve {
    curves: Curves,
    rounds: (u64, u64),
}

impl LiveCurve {
    /// The resolution of a wide window.
    const POINTS: u32 = 150;
    /// Columns and rows.
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

    #[expect(clippy::cast_precision_loss, reason = "a place in a plot")]
    fn reach(&mut self, rounds: u64, value: impl FnOnce() -> f64) {
        let (first, last) = self.rounds;
        let step = (last as f64 / first as f64).powf(1.0 / f64::from(Self::POINTS));
        let next = self.points().last().map_or(0.0, |&(rounds, _)| rounds as f64 * step);
        if rounds as f64 >= next || rounds == last {
            self.points().push((rounds, value()));
        }
    }

    /// Begins with a line end. Empty if the window is too small.
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
            "{name} is a table with {found} states, not {asked}; omit --state to continue it, or choose another file"
        ),
        _ => Ok(table),
    }
}

fn print_resume_command(args: &TrainArgs, plan: &Plan, left: u64) {
    let (name, Plan { seed, threads, .. }) = (file_name(&args.output), plan);
    let (qtable, explore) = (command_of("qtable"), args.explore.word());
    let epsilon = args.epsilon.as_ref().map_or_else(String::new, |epsilon| format!(" --epsilon {}", epsilon.typed));
    let _ = writeln!(
        io::stderr(),
        "stopped with {left} rounds left; to continue, run:\n  {qtable} train --rounds {left} \
         --explore {explore}{epsilon} --threads {threads} --seed {seed} -o {name}"
    );
}

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
    let sum = sum.context("no tables to add up")?;
    save(&args.output, &sum)?;
    let (parts, decisions) = (args.files.len(), decisions(&sum));
    writeln!(io::stdout(), "added up {parts} tables, {decisions} decisions, into {}", file_name(&args.output))?;
    Ok(())
}

pub(crate) fn dump(args: &DumpArgs) -> anyhow::Result<()> {
    let table = load(&args.file)?;
    let text = match args.format {
        Format::Text => table.dump(),
        Format::Csv => counts_csv(&table),
        Format::Json => format!("{:#}\n", as_json(&table)),
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn counts_csv(table: &QTable) -> String {
    let mut text = "total,soft,dealer,hit_n,hit_sum,hit_mean,stand_n,stand_sum,stand_mean,plays\n".to_owned();
    for (state, Entry { hit, stand }) in table.visited() {
        let mean = |tally: Tally| tally.mean().map_or_else(String::new, |mean| format!("{mean:.6}"));
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

pub(crate) fn eval(args: &EvalArgs) -> anyhow::Result<()> {
    // All tables are read first, so that an error leaves no partial output.
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
    writeln!(stdout, "{:>9.6}  {:>9}  {:>8}  {:>8}  dealer's strategy: hit to 16", judge.mimic(), "", "", "")?;
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

pub(crate) fn exact(args: &ExactArgs) -> anyhow::Result<()> {
    let judge = Judge::new();
    let solver = judge.solver();
    let limit = |space| judge.value(&solver.limit_of_random(space).policy());
    let values = [
        ("best_with_cards", "the best strategy that uses the exact cards of the hand", solver.best_value_with_cards()),
        ("best_soft", "the best table on (total, soft, upcard)", judge.optimum(StateSpace::Soft)),
        ("best_coarse", "the best table on (total, upcard)", judge.optimum(StateSpace::Coarse)),
        ("mimic", "dealer's strategy: hit to 16", judge.mimic()),
        ("random_limit_soft", "the limit of random training on (total, soft, upcard)", limit(StateSpace::Soft)),
        ("random_limit_coarse", "the limit of random training on (total, upcard)", limit(StateSpace::Coarse)),
        ("stand", "always stand", judge.value(&Policy::stand())),
        ("random", "random decisions", solver.value_of_random()),
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
        stdout.write_all(chart::cells(&chart, false).as_bytes())?;
    }
    Ok(())
}

fn hits(policy: &Policy) -> Value {
    let key = |state: State| (state.total(), state.is_soft());
    let rows: BTreeSet<(u8, bool)> = policy.space().states().map(key).collect();
    let row = |row: (u8, bool)| {
        let states = policy.space().states().filter(|&state| key(state) == row && policy.action(state) == Action::Hit);
        json!({ "total": row.0, "soft": row.1, "against": states.map(State::upcard).collect::<Vec<u8>>() })
    };
    rows.into_iter().map(row).collect()
}

/// Between two updates of the progress.
const STRETCH: u64 = 1 << 16;

pub(crate) fn play(args: &PlayArgs) -> anyhow::Result<()> {
    let policy = load(&args.file)?.policy();
    let seed = seed(args.seed)?;
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut progress = RoundsProgress::new(args.rounds, args.progress);
    let mut score = Score::default();
    while score.rounds() < args.rounds {
        score += rounds(&policy, STRETCH.min(args.rounds - score.rounds()), &mut rng)?;
        progress.reach(score.rounds(), || format!("  mean {:+.4}", score.mean()));
    }
    progress.end();
    let exact = Solver::new().value(&policy);
    let (mean, half) = (score.mean(), score.half_width());
    let inside = half.map(|half| (mean - exact).abs() <= half);
    let Score { wins, pushes, losses, busts } = score;
    let mut stdout = io::stdout().lock();
    if args.json {
        let all = json!({
            "file": args.file.to_string_lossy(),
            "seed": seed,
            "rounds": score.rounds(),
            "wins": wins,
            "pushes": pushes,
            "losses": losses,
            "busts": busts,
            "mean": mean,
            "ci95": half,
            "exact": exact,
            "inside": inside,
        });
        writeln!(stdout, "{all:#}")?;
        return Ok(());
    }
    let (name, rounds) = (file_name(&args.file), score.rounds());
    writeln!(stdout, "played  {rounds} rounds by {name}, seed {seed}")?;
    writeln!(stdout, "ended   {wins} won, {pushes} pushed, {losses} lost, {busts} bust")?;
    match half {
        Some(half) => writeln!(stdout, "mean    {mean:.6} +/- {half:.6} a round (95 % confidence)")?,
        None => writeln!(stdout, "mean    {mean:.6} a round; one round gives no interval")?,
    }
    let said = match inside {
        Some(true) => "; inside the interval",
        Some(false) => "; outside the interval, which happens one time in twenty",
        None => "",
    };
    writeln!(stdout, "exact   {exact:.6} a round{said}")?;
    Ok(())
}

fn rounds(policy: &Policy, rounds: u64, rng: &mut Pcg64Mcg) -> Result<Score, RoundError> {
    let mut score = Score::default();
    let mut deck = Deck::new();
    for _ in 0..rounds {
        deck.shuffle(rng);
        let mut round = Round::deal(deck.clone(), &[true])?;
        while let Some(view) = round.view(0).filter(|view| view.asked) {
            let points = view.cards.iter().fold(Points::EMPTY, |points, card| points.with(card.value()));
            let action = policy.decide(points, view.upcard.value());
            round.apply(0, action)?;
        }
        if let Some(verdict) = round.view(0).and_then(|view| view.verdict) {
            score.add(verdict);
        }
    }
    Ok(score)
}

pub(crate) fn draw_chart(args: &ChartArgs) -> anyhow::Result<()> {
    let files = args.picture.files(&PICTURES)?;
    let table = match args.policy {
        None => Some(load(&args.file)?),
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
            ("The dealer's strategy".to_owned(), chart(mimic))
        }
        (None, KnownPolicy::RandomLimit) => {
            let limit = judge.solver().limit_of_random(asked).policy();
            ("The limit of random training".to_owned(), chart(limit))
        }
    };
    let title = args.picture.title.clone().unwrap_or(name);
    if files.is_empty() {
        let text = chart::text(&chart, &title, coloured(args.colour));
        io::stdout().write_all(text.as_bytes())?;
        return Ok(());
    }
    write_files(&files, &chart::picture(&chart, &title)?, "")
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

pub(crate) fn draw_curves(args: &CurveArgs) -> anyhow::Result<()> {
    let (ways, epsilon) = args.ways()?;
    let files = args.files()?;
    let judge = Judge::new();
    let space = StateSpace::from(args.state);
    let seeds = args.seed..=args.seed.saturating_add(u64::from(args.runs) - 1);
    let jobs: Vec<Job> = ways
        .iter()
        .flat_map(|&way| seeds.clone().map(move |seed| (way, seed)))
        .map(|(way, seed)| Job { explore: way.explore(&epsilon).0, seed })
        .collect();
    let checkpoints = checkpoints(args.rounds);
    let all = args.rounds.saturating_mul(jobs.len() as u64);
    let runs = train_all(&judge, space, &jobs, &checkpoints, args.threads, RoundsProgress::new(all, args.progress))?;
    let mut runs = runs.into_iter();
    let mut series = vec![];
    for &way in &ways {
        series.push(Series {
            way,
            name: way.explore(&epsilon).1,
            runs: runs.by_ref().take(args.runs as usize).collect(),
        });
    }
    let curves = Curves { space, series, optimum: judge.optimum(space), mimic: judge.mimic() };
    let csv = curves_csv(&curves);
    if !files.is_empty() {
        let picture = drawing::picture(&curves, args.picture.title.as_deref())?;
        return write_files(&files, &picture, &csv);
    }
    let mut stdout = io::stdout();
    let text = if stdout.is_terminal() {
        terminal::chart(&curves, args.picture.title.as_deref(), stdout_size(), has_colour(&stdout))
    } else {
        csv
    };
    stdout.write_all(text.as_bytes())?;
    Ok(())
}

fn curves_csv(curves: &Curves) -> String {
    let Curves { space, series, optimum, mimic } = curves;
    let mut text = "explore,states,seed,rounds,value,optimum,mimic\n".to_owned();
    for Series { name, runs, .. } in series {
        for Run { seed, points } in runs {
            for (rounds, value) in points {
                let _ = writeln!(text, "{name},{space},{seed},{rounds},{value:.6},{optimum:.6},{mimic:.6}");
            }
        }
    }
    text
}
