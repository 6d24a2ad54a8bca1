//! The rules: ten turns, guesses, and lifelines.

use alloc::{string::String, vec::Vec};

use rand::{Rng, RngExt};
use thiserror::Error;

use crate::{
    code::{Code, Feedback, ParseCodeError},
    config::Rules,
    knowledge::Knowledge,
    lifeline::{Lifeline, Revealed, Style},
    puzzle::Day,
    view::{Board, GameOutcome, GameResult, MaskedCode, TurnRecord, Visibility},
};

/// The number of turns in a game.
pub const TURNS: usize = 10;

/// A consequence of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The guess was answered.
    Answered(Code, Feedback),
    /// A lifeline has revealed a fact.
    Revealed(Revealed),
    /// This unused lifeline would leave no turn for a guess any more.
    OutOfReach(Lifeline),
    /// The game is over.
    Ended(Outcome),
}

/// How a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The code was found in this number of turns, including those of a lifeline.
    Won(usize),
    /// All turns were used without finding this code.
    Lost(Code),
}

/// A guess or a lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A guess and its feedback; takes one turn.
    Guess(Code, Feedback),
    /// A revealed fact, and the number of turns that the lifeline took.
    Lifeline(Revealed, usize),
}

/// Whether a lifeline is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// It can be used.
    Available,
    /// The single use of a lifeline is spent.
    Used,
    /// It would leave no turn for a guess.
    Blocked,
}

/// One game, whose code is hidden until it is over.
#[derive(Debug, Clone)]
pub struct Game {
    rules: Rules,
    style: Style,
    code: Code,
    history: Vec<Entry>,
    gone: usize,
    revealed: Option<Revealed>,
    hints: usize,
    won: bool,
}

/// The rules do not allow a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0} cannot be the code of a game with {1}")]
pub struct CodeError(Code, Rules);

impl Game {
    /// A game with a random code.
    pub fn new<R: Rng + ?Sized>(rules: Rules, style: Style, rng: &mut R) -> Self {
        Self::start(rules, style, rules.draw(rng))
    }

    /// Creates a game with a given code.
    pub fn with_code(rules: Rules, style: Style, code: Code) -> Result<Self, CodeError> {
        if rules.allows_secret(code) { Ok(Self::start(rules, style, code)) } else { Err(CodeError(code, rules)) }
    }

    /// The puzzle of a day.
    pub fn of_day(rules: Rules, style: Style, day: Day) -> Self {
        Self::start(rules, style, day.puzzle(rules))
    }

    pub(crate) fn start(rules: Rules, style: Style, code: Code) -> Self {
        Self { rules, style, code, history: Vec::new(), gone: 0, revealed: None, hints: 0, won: false }
    }

    /// Applies an action of the player. An error leaves the game unchanged.
    pub fn apply<R: Rng + ?Sized>(&mut self, action: Action, rng: &mut R) -> Result<Vec<Event>, ActionError> {
        if self.outcome().is_some() {
            return Err(ActionError::Over);
        }
        match action {
            Action::Guess(guess) => self.guess(guess),
            Action::Lifeline(lifeline) => self.lifeline(lifeline, rng),
        }
    }

    fn guess(&mut self, guess: Code) -> Result<Vec<Event>, ActionError> {
        let (found, expected) = (guess.len(), self.rules.length());
        if found != expected {
            return Err(ActionError::Length { found, expected });
        }
        if !self.rules.allows_guess(guess) {
            return Err(ActionError::Colour { guess, colours: self.rules.colours() });
        }
        let before = Lifeline::ALL.map(|lifeline| self.availability(lifeline));
        let feedback = Feedback::of(guess, self.code);
        self.history.push(Entry::Guess(guess, feedback));
        self.gone += 1;
        self.won = feedback.is_win(expected);
        let mut events = alloc::vec![Event::Answered(guess, feedback)];
        if let Some(outcome) = self.outcome() {
            events.push(Event::Ended(outcome));
            return Ok(events);
        }
        for (lifeline, before) in Lifeline::ALL.into_iter().zip(before) {
            if before == Availability::Available && self.availability(lifeline) == Availability::Blocked {
                events.push(Event::OutOfReach(lifeline));
            }
        }
        Ok(events)
    }

    fn lifeline<R: Rng + ?Sized>(&mut self, lifeline: Lifeline, rng: &mut R) -> Result<Vec<Event>, ActionError> {
        let cost = lifeline.cost(self.style);
        match self.availability(lifeline) {
            Availability::Available => {}
            Availability::Used => return Err(ActionError::LifelineUsed(lifeline)),
            Availability::Blocked => {
                return Err(ActionError::LifelineBlocked { lifeline, cost, left: TURNS - self.gone });
            }
        }
        let place = rng.random_range(0..self.rules.length());
        let Some(peg) = self.code.peg(place) else {
            return Ok(Vec::new());
        };
        let revealed = match lifeline {
            Lifeline::Colour => Revealed::Colour(peg),
            Lifeline::Place => Revealed::Place { place, peg },
        };
        self.revealed = Some(revealed);
        self.gone += cost;
        self.history.push(Entry::Lifeline(revealed, cost));
        Ok(alloc::vec![Event::Revealed(revealed)])
    }

    /// Whether this lifeline is available: none was used, and it leaves a turn for a guess.
    pub fn availability(&self, lifeline: Lifeline) -> Availability {
        if self.revealed.is_some() {
            Availability::Used
        } else if self.outcome().is_some() || self.gone + lifeline.cost(self.style) >= TURNS {
            Availability::Blocked
        } else {
            Availability::Available
        }
    }

    /// How the game ended; `None` while it continues.
    pub fn outcome(&self) -> Option<Outcome> {
        if self.won {
            Some(Outcome::Won(self.gone))
        } else if self.gone >= TURNS {
            Some(Outcome::Lost(self.code))
        } else {
            None
        }
    }

    /// The parts of this game, number `number` of its room, that `visibility` permits, with `ending` if it is over.
    pub fn view(&self, number: u32, ending: Option<GameOutcome>, visibility: Visibility) -> Board {
        let shows = visibility != Visibility::Answers;
        let mut turn = 1;
        let mut lines = Vec::with_capacity(self.history.len());
        for entry in &self.history {
            match *entry {
                Entry::Guess(guess, feedback) => {
                    lines.push(TurnRecord::Row { turn, guess: MaskedCode::of(guess, shows), feedback });
                    turn += 1;
                }
                Entry::Lifeline(revealed, cost) => {
                    let lifeline = revealed.lifeline();
                    lines.push(TurnRecord::Lifeline { turn, lifeline, revealed: shows.then_some(revealed) });
                    turn += cost;
                }
            }
        }
        let over = ending.map(|how| GameResult {
            how,
            turns: self.gone,
            hints: self.hints,
            code: MaskedCode::of(self.code, visibility == Visibility::All),
        });
        Board { number, rules: self.rules, lines, over }
    }

    /// The rules.
    pub const fn rules(&self) -> Rules {
        self.rules
    }

    /// The style of play.
    pub const fn style(&self) -> Style {
        self.style
    }

    /// The next turn, counted from 1; 11 after the tenth.
    pub const fn turn(&self) -> usize {
        self.gone + 1
    }

    /// The number of turns used.
    pub const fn turns_gone(&self) -> usize {
        self.gone
    }

    /// The guesses and lifelines so far.
    pub fn history(&self) -> &[Entry] {
        &self.history
    }

    /// The code with stars for all pegs except one revealed by the second lifeline: `*5**`.
    pub fn hint_code(&self) -> String {
        let shown = |at| match self.revealed {
            Some(Revealed::Place { place, peg }) if place == at => peg.digit(),
            _ => '*',
        };
        (0..self.rules.length()).map(shown).collect()
    }

    /// Counts a [hint](Self::hints), and returns the knowledge as its input.
    pub fn request_hint(&mut self) -> Knowledge {
        self.hints += 1;
        let mut knowledge = Knowledge::new(self.rules);
        for entry in &self.history {
            match *entry {
                Entry::Guess(guess, feedback) => knowledge.answered(guess, feedback),
                Entry::Lifeline(revealed, cost) => knowledge.revealed(revealed, cost),
            }
        }
        knowledge
    }

    pub(crate) const fn set_hints(&mut self, hints: usize) {
        self.hints = hints;
    }

    /// The number of hints requested.
    pub const fn hints(&self) -> usize {
        self.hints
    }
}

// The actions of a player, and reasons to reject them.

/// An action of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Guesses the code.
    Guess(Code),
    /// Uses a lifeline.
    Lifeline(Lifeline),
}

/// The input is not a valid action.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseActionError {
    /// The input is not a code or a lifeline.
    #[error("type a code, or lifeline#1 or lifeline#2: {0}")]
    Neither(ParseCodeError),
    /// The lifeline does not exist.
    #[error("there are two lifelines: type lifeline#1 or lifeline#2")]
    NoSuchLifeline,
}

impl Action {
    /// Parses the digits of a guess, or `lifeline#1` or `lifeline#2` in any case.
    pub fn parse(text: &str) -> Result<Self, ParseActionError> {
        const WORD: &str = "lifeline#";
        if let Some((word, number)) = text.split_at_checked(WORD.len())
            && word.eq_ignore_ascii_case(WORD)
        {
            let lifeline = match number {
                "1" => Lifeline::Colour,
                "2" => Lifeline::Place,
                _ => return Err(ParseActionError::NoSuchLifeline),
            };
            return Ok(Self::Lifeline(lifeline));
        }
        text.parse().map(Self::Guess).map_err(ParseActionError::Neither)
    }
}

/// Why an action was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ActionError {
    /// The game is over.
    #[error("the game is over")]
    Over,
    /// The guess has another length than the code.
    #[error("a guess has {expected} pegs in this game, not {found}")]
    Length {
        /// Pegs of the guess.
        found: usize,
        /// Pegs of the code.
        expected: usize,
    },
    /// The guess has a colour that is not in the game.
    #[error("{guess} has a colour that is not in this game: there are 1 to {colours}")]
    Colour {
        /// The guess.
        guess: Code,
        /// The number of colours.
        colours: usize,
    },
    /// The single use of a lifeline is spent.
    #[error("{0} cannot be used: the one use of a lifeline in this game is spent")]
    LifelineUsed(Lifeline),
    /// The lifeline would leave no turn for a guess.
    #[error(
        "{lifeline} cannot be used now: it takes {cost} turns and {left} are left, so none would remain for a guess"
    )]
    LifelineBlocked {
        /// The requested lifeline.
        lifeline: Lifeline,
        /// The turns that it takes.
        cost: usize,
        /// The turns left.
        left: usize,
    },
}
