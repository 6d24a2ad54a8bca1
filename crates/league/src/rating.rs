//! Ratings by Weng and Lin (A Bayesian Approximation Method for Online Ranking, JMLR 12, 2011), as on the hub.

use skillratings::{
    MultiTeamOutcome,
    weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team},
};

/// Displayed points per unit of the mean. A new player's mean is 25, displayed as 1000.
const POINTS: f64 = 40.0;
/// The displayed uncertainty in standard deviations, which covers the strength in 19 of 20 cases.
const SURE: f64 = 2.0;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rating(WengLinRating);

impl Rating {
    pub(crate) fn new() -> Self {
        Self(WengLinRating::new())
    }

    pub(crate) fn points(self) -> f64 {
        self.0.rating * POINTS
    }

    /// In points, in each direction.
    pub(crate) fn uncertainty(self) -> f64 {
        self.0.uncertainty * POINTS * SURE
    }
}

/// Updates the ratings after a contest. A lower rank is better, and equal ranks are ties.
pub(crate) fn rate(ratings: &mut [Rating], met: &[(usize, usize)]) {
    let teams: Vec<_> = met.iter().map(|&(player, rank)| ([ratings[player].0], MultiTeamOutcome::new(rank))).collect();
    let teams: Vec<_> = teams.iter().map(|(team, outcome)| (&team[..], *outcome)).collect();
    let after = weng_lin_multi_team(&teams, &WengLinConfig::new());
    for (&(player, _), team) in met.iter().zip(after) {
        if let Some(rating) = team.into_iter().next() {
            ratings[player] = Rating(rating);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn winner_gains_points_and_certainty() {
        let mut ratings = [Rating::new(); 4];
        rate(&mut ratings, &[(0, 1), (1, 2), (3, 2)]);
        assert!(ratings[0].points() > 1000.0 && ratings[1].points() < 1000.0);
        assert!((ratings[1].points() - ratings[3].points()).abs() < 1e-9);
        assert!((ratings[2].points() - 1000.0).abs() < 1e-9 && (ratings[2].uncertainty() - 666.67).abs() < 0.01);
        assert!(ratings[0].uncertainty() < 666.0);
    }
}
