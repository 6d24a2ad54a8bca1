//! Ratings by Weng and Lin: a Bayesian rating for games of two and of many, with ties.

use skillratings::{
    MultiTeamOutcome,
    weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team},
};

/// What is shown to a player of whom nothing is known.
pub(crate) const START: i64 = 1_000;
/// Points that are shown for one point of the mean.
const POINTS: f64 = 40.0;

/// What is shown of a rating: a value that the strength lies above with near certainty. So a new player starts low and rises with
/// what is known of it, and nobody leads by one lucky match.
pub(crate) fn shown(rating: WengLinRating) -> i64 {
    let points = (rating.rating - 3.0 * rating.uncertainty) * POINTS;
    #[expect(clippy::cast_possible_truncation, reason = "a rating stays within some thousands, and the cast saturates")]
    let points = points.round() as i64;
    // Zero stands for a match that was not rated.
    START.saturating_add(points).max(1)
}

/// The ratings after a match. Equal ranks are ties.
pub(crate) fn rate(players: &[(WengLinRating, u32)]) -> Vec<WengLinRating> {
    let teams: Vec<_> =
        players.iter().map(|(rating, rank)| ([*rating], MultiTeamOutcome::new(*rank as usize))).collect();
    let teams: Vec<_> = teams.iter().map(|(team, outcome)| (&team[..], *outcome)).collect();
    let after = weng_lin_multi_team(&teams, &WengLinConfig::new());
    after.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_player_starts_at_a_thousand() {
        assert_eq!(shown(WengLinRating::new()), START);
    }

    #[test]
    fn winners_rise_above_losers_and_ties_are_even() {
        let new = WengLinRating::new();
        let after = rate(&[(new, 1), (new, 2), (new, 2), (new, 4)]);
        assert!(after[0].rating > after[1].rating && after[2].rating > after[3].rating);
        assert_eq!(shown(after[1]), shown(after[2]));
        assert!(shown(after[0]) > START);
    }

    #[test]
    fn ratings_stay_finite_after_many_matches() {
        let (mut strong, mut weak) = (WengLinRating::new(), WengLinRating::new());
        for _ in 0..10_000 {
            let after = rate(&[(strong, 1), (weak, 2)]);
            (strong, weak) = (after[0], after[1]);
        }
        assert!(strong.rating.is_finite() && weak.uncertainty > 0.0);
        assert!(shown(strong) > shown(weak) && shown(weak) >= 1);
    }
}
