//! The game as a person sees it.

use std::collections::VecDeque;

use blackjack::{
    Action, Client, Dialect, Hand, Name, PlayerMessage, Score, Verdict, client::Meaning, exact::Odds, learn::Choice,
};

use crate::{
    advice::{Advice, Advisor},
    coach::{Coach, Grade},
    session::Session,
};

/// How many rounds the line of the bankroll goes back: more than the widest window shows.
const HISTORY: usize = 1024;

/// What a person knows, and is told in words.
#[derive(Debug)]
pub struct Game {
    pub(crate) session: Session,
    advisor: Advisor,
    advice: Option<Advice>,
    // Rounds that have begun, and how the last one ended: the total and the verdict.
    begun: u64,
    last: Option<(u8, Verdict)>,
    // Whether no round has begun since the last one ended.
    just_ended: bool,
    // Whether the person takes no more cards in this round.
    stood: bool,
    pub(crate) coach: Coach,
    // Of the last decision of this round, if it has odds.
    pub(crate) grade: Option<Grade>,
    // What was won and lost so far, after each of the last rounds, the newest last. Never empty.
    pub(crate) bankroll: VecDeque<i64>,
    // The dealer's hand of the round that has just ended, if it is known.
    pub(crate) revealed: Option<Hand>,
}

impl Game {
    /// The game of somebody who wants to join.
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

    /// Takes up a game that somebody else has followed, such as a replay: the client as it is now, how its rounds ended so far, how
    /// many have begun, and the total and the verdict of the last one that ended.
    pub fn take_up(&mut self, client: Client, score: Score, begun: u64, last: Option<(u8, Verdict)>) {
        self.advice = client.state().zip(client.upcard()).map(|(_, upcard)| self.advisor.advise(client.hand(), upcard));
        (self.session.client, self.session.score, self.begun, self.last) = (client, score, begun, last);
        self.just_ended = last.is_some() && !self.in_round();
        self.bankroll = VecDeque::from([score.bankroll()]);
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.session.client
    }

    /// What the next message of those that came means; none when all were looked at.
    pub(crate) fn poll_event(&mut self) -> Option<Meaning> {
        let event = self.session.poll_event()?;
        self.take_in(&event);
        Some(event)
    }

    fn take_in(&mut self, event: &Meaning) {
        self.advice = None;
        match *event {
            Meaning::Began => {
                self.begun += 1;
                self.just_ended = false;
                (self.stood, self.grade, self.revealed) = (false, None, None);
            }
            Meaning::Asked => {
                let upcard = self.upcard().filter(|_| self.client().state().is_some());
                self.advice = upcard.map(|upcard| self.advisor.advise(self.hand(), upcard));
            }
            Meaning::Ended { verdict, total, .. } => {
                self.last = Some((total, verdict));
                self.just_ended = true;
                self.count();
            }
            Meaning::Dealt | Meaning::Ignored | Meaning::Quit => {}
        }
    }

    fn count(&mut self) {
        if self.bankroll.len() == HISTORY {
            self.bankroll.pop_front();
        }
        self.bankroll.push_back(self.session.score.bankroll());
        self.coach.end_round();
    }

    /// Begins a new game under the same name. How the person decided so far is kept.
    pub(crate) fn join_again(&mut self) {
        let (name, dialect) = (self.client().name().clone(), self.client().dialect());
        let coach = std::mem::take(&mut self.coach);
        *self = Self { coach, ..Self::new(name, dialect, self.advisor.clone()) };
    }

    /// Decides, and gives the message to send; none unless the dealer has asked.
    pub fn decide(&mut self, action: Action) -> Option<PlayerMessage> {
        let message = self.session.client.decide(Choice::sure(action)).ok()?;
        self.grade = self.advice.take().and_then(|advice| self.coach.grade(&advice, action));
        self.stood = action == Action::Stand;
        Some(message)
    }

    /// Takes the hand that is played for lost, as a dealer does when its player is too slow or leaves.
    pub(crate) fn forfeit(&mut self) {
        self.session.forfeit();
        self.advice = None;
        self.stood = true;
        self.count();
    }

    pub(crate) const fn is_asked(&self) -> bool {
        self.advice.is_some()
    }

    /// Whether a hand is played in which the person may still have to decide.
    pub(crate) fn has_open_hand(&self) -> bool {
        self.in_round() && !self.stood && !self.client().points().is_bust()
    }

    /// Whether the dealer has taken leave.
    pub const fn is_over(&self) -> bool {
        self.client().has_heard_quit()
    }

    /// What to do; none unless the dealer has asked.
    pub const fn advice(&self) -> Option<&Advice> {
        self.advice.as_ref()
    }

    /// The verdict of a round that has just ended.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.last.map(|(_, verdict)| verdict).filter(|_| self.just_ended)
    }

    /// The own hand.
    pub const fn hand(&self) -> &Hand {
        self.client().hand()
    }

    /// The dealer's card that lies face up, once it does.
    pub const fn upcard(&self) -> Option<blackjack::Card> {
        self.client().upcard()
    }

    /// Whether a hand is played.
    pub const fn in_round(&self) -> bool {
        self.client().in_round()
    }

    /// Rounds that have begun.
    pub const fn round(&self) -> u64 {
        self.begun
    }

    /// Who plays, and how it went so far.
    pub fn status(&self) -> String {
        let Score { wins, pushes, losses, busts } = self.session.score;
        let mean = self.session.score.mean();
        format!("{}: {wins} won, {pushes} pushed, {losses} lost, {busts} bust, mean {mean:+.3}", self.client().name())
    }

    /// How the last round ended; none before the first one has.
    pub fn outcome(&self) -> Option<String> {
        let (total, verdict) = self.last?;
        // A forfeited hand, which is always the last one, has no result of its own.
        let round = self.session.score.rounds() - self.session.forfeits;
        Some(match verdict {
            Verdict::Win => format!("Round {round}: you win with {total}."),
            Verdict::Push => format!("Round {round}: nobody wins, both have {total}."),
            Verdict::Lose => format!("Round {round}: you lose with {total}."),
            Verdict::Bust => format!("Round {round}: you are bust with {total}."),
        })
    }

    /// What the hand counts, in words.
    pub fn total(&self) -> String {
        total_in_words(self.hand())
    }
}

pub(crate) fn total_in_words(hand: &Hand) -> String {
    let points = hand.points();
    let soft = if points.is_soft() { "soft " } else { "" };
    format!("{soft}{}", points.total())
}

/// The odds of an action, in columns of a fixed width.
pub(crate) fn odds_in_words(odds: Odds) -> String {
    let percent = |part: f64| 100.0 * part;
    let (win, push, lose) = (percent(odds.win), percent(odds.push), percent(odds.lose));
    format!("win {win:5.1} %  push {push:5.1} %  lose {lose:5.1} %  reward {:+.3}", odds.reward())
}

#[cfg(test)]
impl Game {
    /// Ann's game after a script: the dealer's messages, and `HIT` and `STAND` as her answers.
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

#[cfg(test)]
mod tests {
    use super::*;

    const DEAL: &str = "BEGIN, CARD Ace of Clubs, CARD Six of Hearts, DEALER Ten of Diamonds, DECISION";

    #[test]
    fn the_odds_of_both_actions_come_with_the_question() {
        let game = Game::after(DEAL);
        let advice = game.advice().unwrap();
        assert_eq!((advice.action, game.total().as_str()), (Action::Hit, "soft 17"));
        let (stand, hit) = advice.odds.unwrap();
        assert!(hit.reward() > stand.reward() && (stand.win + stand.push + stand.lose - 1.0).abs() < 1e-9);
        assert_eq!(Game::after(&format!("{DEAL}, HIT")).advice(), None);
        assert_eq!(Game::after(&format!("{DEAL}, HIT")).decide(Action::Hit), None, "nobody asked");
    }

    #[test]
    fn how_rounds_end_is_said_in_words() {
        for (script, outcome) in [
            ("STAND, RESULT WIN", "Round 1: you win with 17."),
            ("STAND, RESULT PUSH", "Round 1: nobody wins, both have 17."),
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
    fn a_game_that_somebody_else_followed_is_taken_up_with_its_question() {
        let (mut game, other) = (Game::after("BEGIN"), Game::after(DEAL));
        let score = Score { wins: 3, ..Score::default() };
        game.take_up(other.client().clone(), score, 4, Some((20, Verdict::Win)));
        assert!(game.advice().is_some() && game.advice() == other.advice());
        assert_eq!(game.status(), "Ann: 3 won, 0 pushed, 0 lost, 0 bust, mean +1.000");
        assert_eq!((game.round(), game.outcome().as_deref()), (4, Some("Round 3: you win with 20.")));
        game.take_up(Game::after("BEGIN").client().clone(), score, 4, None);
        assert_eq!((game.advice(), game.outcome()), (None, None));
    }

    #[test]
    fn cards_that_no_deck_has_get_advice_without_odds() {
        let game = Game::after("BEGIN, CARD Ace of Clubs, CARD Ace of Clubs, DEALER Ace of Clubs, DECISION");
        assert!(game.advice().unwrap().odds.is_some(), "a deck has four aces");
        let game = Game::after(
            "BEGIN, CARD Ace of Clubs, CARD Ace of Clubs, DEALER Ace of Clubs, DECISION, HIT, CARD Ace of Clubs, DECISION, \
             HIT, CARD Ace of Clubs, DECISION",
        );
        assert_eq!(game.advice().unwrap().odds, None);
    }
}
