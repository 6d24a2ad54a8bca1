//! `qtable play`: lets a table play, and compares the mean with its exact value.

use std::io::{self, Write};

use blackjack::{Deck, Points, Policy, Round, Score, exact::Solver, game::RoundError};
use cmdkit::file_name;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde_json::json;

use crate::{
    args::{PlayArgs, seed},
    progress::RoundsProgress,
    tables::load,
};

/// Rounds between two looks at the clock.
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
        None => writeln!(stdout, "mean    {mean:.6} a round; one round says nothing")?,
    }
    let said = match inside {
        Some(true) => "; inside the interval",
        Some(false) => "; outside the interval, as one time in twenty",
        None => "",
    };
    writeln!(stdout, "exact   {exact:.6} a round{said}")?;
    Ok(())
}

// Plays rounds by a policy, alone at the table and by the rules of the dealer.
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
