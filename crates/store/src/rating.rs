//! Ratings by Weng and Lin (A Bayesian Approximation Method for Online Ranking, JMLR 12, 2011), for two or more
//! players, with ties.
//!
//! In their method the uncertainty only shrinks. Here it grows while a player is inactive, as in Glicko (Glickman,
//! Parameter estimation in large dynamic paired comparison experiments, Applied Statistics 48, 1999, step 1): after `t`
//! days it is `min(start, sqrt(deviation² + DRIFT² t))`.
//!
//! On the boards of [`LADDER`] the ratings of the built-in bots are known and never change.

use skillratings::{
    MultiTeamOutcome,
    weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team},
};

use crate::PlayerKind;

/// Displayed points per point of the mean: a new player has a mean of 25, so 1000 points.
const POINTS: f64 = 40.0;
/// Deviations in the displayed uncertainty, which covers the strength in 19 of 20 cases.
const SURE: f64 = 2.0;
/// The uncertainty that a day without a match adds: a deviation of 1.5 nearly doubles in a season, and is that of a new
/// player after three years.
const DRIFT: f64 = 0.25;
/// In milliseconds.
const DAY: f64 = 86_400_000.0;

/// The class of matches of programs on the ladder. See `docs/ladder.md`.
pub const LADDER: &str = "ladder";
/// Points of the built-in bots on boards of [`LADDER`], by the names of their ratings.
const FIXED: [(&str, f64); 3] = [("bot, easy", 800.0), ("bot, normal", 1_000.0), ("bot, hard", 1_200.0)];

pub(crate) fn fixed(class: &str, (name, kind): (&str, PlayerKind)) -> Option<WengLinRating> {
    let fixed = FIXED.iter().find(|(fixed, _)| *fixed == name && kind == PlayerKind::Bot && class == LADDER);
    fixed.map(|(_, points)| WengLinRating { rating: points / POINTS, uncertainty: 0.0 })
}

fn points(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a rating stays within some thousands, and the cast saturates")]
    let points = (value * POINTS).round() as i64;
    points
}

pub(crate) fn rounded(rating: WengLinRating) -> i64 {
    // Zero marks a match without a rating.
    points(rating.rating).max(1)
}

pub(crate) fn uncertainty(rating: WengLinRating) -> i64 {
    points(SURE * rating.uncertainty)
}

/// The sort key of boards: a lower bound, so that one lucky match cannot lead a board.
pub(crate) fn sure(rating: WengLinRating) -> i64 {
    rounded(rating) - uncertainty(rating)
}

pub(crate) fn drifted(rating: WengLinRating, millis: u64) -> WengLinRating {
    #[expect(clippy::cast_precision_loss, reason = "a time of millions of years")]
    let days = millis as f64 / DAY;
    let grown = DRIFT.powi(2).mul_add(days, rating.uncertainty.powi(2)).sqrt();
    let most = WengLinRating::new().uncertainty;
    WengLinRating { uncertainty: grown.min(most), ..rating }
}

/// The rating after a match. Equal ranks are ties. It is the sum of the pairwise comparisons, so some participants may
/// be omitted.
pub(crate) fn rate(player: (WengLinRating, u32), others: &[(WengLinRating, u32)]) -> WengLinRating {
    let teams: Vec<_> = std::iter::once(&player)
        .chain(others)
        .map(|(rating, rank)| ([*rating], MultiTeamOutcome::new(*rank as usize)))
        .collect();
    let teams: Vec<_> = teams.iter().map(|(team, outcome)| (&team[..], *outcome)).collect();
    let after = weng_lin_multi_team(&teams, &WengLinConfig::new());
    after.into_iter().flatten().next().unwrap_or(player.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_player_has_a_thousand_points_and_high_uncertainty() {
        let new = WengLinRating::new();
        assert_eq!((rounded(new), uncertainty(new), sure(new)), (1_000, 667, 333));
    }

    #[test]
    fn winners_rise_above_losers_and_ties_are_even() {
        let new = WengLinRating::new();
        let all = [(new, 1), (new, 2), (new, 2), (new, 4)];
        let after: Vec<_> = (0..4)
            .map(|at| {
                let others: Vec<_> =
                    all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, all)| *all).collect();
                rate(all[at], &others)
            })
            .collect();
        assert!(after[0].rating > after[1].rating && after[2].rating > after[3].rating);
        assert_eq!(rounded(after[1]), rounded(after[2]));
        assert!(rounded(after[0]) > 1_000);
        // The gain is the sum of the comparisons.
        let gain = |others: &[(WengLinRating, u32)]| rate((new, 1), others).rating - new.rating;
        assert!((gain(&all[1..]) - 3.0 * gain(&all[1..2])).abs() < 1e-9);
    }

    #[test]
    fn ratings_stay_finite_after_many_matches() {
        let (mut strong, mut weak) = (WengLinRating::new(), WengLinRating::new());
        for _ in 0..10_000 {
            (strong, weak) = (rate((strong, 1), &[(weak, 2)]), rate((weak, 2), &[(strong, 1)]));
        }
        assert!(strong.rating.is_finite() && weak.uncertainty > 0.0);
        assert!(rounded(strong) > rounded(weak) && rounded(weak) >= 1);
    }

    #[test]
    fn uncertainty_grows_with_the_time_without_a_match_up_to_that_of_a_new_player() {
        let known = WengLinRating { rating: 30.0, uncertainty: 1.5 };
        let after = |days: u64| drifted(known, days * 86_400_000).uncertainty;
        assert!((after(0) - 1.5).abs() < 1e-9 && (after(90) - 2.8).abs() < 0.05, "{}", after(90));
        assert!(after(30) > after(29));
        assert!((after(3 * 365) - WengLinRating::new().uncertainty).abs() < 0.05);
        assert!((after(100_000) - WengLinRating::new().uncertainty).abs() < 1e-9);
        assert_eq!(rounded(drifted(known, u64::MAX)), 1_200, "the strength itself stays");
    }
}
