use mastermind::{
    Code, ConfigError, Day, Game, Origin, Puzzle, Rules, Style,
    code::{MAX_COLOURS, MIN_LENGTH},
    game::{Action, ActionError, CodeError, Event},
    solver::Hint,
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Until the first answer, when the statistics are read.
    Unknown,
    First,
    Again,
}

/// A game and the generator of its lifelines.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    game: Game,
    rng: Pcg64,
    // `None` if a user has set the code.
    origin: Option<Origin>,
    attempt: Attempt,
    // The last hint, and the length of the history at that time.
    hint: Option<(usize, Hint)>,
}

impl Round {
    /// The seed determines the code and what the lifelines reveal.
    pub(crate) fn from_seed(rules: Rules, style: Style, seed: u64) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed);
        Self::new(Game::new(rules, style, &mut rng), rng, Some(Origin::Seed(seed)))
    }

    pub(crate) fn of_day(rules: Rules, style: Style, day: Day) -> Self {
        Self::new(Game::of_day(rules, style, day), Pcg64::seed_from_u64(day.0.into()), Some(Origin::Day(day)))
    }

    /// The lifelines draw from `seed`.
    pub(crate) fn with_code(rules: Rules, style: Style, code: Code, seed: u64) -> Result<Self, CodeError> {
        Ok(Self::new(Game::with_code(rules, style, code)?, Pcg64::seed_from_u64(seed), None))
    }

    const fn new(game: Game, rng: Pcg64, origin: Option<Origin>) -> Self {
        Self { game, rng, origin, attempt: Attempt::Unknown, hint: None }
    }

    pub(crate) const fn game(&self) -> &Game {
        &self.game
    }

    pub(crate) const fn day(&self) -> Option<Day> {
        match self.origin {
            Some(Origin::Day(day)) => Some(day),
            _ => None,
        }
    }

    pub(crate) fn puzzle(&self) -> Option<Puzzle> {
        self.origin.map(|origin| Puzzle { rules: self.game.rules(), origin })
    }

    pub(crate) const fn attempt(&self) -> Attempt {
        self.attempt
    }

    pub(crate) const fn set_attempt(&mut self, first: bool) {
        self.attempt = if first { Attempt::First } else { Attempt::Again };
    }

    /// The puzzle after its first answer, while the `Attempt` is unknown.
    pub(crate) fn to_be_taken_down(&self) -> Option<Puzzle> {
        self.puzzle().filter(|_| self.attempt == Attempt::Unknown && self.game.history().len() == 1)
    }

    /// The result of a puzzle of the day, once it is over.
    pub(crate) fn share(&self) -> Option<String> {
        mastermind::share(&self.game, Some(self.day()?), self.attempt == Attempt::Again)
    }

    pub(crate) fn apply(&mut self, action: Action) -> Result<Vec<Event>, ActionError> {
        self.game.apply(action, &mut self.rng)
    }

    /// Counts the game as one with hints, and repeated calls before the next answer once.
    pub(crate) fn hint(&mut self) -> Option<Hint> {
        let now = self.game.history().len();
        if self.hint.as_ref().is_none_or(|(then, _)| *then != now) {
            self.hint = Hint::of(&self.game.request_hint()).map(|hint| (now, hint));
        }
        self.hint.as_ref().map(|(_, hint)| hint.clone())
    }

    /// The seed and the command for the same game, if a seed decided it.
    pub(crate) fn again(&self) -> Option<String> {
        let Some(Origin::Seed(seed)) = self.origin else { return None };
        let rules = self.game.rules();
        let panel = if self.game.style() == Style::Panel { "--panel " } else { "" };
        let repeats = if rules.repeats() { "yes" } else { "no" };
        let colours = match rules.colours() {
            MAX_COLOURS => String::new(),
            colours => format!(" --colours {colours}"),
        };
        Some(format!(
            "Seed: {seed}. The same puzzle again: {} {panel}--length {}{colours} --repeats {repeats} --seed {seed}",
            cmdkit::command_of("mastermind-play"),
            rules.length()
        ))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RulePreferences {
    pub(crate) length: Option<usize>,
    pub(crate) repeats: Option<bool>,
    /// `None` means all eight.
    pub(crate) colours: Option<usize>,
}

impl RulePreferences {
    /// `length` and `repeats` replace missing values.
    pub(crate) fn rules(self, length: usize, repeats: bool) -> Result<Rules, ConfigError> {
        let length = self.length.unwrap_or(length);
        Rules::new(length, self.colours.unwrap_or(MAX_COLOURS), self.repeats.unwrap_or(repeats))
    }

    /// The defaults are the shortest code and repeats.
    pub(crate) fn without_asking(self) -> Result<Rules, ConfigError> {
        self.rules(MIN_LENGTH, true)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setter {
    Seed,
    Day(Day),
    People,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) wanted: RulePreferences,
    /// The rules without prompts.
    pub(crate) rules: Rules,
    pub(crate) setter: Setter,
    /// Of the next game, or of its lifelines.
    pub(crate) seed: u64,
    pub(crate) hints: bool,
}

impl Settings {
    pub(crate) fn deal(&mut self, rules: Rules, style: Style) -> Round {
        match self.setter {
            Setter::Day(day) => Round::of_day(rules, style, day),
            Setter::Seed | Setter::People => Round::from_seed(rules, style, self.next_seed()),
        }
    }

    pub(crate) fn deal_code(&mut self, rules: Rules, style: Style, code: Code) -> Result<Round, CodeError> {
        let round = Round::with_code(rules, style, code, self.seed)?;
        self.next_seed();
        Ok(round)
    }

    const fn next_seed(&mut self) -> u64 {
        let seed = self.seed;
        self.seed = seed.wrapping_add(1);
        seed
    }
}
