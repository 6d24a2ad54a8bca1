//! How well a person decides, measured by the exact odds.

use std::collections::VecDeque;

use blackjack::Action;

use crate::advice::Advice;

/// How many decisions the share of right ones is about.
const RECENT: usize = 20;
/// A cost below this is shown as 0.00 and counts as none.
const NOTICEABLE: f64 = 0.005;

/// What a decision was worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grade {
    pub(crate) action: Action,
    /// The expected reward that the other action would have added to the round; 0 for a right decision.
    pub(crate) cost: f64,
}

impl Grade {
    /// Whether the other action was not better.
    pub(crate) fn is_right(self) -> bool {
        self.cost <= 0.0
    }

    pub(crate) fn in_words(self) -> String {
        let (done, other) = match self.action {
            Action::Hit => ("Hit", "standing"),
            Action::Stand => ("Stand", "hitting"),
        };
        if self.is_right() {
            format!("{done} was right.")
        } else {
            format!("{done} was wrong: {other} is worth {:.2} more.", self.cost)
        }
    }
}

/// The grades of a person's decisions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coach {
    // Whether each of the last decisions was right.
    recent: VecDeque<bool>,
    cost: f64,
    rounds: u64,
}

impl Coach {
    /// Grades an action by the odds that were known when it was chosen. None for a hand without odds.
    ///
    /// What the table advises is always right, also where the table does not know the cards exactly enough to be the best.
    pub(crate) fn grade(&mut self, advice: &Advice, action: Action) -> Option<Grade> {
        let (stand, hit) = advice.odds?;
        let gain = match action {
            Action::Hit => stand.reward() - hit.reward(),
            Action::Stand => hit.reward() - stand.reward(),
        };
        let cost = if action == advice.action || gain < NOTICEABLE { 0.0 } else { gain };
        let grade = Grade { action, cost };
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(grade.is_right());
        self.cost += cost;
        Some(grade)
    }

    pub(crate) const fn end_round(&mut self) {
        self.rounds += 1;
    }

    /// How the decisions so far were; none before the first one.
    pub(crate) fn summary(&self) -> Option<String> {
        if self.recent.is_empty() {
            return None;
        }
        let right = self.recent.iter().filter(|&&right| right).count();
        #[expect(clippy::cast_precision_loss, reason = "a mean for people to read")]
        let cost = self.cost / self.rounds.max(1) as f64;
        let decisions = match self.recent.len() {
            1 => "1 decision".to_owned(),
            RECENT => format!("the last {RECENT} decisions"),
            few => format!("{few} decisions"),
        };
        Some(format!("{right} of {decisions} right; mistakes cost {cost:.2} a round"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blackjack::exact::Odds;

    fn advice(action: Action, stand: f64, hit: f64) -> Advice {
        let odds = |reward: f64| Odds { win: f64::midpoint(1.0, reward), push: 0.0, lose: f64::midpoint(1.0, -reward) };
        Advice { action, by_table: false, odds: Some((odds(stand), odds(hit))) }
    }

    #[test]
    fn a_mistake_costs_the_difference() {
        let mut coach = Coach::default();
        let advice = advice(Action::Stand, -0.25, -0.47);
        let wrong = coach.grade(&advice, Action::Hit).unwrap();
        assert_eq!(wrong.in_words(), "Hit was wrong: standing is worth 0.22 more.");
        assert_eq!(coach.grade(&advice, Action::Stand).unwrap().in_words(), "Stand was right.");
        assert_eq!(coach.summary().unwrap(), "1 of 2 decisions right; mistakes cost 0.22 a round");
        coach.end_round();
        coach.end_round();
        assert_eq!(coach.summary().unwrap(), "1 of 2 decisions right; mistakes cost 0.11 a round");
    }

    #[test]
    fn what_the_table_advises_and_what_costs_next_to_nothing_is_right() {
        let mut coach = Coach::default();
        for action in [Action::Hit, Action::Stand] {
            assert!(coach.grade(&advice(Action::Hit, -0.100, -0.104), action).unwrap().is_right());
        }
        assert!(coach.grade(&advice(Action::Hit, -0.1, -0.2), Action::Hit).unwrap().is_right());
        assert_eq!(coach.grade(&Advice { action: Action::Hit, by_table: false, odds: None }, Action::Hit), None);
    }

    #[test]
    fn only_the_last_decisions_are_counted() {
        let mut coach = Coach::default();
        assert_eq!(coach.summary(), None);
        let advice = advice(Action::Stand, 0.0, -0.5);
        for number in 0..25 {
            coach.grade(&advice, if number < 8 { Action::Hit } else { Action::Stand });
            coach.end_round();
        }
        assert_eq!(coach.summary().unwrap(), "17 of the last 20 decisions right; mistakes cost 0.16 a round");
    }
}
