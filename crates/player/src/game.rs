use std::{collections::VecDeque, time::Duration};

use blackjack::{
    Action, Card, Client, Dialect, Hand, Name, PlayerMessage, Policy, Score, Verdict,
    client::MessageEffect,
    exact::{Odds, Solver},
    learn::Choice,
};

use crate::session::Session;

/// More rounds than the widest window shows.
const HISTORY: usize = 1024;

/// The game for a user, with descriptions in words.
#[derive(Debug)]
pub struct Game {
    pub(crate) session: Session,
    advisor: Advisor,
    advice: Option<Advice>,
    // Rounds that have begun, and the total and verdict of the last finished one.
    begun: u64,
    last: Option<(u8, Verdict)>,
    just_ended: bool,
    stood: bool,
    pub(crate) coach: Coach,
    // Of the last decision of this round, if it has odds.
    pub(crate) grade: Option<Grade>,
    // After each of the last rounds, newest last. Never empty.
    pub(crate) bankroll: VecDeque<i64>,
    pub(crate) revealed: Option<Hand>,
}

impl Game {
    pub fn new(name: Name, dialect: Dialect, advisor: Advisor) -> Self {
        let session = Session::new(name, dialect, advisor.policy.space());
        Self {
            session,
            advisor,
            advice: None,
            begun: 0,
            last: None,
            just_ended: false,
            stood: false,
            coach: Coach::default(),
            grade: None,
            bankroll: VecDeque::from([0]),
            revealed: None,
        }
    }

    /// Takes over a game from another source, such as a replay. `last` is the total and verdict of the last finished
    /// round.
    pub fn take_over(&mut self, client: Client, score: Score, begun: u64, last: Option<(u8, Verdict)>) {
        self.advice = client.state().zip(client.upcard()).map(|(_, upcard)| self.advisor.advise(client.hand(), upcard));
        (self.session.client, self.session.score, self.begun, self.last) = (client, score, begun, last);
        self.just_ended = last.is_some() && !self.in_round();
        self.bankroll = VecDeque::from([score.bankroll()]);
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.session.client
    }

    pub(crate) fn poll_event(&mut self) -> Option<MessageEffect> {
        let event = self.session.poll_event()?;
        self.take_in(&event);
        Some(event)
    }

    fn take_in(&mut self, event: &MessageEffect) {
        self.advice = None;
        match *event {
            MessageEffect::Began => {
                self.begun += 1;
                self.just_ended = false;
                (self.stood, self.grade, self.revealed) = (false, None, None);
            }
            MessageEffect::DecisionDue => {
                let upcard = self.upcard().filter(|_| self.client().state().is_some());
                self.advice = upcard.map(|upcard| self.advisor.advise(self.hand(), upcard));
            }
            MessageEffect::Ended { verdict, total, .. } => {
                self.last = Some((total, verdict));
                self.just_ended = true;
                self.count();
            }
            MessageEffect::Dealt | MessageEffect::Ignored | MessageEffect::Quit => {}
        }
    }

    fn count(&mut self) {
        if self.bankroll.len() == HISTORY {
            self.bankroll.pop_front();
        }
        self.bankroll.push_back(self.session.score.bankroll());
        self.coach.end_round();
    }

    /// Keeps the grades of the user's decisions.
    pub(crate) fn join_again(&mut self) {
        let (name, dialect) = (self.client().name().clone(), self.client().dialect());
        let coach = std::mem::take(&mut self.coach);
        *self = Self { coach, ..Self::new(name, dialect, self.advisor.clone()) };
    }

    /// Returns the message to send; `None` if no decision is due.
    pub fn decide(&mut self, action: Action) -> Option<PlayerMessage> {
        let message = self.session.client.decide(Choice::sure(action)).ok()?;
        self.grade = self.advice.take().and_then(|advice| self.coach.grade(&advice, action));
        self.stood = action == Action::Stand;
        Some(message)
    }

    /// Counts the hand as lost, as a dealer does if its player is too slow or leaves.
    pub(crate) fn forfeit(&mut self) {
        self.session.forfeit();
        self.advice = None;
        self.stood = true;
        self.count();
    }

    pub(crate) const fn is_asked(&self) -> bool {
        self.advice.is_some()
    }

    pub(crate) fn has_open_hand(&self) -> bool {
        self.in_round() && !self.stood && !self.client().points().is_bust()
    }

    pub const fn is_over(&self) -> bool {
        self.client().has_received_quit()
    }

    pub const fn advice(&self) -> Option<&Advice> {
        self.advice.as_ref()
    }

    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.last.map(|(_, verdict)| verdict).filter(|_| self.just_ended)
    }

    pub const fn hand(&self) -> &Hand {
        self.client().hand()
    }

    pub const fn upcard(&self) -> Option<Card> {
        self.client().upcard()
    }

    pub const fn in_round(&self) -> bool {
        self.client().in_round()
    }

    pub const fn round(&self) -> u64 {
        self.begun
    }

    pub fn status(&self) -> String {
        let Score { wins, pushes, losses, busts } = self.session.score;
        let mean = self.session.score.mean();
        format!("{}: {wins} won, {pushes} pushed, {losses} lost, {busts} bust, mean {mean:+.3}", self.client().name())
    }

    pub fn outcome(&self) -> Option<String> {
        let (total, verdict) = self.last?;
        // A forfeited hand, always the last, has no result.
        let round = self.session.score.rounds() - self.session.forfeits;
        Some(match verdict {
            Verdict::Win => format!("Round {round}: you win with {total}."),
            Verdict::Push => format!("Round {round}: push, both have {total}."),
            Verdict::Lose => format!("Round {round}: you lose with {total}."),
            Verdict::Bust => format!("Round {round}: you are bust with {total}."),
        })
    }

    pub fn total(&self) -> String {
        total_in_words(self.hand())
    }
}

pub(crate) fn total_in_words(hand: &Hand) -> String {
    let points = hand.points();
    let soft = if points.is_soft() { "soft " } else { "" };
    format!("{soft}{}", points.total())
}

/// In columns of fixed width.
pub(crate) fn odds_in_words(odds: Odds) -> String {
    let percent = |part: f64| 100.0 * part;
    let (win, push, lose) = (percent(odds.win), percent(odds.push), percent(odds.lose));
    format!("win {win:5.1} %  push {push:5.1} %  lose {lose:5.1} %  reward {:+.3}", odds.reward())
}

/// `0.03 s`, `2.5 s`, `30 s`.
pub(crate) fn time_in_words(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 1.0 => format!("{short:.2} s"),
        short if short < 10.0 && time.subsec_millis() >= 50 => format!("{short:.1} s"),
        long => format!("{long:.0} s"),
    }
}

#[cfg(test)]
impl Game {
    /// The script has the dealer's messages, and Ann's answers `HIT` and `STAND`.
    pub(crate) fn after(script: &str) -> Self {
        let mut game = Self::new(Name::new(b"Ann").unwrap(), Dialect::Text, Advisor::best());
        for line in script.split(", ") {
            match line {
                "HIT" => assert_eq!(game.decide(Action::Hit), Some(PlayerMessage::Hit)),
                "STAND" => assert_eq!(game.decide(Action::Stand), Some(PlayerMessage::Stand)),
                _ => {
                    game.session.receive(format!("{line}\0").as_bytes()).unwrap();
                    while game.poll_event().is_some() {}
                }
            }
        }
        game
    }
}

/// Recent decisions in the share of right ones.
const RECENT: usize = 20;
/// A lower cost is shown as 0.00 and counts as none.
const NOTICEABLE: f64 = 0.005;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grade {
    pub(crate) action: Action,
    /// The expected reward that the other action would have added to the round; 0 for a right decision.
    pub(crate) cost: f64,
}

impl Grade {
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

#[derive(Debug, Clone, Default)]
pub(crate) struct Coach {
    recent: VecDeque<bool>,
    cost: f64,
    rounds: u64,
}

impl Coach {
    /// Grades an action by the odds at the time of the choice; `None` for a hand without odds.
    ///
    /// The table's advice always counts as right, even if it is not the best action for the exact cards.
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

    /// `None` before the first decision.
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

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advice {
    pub action: Action,
    /// The advice is from a table file instead of best play.
    pub by_table: bool,
    /// The odds of standing now, and of taking one card and continuing as advised; `None` for cards that no deck has.
    pub odds: Option<(Odds, Odds)>,
}

#[derive(Debug, Clone)]
pub struct Advisor {
    solver: Solver,
    pub(crate) policy: Policy,
    pub(crate) by_table: bool,
}

impl Advisor {
    pub const fn new(solver: Solver, policy: Policy) -> Self {
        Self { solver, policy, by_table: false }
    }

    /// `hand` must not be bust.
    pub fn advise(&self, hand: &Hand, upcard: Card) -> Advice {
        let action = self.policy.decide(hand.points(), upcard.value());
        let values: Vec<u8> = hand.cards().iter().map(|card| card.value()).collect();
        Advice { action, by_table: self.by_table, odds: self.solver.odds(&values, upcard.value(), &self.policy) }
    }
}

#[cfg(test)]
impl Advisor {
    /// Shared by all tests.
    pub(crate) fn best() -> Self {
        use blackjack::StateSpace;
        use std::sync::OnceLock;

        static BEST: OnceLock<Advisor> = OnceLock::new();
        let best = BEST.get_or_init(|| {
            let solver = Solver::new();
            let policy = solver.best(StateSpace::Soft);
            Self::new(solver, policy)
        });
        best.clone()
    }
}

#[cfg(test)]
mod tests {
    use blackjack::exact::Odds;

    use super::*;

    const DEAL: &str = "BEGIN, CARD Ace of Clubs, CARD Six of Hearts, DEALER Ten of Diamonds, DECISION";

    #[test]
    fn decision_has_the_odds_of_both_actions() {
        let game = Game::after(DEAL);
        let advice = game.advice().unwrap();
        assert_eq!((advice.action, game.total().as_str()), (Action::Hit, "soft 17"));
        let (stand, hit) = advice.odds.unwrap();
        assert!(hit.reward() > stand.reward() && (stand.win + stand.push + stand.lose - 1.0).abs() < 1e-9);
        assert_eq!(Game::after(&format!("{DEAL}, HIT")).advice(), None);
        assert_eq!(Game::after(&format!("{DEAL}, HIT")).decide(Action::Hit), None, "nobody asked");
    }

    #[test]
    fn results_of_rounds_have_texts() {
        for (script, outcome) in [
            ("STAND, RESULT WIN", "Round 1: you win with 17."),
            ("STAND, RESULT PUSH", "Round 1: push, both have 17."),
            ("STAND, RESULT LOOSE, BEGIN", "Round 1: you lose with 17."),
            (
                "HIT, CARD Nine of Clubs, DECISION, HIT, CARD Ten of Clubs, RESULT BUST",
                "Round 1: you are bust with 26.",
            ),
        ] {
            assert_eq!(Game::after(&format!("{DEAL}, {script}")).outcome().as_deref(), Some(outcome));
        }
        assert_eq!(Game::after(DEAL).outcome(), None);
        let game = Game::after(&format!("{DEAL}, STAND, RESULT WIN, {DEAL}, QUIT"));
        assert_eq!(game.status(), "Ann: 1 won, 0 pushed, 0 lost, 0 bust, mean +1.000");
        assert!(game.is_over() && game.round() == 2);
    }

    #[test]
    fn state_of_another_client_is_taken_over() {
        let (mut game, other) = (Game::after("BEGIN"), Game::after(DEAL));
        let score = Score { wins: 3, ..Score::default() };
        game.take_over(other.client().clone(), score, 4, Some((20, Verdict::Win)));
        assert!(game.advice().is_some() && game.advice() == other.advice());
        assert_eq!(game.status(), "Ann: 3 won, 0 pushed, 0 lost, 0 bust, mean +1.000");
        assert_eq!((game.round(), game.outcome().as_deref()), (4, Some("Round 3: you win with 20.")));
        game.take_over(Game::after("BEGIN").client().clone(), score, 4, None);
        assert_eq!((game.advice(), game.outcome()), (None, None));
    }

    #[test]
    fn impossible_cards_get_advice_without_odds() {
        let game = Game::after("BEGIN, CARD Ace of Clubs, CARD Ace of Clubs, DEALER Ace of Clubs, DECISION");
        assert!(game.advice().unwrap().odds.is_some(), "a deck has four aces");
        let game = Game::after(
            "BEGIN, CARD Ace of Clubs, CARD Ace of Clubs, DEALER Ace of Clubs, DECISION, HIT, CARD Ace of Clubs, DECISION, \
             HIT, CARD Ace of Clubs, DECISION",
        );
        assert_eq!(game.advice().unwrap().odds, None);
    }

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
    fn advised_and_nearly_equal_actions_are_right() {
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

    #[test]
    fn times_are_short() {
        for (millis, words) in [(0, "0.00 s"), (26, "0.03 s"), (2_540, "2.5 s"), (4_000, "4 s"), (30_004, "30 s")] {
            assert_eq!(time_in_words(Duration::from_millis(millis)), words);
        }
    }
}
