//! `qtable curve`: how many rounds it takes to learn, in the terminal, as numbers or as a picture.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
};

use blackjack::StateSpace;
use cmdkit::{has_colour, stdout_size};

use super::write_files;
use crate::{
    args::CurveArgs,
    curve::{Curves, Job, Run, Series, checkpoints, drawing, terminal, train},
    judge::Judge,
    progress::RoundsProgress,
};

pub(crate) fn curve(args: &CurveArgs) -> anyhow::Result<()> {
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
    let runs = train(&judge, space, &jobs, &checkpoints, args.threads, RoundsProgress::new(all, args.progress))?;
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
    let csv = csv(&curves);
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

fn csv(curves: &Curves) -> String {
    let Curves { space, series, optimum, mimic } = curves;
    let mut text = "explore,states,seed,rounds,value,optimum,mimic\n".to_owned();
    for Series { name, runs, .. } in series {
        for Run { seed, points } in runs {
            for (rounds, value) in points {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{name},{space},{seed},{rounds},{value:.6},{optimum:.6},{mimic:.6}");
            }
        }
    }
    text
}
